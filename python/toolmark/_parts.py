"""A part of many files, as a worker of a cluster has it: paths or contents in, a table out."""

from __future__ import annotations

import itertools
import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Optional

from ._merge import ISSUE
from ._run import Unread, run, settle
from ._tables import from_parquet

if TYPE_CHECKING:
    import pyarrow

#: So many bytes of contents are written to a worker's disk at a time.
MAX_BYTES = 512 << 20

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:/*")


@dataclass(frozen=True)
class Command:
    """A command that is run on parts of the files."""

    #: ``stats``, ``check``, ``grade`` or ``feed``.
    name: str
    options: tuple[str, ...] = ()
    #: Files that the command needs, by name: the spec, and what lies beside it.
    files: Mapping[str, bytes] = field(default_factory=dict)
    #: The first of its arguments, a name in ``files``.
    argument: Optional[str] = None
    unread: Unread = "raise"

    def empty(self) -> pyarrow.Table:
        """A table without rows, for its schema."""
        # The second of two parts of one file: the file is not opened.
        return self._run([os.devnull], "2/2", None)

    def paths(self, paths: Iterable[str]) -> pyarrow.Table:
        """The rows of files that this worker can open."""
        names = list(paths)
        return self._run(names, "1/1", None) if names else self.empty()

    def contents(self, files: Iterable[tuple[str, bytes]]) -> pyarrow.Table:
        """The rows of files that somebody else has read."""
        with tempfile.TemporaryDirectory(prefix="toolmark-") as directory:
            names: dict[str, str] = {}
            for path, content in files:
                names[_write(directory, path, content)] = path
            return self._run(list(names), "1/1", directory, names) if names else self.empty()

    def _run(
        self,
        paths: list[str],
        shard: str,
        directory: Optional[str],
        names: Optional[Mapping[str, str]] = None,
    ) -> pyarrow.Table:
        with tempfile.TemporaryDirectory(prefix="toolmark-") as own:
            for name, content in self.files.items():
                target = os.path.join(own, name)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as file:
                    file.write(content)
            arguments = [self.name]
            arguments += [os.path.join(own, self.argument)] if self.argument else []
            rows = os.path.join(own, "rows.parquet")
            # One process has one core of a worker.
            arguments += ["--files-from=-", f"--shard={shard}", "--jobs=1", *self.options]
            if self.name == "feed":
                arguments += ["--occurrences", "--format=jsonl", f"--report=parquet={rows}"]
            else:
                arguments += ["--format=parquet"]
            names_of_files = "\0".join([*paths, ""]).encode()
            finished = run(arguments, stdin=names_of_files, cwd=directory, may_be_silent=True)
            if self.name == "feed":
                with open(rows, "rb") as file:
                    table = _with_issues(from_parquet(file.read()), finished.stdout)
            else:
                table = from_parquet(finished.stdout)
        table = table.replace_schema_metadata(None)
        result: pyarrow.Table = settle(finished, _named(table, names), self.unread)
        return result


def _write(directory: str, path: str, content: bytes) -> str:
    """Write a file that somebody else has read, and return its name below the directory.

    Names and directories are kept: cases are found by the name of the file.
    """
    local = _SCHEME.sub("", path).lstrip("/").replace("..", "__") or "trace"
    # Keys of an object store may be equal to each other's directories.
    for place in itertools.chain([""], (f"{number}~" for number in itertools.count())):
        target = os.path.join(directory, place, local)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "xb") as file:
                file.write(content)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
        return os.path.join(place, local)
    raise AssertionError("there is a number for every file")


def batches_of(files: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    """Files in groups that fit on a disk."""
    group: list[tuple[str, bytes]] = []
    size = 0
    for path, content in files:
        if group and size + len(content) > MAX_BYTES:
            yield group
            group, size = [], 0
        group.append((path, content))
        size += len(content)
    if group:
        yield group


def _named(table: pyarrow.Table, names: Optional[Mapping[str, str]]) -> pyarrow.Table:
    """The table with the names of files that its reader knows."""
    import pyarrow

    if not names:
        return table

    def known(name: Optional[str]) -> Optional[str]:
        # An entry of an archive is named after it.
        file, mark, entry = (name or "").partition("#")
        return names[file] + mark + entry if file in names else name

    for column in ("file", "trajectory"):
        if column in table.column_names:
            at = table.column_names.index(column)
            values = [known(name) for name in table.column(column).to_pylist()]
            table = table.set_column(at, column, pyarrow.array(values, pyarrow.string()))
    return table


def _with_issues(table: pyarrow.Table, lines: bytes) -> pyarrow.Table:
    """Occurrences with what their issues are."""
    import pyarrow

    about: dict[str, dict[str, Any]] = {}
    for line in lines.splitlines():
        row = json.loads(line)
        if row["type"] == "issue":
            about[row["id"]] = row
    for name in ISSUE:
        values = [about[issue][name] for issue in table.column("issue").to_pylist()]
        table = table.append_column(name, pyarrow.array(values, pyarrow.string()))
    return table


def spec_files(spec: Any, files: Iterable[Any] = ()) -> tuple[dict[str, bytes], str]:
    """A spec, and files it names, as workers get them: by their names beside it."""
    if isinstance(spec, Mapping):
        return {"toolmark.yaml": json.dumps(spec).encode()}, "toolmark.yaml"
    path = os.path.abspath(os.fspath(spec))
    found = {}
    for one in [path, *map(os.path.abspath, files)]:
        with open(one, "rb") as file:
            found[os.path.relpath(one, os.path.dirname(path))] = file.read()
    return found, os.path.basename(path)
