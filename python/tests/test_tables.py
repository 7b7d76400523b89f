"""Arrow tables and data frames, with the packages that read them."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import toolmark

pyarrow = pytest.importorskip("pyarrow")


def test_arrow_and_rows_agree(samples: Path) -> None:
    table = toolmark.check(samples, result="arrow")
    assert table.schema.metadata[b"toolmark.table"] == b"findings"
    assert table.schema.metadata[b"toolmark.schema_version"] == b"1"
    rows = toolmark.check(samples)
    assert table.column("fingerprint").to_pylist() == [row["fingerprint"] for row in rows]
    assert table.column("line").to_pylist() == [row["place"]["line"] for row in rows]


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("stats", lambda samples: toolmark.stats(samples, result="arrow")),
        ("calls", lambda samples: toolmark.check(samples, result="arrow", table="calls")),
        (
            "outcomes",
            lambda samples: toolmark.grade(samples / "toolmark.yaml", samples, result="arrow"),
        ),
        (
            "graders",
            lambda samples: toolmark.grade(
                samples / "toolmark.yaml", samples, result="arrow", table="graders"
            ),
        ),
        ("issues", lambda samples: toolmark.feed(samples, result="arrow")),
        ("occurrences", lambda samples: toolmark.feed(samples, result="arrow", occurrences=True)),
    ],
)
def test_every_table_says_what_it_is(name, made, samples: Path) -> None:
    table = made(samples)
    assert table.schema.metadata[b"toolmark.table"].decode() == name
    assert table.num_rows > 0
    # The page on tables has every column, with its type, in this order.
    page = (Path(__file__).parents[2] / "docs" / "tables.md").read_text("utf-8")
    section = page.split(f"## {name}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    words = {"string": "text", "int64": "integer", "double": "number", "bool": "boolean"}
    columns = [[f" `{field.name}` ", f" {words[str(field.type)]} "] for field in table.schema]
    assert lines == columns


def test_stats_of_what_is_not_recorded_are_null(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    trace = samples / "claude-code" / "flaky-test.jsonl"
    table = toolmark.stats([trace, tmp_path / "a.json"], result="arrow", unread="ignore")
    assert table.column("tool_calls").to_pylist() == [5, None]
    assert table.column("error").to_pylist()[0] is None
    assert "unrecognized" in table.column("error").to_pylist()[1]


def recipes(language: str) -> list[str]:
    """The recipes of the page on tables."""
    page = (Path(__file__).parents[2] / "docs" / "tables.md").read_text("utf-8")
    section = page.split("## DuckDB, Polars, pandas\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


@pytest.fixture
def tables(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with the files that the recipes read, written as the page says."""
    binary = toolmark.find_binary()
    reports = {
        "stats.parquet": ["stats", str(samples), "--format=parquet"],
        "findings.parquet": ["check", str(samples), "--format=parquet"],
        "calls.parquet": ["check", str(samples), "--rows=calls", "--format=parquet"],
    }
    for name, command in reports.items():
        made = subprocess.run([binary, *command], capture_output=True, check=False)
        (tmp_path / name).write_bytes(made.stdout)
    monkeypatch.chdir(tmp_path)


def last_value(code: str) -> Any:
    """What the last expression of a recipe is."""
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(ast.Module(before, []), "recipe", "exec"), names)
    return eval(compile(ast.Expression(last.value), "recipe", "eval"), names)


def test_the_recipe_of_duckdb(tables: None, samples: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    (recipe,) = recipes("sql")
    rows = duckdb.sql(recipe).fetchall()
    errors = [row for row in toolmark.check(samples) if row["severity"] == "error"]
    assert sum(count for _, _, count in rows) == len(errors) > 0


def test_the_recipe_of_polars(tables: None, samples: Path) -> None:
    polars = pytest.importorskip("polars")
    (recipe,) = [code for code in recipes("python") if "polars" in code]
    frame = last_value(recipe)
    assert frame["len"].sum() == sum(row["tool_calls"] for row in toolmark.stats(samples))
    assert 0 < frame.filter(polars.col("tool") == "Bash")["failed"].item() < 1


def test_the_recipe_of_pandas(tables: None, samples: Path) -> None:
    pytest.importorskip("pandas")
    (recipe,) = [code for code in recipes("python") if "pandas" in code]
    frame = last_value(recipe)
    assert frame.loc["claude-code", "tool_calls"] == 17
    # Without a file in between.
    direct = toolmark.stats(samples, result="pandas")
    assert direct.groupby("format")["tool_calls"].sum()["claude-code"] == 17


def test_tables_have_no_threads_that_outlive_them(samples: Path) -> None:
    """A process that has read a table ends as it should, however busy the machine is."""
    code = "import sys, toolmark; toolmark.check(sys.argv[1], result='arrow'); print('pyarrow.dataset' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(Path(toolmark.__file__).parents[1])}
    said = subprocess.run(
        [sys.executable, "-c", code, str(samples)], capture_output=True, text=True, env=environment
    )
    assert (said.returncode, said.stdout) == (0, "False\n"), said.stderr
