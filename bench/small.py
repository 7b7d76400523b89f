"""Writes many small sessions: bench/small.py DIR SESSIONS

The samples of this repository over and over, each copy with an id and a name of its own, a
hundred to a directory. They are 10 kB on average. Beyond 200,000, files are further names of
those that are there, or a million would need 12 GB. The same arguments give the same bytes.
"""

import os
import re
import sys
from pathlib import Path

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
#: How many of ten sessions are copies of which sample.
MIX = {
    "claude-code/disk-full.jsonl": 1,
    "claude-code/flaky-test.jsonl": 3,
    "codex/rollout-2026-03-15T18-03-27-019cf2b1-6c1e-7a40-9b52-3f0d8e7a4c15.jsonl": 3,
    "atif/mean-depth.trajectory.json": 3,
}
#: So many sessions are there; more of them have the same bytes.
DISTINCT = 200_000
ID = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")


def write(directory, sessions):
    texts = []
    for name, share in MIX.items():
        # Every id of a copy starts with the number of the copy.
        pieces = ID.sub(rb"\0\1", (SAMPLES / name).read_bytes()).split(b"\0")
        suffix = "".join(Path(name).suffixes)
        texts += [(Path(name).name.split(".")[0][:12], suffix, pieces)] * share
    first = []
    for number in range(sessions):
        stem, suffix, pieces = texts[number % len(texts)]
        place = directory / f"{number // 10_000:03}" / f"{number // 100 % 100:02}"
        if number % 100 == 0:
            place.mkdir(parents=True)
        path = place / f"{stem}-{number:07}{suffix}"
        if number >= DISTINCT:
            os.link(first[number % DISTINCT], path)
            continue
        path.write_bytes(f"{number:08x}".encode().join(pieces))
        if sessions > DISTINCT:
            first.append(path)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
