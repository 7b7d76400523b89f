"""toolmark over Ray Data: datasets of paths or contents in, datasets of rows out.

Example::

    files = ray.data.read_binary_files("s3://bucket/sessions", include_paths=True)
    toolmark.ray.check(files).groupby("code").count().show()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

from ._merge import count_issue, distinct_occurrences, number_trials
from ._parts import Command, spec_files
from ._run import Unread

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset


def check(
    files: Dataset,
    *,
    table: str = "findings",
    options: Iterable[str] = (),
    unread: Unread = "raise",
    batch_size: int = 256,
    **map_options: Any,
) -> Dataset:
    """A row per finding, or per call with ``table="calls"``.

    ``files`` has a column ``path``, and ``bytes`` where Ray has read the files.
    """
    rows = [f"--rows={table}"] if table != "findings" else []
    command = Command("check", (*rows, *options), unread=unread)
    return _apply(files, command, batch_size, map_options)


def stats(
    files: Dataset, *, options: Iterable[str] = (), batch_size: int = 256, **map_options: Any
) -> Dataset:
    """A row per file. Files that cannot be read have a row too, with the reason in ``error``."""
    command = Command("stats", tuple(options), unread="ignore")
    return _apply(files, command, batch_size, map_options)


def grade(
    files: Dataset,
    spec: Any,
    *,
    spec_needs: Iterable[Any] = (),
    options: Iterable[str] = (),
    unread: Unread = "raise",
    batch_size: int = 256,
    **map_options: Any,
) -> Dataset:
    """A row per outcome. A case that no file belongs to is unknown, once.

    ``spec`` is a file or a mapping, ``spec_needs`` are files that it names. Trials are
    numbered by the names of their files. Judges are not asked.
    """
    contents, name = spec_files(spec, spec_needs)
    command = Command("grade", ("--no-judge", *options), contents, name, unread)
    rows = _apply(files, command, batch_size, map_options)
    return rows.groupby("case").map_groups(number_trials, batch_format="pyarrow")


def occurrences(
    files: Dataset,
    *,
    options: Iterable[str] = (),
    unread: Unread = "raise",
    batch_size: int = 256,
    **map_options: Any,
) -> Dataset:
    """A row per occurrence of an issue, with what the issue is.

    A call that is in several files, as in those of a session that was resumed, counts once.
    """
    command = Command("feed", tuple(options), unread=unread)
    rows = _apply(files, command, batch_size, map_options)
    return rows.groupby("session").map_groups(distinct_occurrences, batch_format="pyarrow")


def feed(files: Dataset, **options: Any) -> Dataset:
    """A row per issue: how often, in how many sessions, since when.

    The parameters are those of :func:`occurrences`.
    """
    rows = occurrences(files, **options)
    return rows.groupby("issue").map_groups(count_issue, batch_format="pyarrow")


def _apply(files: Dataset, command: Command, batch_size: int, options: dict[str, Any]) -> Dataset:
    def work(batch: pyarrow.Table) -> pyarrow.Table:
        paths = batch.column("path").to_pylist()
        if "bytes" in batch.column_names:
            return command.contents(zip(paths, batch.column("bytes").to_pylist()))
        return command.paths(paths)

    return files.map_batches(work, batch_format="pyarrow", batch_size=batch_size, **options)
