"""agentevals: messages against messages."""

import json
import os

os.environ["LANGSMITH_TRACING"] = "false"
from agentevals.trajectory.match import create_trajectory_match_evaluator  # noqa: E402
from common import cases, cpu, report  # noqa: E402


def messages(calls):
    out = [{"role": "user", "content": "go"}]
    for n, call in enumerate(calls):
        function = {"name": call["name"], "arguments": json.dumps(call["args"])}
        out.append({"role": "assistant", "content": "", "tool_calls": [{"id": f"c{n}", "type": "function", "function": function}]})
        out.append({"role": "tool", "tool_call_id": f"c{n}", "content": call.get("output", "")})
    out.append({"role": "assistant", "content": "done"})
    return out


for mode, word in [("exact", "strict"), ("any_order", "superset")]:
    evaluate = create_trajectory_match_evaluator(trajectory_match_mode=word, tool_args_match_mode="exact")
    start, rows, passed = cpu(), cases(), 0
    for case in rows:
        result = evaluate(outputs=messages(case["actual"]), reference_outputs=messages(case["expected"]))
        passed += bool(result["score"])
    report("agentevals", mode, len(rows), cpu() - start, passed)
