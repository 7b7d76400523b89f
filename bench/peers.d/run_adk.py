"""Google ADK: invocations against invocations."""

from google.adk.evaluation.eval_case import IntermediateData, Invocation
from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
from google.genai import types
from common import cases, cpu, report


def invocation(calls):
    uses = [types.FunctionCall(name=call["name"], args=call["args"]) for call in calls]
    content = types.Content(role="user", parts=[types.Part(text="go")])
    return Invocation(user_content=content, intermediate_data=IntermediateData(tool_uses=uses))


for mode, word in [("exact", "EXACT"), ("in_order", "IN_ORDER"), ("any_order", "ANY_ORDER")]:
    match = ToolTrajectoryCriterion.MatchType[word]
    criterion = ToolTrajectoryCriterion(threshold=1.0, match_type=match)
    metric = EvalMetric(metric_name="tool_trajectory_avg_score", threshold=1.0, criterion=criterion)
    evaluator = TrajectoryEvaluator(eval_metric=metric)
    start, rows, passed = cpu(), cases(), 0
    for case in rows:
        result = evaluator.evaluate_invocations([invocation(case["actual"])], [invocation(case["expected"])])
        passed += result.overall_score == 1.0
    report("google-adk", mode, len(rows), cpu() - start, passed)
