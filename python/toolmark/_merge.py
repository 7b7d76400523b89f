"""Puts the rows of parts together as one machine would have them.

Most tables of parts are parts of the table. Outcomes and occurrences are not: the trials of
a case may be in several parts, and so may the files of a session that was resumed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    import pyarrow

#: What an issue is, beside its occurrences.
ISSUE = ("category", "subtype", "code", "title", "role", "template")

#: What followed an occurrence. The file that shows more of it is believed.
RECOVERIES = ("not-asked", "open", "failed", "partial", "recovered")


def number_trials(case: pyarrow.Table) -> pyarrow.Table:
    """All rows of one case: its trials in the order of their files.

    Every part without a trace of the case says that it has none. That counts only where
    no part has one, and once.
    """
    rows = case.to_pylist()
    graded = [row for row in rows if row["trajectory"] is not None]
    graded.sort(key=lambda row: (row["trajectory"], row["trial"]))
    for number, row in enumerate(graded, 1):
        row["trial"] = number
    return _table(graded or rows[:1], case)


def distinct_occurrences(session: pyarrow.Table) -> pyarrow.Table:
    """All occurrences of one session: a call that is in several files counts once."""
    kept: dict[tuple[str, ...], tuple[tuple[Any, ...], dict[str, Any]]] = {}
    for row in session.to_pylist():
        # A failed call is one issue; findings about a call are as many as there are.
        issue = row["issue"] if row["kind"] == "finding" else ""
        key = (row["call_id"], row["kind"], issue)
        rank = RECOVERIES.index(row["recovery"])
        order = (-rank, row["file"], row["line"], row["column"], row["issue"])
        if key not in kept or order < kept[key][0]:
            kept[key] = (order, row)
    return _table([row for _, row in kept.values()], session)


def count_issue(occurrences: pyarrow.Table) -> pyarrow.Table:
    """All occurrences of one issue: how often, in how many sessions, since when."""
    import pyarrow

    rows = occurrences.to_pylist()
    times = sorted(filter(None, (row["time"] for row in rows)), key=sortable)
    titles = Counter(row["title"] for row in rows)
    text, number = pyarrow.string(), pyarrow.int64()
    columns = {
        "id": (rows[0]["issue"], text),
        "kind": (rows[0]["kind"], text),
        **{name: (rows[0][name], text) for name in ISSUE if name != "title"},
        "title": (min(titles, key=lambda title: (-titles[title], title)), text),
        "count": (len(rows), number),
        "sessions": (len({row["session"] for row in rows}), number),
        "first_seen": (times[0] if times else None, text),
        "last_seen": (times[-1] if times else None, text),
    }
    return pyarrow.table(
        {name: pyarrow.array([value], kind) for name, (value, kind) in columns.items()}
    )


def sortable(time: Optional[str]) -> str:
    """A time as text that sorts as times do: a fraction of a second may be missing.

    >>> sorted(["2026-02-06T09:59:02.5Z", "2026-02-06T09:59:02Z"], key=sortable)
    ['2026-02-06T09:59:02Z', '2026-02-06T09:59:02.5Z']
    """
    return (time or "").rstrip("Z")


def _table(rows: list[dict[str, Any]], like: pyarrow.Table) -> pyarrow.Table:
    import pyarrow

    return pyarrow.Table.from_pylist(rows, like.schema)
