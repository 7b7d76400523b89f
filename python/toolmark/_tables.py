"""Results as rows, Arrow tables and data frames."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Iterable, List, Literal, Optional

from ._run import Diagnostic, Finished

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


def from_lines(finished: Finished, kind: Optional[str], last: Optional[str]) -> Rows:
    """JSON lines as rows: those of one type, and the last line apart."""
    rows, others = [], []
    summary: Optional[dict[str, Any]] = None
    for line in finished.stdout.splitlines():
        value = json.loads(line)
        if kind is None or value.get("type") == kind:
            rows.append(value)
        elif value.get("type") == last:
            summary = value
        else:
            others.append(value)
    verdict = summary.get("verdict") if summary else None
    return Rows(
        rows,
        verdict=verdict,
        summary=summary,
        others=others,
        diagnostics=finished.diagnostics,
    )


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
