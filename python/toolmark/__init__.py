"""toolmark: whether the tool calls of an AI agent were right, with evidence.

The package runs the ``toolmark`` binary that comes with it. Its functions are the
commands: they take paths of traces, and return rows.

>>> import toolmark
>>> session = SAMPLES / "claude-code" / "disk-full.jsonl"
>>> [row["tool_calls"] for row in toolmark.stats(session)]
[12]
>>> sorted({finding["code"] for finding in toolmark.check(session)})[:3]
['I301', 'I302', 'I303']
>>> toolmark.read(session).calls[0].name
'Bash'

What a test has in memory is graded without a file:

>>> messages = [
...     {"role": "user", "content": "Refund order 7"},
...     {"role": "assistant", "tool_calls": [
...         {"id": "1", "type": "function",
...          "function": {"name": "refund", "arguments": '{"order": 7}'}}]},
...     {"role": "tool", "tool_call_id": "1", "content": "refunded"},
... ]
>>> toolmark.assert_trajectory(messages, expect=[{"tool": "refund", "args": {"order": 7}}])
"""

from __future__ import annotations

from ._binary import find_binary, version
from ._commands import check, convert, feed, grade, show, stats
from ._run import BinaryNotFound, Diagnostic, ToolmarkError, UnreadError, UsageError
from ._tables import Rows
from .testing import TrajectoryAssertions, TrajectoryError, assert_trajectory
from .trajectory import (
    Agent,
    Call,
    Event,
    Payload,
    Place,
    Result,
    Step,
    Trajectory,
    Usage,
    read,
    read_all,
)

__all__ = [
    "Agent",
    "BinaryNotFound",
    "Call",
    "Diagnostic",
    "Event",
    "Payload",
    "Place",
    "Result",
    "Rows",
    "Step",
    "ToolmarkError",
    "Trajectory",
    "TrajectoryAssertions",
    "TrajectoryError",
    "UnreadError",
    "Usage",
    "UsageError",
    "assert_trajectory",
    "check",
    "convert",
    "feed",
    "find_binary",
    "grade",
    "read",
    "read_all",
    "show",
    "stats",
    "version",
]
