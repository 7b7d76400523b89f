"""The plug-in, in runs of pytest of their own."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import toolmark

MESSAGES = """
MESSAGES = [
    {"role": "user", "content": "Refund order 7"},
    {"role": "assistant", "tool_calls": [{"id": "1", "type": "function",
        "function": {"name": "refund", "arguments": '{"order": 7}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": "refunded"},
    {"role": "assistant", "content": "Done."},
]
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    package = str(Path(toolmark.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", package)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(text: str, *arguments: str):
        pytester.makepyfile(test_agent=MESSAGES + text)
        plugin = ("-p", "toolmark.pytest_plugin", "-p", "no:cacheprovider")
        return pytester.runpytest_subprocess(*plugin, *arguments)

    return run


def test_a_failure_shows_the_alignment(suite, snapshot) -> None:
    result = suite(
        """
def test_refund(toolmark):
    toolmark.assert_trajectory(MESSAGES, expect=["find_order", "refund"])
"""
    )
    result.assert_outcomes(failed=1)
    text = "\n".join(line for line in result.outlines if line.startswith("E "))
    snapshot("pytest-failure.txt", text)
    # Nothing of the plug-in itself is in the traceback.
    assert not any("pytest_plugin.py" in line for line in result.outlines)


def test_gates(suite) -> None:
    result = suite(
        """
import pytest

@pytest.mark.toolmark_gate("arguments >= 0.5")
def test_recorded(toolmark):
    toolmark.record(MESSAGES)

@pytest.mark.toolmark_gate("calls <= 0")
def test_never(toolmark):
    toolmark.assert_trajectory(MESSAGES, expect=["refund"])

@pytest.mark.toolmark_gate("arguments >= 0.5")
def test_nothing(toolmark):
    pass

@pytest.mark.toolmark_gate("arguments >= 0.5")
def test_without():
    pass
"""
    )
    text = result.stdout.str()
    assert "nothing was checked" in text
    assert "needs the fixture toolmark" in text
    assert not re.search(r"ERROR", text)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_report(suite, pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    if workers:
        pytest.importorskip("xdist")
    text = """
import pytest

@pytest.mark.parametrize("tool", ["refund", "find_order"])
def test_calls(toolmark, tool):
    toolmark.assert_trajectory(MESSAGES, expect=[tool])

def test_twice(toolmark):
    toolmark.assert_trajectory(MESSAGES, expect=["refund"])
    toolmark.assert_trajectory(MESSAGES, expect={"forbidden": ["delete"]})
"""
    result = suite(text, "--toolmark-report=report.json", *workers)
    result.assert_outcomes(passed=2, failed=1)
    report = json.loads((pytester.path / "report.json").read_text())
    found = [(one["case"], one["trial"], one["verdict"]) for one in report["outcomes"]]
    assert found == [
        ("test_agent.py::test_calls[find_order]", 0, "fail"),
        ("test_agent.py::test_calls[refund]", 0, "pass"),
        ("test_agent.py::test_twice", 0, "pass"),
        ("test_agent.py::test_twice", 1, "pass"),
    ]
    assert report["summary"]["verdict"] == "fail"
    # `toolmark compare` reads it.
    compare = [toolmark.find_binary(), "compare", "report.json", "report.json", "--format=json"]
    compared = subprocess.run(compare, cwd=pytester.path, capture_output=True, text=True)
    assert compared.returncode == 0, compared.stderr


def test_without_a_test_that_uses_it_nothing_happens(suite, pytester: pytest.Pytester) -> None:
    suite("def test_nothing(): pass", "--strict-markers").assert_outcomes(passed=1)
