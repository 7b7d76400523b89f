"""What every peer's adapter needs: the cases, clocks and one line of results."""

import json
import resource
import sys
import time


def cases():
    with open(f"{sys.argv[1]}/cases.jsonl") as file:
        return [json.loads(line) for line in file]


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def report(peer, mode, count, seconds, passed):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row = {"peer": peer, "mode": mode, "per_second": count / seconds, "passed": passed, "peak_mb": peak}
    print(json.dumps(row), flush=True)
    time.sleep(0)
