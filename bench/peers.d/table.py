"""Prints the rows of all peers as one Markdown table, with toolmark as the measure."""

import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]
right = json.load(open(f"{sys.argv[2]}/expected.json"))
own = {row["mode"]: row["per_second"] for row in rows if row["peer"] == "toolmark"}
print("| mode | grader | trajectories per CPU second | toolmark is | peak memory | passed |")
print("|---|---|---:|---:|---:|---:|")
for row in sorted(rows, key=lambda row: (list(right).index(row["mode"]), -row["per_second"])):
    mode = row["mode"]
    ratio = "" if row["peer"] == "toolmark" else f"{own[mode] / row['per_second']:,.1f} ×"
    passed = "only parses" if row["passed"] is None else f"{row['passed']} of {right[mode]}"
    note = f" ({row['note']})" if "note" in row else ""
    print(f"| {mode} | {row['peer']}{note} | {row['per_second']:,.0f} | {ratio} | {row['peak_mb']:.0f} MB | {passed} |")
