"""toolmark as a user runs it: the whole process, start and reading included."""

import json
import resource
import subprocess
import sys

work, mode, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
command = ["target/release/toolmark", "grade", f"{work}/{mode}.yaml", f"{work}/traces.jsonl", "--format", "jsonl", "--jobs", "1"]
best, passed, peak = None, 0, 0
for _ in range(5):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    best = seconds if best is None else min(best, seconds)
    peak = after.ru_maxrss / 1024
    passed = json.loads(done.stdout.splitlines()[-1])["passed"]
version = subprocess.run(["target/release/toolmark", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
print(json.dumps({"peer": "toolmark", "version": version, "mode": mode, "per_second": count / best, "passed": passed, "peak_mb": peak}))
