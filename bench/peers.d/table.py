"""The rows of all peers as one table, with toolmark as the measure: table.py ROWS WORKLOAD [LEFT_OUT…]

Prints it, and puts it into docs/speed.md if the workload is the one of the page.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import page  # noqa: E402

PAGE_COUNT = 1000


def main():
    rows = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]
    right = json.load(open(f"{sys.argv[2]}/expected.json"))
    left_out = sys.argv[3:]
    own = {row["mode"]: row["per_second"] for row in rows if row["peer"] == "toolmark"}
    cells = []
    for row in sorted(rows, key=lambda row: (list(right).index(row["mode"]), -row["per_second"])):
        mode = row["mode"]
        ratio = "" if row["peer"] == "toolmark" else f"{own[mode] / row['per_second']:,.1f} ×"
        passed = "only parses" if row["passed"] is None else f"{row['passed']} of {right[mode]}"
        note = f" ({row['note']})" if "note" in row else ""
        name = f"{row['peer']} {row['version']}{note}"
        cells.append([mode, name, f"{row['per_second']:,.0f}", ratio, f"{row['peak_mb']:.0f} MB", passed])
    head = ["mode", "grader", "trajectories per CPU second", "toolmark is faster by", "peak memory", "passed"]
    table = page.markdown(head, "llrrrr", cells)
    if left_out:
        table += ["", f"Not installed here, so not measured: {', '.join(left_out)}."]
    print("\n".join(table))
    if right["exact"] * 5 == PAGE_COUNT:
        place = page.keep("peers", rows, left_out=left_out)
        page.write("peers", [*table, "", page.caption(place)])


main()
