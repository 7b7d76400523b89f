"""The commands, on the samples and on what cannot be read."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

import toolmark
from toolmark import _run, _tables


def test_stats_has_a_row_per_file(samples: Path) -> None:
    rows = toolmark.stats(samples)
    assert [row["format"] for row in rows] == [
        "atif",
        "claude-code",
        "claude-code",
        "codex-rollout",
    ]
    assert all(row["schema_version"] == 1 for row in rows)
    assert rows.verdict is None and rows.diagnostics == []


def test_check_has_findings_with_evidence(samples: Path) -> None:
    rows = toolmark.check(samples)
    assert rows.verdict == "fail"
    assert rows.summary["schema_version"] == 1
    assert rows[0]["evidence"][0]["call"]["tool"] == "Bash"
    assert rows.notes == [f"skipped 1 file that is not a trace: {samples / 'toolmark.yaml'}"]


def test_gates_are_beside_the_findings(samples: Path) -> None:
    rows = toolmark.check(samples / "claude-code" / "flaky-test.jsonl", gate="arguments >= 0.5")
    assert [row["type"] for row in rows.others] == ["gate"]


def test_grade_takes_a_file_and_a_mapping(samples: Path) -> None:
    rows = toolmark.grade(samples / "toolmark.yaml", samples)
    assert {row["case"]: row["verdict"] for row in rows}["disk-full"] == "fail"
    assert rows.verdict == "fail" and rows.summary["passed"] == 2
    only = toolmark.grade(samples / "toolmark.yaml", samples, case="flaky-*")
    assert [row["case"] for row in only] == ["flaky-test"]


def test_feed_and_its_occurrences(samples: Path) -> None:
    issues = toolmark.feed(samples, occurrences=True)
    counted = {issue["id"]: issue["count"] for issue in issues}
    for row in issues.others:
        counted[row["issue"]] -= 1
    assert set(counted.values()) == {0}


def test_lists_and_parts_are_the_whole(samples: Path, tmp_path: Path) -> None:
    files = sorted(str(path) for path in samples.rglob("*") if path.is_file())
    (tmp_path / "list").write_text("\n".join(files))
    whole = toolmark.stats(samples)
    assert toolmark.stats(files_from=tmp_path / "list") == whole
    parts = [toolmark.stats(samples, shard=f"{part}/3") for part in (1, 2, 3)]
    assert sorted(chain.from_iterable(parts), key=itemgetter("file")) == list(whole)
    findings = [toolmark.check(samples, shard=f"{part}/3") for part in (1, 2, 3)]
    key = itemgetter("fingerprint")
    assert sorted(chain.from_iterable(findings), key=key) == sorted(
        toolmark.check(samples), key=key
    )
    # More parts than files: some have nothing, and say so without an error.
    empty = toolmark.check(samples, shard="9/9")
    assert empty == [] and empty.summary["files"] == 0


def test_what_cannot_be_read_raises_with_a_place(samples: Path, tmp_path: Path) -> None:
    lines = (samples / "claude-code" / "flaky-test.jsonl").read_text().splitlines()
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join([*lines[:3], "{broken", *lines[3:]]) + "\n")
    with pytest.raises(toolmark.UnreadError) as caught:
        toolmark.stats(path)
    (one,) = caught.value.diagnostics
    assert (one.severity, one.file, one.line) == ("skipped", str(path), 4)
    # What could be read is there.
    assert caught.value.result[0]["bad_lines"] == 1
    with pytest.warns(UserWarning, match="not JSON"):
        assert len(toolmark.stats(path, unread="warn")) == 1
    ignored = toolmark.check(path, unread="ignore")
    assert len(ignored.diagnostics) == 1
    with pytest.raises(ValueError, match="expected 'raise'"):
        toolmark.stats(path, unread="never")  # type: ignore[call-overload]


def test_nothing_that_can_be_read_raises(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    with pytest.raises(toolmark.UnreadError, match="unrecognized trace format"):
        toolmark.check(tmp_path / "a.json")
    with pytest.raises(toolmark.UnreadError, match="no such file"):
        toolmark.stats(tmp_path / "none.jsonl")


def test_wrong_use_raises(samples: Path) -> None:
    with pytest.raises(toolmark.UsageError, match="--nope") as caught:
        toolmark.check(samples, options=["--nope"])
    assert caught.value.diagnostics[0].severity == "error"
    with pytest.raises(toolmark.UsageError, match="nothing was graded"):
        toolmark.grade({"expect": {"sequense": []}}, samples)
    with pytest.raises(ValueError, match="files_from"):
        toolmark.stats(["x" * 100] * 20_000)
    with pytest.raises(ValueError, match="expected 'rows'"):
        toolmark.stats(samples, result="polars")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="needs result"):
        toolmark.check(samples, table="calls")


def test_a_name_that_looks_like_an_option(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (samples / "claude-code" / "flaky-test.jsonl").read_bytes()
    (tmp_path / "--jobs").write_bytes(text)
    monkeypatch.chdir(tmp_path)
    assert len(toolmark.stats("--jobs")) == 1


def test_convert_writes_a_file(samples: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    trace = samples / "claude-code" / "flaky-test.jsonl"
    assert toolmark.convert(trace, "atif", output=target) == ""
    assert json.loads(target.read_text())["steps"]


def test_convert_takes_a_list_of_files(samples: Path, tmp_path: Path) -> None:
    listed = tmp_path / "names"
    listed.write_text(f"{samples / 'claude-code' / 'flaky-test.jsonl'}\n")
    text = toolmark.convert((), "toolmark", files_from=listed, shard="1/1")
    assert json.loads(text)["steps"]


def test_options_of_the_command_line_are_passed_on(samples: Path) -> None:
    trace = samples / "claude-code" / "flaky-test.jsonl"
    assert json.loads(toolmark.show(trace, options=["--format=json"]))
    assert toolmark.convert(trace, "toolmark", options=["--as=claude-code"])
    with pytest.raises(toolmark.ToolmarkError, match="--no-such-option"):
        toolmark.show(trace, options=["--no-such-option"])


def test_show_is_the_timeline(samples: Path) -> None:
    text = toolmark.show(samples / "claude-code" / "disk-full.jsonl", step=5)
    assert "rm -rf dist" in text and "\x1b" not in text


def test_the_binary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = toolmark.find_binary()
    monkeypatch.setenv("TOOLMARK_BINARY", str(tmp_path / "none"))
    with pytest.raises(toolmark.BinaryNotFound, match="TOOLMARK_BINARY names"):
        toolmark.find_binary()
    monkeypatch.delenv("TOOLMARK_BINARY")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(toolmark.BinaryNotFound, match="reinstall"):
        toolmark.find_binary()
    os.symlink(known, tmp_path / "toolmark")
    assert toolmark.find_binary() == str(tmp_path / "toolmark")


def stand_in(directory: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in the place of the binary."""
    binary = directory / "toolmark"
    binary.write_text(f"#!{sys.executable}\nimport os, sys\n{script}", "utf-8")
    binary.chmod(0o755)
    monkeypatch.setenv("TOOLMARK_BINARY", str(binary))


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_rows_are_taken_while_the_binary_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than a pipe holds, on both sides: nobody may wait for the other.
    row = '{"type":"finding","code":"S101","message":"é' + "x" * 1000 + '"}\\n'
    script = f"""for _ in range(500):
    sys.stderr.write("note: one more\\n" * 100)
    sys.stdout.write('{row}')
print('{{"type":"scorecard","verdict":"fail"}}')
sys.exit(1)
"""
    stand_in(tmp_path, script, monkeypatch)
    rows = toolmark.check("sessions/")
    assert (len(rows), rows.verdict, rows[-1]["code"]) == (500, "fail", "S101")


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_a_row_may_be_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"""for length in (1, {3 * _run.BLOCK}, 2, {_run.BLOCK}, 3):
    sys.stdout.write('{{"type":"finding","message":"' + "é" * length + '"}}\\n')
print('{{"type":"scorecard","verdict":"fail"}}')
sys.exit(1)
"""
    stand_in(tmp_path, script, monkeypatch)
    rows = toolmark.check("sessions/")
    assert [len(row["message"]) for row in rows] == [1, 3 * _run.BLOCK, 2, _run.BLOCK, 3]
    assert rows.verdict == "fail"


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_a_binary_that_is_killed_is_not_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """sys.stdout.write('{"type":"finding","code":"S101"}\\\\n{"type":"fin')
sys.stdout.flush()
os.kill(os.getpid(), 9)
"""
    stand_in(tmp_path, script, monkeypatch)
    with pytest.raises(toolmark.ToolmarkError, match="ended with -9"):
        toolmark.check("sessions/")


