"""Parts of many files, as the workers of a cluster have them."""

from __future__ import annotations

from pathlib import Path

import pytest

import toolmark

pyarrow = pytest.importorskip("pyarrow")

from toolmark._merge import count_issue, distinct_occurrences, number_trials  # noqa: E402
from toolmark._parts import Command, batches_of, spec_files  # noqa: E402


def files_of(samples: Path) -> list[Path]:
    return sorted(path for path in samples.rglob("*") if path.is_file())


def test_contents_have_the_names_of_their_paths(samples: Path) -> None:
    whole = toolmark.check(samples, result="arrow").replace_schema_metadata(None)
    given = [(f"s3a:/{path}", path.read_bytes()) for path in files_of(samples)]
    made = Command("check").contents(given)
    assert {name[:4] for name in made.column("file").to_pylist()} == {"s3a:"}
    assert made.drop(["file"]) == whole.drop(["file"])
    assert Command("check").paths(str(path) for path in files_of(samples)) == whole


def test_nothing_has_the_schema_of_something(samples: Path) -> None:
    files, name = spec_files(samples / "toolmark.yaml")
    for command in (
        Command("stats"),
        Command("feed"),
        Command("grade", ("--no-judge",), files, name),
    ):
        empty = command.paths([])
        assert empty.schema == command.paths([str(samples)]).schema
        assert all(row["trajectory"] is None for row in empty.to_pylist() if "trajectory" in row)


def test_occurrences_know_their_issues(samples: Path) -> None:
    rows = Command("feed").paths([str(samples)]).to_pylist()
    titles = {issue["id"]: issue["title"] for issue in toolmark.feed(samples)}
    assert {row["issue"]: row["title"] for row in rows} == titles


def test_what_cannot_be_read_fails_the_part(tmp_path: Path) -> None:
    with pytest.raises(toolmark.UnreadError):
        Command("check").paths([str(tmp_path / "none.jsonl")])
    assert Command("check", unread="ignore").paths([str(tmp_path / "none.jsonl")]).num_rows == 0


def test_a_name_cannot_leave_the_directory(samples: Path, tmp_path: Path) -> None:
    text = (samples / "claude-code" / "flaky-test.jsonl").read_bytes()
    table = Command("stats").contents([("../../../x/flaky-test.jsonl", text)])
    assert table.column("file").to_pylist() == ["../../../x/flaky-test.jsonl"]


def test_no_content_takes_the_place_of_another(samples: Path) -> None:
    text = (samples / "claude-code" / "flaky-test.jsonl").read_bytes()
    # Keys of an object store, where a key may be the directory of another.
    keys = [
        "s3://b/x.jsonl",
        "s3://b/x.jsonl",
        "s3://b/x.jsonl/y.jsonl",
        "s3://b/a/../z",
        "s3://b/a/__/z",
    ]
    table = Command("stats").contents((key, text) for key in keys)
    assert sorted(table.column("file").to_pylist()) == sorted(keys)
    assert table.column("tool_calls").to_pylist() == [5] * len(keys)


def rows(columns: str, *values: str) -> pyarrow.Table:
    names = columns.split()
    made = [dict(zip(names, line.split())) for line in values]
    for row in made:
        for name in ("trial", "line", "column"):
            if name in row:
                row[name] = int(row[name])
        for name, value in row.items():
            row[name] = None if value == "-" else value
    return pyarrow.Table.from_pylist(made)


def test_trials_of_parts_are_numbered_by_their_files() -> None:
    case = rows("case trial trajectory", "a 1 c.jsonl", "a 1 b.jsonl", "a 1 -", "a 2 c.jsonl")
    numbered = [(row["trial"], row["trajectory"]) for row in number_trials(case).to_pylist()]
    assert numbered == [(1, "b.jsonl"), (2, "c.jsonl"), (3, "c.jsonl")]
    nobody = rows("case trial trajectory", "a 1 -", "a 1 -")
    assert number_trials(nobody).num_rows == 1


def test_an_occurrence_in_two_files_counts_once() -> None:
    columns = "issue session call_id file line column kind recovery time title"
    session = rows(
        columns,
        "f1 s c1 b.jsonl 1 1 failure open - t",
        "f2 s c1 a.jsonl 1 1 failure recovered - t",
        "g1 s c1 a.jsonl 1 1 finding not-asked - t",
        "g2 s c1 a.jsonl 1 1 finding not-asked - t",
        "g2 s c1 b.jsonl 1 1 finding not-asked - t",
    )
    kept = [(row["issue"], row["file"]) for row in distinct_occurrences(session).to_pylist()]
    # What shows more of what followed is believed; findings are as many as there are.
    assert kept == [("f2", "a.jsonl"), ("g1", "a.jsonl"), ("g2", "a.jsonl")]


def test_issues_know_when_they_were_seen() -> None:
    columns = "issue kind session time title category subtype code role template"
    about = "x x - x x"
    issue = rows(
        columns,
        f"i failure s1 2026-02-06T09:59:02.5Z b {about}",
        f"i failure s2 2026-02-06T09:59:02Z a {about}",
        f"i failure s2 - b {about}",
    )
    (row,) = count_issue(issue).to_pylist()
    assert (row["count"], row["sessions"], row["title"]) == (3, 2, "b")
    assert (row["first_seen"], row["last_seen"]) == (
        "2026-02-06T09:59:02Z",
        "2026-02-06T09:59:02.5Z",
    )


def test_groups_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolmark._parts.MAX_BYTES", 10)
    files = [(str(n), b"x" * n) for n in (4, 4, 4, 20, 1)]
    assert [[name for name, _ in group] for group in batches_of(files)] == [
        ["4", "4"],
        ["4"],
        ["20"],
        ["1"],
    ]
