"""Parts of many files, as the workers of a cluster have them."""

from __future__ import annotations

from pathlib import Path

import pytest

import toolmark

pytest.importorskip("pyarrow")

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
    for command in (Command("stats"), Command("feed"), Command("grade", ("--no-judge",), files, name)):
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


def test_groups_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolmark._parts.MAX_BYTES", 10)
    files = [(str(n), b"x" * n) for n in (4, 4, 4, 20, 1)]
    assert [[name for name, _ in group] for group in batches_of(files)] == [["4", "4"], ["4"], ["20"], ["1"]]
