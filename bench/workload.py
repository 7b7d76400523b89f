"""Writes the matching workload: bench/workload.py DIR [TRAJECTORIES]

Trajectories of 20 calls of 12 tools with three arguments each (a text, a
number, an object with a list) and results of 20 words, against 20 or 18
expected calls, in five equal classes: the same, two neighbours swapped, one
call replaced, two surplus calls, one argument changed. The right number of
passes of every mode is in expected.json.
"""

import json
import random
import sys
from pathlib import Path

TOOLS = ["search", "fetch", "read", "write", "edit", "list", "grep", "run", "test", "plan", "mail", "book"]
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma".split()
CLASSES = ["same", "swapped", "replaced", "surplus", "changed"]


def call(rng):
    return {
        "name": rng.choice(TOOLS),
        "args": {
            "query": " ".join(rng.choices(WORDS, k=4)),
            "limit": rng.randrange(1_000_000),
            "options": {"deep": rng.random() < 0.5, "tags": rng.choices(WORDS, k=3)},
        },
        "output": " ".join(rng.choices(WORDS, k=20)),
    }


def trajectory(number, rng):
    kind = CLASSES[number % len(CLASSES)]
    actual = [call(rng) for _ in range(20)]
    expected = [{"name": c["name"], "args": json.loads(json.dumps(c["args"]))} for c in actual]
    spot = rng.randrange(1, 18)
    if kind == "swapped":
        expected[spot], expected[spot + 1] = expected[spot + 1], expected[spot]
    elif kind == "replaced":
        other = call(rng)
        actual[spot] = other
    elif kind == "surplus":
        for place in sorted(rng.sample(range(20), 2), reverse=True):
            del expected[place]
    elif kind == "changed":
        actual[spot]["args"]["limit"] += 1
    return {"id": f"case-{number:05}", "class": kind, "expected": expected, "actual": actual}


def write_lines(path, rows):
    with open(path, "w") as file:
        for row in rows:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")


def trace(case):
    messages = [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"tool": c["name"], "id": f"c{n}", "input": c["args"], "output": c["output"], "duration_ms": 5}
            ],
        }
        for n, c in enumerate(case["actual"])
    ]
    messages.append({"role": "assistant", "content": "done"})
    return {"id": case["id"], "output_messages": messages}


def spec(directory, mode, cases, build):
    write_lines(directory / f"{mode}.cases.jsonl", ({"id": c["id"], "expect": build(c)} for c in cases))
    (directory / f"{mode}.yaml").write_text(f"name: workload {mode}\ncases: {mode}.cases.jsonl\n")


def main():
    directory = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    directory.mkdir(parents=True, exist_ok=True)
    rng = random.Random(20)
    cases = [trajectory(number, rng) for number in range(count)]
    write_lines(directory / "cases.jsonl", cases)
    write_lines(directory / "traces.jsonl", map(trace, cases))

    def items(case):
        return [{"tool": c["name"], "args": c["args"], "args_match": "exact"} for c in case["expected"]]

    spec(directory, "exact", cases, lambda c: {"sequence": items(c), "extras": "forbid"})
    spec(directory, "in_order", cases, lambda c: {"sequence": items(c)})
    spec(directory, "any_order", cases, lambda c: {"calls": items(c)})

    # One long case: every hundredth call is expected, one in fifty of those is missing.
    long = [call(rng) for _ in range(100_000)]
    wanted = [
        {"tool": c["name"], "args": c["args"], "args_match": "exact"} if n % 50 else {"tool": "absent"}
        for n, c in enumerate(long[50::100])
    ]
    write_lines(directory / "long.jsonl", [trace({"id": "long", "actual": long})])
    write_lines(directory / "long.cases.jsonl", [{"id": "long", "expect": {"sequence": wanted}}])
    (directory / "long.yaml").write_text("name: one long case\ncases: long.cases.jsonl\n")

    share = count // len(CLASSES)
    right = {"exact": share, "in_order": 2 * share, "any_order": 3 * share}
    (directory / "expected.json").write_text(json.dumps(right))


main()
