"""Assertions about trajectories, for any test framework."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Mapping, Optional, Sequence, Union

from ._messages import to_json
from ._run import Path, UnreadError, parse_diagnostics, run
from .trajectory import Trajectory

#: A path of a trace, a trajectory, or messages as :meth:`Trajectory.from_messages` takes them.
Trace = Union[Path, Trajectory, Sequence[Any], Mapping[str, Any]]
#: Calls in order, or what ``expect`` of a spec holds.
Expect = Union[Sequence[Any], Mapping[str, Any]]

#: How wide the lines of a message are.
WIDTH = 88


class TrajectoryError(AssertionError):
    """A trajectory is not what was expected, or nobody can tell.

    ``outcomes`` are the outcomes as ``toolmark grade --format json`` has them.
    """

    def __init__(self, message: str, outcomes: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(message)
        self.outcomes = list(outcomes)


def assert_trajectory(
    trace: Trace,
    expect: Optional[Expect] = None,
    *,
    graders: Optional[Sequence[Any]] = None,
    spec: Union[Path, Mapping[str, Any], None] = None,
    threshold: Optional[float] = None,
    profile: Optional[str] = None,
    format: Optional[str] = None,
    judge: bool = False,
    options: Sequence[str] = (),
) -> None:
    """Assert that an agent made the calls that were expected of it.

    ``trace`` is a path, a trajectory, or messages. ``expect`` is a list of calls in order
    (other calls may come between them), or a mapping with what ``expect`` of a
    ``toolmark.yaml`` holds: ``sequence``, ``calls``, ``forbidden``, ``never`` …
    ``graders`` are further graders, and ``spec`` is a whole spec instead of both.

    The message of a failure is the alignment of what was expected with what was done.
    A verdict of unknown is a failure too: nothing shows that the expectation is met.

    >>> session = SAMPLES / "claude-code" / "flaky-test.jsonl"
    >>> assert_trajectory(session, expect=["Read", "Edit", "Bash"])
    >>> assert_trajectory(session, expect={"forbidden": ["Edit"]})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    toolmark.testing.TrajectoryError: the trajectory failed
    ...
    """
    grade_trace(
        trace,
        expect,
        graders=graders,
        spec=spec,
        threshold=threshold,
        profile=profile,
        format=format,
        judge=judge,
        options=options,
    )


def grade_trace(
    trace: Trace,
    expect: Optional[Expect] = None,
    *,
    graders: Optional[Sequence[Any]] = None,
    spec: Union[Path, Mapping[str, Any], None] = None,
    threshold: Optional[float] = None,
    profile: Optional[str] = None,
    format: Optional[str] = None,
    judge: bool = False,
    options: Sequence[str] = (),
) -> dict[str, Any]:
    """The report of a trace that passes; any other raises :class:`TrajectoryError`."""
    if spec is None and expect is None and graders is None:
        raise TypeError("nothing is expected: name expect, graders or a spec")
    if spec is not None and (expect is not None or graders is not None):
        raise TypeError("a spec says what is expected: name it, or expect and graders")
    with tempfile.TemporaryDirectory(prefix="toolmark-") as directory:
        arguments = ["grade", _spec(spec, expect, graders, directory)]
        name, read_as = _trace(trace, format, directory)
        arguments += [name, "--color=never", "--report=json=report.json"]
        arguments += [f"--as={read_as}"] if read_as else []
        arguments += [] if threshold is None else [f"--threshold={threshold}"]
        arguments += [] if profile is None else [f"--profile={profile}"]
        arguments += [] if judge else ["--no-judge"]
        finished = run([*arguments, *options], cwd=directory, width=WIDTH)
        with open(os.path.join(directory, "report.json"), encoding="utf-8") as file:
            report: dict[str, Any] = json.load(file)
    text = finished.stdout.decode("utf-8").strip()
    if finished.code == 1:
        raise TrajectoryError(f"the trajectory failed\n\n{text}", report["outcomes"])
    if finished.diagnostics:
        # A pass over what was not read as a whole is none.
        raise UnreadError(finished.stderr.strip(), parse_diagnostics(finished.stderr))
    if finished.code != 0:
        raise TrajectoryError(f"the verdict is unknown\n\n{text}", report["outcomes"])
    return report


def _spec(
    spec: Union[Path, Mapping[str, Any], None],
    expect: Optional[Expect],
    graders: Optional[Sequence[Any]],
    directory: str,
) -> str:
    if spec is not None and not isinstance(spec, Mapping):
        return os.path.abspath(os.fspath(spec))
    if spec is None:
        whole: dict[str, Any] = {}
        if expect is not None:
            whole["expect"] = expect if isinstance(expect, Mapping) else {"sequence": list(expect)}
        if graders is not None:
            whole["graders"] = list(graders)
        spec = whole
    with open(os.path.join(directory, "expected.yaml"), "w", encoding="utf-8") as file:
        # YAML takes JSON as it is.
        json.dump(spec, file, ensure_ascii=False)
    return "expected.yaml"


def _trace(trace: Trace, format: Optional[str], directory: str) -> tuple[str, Optional[str]]:
    """The name of the file, and the format to read it as, where it is known."""
    if isinstance(trace, (str, os.PathLike)):
        return os.path.abspath(os.fspath(trace)), format
    if isinstance(trace, Trajectory):
        name, text, read_as = "trajectory.jsonl", trace.to_json().encode("utf-8"), None
    else:
        name = "messages.json"
        text, read_as = to_json(trace, format)
    with open(os.path.join(directory, name), "wb") as file:
        file.write(text)
    return name, read_as


class TrajectoryAssertions:
    """For ``unittest``: a test case with this class has :meth:`assertTrajectory`.

    >>> import unittest
    >>> class Refunds(unittest.TestCase, TrajectoryAssertions):
    ...     def test_reads_first(self):
    ...         self.assertTrajectory(SAMPLES / "claude-code" / "flaky-test.jsonl", ["Read"])
    >>> Refunds("test_reads_first").run().wasSuccessful()
    True
    """

    def assertTrajectory(
        self, trace: Trace, expect: Optional[Expect] = None, **options: Any
    ) -> None:
        """:func:`assert_trajectory`, with the same parameters."""
        __tracebackhide__ = True
        assert_trajectory(trace, expect, **options)
