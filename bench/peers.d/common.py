"""What every peer's adapter needs: the cases, clocks and one line of results."""

import importlib.metadata
import json
import platform
import resource
import sys


def cases():
    with open(f"{sys.argv[1]}/cases.jsonl") as file:
        return [json.loads(line) for line in file]


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def report(peer, mode, count, seconds, passed, package=None):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    version = importlib.metadata.version(package or peer) if passed is not None else f"Python {platform.python_version()}"
    row = {"peer": peer, "version": version, "mode": mode, "per_second": count / seconds, "passed": passed, "peak_mb": peak}
    print(json.dumps(row), flush=True)
