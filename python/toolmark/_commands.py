"""The commands: paths in, rows out."""

from __future__ import annotations

import json
import os
import tempfile
from typing import (
    TYPE_CHECKING,
    Any,
    Iterable,
    Literal,
    Mapping,
    Optional,
    Sequence,
    Union,
    overload,
)

from ._run import Finished, Path, Paths, Unread, names, run, settle
from ._tables import ResultKind, RowReader, Rows, from_parquet, to_pandas

if TYPE_CHECKING:
    import pandas
    import pyarrow

#: A spec: a file, or what would be in one.
Spec = Union[Path, Mapping[str, Any]]


@overload
def stats(
    paths: Paths = (),
    *,
    result: Literal["rows"] = "rows",
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> Rows: ...


@overload
def stats(
    paths: Paths = (),
    *,
    result: Literal["arrow"],
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> pyarrow.Table: ...


@overload
def stats(
    paths: Paths = (),
    *,
    result: Literal["pandas"],
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> pandas.DataFrame: ...


def stats(
    paths: Paths = (),
    *,
    result: ResultKind = "rows",
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> Any:
    """Count calls, failures, turns and tokens: one row per file.

    >>> rows = stats(SAMPLES / "claude-code")
    >>> [(row["tool_calls"], row["tool_errors"]) for row in rows]
    [(12, 5), (5, 0)]

    A number that the format does not record is ``None``. With ``result="arrow"`` or
    ``"pandas"`` the columns are those of the Parquet file (see the page on tables).

    Options that have no parameter here are passed in ``options``. Files and lines that
    cannot be read raise :class:`UnreadError`, unless ``unread`` is ``"warn"`` or
    ``"ignore"``; the diagnostics are in ``rows.diagnostics`` in any case.
    """
    arguments = ["stats", *_shared(paths, format, jobs, files_from, shard), *options]
    return _result(arguments, result, unread, None, None)


@overload
def check(
    paths: Paths = (),
    *,
    result: Literal["rows"] = "rows",
    select: Union[str, Iterable[str], None] = None,
    ignore: Union[str, Iterable[str], None] = None,
    min_confidence: Optional[str] = None,
    gate: Union[str, Iterable[str], None] = None,
    baseline: Optional[Path] = None,
    config: Optional[Path] = None,
    table: Literal["findings", "calls"] = "findings",
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> Rows: ...


@overload
def check(
    paths: Paths = (),
    *,
    result: Literal["arrow"],
    select: Union[str, Iterable[str], None] = None,
    ignore: Union[str, Iterable[str], None] = None,
    min_confidence: Optional[str] = None,
    gate: Union[str, Iterable[str], None] = None,
    baseline: Optional[Path] = None,
    config: Optional[Path] = None,
    table: Literal["findings", "calls"] = "findings",
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> pyarrow.Table: ...


@overload
def check(
    paths: Paths = (),
    *,
    result: Literal["pandas"],
    select: Union[str, Iterable[str], None] = None,
    ignore: Union[str, Iterable[str], None] = None,
    min_confidence: Optional[str] = None,
    gate: Union[str, Iterable[str], None] = None,
    baseline: Optional[Path] = None,
    config: Optional[Path] = None,
    table: Literal["findings", "calls"] = "findings",
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> pandas.DataFrame: ...


def check(
    paths: Paths = (),
    *,
    result: ResultKind = "rows",
    select: Union[str, Iterable[str], None] = None,
    ignore: Union[str, Iterable[str], None] = None,
    min_confidence: Optional[str] = None,
    gate: Union[str, Iterable[str], None] = None,
    baseline: Optional[Path] = None,
    config: Optional[Path] = None,
    table: Literal["findings", "calls"] = "findings",
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> Any:
    """Find what was wrong with the tool calls of sessions: one row per finding.

    >>> found = check(SAMPLES / "claude-code" / "disk-full.jsonl", select=["I"])
    >>> found.verdict, found[0]["code"], found[0]["place"]["line"]
    ('fail', 'I301', 20)
    >>> check(SAMPLES / "claude-code" / "flaky-test.jsonl").verdict
    'pass'

    ``gate`` is a threshold such as ``"recovery >= 0.8"``, several of them, or ``""`` for
    the default ones; the rows of gates are in ``rows.others``. With
    ``table="calls"`` and an Arrow or pandas result there is one row per call.
    Without paths, the newest sessions of this machine are checked.
    """
    arguments = ["check", *_shared(paths, format, jobs, files_from, shard)]
    arguments += _each("--select", select) + _each("--ignore", ignore)
    arguments += _one("--min-confidence", min_confidence) + _one("--config", config)
    arguments += [f"--gate={one}" if one else "--gate=" for one in _list(gate)]
    arguments += _one("--baseline", baseline) + _table(table, "findings", result)
    return _result([*arguments, *options], result, unread, "finding", "scorecard")


@overload
def grade(
    spec: Spec,
    paths: Paths = (),
    *,
    result: Literal["rows"] = "rows",
    profile: Optional[str] = None,
    threshold: Optional[float] = None,
    case: Union[str, Iterable[str], None] = None,
    judge: bool = False,
    table: Literal["outcomes", "graders"] = "outcomes",
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> Rows: ...


@overload
def grade(
    spec: Spec,
    paths: Paths = (),
    *,
    result: Literal["arrow"],
    profile: Optional[str] = None,
    threshold: Optional[float] = None,
    case: Union[str, Iterable[str], None] = None,
    judge: bool = False,
    table: Literal["outcomes", "graders"] = "outcomes",
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> pyarrow.Table: ...


@overload
def grade(
    spec: Spec,
    paths: Paths = (),
    *,
    result: Literal["pandas"],
    profile: Optional[str] = None,
    threshold: Optional[float] = None,
    case: Union[str, Iterable[str], None] = None,
    judge: bool = False,
    table: Literal["outcomes", "graders"] = "outcomes",
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> pandas.DataFrame: ...


def grade(
    spec: Spec,
    paths: Paths = (),
    *,
    result: ResultKind = "rows",
    profile: Optional[str] = None,
    threshold: Optional[float] = None,
    case: Union[str, Iterable[str], None] = None,
    judge: bool = False,
    table: Literal["outcomes", "graders"] = "outcomes",
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> Any:
    """Grade traces against a spec: one row per outcome.

    >>> graded = grade(SAMPLES / "toolmark.yaml", SAMPLES)
    >>> [(row["case"], row["verdict"]) for row in graded]
    [('disk-full', 'fail'), ('flaky-test', 'pass'), ('mean-depth', 'pass')]
    >>> spec = {"expect": {"sequence": ["Read", "Edit"]}}
    >>> grade(spec, SAMPLES / "claude-code" / "flaky-test.jsonl").verdict
    'pass'

    A spec is a file of any dialect, or a mapping with what a ``toolmark.yaml`` holds.
    Judges are asked only with ``judge=True``; without, their graders are unknown. With
    ``table="graders"`` and an Arrow or pandas result there is one row per grader.
    """
    with _as_file(spec) as path:
        arguments = ["grade", path, *_shared(paths, format, jobs, files_from, shard)]
        arguments += _one("--profile", profile) + _one("--threshold", threshold)
        arguments += _each("--case", case) + ([] if judge else ["--no-judge"])
        arguments += _table(table, "outcomes", result)
        return _result([*arguments, *options], result, unread, "outcome", "summary")


@overload
def feed(
    paths: Paths = (),
    *,
    result: Literal["rows"] = "rows",
    kind: Optional[Literal["failure", "finding"]] = None,
    occurrences: bool = False,
    state: Optional[Path] = None,
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> Rows: ...


@overload
def feed(
    paths: Paths = (),
    *,
    result: Literal["arrow"],
    kind: Optional[Literal["failure", "finding"]] = None,
    occurrences: bool = False,
    state: Optional[Path] = None,
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> pyarrow.Table: ...


@overload
def feed(
    paths: Paths = (),
    *,
    result: Literal["pandas"],
    kind: Optional[Literal["failure", "finding"]] = None,
    occurrences: bool = False,
    state: Optional[Path] = None,
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> pandas.DataFrame: ...


def feed(
    paths: Paths = (),
    *,
    result: ResultKind = "rows",
    kind: Optional[Literal["failure", "finding"]] = None,
    occurrences: bool = False,
    state: Optional[Path] = None,
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> Any:
    """Group failures and findings into issues: one row per issue.

    >>> issues = feed(SAMPLES, kind="failure")
    >>> issues[0]["title"], issues[0]["count"]
    ('JavaScript build fails: npm run', 3)

    With ``occurrences``, the occurrences are in ``rows.others``, and an Arrow or pandas
    result has one row per occurrence. ``state`` is the file of decisions about issues.
    """
    arguments = ["feed", *_shared(paths, format, jobs, files_from, shard)]
    arguments += _one("--kind", kind) + _one("--state", state)
    arguments += ["--occurrences"] if occurrences else []
    return _result([*arguments, *options], result, unread, "issue", None)


def show(
    trace: Path,
    *,
    run_id: Optional[str] = None,
    calls: bool = False,
    step: Optional[int] = None,
    full: bool = False,
    format: Optional[str] = None,
    options: Sequence[str] = (),
    width: int = 80,
) -> str:
    """One run as a timeline, as the command prints it.

    >>> print(show(SAMPLES / "claude-code" / "flaky-test.jsonl").splitlines()[2])
    1 turn · 4 steps · 5 calls · none failed
    """
    arguments = ["show", "--color=never", *names(trace), *_one("--run", run_id)]
    arguments += ["--calls"] if calls else []
    arguments += _one("--step", step) + (["--full"] if full else []) + _one("--as", format)
    return run([*arguments, *options], width=width).stdout.decode("utf-8")


def convert(
    paths: Paths,
    to: str,
    *,
    output: Optional[Path] = None,
    format: Optional[str] = None,
    jobs: Optional[int] = None,
    files_from: Optional[Path] = None,
    shard: Optional[str] = None,
    options: Sequence[str] = (),
    unread: Unread = "raise",
) -> str:
    """Traces in the format of another tool, or of toolmark itself.

    The text is returned, or written to ``output``. Secrets are not redacted: this changes
    the format, not the data.

    >>> text = convert(SAMPLES / "claude-code" / "flaky-test.jsonl", "openai")
    >>> [message["role"] for message in json.loads(text)["messages"]][:3]
    ['user', 'assistant', 'tool']
    """
    arguments = ["convert", "--to", to, *_shared(paths, format, jobs, files_from, shard)]
    finished = run([*arguments, *_one("--output", output), *options])
    text: str = settle(finished, finished.stdout.decode("utf-8"), unread)
    return text


def _result(
    arguments: list[str],
    result: ResultKind,
    unread: Unread,
    kind: Optional[str],
    last: Optional[str],
) -> Any:
    if result == "rows":
        reader = RowReader(kind, last)
        finished = run([*arguments, "--format=jsonl"], take_lines=reader.take)
        return settle(finished, reader.finish(finished.diagnostics), unread)
    if result not in ("arrow", "pandas"):
        raise ValueError(f"result is {result!r}; expected 'rows', 'arrow' or 'pandas'")
    finished = run([*arguments, "--format=parquet"])
    table = from_parquet(finished.stdout)
    return settle(finished, table if result == "arrow" else to_pandas(table), unread)


def _shared(
    paths: Paths,
    format: Optional[str],
    jobs: Optional[int],
    files_from: Optional[Path],
    shard: Optional[str],
) -> list[str]:
    found = names(paths) + _one("--as", format) + _one("--jobs", jobs)
    return found + _one("--files-from", files_from) + _one("--shard", shard)


def _one(option: str, value: Any) -> list[str]:
    return [] if value is None else [f"{option}={value}"]


def _list(values: Union[str, Iterable[str], None]) -> list[str]:
    if values is None:
        return []
    return [values] if isinstance(values, str) else list(values)


def _each(option: str, values: Union[str, Iterable[str], None]) -> list[str]:
    return [f"{option}={value}" for value in _list(values)]


def _table(table: str, usual: str, result: ResultKind) -> list[str]:
    if table == usual:
        return []
    if result == "rows":
        raise ValueError(f"table={table!r} needs result='arrow' or 'pandas'")
    return [f"--rows={table}"]


class _as_file:
    """A spec as a file, for as long as it is needed."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.directory: Optional[tempfile.TemporaryDirectory[str]] = None

    def __enter__(self) -> str:
        if not isinstance(self.spec, Mapping):
            return names(self.spec)[0]
        self.directory = tempfile.TemporaryDirectory(prefix="toolmark-")
        path = os.path.join(self.directory.name, "toolmark.yaml")
        with open(path, "w", encoding="utf-8") as file:
            # YAML takes JSON as it is.
            json.dump(self.spec, file)
        return path

    def __exit__(self, *_: object) -> None:
        if self.directory is not None:
            self.directory.cleanup()


__all__ = ["Finished", "Spec", "check", "convert", "feed", "grade", "show", "stats"]
