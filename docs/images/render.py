"""Draws what a command prints as a picture of a terminal, for the README.

    python3 docs/images/render.py target/release/toolmark
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMMAND = ["check", "samples/claude-code/disk-full.jsonl", "--select", "I,R", "--exit-zero"]
COLUMNS, LINES = 88, 30
WIDE, HIGH, MARGIN = 8.43, 18, 18
COLOURS = {31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea"}
COLOURS.update({code + 60: colour for code, colour in list(COLOURS.items())})


def spans(line: str) -> list[tuple[str, str]]:
    """The pieces of a line, each with its style."""
    found, style = [], {}
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if not code:
            if piece:
                found.append((piece, ";".join(f"{key}:{value}" for key, value in style.items())))
            continue
        for number in map(int, (code[1] or "0").split(";")):
            if number == 0:
                style = {}
            elif number == 1:
                style["font-weight"] = "bold"
            elif number == 2:
                style["fill"] = "#8b949e"
            elif number in COLOURS:
                style["fill"] = COLOURS[number]
    return found


def draw(lines: list[str]) -> str:
    """The picture."""
    width, height = round(COLUMNS * WIDE + 2 * MARGIN), len(lines) * HIGH + 2 * MARGIN
    rows = []
    for number, line in enumerate(lines):
        y = MARGIN + (number + 1) * HIGH - 5
        parts = "".join(
            f'<tspan style="{style}">{html.escape(text)}</tspan>' if style else html.escape(text)
            for text, style in spans(line)
        )
        rows.append(f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{parts}</text>')
    font = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="toolmark {" ".join(COMMAND)}">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n'
        f'<g font-family="{font}" font-size="14" fill="#e6edf3">\n'
        + "\n".join(rows)
        + "\n</g>\n</svg>\n"
    )


def main() -> None:
    """The command line."""
    binary = os.path.abspath(sys.argv[1])
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TZ": "UTC"}
    command = [binary, *COMMAND, "--color=always"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    shown = [f"$ toolmark {' '.join(COMMAND[:-1])}", *done.stdout.rstrip().split("\n")]
    (HERE / "check.svg").write_text(draw(shown[:LINES]), "utf-8")


if __name__ == "__main__":
    main()
