"""LatticeFlow: Open-Responses items against a rendered list of calls."""

import asyncio
import json

from latticeflow.core.dtypes._solver_output import SolverTrace
from latticeflow.core.dtypes._trace import Trace
from latticeflow.core.experimental.scorers.agent import FunctionCallCoverage
from common import cases, cpu, report


def output(calls):
    # Without a user's message nothing after it counts.
    said = [{"type": "input_text", "text": "go"}]
    items = [{"type": "message", "id": "m", "status": "completed", "role": "user", "content": said}]
    for n, call in enumerate(calls):
        items.append(
            {
                "type": "function_call",
                "id": f"f{n}",
                "call_id": f"c{n}",
                "name": call["name"],
                "arguments": json.dumps(call["args"]),
                "status": "completed",
            }
        )
    return SolverTrace(trace=Trace(items=items), raw_outputs=[])


async def run(mode):
    start, rows, passed = cpu(), cases(), 0
    for case in rows:
        wanted = json.dumps([{"name": call["name"], "arguments": call["args"]} for call in case["expected"]])
        scorer = FunctionCallCoverage(function_calls=wanted, mode=mode)
        score = await scorer.ascore({}, output(case["actual"]))
        passed += score.values["all_required_calls_made"] is True
    report("latticeflow", mode, len(rows), cpu() - start, passed, "latticeflow-core")


for mode in ["in_order", "any_order"]:
    asyncio.run(run(mode))
