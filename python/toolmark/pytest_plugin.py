"""The pytest plug-in: the fixture ``toolmark``, a marker for gates, and a report.

It is loaded wherever the package is installed; it does nothing until a test asks for the
fixture.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Generator, Iterable, Mapping, Optional

import pytest

from . import _commands
from ._binary import version
from ._run import run
from ._tables import Rows
from .testing import WIDTH, Expect, Trace, TrajectoryError, _trace, grade_trace
from .trajectory import Trajectory, read

MARKER = (
    "toolmark_gate(*gates): thresholds for the trajectories of a test, such as 'recovery >= 0.8'"
)

_FIXTURE: pytest.StashKey[ToolmarkFixture] = pytest.StashKey()
_OUTCOMES: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()
_WORKER_KEY = "toolmark_outcomes"


class ToolmarkFixture:
    """What the fixture ``toolmark`` is: assertions and commands that know the test."""

    def __init__(self, node_id: str, outcomes: list[dict[str, Any]]) -> None:
        self._node_id = node_id
        self._outcomes = outcomes
        self._traces: list[tuple[Trace, Optional[str]]] = []

    def assert_trajectory(
        self, trace: Trace, expect: Optional[Expect] = None, **options: Any
    ) -> None:
        """:func:`toolmark.assert_trajectory`; the outcome is in the report, and the gates
        of the test apply to the trace."""
        __tracebackhide__ = True
        self.record(trace, format=options.get("format"))
        try:
            report = grade_trace(trace, expect, **options)
        except TrajectoryError as error:
            self._keep(error.outcomes)
            raise TrajectoryError(str(error), error.outcomes) from None
        self._keep(report["outcomes"])

    def record(self, trace: Trace, *, format: Optional[str] = None) -> None:
        """Apply the gates of the test to this trace, without any other expectation."""
        self._traces.append((trace, format))

    def check(self, *args: Any, **options: Any) -> Rows:
        """:func:`toolmark.check`"""
        rows: Rows = _commands.check(*args, **options)
        return rows

    def grade(self, *args: Any, **options: Any) -> Rows:
        """:func:`toolmark.grade`"""
        rows: Rows = _commands.grade(*args, **options)
        return rows

    def read(self, *args: Any, **options: Any) -> Trajectory:
        """:func:`toolmark.read`"""
        return read(*args, **options)

    def from_messages(self, *args: Any, **options: Any) -> Trajectory:
        """:meth:`toolmark.Trajectory.from_messages`"""
        return Trajectory.from_messages(*args, **options)

    def _keep(self, outcomes: Iterable[Mapping[str, Any]]) -> None:
        for outcome in outcomes:
            self._outcomes.append({**outcome, "case": self._node_id})

    def _check_gates(self, gates: list[str]) -> None:
        """Fail unless what was recorded meets the gates."""
        __tracebackhide__ = True
        if not self._traces:
            message = "the test has gates and no trajectory: nothing was checked"
            raise TrajectoryError(message, [])
        with tempfile.TemporaryDirectory(prefix="toolmark-") as directory:
            files = []
            for number, (trace, format) in enumerate(self._traces):
                place = os.path.join(directory, str(number))
                os.mkdir(place)
                name, read_as = _trace(trace, format, place)
                path = os.path.join(place, name)
                if read_as:
                    # Traces of several formats are read in one go.
                    with open(path, "rb") as file:
                        done = run(
                            ["convert", "--to=toolmark", f"--as={read_as}", "-"], stdin=file.read()
                        )
                    with open(path, "wb") as file:
                        file.write(done.stdout)
                files.append(
                    os.path.relpath(path, directory) if path.startswith(directory) else path
                )
            arguments = ["check", *files, "--color=never", *(f"--gate={gate}" for gate in gates)]
            finished = run(arguments, cwd=directory, width=WIDTH)
        if finished.code != 0:
            text = finished.stdout.decode("utf-8").strip()
            failed = "a gate failed" if finished.code == 1 else "a gate cannot be decided"
            raise TrajectoryError(f"{failed}\n\n{text}\n{finished.stderr}".strip(), [])


@pytest.fixture
def toolmark(request: pytest.FixtureRequest) -> ToolmarkFixture:
    """Assertions about trajectories: ``toolmark.assert_trajectory(trace, expect=[...])``."""
    node = request.node
    made = ToolmarkFixture(node.nodeid, request.config.stash[_OUTCOMES])
    node.stash[_FIXTURE] = made
    return made


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--toolmark-report``."""
    group = parser.getgroup("toolmark")
    group.addoption(
        "--toolmark-report",
        metavar="FILE",
        help="write the outcomes of all trajectories that were asserted, as JSON that "
        "`toolmark compare` reads",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and make room for outcomes."""
    config.addinivalue_line("markers", MARKER)
    config.stash[_OUTCOMES] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Apply the gates of a test that passed so far."""
    result = yield
    gates = [gate for marker in item.iter_markers("toolmark_gate") for gate in marker.args]
    if gates:
        fixture = item.stash.get(_FIXTURE, None)
        if fixture is None:
            raise TrajectoryError("a test with gates needs the fixture toolmark", [])
        fixture._check_gates(gates)
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Take the outcomes of a worker of pytest-xdist."""
    sent = getattr(node, "workeroutput", {}).get(_WORKER_KEY)
    if sent:
        node.config.stash[_OUTCOMES].extend(json.loads(sent))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, or send the outcomes to whoever writes it."""
    config = session.config
    outcomes = config.stash[_OUTCOMES]
    worker_output = getattr(config, "workeroutput", None)
    if worker_output is not None:
        worker_output[_WORKER_KEY] = json.dumps(outcomes)
        return
    path = config.getoption("--toolmark-report")
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(_report(outcomes), file, ensure_ascii=False, indent=2)
            file.write("\n")


def _report(outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    """The outcomes as `toolmark grade --format json` has them, in the order of tests."""
    ordered = sorted(outcomes, key=lambda outcome: str(outcome["case"]))
    seen: dict[str, int] = {}
    for outcome in ordered:
        # The second trajectory of a test is its second trial.
        outcome["trial"] = seen.get(outcome["case"], 0)
        seen[outcome["case"]] = outcome["trial"] + 1
    counts = dict.fromkeys(("pass", "fail", "unknown"), 0)
    for outcome in ordered:
        counts[outcome["verdict"]] += 1
    verdict = (
        "fail" if counts["fail"] else "unknown" if counts["unknown"] or not ordered else "pass"
    )
    scores = [outcome["score"] for outcome in ordered if outcome.get("score") is not None]
    return {
        "schema_version": 1,
        "toolmark": version(),
        "spec": "pytest",
        "dialect": "toolmark",
        "outcomes": ordered,
        "cases": [],
        "summary": {
            "cases": len(seen),
            "outcomes": len(ordered),
            "passed": counts["pass"],
            "failed": counts["fail"],
            "unknown": counts["unknown"],
            "score": sum(scores) / len(scores) if scores else None,
            "verdict": verdict,
        },
        "notes": [],
    }
