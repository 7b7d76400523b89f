"""Assertions: what they say when they fail, and that they fail when nobody can tell."""

from __future__ import annotations

import unittest
from pathlib import Path

import pytest
from test_trajectory import ANTHROPIC, LANGCHAIN, OPENAI

import toolmark


@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC, LANGCHAIN])
def test_what_was_expected(messages) -> None:
    toolmark.assert_trajectory(messages, expect=[{"tool": "refund", "args": {"order": 7}}])
    toolmark.assert_trajectory(toolmark.Trajectory.from_messages(messages), expect=["refund"])


def test_the_alignment_is_the_message(snapshot) -> None:
    with pytest.raises(toolmark.TrajectoryError) as caught:
        toolmark.assert_trajectory(
            OPENAI, expect={"sequence": ["find_order", {"tool": "refund", "args": {"order": 8}}]}
        )
    snapshot("alignment.txt", str(caught.value))
    (outcome,) = caught.value.outcomes
    assert outcome["verdict"] == "fail"


def test_unknown_is_a_failure() -> None:
    grader = {"type": "prompt", "config": {"prompt": "Was it polite?"}}
    with pytest.raises(toolmark.TrajectoryError, match="the verdict is unknown"):
        toolmark.assert_trajectory(OPENAI, graders=[grader])


def test_nothing_expected_is_an_error(samples: Path) -> None:
    with pytest.raises(TypeError, match="nothing is expected"):
        toolmark.assert_trajectory(OPENAI)
    with pytest.raises(TypeError, match="a spec says"):
        toolmark.assert_trajectory(OPENAI, ["refund"], spec=samples / "toolmark.yaml")
    with pytest.raises(toolmark.UsageError, match="sequense"):
        toolmark.assert_trajectory(OPENAI, {"sequense": ["refund"]})


def test_a_pass_over_a_broken_file_is_none(samples: Path, tmp_path: Path) -> None:
    text = (samples / "claude-code" / "flaky-test.jsonl").read_text()
    (tmp_path / "broken.jsonl").write_text(text + "{broken\n")
    with pytest.raises(toolmark.UnreadError, match="not JSON"):
        toolmark.assert_trajectory(tmp_path / "broken.jsonl", ["Read"])


def test_a_whole_spec(samples: Path) -> None:
    with pytest.raises(toolmark.TrajectoryError, match="disk-full"):
        toolmark.assert_trajectory(samples, spec=samples / "toolmark.yaml")


class ForUnittest(unittest.TestCase, toolmark.TrajectoryAssertions):
    def test_one_line(self) -> None:
        self.assertTrajectory(OPENAI, expect=["refund"])
        with self.assertRaisesRegex(AssertionError, "find_order"):
            self.assertTrajectory(OPENAI, expect=["find_order"])
