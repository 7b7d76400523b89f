"""A yardstick: Python's own json.loads of the bytes toolmark reads, and nothing else."""

import json
import sys
from common import cpu, report

for mode in ["exact", "in_order", "any_order"]:
    start, count = cpu(), 0
    for name in (f"{mode}.cases.jsonl", "traces.jsonl"):
        with open(f"{sys.argv[1]}/{name}") as file:
            count = sum(1 for line in file if json.loads(line))
    report("json.loads", mode, count, cpu() - start, None)
