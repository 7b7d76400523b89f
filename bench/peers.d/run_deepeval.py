"""DeepEval: ToolCorrectness with parameters. The key is never used."""

import os

os.environ.setdefault("OPENAI_API_KEY", "unused")
os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
from deepeval.metrics import ToolCorrectnessMetric  # noqa: E402
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams  # noqa: E402
from common import cases, cpu, report  # noqa: E402


def calls(of):
    return [ToolCall(name=call["name"], input_parameters=call["args"]) for call in of]


for mode, options in [("exact", {"should_exact_match": True}), ("in_order", {"should_consider_ordering": True}), ("any_order", {})]:
    metric = ToolCorrectnessMetric(
        async_mode=False, threshold=1.0, evaluation_params=[ToolCallParams.INPUT_PARAMETERS], **options
    )
    start, rows, passed = cpu(), cases(), 0
    for case in rows:
        test = LLMTestCase(
            input="go", actual_output="done", tools_called=calls(case["actual"]), expected_tools=calls(case["expected"])
        )
        passed += metric.measure(test, _show_indicator=False) == 1.0
    report("deepeval", mode, len(rows), cpu() - start, passed)
