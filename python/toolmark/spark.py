"""toolmark over Spark: data frames of paths or contents in, data frames of rows out.

A data frame has a column ``path`` (files that every worker can open), or also a column
``content``, as Spark's ``binaryFile`` source has it for object stores. One process per
partition reads its files; Spark does the rest.

    files = spark.read.format("binaryFile").load("s3a://bucket/sessions/*.jsonl")
    toolmark.spark.check(files).groupBy("code").count().show()

The package is needed where the driver and the workers are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional

from ._merge import ISSUE, RECOVERIES
from ._parts import Command, batches_of, spec_files
from ._run import Unread

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame


def stats(files: DataFrame, *, options: Iterable[str] = ()) -> DataFrame:
    """A row per file. Files that cannot be read have a row too, with the reason in ``error``."""
    return _apply(files, Command("stats", tuple(options), unread="ignore"))


def check(
    files: DataFrame,
    *,
    table: str = "findings",
    options: Iterable[str] = (),
    unread: Unread = "raise",
) -> DataFrame:
    """A row per finding, or per call with ``table="calls"``.

    A file that cannot be read fails the job, unless ``unread`` is ``"ignore"``;
    :func:`stats` lists such files with the reason.
    """
    rows = [f"--rows={table}"] if table != "findings" else []
    return _apply(files, Command("check", (*rows, *options), unread=unread))


def grade(
    files: DataFrame,
    spec: Any,
    *,
    spec_needs: Iterable[Any] = (),
    options: Iterable[str] = (),
    unread: Unread = "raise",
) -> DataFrame:
    """A row per outcome. A case that no file belongs to is unknown, once.

    ``spec`` is a file or a mapping, ``spec_needs`` are files that it names. Trials are
    numbered by the names of their files. Judges are not asked.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    contents, name = spec_files(spec, spec_needs)
    command = Command("grade", ("--no-judge", *options), contents, name, unread)
    rows = _apply(files, command)
    graded = rows.where(f.col("trajectory").isNotNull())
    # Every partition says of most cases that it has no trace of them.
    without = rows.where(f.col("trajectory").isNull()).dropDuplicates(["case"])
    without = without.join(graded.select("case").distinct(), "case", "left_anti")
    order = Window.partitionBy("case").orderBy("trajectory", "trial")
    numbered = graded.withColumn("trial", f.row_number().over(order).cast("bigint"))
    return numbered.unionByName(without.select(*numbered.columns))


def occurrences(
    files: DataFrame, *, options: Iterable[str] = (), unread: Unread = "raise"
) -> DataFrame:
    """A row per occurrence of an issue, with what the issue is.

    A call that is in several files, as in those of a session that was resumed, counts once.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    rows = _apply(files, Command("feed", tuple(options), unread=unread))
    # As `distinct_occurrences` decides it, in the engine's own words.
    rank = f.coalesce(*(f.when(f.col("recovery") == w, n) for n, w in enumerate(RECOVERIES)))
    # A failed call is one issue; findings about a call are as many as there are.
    distinct = f.when(f.col("kind") == "finding", f.col("issue")).otherwise(f.lit(""))
    same = Window.partitionBy("session", "call_id", "kind", distinct)
    order = same.orderBy(rank.desc(), "file", "line", "column", "issue")
    numbered = rows.withColumn("_first", f.row_number().over(order))
    return numbered.where(f.col("_first") == 1).drop("_first")


def feed(
    files: DataFrame,
    *,
    approximate: bool = False,
    options: Iterable[str] = (),
    unread: Unread = "raise",
) -> DataFrame:
    """A row per issue: how often, in how many sessions, since when.

    The id of an issue depends on nothing but its occurrences, so the counts of partitions
    add up. With ``approximate``, sessions are estimated, which needs no shuffle of their ids.
    """
    from pyspark.sql import functions as f

    rows = occurrences(files, options=options, unread=unread)
    count_sessions = f.approx_count_distinct if approximate else f.count_distinct
    about = [f.min(name).alias(name) for name in ISSUE if name != "title"]
    # A fraction of a second may be missing, and Z sorts behind a point.
    time = f.regexp_replace("time", "Z$", "")
    return rows.groupBy(f.col("issue").alias("id"), "kind").agg(
        *about,
        f.mode("title", True).alias("title"),
        f.count(f.lit(1)).alias("count"),
        count_sessions("session").alias("sessions"),
        f.concat(f.min(time), f.lit("Z")).alias("first_seen"),
        f.concat(f.max(time), f.lit("Z")).alias("last_seen"),
    )


def _apply(files: DataFrame, command: Command) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema

    columns = files.columns
    if "path" not in columns:
        raise ValueError(f"the data frame has no column path, only {', '.join(columns)}")
    has_content = "content" in columns
    wanted = files.select("path", "content") if has_content else files.select("path")
    schema = from_arrow_schema(command.empty().schema)
    return wanted.mapInArrow(_worker(command, has_content), schema)


def _worker(
    command: Command, has_content: bool
) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        if has_content:
            files = (
                (path.as_py(), content.as_py())
                for batch in batches
                for path, content in zip(batch.column("path"), batch.column("content"))
            )
            for group in batches_of(files):
                yield from command.contents(group).to_batches()
        else:
            paths = [path.as_py() for batch in batches for path in batch.column("path")]
            yield from command.paths([_local(path) for path in paths]).to_batches()

    return work


def _local(path: Optional[str]) -> str:
    """A path as the file system of a worker has it."""
    path = path or ""
    return path[len("file:") :].replace("//", "/", 1) if path.startswith("file:") else path
