"""Arrow tables and data frames, with the packages that read them."""

from __future__ import annotations

from pathlib import Path

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
        ("outcomes", lambda samples: toolmark.grade(samples / "toolmark.yaml", samples, result="arrow")),
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


def test_pandas(samples: Path) -> None:
    pytest.importorskip("pandas")
    frame = toolmark.stats(samples, result="pandas")
    assert frame.groupby("format")["tool_calls"].sum()["claude-code"] == 17


def test_duckdb(samples: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    import pyarrow.parquet as parquet

    parquet.write_table(toolmark.check(samples, result="arrow"), tmp_path / "findings.parquet")
    query = f"select code, count(*) from '{tmp_path}/findings.parquet' group by 1 order by 1"
    rows = duckdb.sql(query).fetchall()
    assert dict(rows)["R401"] == 2


def test_polars(samples: Path, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(toolmark.feed(samples, result="arrow"))
    assert frame.filter(polars.col("kind") == "failure")["count"].sum() == sum(
        issue["count"] for issue in toolmark.feed(samples, kind="failure")
    )
