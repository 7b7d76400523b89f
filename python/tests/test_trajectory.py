"""Trajectories from files and from messages."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import toolmark
from toolmark import Trajectory

OPENAI: list[dict[str, Any]] = [
    {"role": "user", "content": "Refund order 7"},
    {
        "role": "assistant",
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "refund", "arguments": '{"order": 7}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "refunded"},
    {"role": "assistant", "content": "Done."},
]
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "Refund order 7"},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "1", "name": "refund", "input": {"order": 7}}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "1", "content": "refunded"}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
]
LANGCHAIN: list[dict[str, Any]] = [
    {"type": "human", "content": "Refund order 7"},
    {
        "type": "ai",
        "content": "",
        "tool_calls": [{"name": "refund", "args": {"order": 7}, "id": "1"}],
    },
    {"type": "tool", "content": "refunded", "tool_call_id": "1", "status": "success"},
    {"type": "ai", "content": "Done."},
]


@pytest.mark.parametrize("format", ["openai", "anthropic", "langchain"])
@pytest.mark.parametrize("is_named", [True, False])
def test_messages(format: Any, is_named: bool) -> None:
    messages = {"openai": OPENAI, "anthropic": ANTHROPIC, "langchain": LANGCHAIN}[format]
    run = Trajectory.from_messages(messages, format if is_named else None)
    (call,) = run.calls
    assert (call.name, call.arguments) == ("refund", {"order": 7})
    assert call.result is not None and call.result.text == "refunded"
    assert (run.user_turns, run.output) == (1, "Done.")


class Dumped:
    """As the objects of client libraries are."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return self.data


def test_objects_of_client_libraries() -> None:
    run = Trajectory.from_messages([Dumped(message) for message in OPENAI], "openai")
    assert run.tool_names == ["refund"]
    with pytest.raises(TypeError, match="no JSON form"):
        Trajectory.from_messages([{"role": object()}])
    with pytest.raises(ValueError, match="expected one of openai"):
        Trajectory.from_messages(OPENAI, "bard")  # type: ignore[arg-type]


def test_the_tools_that_were_offered() -> None:
    tools = [{"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}]
    run = Trajectory.from_messages(OPENAI, "openai", tools=tools)
    assert "tool-definitions" not in run.fidelity_gaps


def test_what_is_read_is_what_convert_wrote(samples: Path, tmp_path: Path) -> None:
    run = toolmark.read(samples / "claude-code" / "disk-full.jsonl")
    assert len(run.calls) == 12 and run.calls[0].status == "failed"
    assert run.calls[0].exit_code == 2 and run.calls[0].level == "protocol"
    assert run.calls[0].duration is not None and run.calls[0].duration > timedelta(seconds=5)
    assert run.calls[0].at.line == 4
    assert run.usage is not None and run.usage.cache_read == 208193
    assert run.started is not None and run.started.tzinfo is not None
    # Written and read again it is the same, with the places of the first file.
    (tmp_path / "again.jsonl").write_text(run.to_json() + "\n")
    assert toolmark.read(tmp_path / "again.jsonl") == run
    assert Trajectory.from_dict(run.data) == run


def test_one_and_several(samples: Path) -> None:
    with pytest.raises(ValueError, match=r"2 trajectories; use toolmark\.read_all"):
        toolmark.read(samples / "claude-code")
    assert len(toolmark.read_all(samples / "claude-code")) == 2