def test_rows_are_the_same_with_and_without_orjson() -> None:
    line = '{"a":[1,2.5,null,true,"é\\u2028…"],"big":18446744073709551615,"in":{"b":{}}}'.encode()
    assert _tables._parse(line) == _tables._parse_plain(line) == json.loads(line)


@pytest.mark.parametrize("is_collecting", [True, False])
def test_the_collector_runs_again_after_the_last_thread(
    is_collecting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    was_collecting = gc.isenabled()
    together = threading.Barrier(2)
    first_left = threading.Event()
    seen: list[bool] = []

    def parse(text: bytes) -> list[dict[str, Any]]:
        # Both threads are inside. One leaves, and the other must still be left alone.
        together.wait(10)
        if text == b"[first]":
            return []
        assert first_left.wait(10)
        seen.append(gc.isenabled())
        return []

    def first() -> None:
        _tables.RowReader(None, None).take(b"first")
        first_left.set()

    monkeypatch.setattr(_tables, "_parse", parse)
    (gc.enable if is_collecting else gc.disable)()
    try:
        other = threading.Thread(target=first)
        other.start()
        _tables.RowReader(None, None).take(b"second")
        other.join()
        assert (seen, gc.isenabled()) == ([False], is_collecting)
        monkeypatch.setattr(_tables, "_parse", json.loads)
        with pytest.raises(ValueError):
            _tables.RowReader(None, None).take(b"{")
        assert gc.isenabled() == is_collecting
    finally:
        (gc.enable if was_collecting else gc.disable)()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_has_its_collector() -> None:
    script = """import gc, os
from toolmark import _tables
with _tables._COLLECTION_PAUSED:
    # As if another thread were inside, and this one forked.
    child = os.fork()
    if child == 0:
        was_freed = gc.isenabled()
        _tables.RowReader(None, None).take(b"{}")
        os._exit(0 if was_freed and gc.isenabled() else 1)
    assert os.waitpid(child, 0)[1] == 0
assert gc.isenabled()
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
