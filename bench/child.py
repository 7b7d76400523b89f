"""Runs a program and says what it cost: CPU seconds, time on the clock, peak memory."""

import os
import sys
import time


def cost(command, stdout=None, accepted=(0, 1, 3)):
    """What one run costs, by the program's own account. Its output goes to a file or nowhere."""
    words = [str(word) for word in command]
    target = str(stdout) if stdout else os.devnull
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    started = time.monotonic()
    # A child of its own for each run, because the peak of all children is one number.
    opened = [(os.POSIX_SPAWN_OPEN, 1, target, flags, 0o644), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawnp(words[0], words, os.environ, file_actions=opened)
    _, status, usage = os.wait4(pid, 0)
    elapsed = time.monotonic() - started
    code = os.waitstatus_to_exitcode(status)
    if code not in accepted:
        sys.exit(f"{' '.join(words)} ended with {code}")
    return {"cpu": usage.ru_utime + usage.ru_stime, "wall": elapsed, "peak_mb": usage.ru_maxrss / 1024}


def best(runs):
    """The fastest of several runs, with the highest peak of all."""
    return {
        "cpu": min(run["cpu"] for run in runs),
        "wall": min(run["wall"] for run in runs),
        "peak_mb": max(run["peak_mb"] for run in runs),
    }
