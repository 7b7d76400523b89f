"""Draws lines against each other on logarithmic axes, as SVG for light and dark pages."""

import math
from html import escape

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 80, 48, 52
#: The least distance between the names of two lines.
APART = 16
#: Text, grid and lines, on light pages and on dark ones.
STYLE = """
svg { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; }
text { fill: #57606a; } .title { fill: #1f2328; font-weight: 600; }
.grid { stroke: #d0d7de; } .axis { stroke: #8c959f; }
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round; }
.name { font-weight: 600; }
.line.a { stroke: #0969da; } .dot.a, .name.a { fill: #0969da; }
.line.b { stroke: #bc4c00; } .dot.b, .name.b { fill: #bc4c00; }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1; } .title { fill: #f0f6fc; }
  .grid { stroke: #30363d; } .axis { stroke: #656c76; }
  .line.a { stroke: #4493f8; } .dot.a, .name.a { fill: #4493f8; }
  .line.b { stroke: #f0883e; } .dot.b, .name.b { fill: #f0883e; }
}
"""


def power(n):
    return f"{10**n:,}" if n >= 0 else f"{10.0**n:.{-n}f}"


def decades(values):
    """The powers of ten around the values, at least one apart."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return (low, high) if high > low else (low, low + 1)


def names_apart(names):
    """Moves names that would cover each other: from the lowest up, each above the one before."""
    placed = []
    for style, label, y in sorted(names, key=lambda name: -name[2]):
        placed.append((style, label, min(y, placed[-1][2] - APART) if placed else y))
    return placed


def svg(title, across, lines):
    """A plot of at most two lines, each a label and its points (x, y)."""
    x0, x1 = decades([x for _, points in lines for x, _ in points])
    y0, y1 = decades([y for _, points in lines for _, y in points])

    def place(x, y):
        right = LEFT + (math.log10(x) - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)
        down = HEIGHT - BOTTOM - (math.log10(y) - y0) / (y1 - y0) * (HEIGHT - BOTTOM - TOP)
        return round(right, 1), round(down, 1)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        f"<style>{STYLE}</style>",
        f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>',
    ]
    for n in range(x0, x1 + 1):
        x, y = place(10.0**n, 10.0**y0)
        out.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{y}"/>')
        out.append(f'<text x="{x}" y="{y + 20}" text-anchor="middle">{power(n)}</text>')
    for n in range(y0, y1 + 1):
        x, y = place(10.0**x0, 10.0**n)
        style = "axis" if n == y0 else "grid"
        out.append(f'<line class="{style}" x1="{x}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
        out.append(f'<text x="{x - 10}" y="{y + 4}" text-anchor="end">{power(n)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(across)}</text>')
    names = []
    for style, (label, points) in zip("ab", lines):
        path = [place(x, y) for x, y in points]
        out.append(f'<polyline class="line {style}" points="{" ".join(f"{x},{y}" for x, y in path)}"/>')
        out.extend(f'<circle class="dot {style}" cx="{x}" cy="{y}" r="3"/>' for x, y in path)
        names.append((style, label, path[-1][1] + 4))
    for style, label, y in names_apart(names):
        out.append(f'<text class="name {style}" x="{WIDTH - RIGHT + 12}" y="{y}">{escape(label)}</text>')
    return "\n".join([*out, "</svg>", ""])
