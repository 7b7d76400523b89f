"""Puts measured tables into docs/speed.md and docs/scale.md: between the two marks of each bench.

Every bench that measures keeps its figures in docs/speed/NAME.json, with the machine
they were taken on, and calls `write`. The text around the marks is written by hand.
"""

import datetime
import json
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/speed.md"
DATA = ROOT / "docs/speed"


def machine():
    """Where and when something was measured."""
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    head = ["git", "-C", ROOT, "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=False).stdout.strip()
    date = datetime.date.today().isoformat()
    return {"processor": model, "cores": os.cpu_count(), "system": platform.system(), "date": date, "commit": commit}


def keep(name, rows, **more):
    """Writes the figures of a bench, and returns where and when they were taken."""
    DATA.mkdir(parents=True, exist_ok=True)
    place = machine()
    (DATA / f"{name}.json").write_text(json.dumps({"machine": place, **more, "rows": rows}, indent=1) + "\n")
    return place


def caption(place):
    return f"*{place['date']}, commit {place['commit']}, {place['processor']}, {place['cores']} cores, {place['system']}.*"


def write(name, lines, page=PAGE):
    """Replaces what stands between the marks of a bench in the page."""
    start, end = f"<!-- bench/{name}: measured -->", f"<!-- end of bench/{name} -->"
    before, found, rest = page.read_text().partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{page} has no marks for bench/{name}")
    body = "\n".join(lines).strip()
    page.write_text(f"{before}{start}\n\n{body}\n\n{end}{after}")


def markdown(head, aligned, rows):
    """A table in Markdown; `aligned` has an r for every column of numbers."""
    rule = ["---:" if side == "r" else "---" for side in aligned]
    return ["| " + " | ".join(cells) + " |" for cells in (head, rule, *rows)]
