"""toolmark over Ray Data: datasets of paths or contents in, datasets of rows out.

    files = ray.data.read_binary_files("s3://bucket/sessions", include_paths=True)
    toolmark.ray.check(files).groupby("code").count().show()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

from ._parts import Command
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


def _apply(files: Dataset, command: Command, batch_size: int, options: dict[str, Any]) -> Dataset:
    def work(batch: pyarrow.Table) -> pyarrow.Table:
        paths = batch.column("path").to_pylist()
        if "bytes" in batch.column_names:
            return command.contents(zip(paths, batch.column("bytes").to_pylist()))
        return command.paths(paths)

    return files.map_batches(work, batch_format="pyarrow", batch_size=batch_size, **options)
