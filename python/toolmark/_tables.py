"""Results as rows, Arrow tables and data frames."""

from __future__ import annotations

import gc
import json
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, Literal, Optional

from ._run import Diagnostic

if TYPE_CHECKING:
    import pyarrow

#: What a command returns: rows with everything, or a table with the columns of the
#: Parquet files.
ResultKind = Literal["rows", "arrow", "pandas"]


class Rows(List[dict[str, Any]]):
    """Rows, and what there is to say about all of them.

    >>> rows = Rows([{"code": "S101"}], verdict="fail")
    >>> rows[0]["code"], rows.verdict, len(rows)
    ('S101', 'fail', 1)
    """

    def __init__(
        self,
        rows: Iterable[dict[str, Any]] = (),
        *,
        verdict: Optional[str] = None,
        summary: Optional[dict[str, Any]] = None,
        others: Iterable[dict[str, Any]] = (),
        diagnostics: Iterable[Diagnostic] = (),
    ) -> None:
        super().__init__(rows)
        #: ``pass``, ``fail`` or ``unknown``, where the command has a verdict.
        self.verdict = verdict
        #: The last line of the command: the scorecard of ``check``, the summary of ``grade``.
        self.summary: dict[str, Any] = summary or {}
        #: Lines that are no rows: gates and answers of judges, or occurrences of issues.
        self.others: list[dict[str, Any]] = list(others)
        #: What could not be read.
        self.diagnostics: list[Diagnostic] = list(diagnostics)

    @property
    def notes(self) -> list[str]:
        """What the reader should know besides."""
        return list(self.summary.get("notes", []))


class RowReader:
    """Takes JSON lines, and makes rows of them: those of one type, and the last line apart.

    >>> reader = RowReader("finding", "scorecard")
    >>> reader.take(b'{"type":"finding","code":"S101"}')
    >>> reader.take(b'{"type":"finding","code":"S102"}\\n{"type":"scorecard","verdict":"fail"}')
    >>> rows = reader.finish([])
    >>> [row["code"] for row in rows], rows.verdict
    (['S101', 'S102'], 'fail')
    """

    def __init__(self, kind: Optional[str], last: Optional[str]) -> None:
        self._kind = kind
        self._last = last
        self._rows: list[dict[str, Any]] = []
        self._others: list[dict[str, Any]] = []
        self._summary: Optional[dict[str, Any]] = None

    def take(self, lines: bytes) -> None:
        """Parse lines."""
        # One array of all lines: then the names of members are made once, not per line.
        array = b"[" + lines.replace(b"\n", b",") + b"]"
        with _COLLECTION_PAUSED:
            values = _parse(array)
        if self._kind is None:
            self._rows += values
            return
        for value in values:
            kind = value.get("type")
            if kind == self._kind:
                self._rows.append(value)
            elif kind == self._last:
                self._summary = value
            else:
                self._others.append(value)

    def finish(self, diagnostics: Iterable[Diagnostic]) -> Rows:
        """All rows that were taken."""
        return Rows(
            self._rows,
            verdict=self._summary.get("verdict") if self._summary else None,
            summary=self._summary,
            others=self._others,
            diagnostics=diagnostics,
        )


class _CollectionPaused:
    """Keeps the cyclic garbage collector from running, in any number of threads at once.

    Rows have no cycles, and looking for them while there are more and more rows would take
    a third of the time. The first to come stops the collector and the last to leave starts
    it again, if it was running.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._was_enabled:
                gc.enable()

    def leave_in_child(self) -> None:
        """Forget the threads that were inside when this process was forked: it has none of them."""
        if self._inside and self._was_enabled:
            gc.enable()
        self._lock = threading.Lock()
        self._inside = 0


_COLLECTION_PAUSED = _CollectionPaused()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_COLLECTION_PAUSED.leave_in_child)


def _parse_plain(text: bytes) -> Any:
    # Not the bytes: `json.loads` would look for their encoding first.
    return json.loads(text.decode("utf-8"))


try:
    # Takes half of the time.
    import orjson

    _parse: Callable[[bytes], Any] = orjson.loads
except ImportError:
    _parse = _parse_plain


def from_parquet(content: bytes) -> pyarrow.Table:
    """The table that the binary wrote."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("pip install 'toolmark[arrow]' for Arrow tables") from error
    # Not `read_table`: it imports the package for data sets, which takes longer than reading
    # and starts threads that outlive the call.
    return pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content)).read(use_threads=False)


def to_pandas(table: pyarrow.Table) -> Any:
    """The table as a data frame."""
    try:
        return table.to_pandas()
    except ImportError as error:
        raise ImportError("pip install 'toolmark[pandas]' for data frames") from error
