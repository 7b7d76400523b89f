"""Prints the rows of all peers as one table."""

import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]
right = json.load(open(f"{sys.argv[2]}/expected.json"))
print(f"{'peer':<12} {'mode':<10} {'trajectories/CPU s':>18} {'peak MB':>8} {'passed':>7} {'right':>6}")
for row in sorted(rows, key=lambda row: (list(right).index(row["mode"]), -row["per_second"])):
    print(
        f"{row['peer']:<12} {row['mode']:<10} {row['per_second']:>18,.0f} {row['peak_mb']:>8.0f}"
        f" {row['passed']:>7} {right[row['mode']]:>6}"
    )
