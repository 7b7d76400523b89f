"""Runs the binary, and turns what it says into exceptions."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Literal, Optional, Sequence, Union

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Iterable[Path]]
#: What to do about files, or lines of files, that cannot be read.
Unread = Literal["raise", "warn", "ignore"]

#: Takes whole lines of output as they come, without the end of the last one.
TakeLines = Callable[[bytes], None]

#: Maximum number of bytes of names on a command line; Windows has the lowest limit.
MAX_NAMES = 30_000 if os.name == "nt" else 1_000_000

#: Lines are handed on in blocks of about this many bytes. Memory for larger ones would be
#: returned to the system after each, which costs more than the larger block saves.
BLOCK = 1 << 16


@dataclass(frozen=True)
class Diagnostic:
    """Something that could not be read, or is invalid."""

    #: ``error`` is a file or the command line, ``skipped`` a part of a file.
    severity: str
    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    #: The offending text, and what to do.
    details: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        details = f"\n{self.details}" if self.details else ""
        return f"{self.severity}: {place}{self.message}{details}"


class ToolmarkError(Exception):
    """The command could not do its work. ``diagnostics`` says why."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics: list[Diagnostic] = list(diagnostics)


class BinaryNotFound(ToolmarkError):
    """The binary is not there."""


class UsageError(ToolmarkError):
    """An option or a spec is invalid, or there was nothing to grade."""


class UnreadError(ToolmarkError):
    """Something could not be read.

    What could be read is in ``result``, where anything could.
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message, diagnostics)
        self.result: Any = None


class UnreadWarning(UserWarning):
    """Something could not be read."""


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    #: 0, or 1 where a verdict is fail or there is a finding, or 3 where something is
    #: unread or unknown. 2 is an exception.
    code: int
    stdout: bytes
    stderr: str
    diagnostics: list[Diagnostic]


_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*)", re.DOTALL)
_START = re.compile(r"(?P<severity>error|skipped)(?:\[[^\]]*\])?: (?P<message>.*)")


def parse_diagnostics(stderr: str) -> list[Diagnostic]:
    """What the binary reported on standard error.

    >>> text = "skipped: a.jsonl:4:2: not JSON\\n   4 | {x\\nerror: no trace\\nnote: 1 more\\n"
    >>> [(one.severity, one.file, one.line, one.message) for one in parse_diagnostics(text)]
    [('skipped', 'a.jsonl', 4, 'not JSON'), ('error', None, None, 'no trace')]
    """
    found: list[tuple[str, str, list[str]]] = []
    for line in stderr.splitlines():
        start = _START.fullmatch(line)
        if start:
            found.append((start["severity"], start["message"], []))
        elif found and (line[:1].isspace() or line.startswith("-->")):
            found[-1][2].append(line)
    diagnostics = []
    for severity, message, details in found:
        place = _PLACE.fullmatch(message)
        more = "\n".join(details)
        if place:
            at = (place["file"], int(place["line"]), int(place["column"]))
            diagnostics.append(Diagnostic(severity, place["message"], *at, more))
        else:
            diagnostics.append(Diagnostic(severity, message, details=more))
    return diagnostics


def run(
    arguments: Sequence[str],
    *,
    stdin: Optional[bytes] = None,
    cwd: Optional[Path] = None,
    width: Optional[int] = None,
    may_be_silent: bool = False,
    take_lines: Optional[TakeLines] = None,
) -> Finished:
    """Run the binary. Exit code 2, and every one that is not documented, raise.

    So does an unreadable input without a result, unless the result is elsewhere. With
    ``take_lines``, lines of output go there while the binary writes more of them, and
    ``stdout`` of the result is empty; there is no standard input then.
    """
    from ._binary import find_binary

    environment = dict(os.environ)
    if width is not None:
        environment["COLUMNS"] = str(width)
    with subprocess.Popen(
        [find_binary(), *arguments],
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=environment,
    ) as process:
        try:
            if take_lines is None:
                stdout, said = process.communicate(stdin)
                is_silent = not stdout
            else:
                stdout = b""
                is_silent, said = _hand_on(process, take_lines)
        except BaseException:
            process.kill()
            raise
    stderr = said.decode("utf-8", "replace")
    diagnostics = parse_diagnostics(stderr)
    if process.returncode == 2:
        raise UsageError(stderr.strip() or "the command line is invalid", diagnostics)
    if process.returncode not in (0, 1, 3):
        ended = f"toolmark ended with {process.returncode}"
        raise ToolmarkError(f"{ended}\n{stderr}".strip(), diagnostics)
    if process.returncode == 3 and is_silent and not may_be_silent:
        raise UnreadError(stderr.strip() or "nothing could be read", diagnostics)
    return Finished(process.returncode, stdout, stderr, diagnostics)


def _hand_on(process: subprocess.Popen[bytes], take_lines: TakeLines) -> tuple[bool, bytes]:
    """Hand on lines of output as they come; says whether there were none, and standard error."""
    assert process.stdout is not None and process.stderr is not None
    errors = process.stderr
    said: list[bytes] = []
    # Or the binary would wait for somebody to read what it says there.
    reader = threading.Thread(target=lambda: said.append(errors.read()), daemon=True)
    reader.start()
    is_silent = True
    # The start of a line whose end has not come yet.
    started: list[bytes] = []
    while block := process.stdout.read(BLOCK):
        is_silent = False
        end = block.rfind(b"\n")
        if end < 0:
            started.append(block)
            continue
        take_lines(b"".join([*started, block[:end]]))
        started = [block[end + 1 :]]
    # What is left has no end: it is half a line, and the exit code says why.
    reader.join()
    return is_silent, b"".join(said)


def settle(finished: Finished, result: Any, unread: Unread) -> Any:
    """The result, unless something could not be read and that is not accepted."""
    if unread not in ("raise", "warn", "ignore"):
        raise ValueError(f"unread is {unread!r}; expected 'raise', 'warn' or 'ignore'")
    if finished.diagnostics and unread != "ignore":
        words = "\n".join(str(one) for one in finished.diagnostics)
        if unread == "raise":
            error = UnreadError(words, finished.diagnostics)
            error.result = result
            raise error
        warnings.warn(words, UnreadWarning, stacklevel=3)
    return result


def names(paths: Paths) -> list[str]:
    """Paths as arguments. A name that looks like an option stays a name."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    found = [os.fspath(path) for path in paths]
    if sum(len(os.fsencode(name)) + 1 for name in found) > MAX_NAMES:
        raise ValueError(
            f"{len(found)} paths do not fit on a command line: write them to a file, one per "
            "line, and name it as files_from"
        )
    return [os.path.join(os.curdir, name) if name.startswith("-") else name for name in found]
