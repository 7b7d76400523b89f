"""Trajectories: one run of one agent, read from a trace of any format.

The classes hold what ``toolmark convert --to toolmark`` writes. What the source does not
record is ``None``, and ``fidelity_gaps`` names it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Iterable, Iterator, Literal, Mapping, Optional

from ._messages import MessageFormat, to_json
from ._run import Finished, Path, Unread, names, run, settle

Status = Literal["succeeded", "failed", "denied", "interrupted", "unanswered", "unknown"]

_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z")


def _time(text: Optional[str]) -> Optional[datetime]:
    """A time, to the microsecond.

    >>> _time("2026-02-06T09:59:02.387000999Z")
    datetime.datetime(2026, 2, 6, 9, 59, 2, 387000, tzinfo=datetime.timezone.utc)
    """
    found = _TIME.fullmatch(text) if text else None
    if not found:
        return None
    micros = int((found[2] or "0").ljust(6, "0")[:6])
    seconds = datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%S")
    return seconds.replace(microsecond=micros, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Place:
    """Where something is in the trace."""

    file: str
    line: int
    column: int
    byte: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Payload:
    """Text or JSON, in the form it has in the source.

    >>> Payload("json", {"path": "a.rs"}).value
    {'path': 'a.rs'}
    >>> Payload("text", "done").text
    'done'
    """

    #: ``text``, ``json``, or ``raw`` for JSON that common parsers reject.
    form: Literal["text", "json", "raw"]
    content: Any

    @property
    def value(self) -> Any:
        """The JSON value; text as it is."""
        return self.content

    @property
    def text(self) -> str:
        """The text; a JSON value as JSON."""
        if self.form == "json":
            return json.dumps(self.content, ensure_ascii=False)
        return str(self.content)


@dataclass(frozen=True)
class Agent:
    """Who ran."""

    name: Optional[str] = None
    version: Optional[str] = None
    model: Optional[str] = None


@dataclass(frozen=True)
class Usage:
    """Tokens, as the source counts them, and how to read its numbers."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    input_includes_cache: bool
    output_includes_reasoning: bool
    stated_total: Optional[int] = None


@dataclass(frozen=True)
class Result:
    """What a tool returned."""

    payload: Optional[Payload]
    time: Optional[datetime]
    at: Optional[Place]

    @property
    def text(self) -> str:
        """Its text; empty where it has none."""
        return self.payload.text if self.payload else ""


@dataclass(frozen=True)
class Call:
    """One tool call with its result, if any."""

    name: str
    status: Status
    #: What the status was read from: ``protocol``, ``exit_code``, ``denial``, ``prose``
    #: or ``absent``.
    level: str
    #: ``agent``, ``user`` or ``provider``.
    actor: str
    at: Place
    id: Optional[str] = None
    namespace: Optional[str] = None
    args: Optional[Payload] = None
    result: Optional[Result] = None
    exit_code: Optional[int] = None
    started: Optional[datetime] = None
    duration: Optional[timedelta] = None
    #: The index of its step; calls of one step are parallel.
    step: Optional[int] = None
    #: The id of the sub-agent it started.
    spawned: Optional[str] = None

    @property
    def arguments(self) -> Any:
        """The arguments: a mapping where the source has an object, also one inside text."""
        if self.args is None:
            return None
        if self.args.form == "text":
            try:
                return json.loads(self.args.content)
            except ValueError:
                return self.args.content
        return self.args.value


@dataclass(frozen=True)
class Step:
    """One model response."""

    turn: int
    at: Place
    id: Optional[str] = None
    model: Optional[str] = None
    time: Optional[datetime] = None
    usage: Optional[Usage] = None


@dataclass(frozen=True)
class Event:
    """Anything that happened, in order."""

    kind: str
    at: Place
    text: Optional[str] = None
    time: Optional[datetime] = None
    #: The index of the call, for calls and results.
    call: Optional[int] = None
    step: Optional[int] = None
    label: Optional[str] = None
    #: The source's own word, for kinds that toolmark does not know.
    record: Optional[str] = None


@dataclass(frozen=True)
class Trajectory:
    """One run of one agent; sub-agents are its children.

    >>> run = read(SAMPLES / "claude-code" / "flaky-test.jsonl")
    >>> run.agent.name, [call.name for call in run.calls]
    ('claude-code', ['Read', 'Read', 'Grep', 'Edit', 'Bash'])
    >>> run.calls[0].arguments["file_path"].endswith(".py")
    True
    >>> run.fidelity_gaps
    ('cost', 'tool-definitions')
    """

    #: The format and the file it was first read from.
    format: str
    file: str
    agent: Agent
    user_turns: int
    fidelity_gaps: tuple[str, ...]
    steps: tuple[Step, ...]
    calls: tuple[Call, ...]
    events: tuple[Event, ...]
    children: tuple[Trajectory, ...]
    id: Optional[str] = None
    name: Optional[str] = None
    cwd: Optional[str] = None
    started: Optional[datetime] = None
    ended: Optional[datetime] = None
    #: How the source says the run ended.
    outcome: Optional[str] = None
    usage: Optional[Usage] = None
    #: Results that answer no call.
    orphans: int = 0
    #: All of it, as ``convert`` wrote it. Nothing is lost here.
    data: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def tool_names(self) -> list[str]:
        """The tools that were called, in order."""
        return [call.name for call in self.calls]

    @property
    def output(self) -> Optional[str]:
        """What the agent said last."""
        said = [event.text for event in self.events if event.kind == "message" and event.text]
        return said[-1] if said else None

    def to_json(self) -> str:
        """The trajectory as a line of toolmark's own format, which every command reads."""
        return json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trajectory:
        """A trajectory from the JSON that ``convert --to toolmark`` writes."""
        return _trajectory(data)

    @classmethod
    def from_messages(
        cls,
        messages: Any,
        format: Optional[MessageFormat] = None,
        *,
        tools: Optional[Iterable[Any]] = None,
    ) -> Trajectory:
        """A trajectory of what a program has in memory.

        Messages are dictionaries or objects of OpenAI, Anthropic or LangChain. The format
        is recognized, unless it is named: ``"openai"``, ``"openai-responses"``,
        ``"anthropic"`` or ``"langchain"``.

        >>> run = Trajectory.from_messages([
        ...     {"role": "user", "content": "What is in a.txt?"},
        ...     {"role": "assistant", "content": [
        ...         {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.txt"}}]},
        ...     {"role": "user", "content": [
        ...         {"type": "tool_result", "tool_use_id": "t1", "content": "no such file",
        ...          "is_error": True}]},
        ... ], "anthropic")
        >>> run.calls[0].name, run.calls[0].status, run.calls[0].arguments
        ('read', 'failed', {'path': 'a.txt'})
        """
        text, named = to_json(messages, format, tools)
        arguments = ["convert", "--to=toolmark", "-"]
        finished = run(arguments + ([f"--as={named}"] if named else []), stdin=text)
        runs: list[Trajectory] = settle(finished, _read(finished), "raise")
        if len(runs) != 1:
            raise ValueError(f"the messages are {len(runs)} runs; expected one")
        return runs[0]


def read(path: Path, *, format: Optional[str] = None) -> Trajectory:
    """The trajectory of a file that holds one.

    >>> read(SAMPLES / "atif" / "mean-depth.trajectory.json").tool_names
    ['bash', 'bash', 'bash', 'bash']
    """
    runs = read_all(path, format=format)
    if len(runs) != 1:
        raise ValueError(f"{path} has {len(runs)} trajectories; use toolmark.read_all")
    return runs[0]


def read_all(
    path: Path, *, format: Optional[str] = None, unread: Unread = "raise"
) -> list[Trajectory]:
    """All trajectories of a file or directory.

    >>> [len(run.calls) for run in read_all(SAMPLES / "claude-code")]
    [12, 5]
    """
    arguments = ["convert", "--to=toolmark", *names(path)]
    finished = run(arguments + ([f"--as={format}"] if format else []))
    runs: list[Trajectory] = settle(finished, _read(finished), unread)
    return runs


def _read(finished: Finished) -> list[Trajectory]:
    return [_trajectory(json.loads(line)) for line in finished.stdout.splitlines()]


def _trajectory(data: Mapping[str, Any]) -> Trajectory:
    file = data["file"]
    return Trajectory(
        format=data["format"],
        file=file,
        agent=Agent(**_known(Agent, data["agent"])),
        user_turns=data["user_turns"],
        fidelity_gaps=tuple(data["fidelity_gaps"]),
        steps=tuple(_step(step, file) for step in data["steps"]),
        calls=tuple(_call(call, file) for call in data["calls"]),
        events=tuple(_event(event, file) for event in data["events"]),
        children=tuple(_trajectory(child) for child in data["children"]),
        id=data.get("id"),
        name=data.get("name"),
        cwd=data.get("cwd"),
        started=_time(data.get("started")),
        ended=_time(data.get("ended")),
        outcome=data.get("outcome"),
        usage=_usage(data.get("usage")),
        orphans=data["orphans"],
        data=data,
    )


def _known(kind: type, data: Mapping[str, Any]) -> dict[str, Any]:
    """The members that a class has: newer versions write more of them."""
    return {name: value for name, value in data.items() if name in kind.__dataclass_fields__}  # type: ignore[attr-defined]


def _place(data: Mapping[str, Any], file: str) -> Place:
    return Place(data.get("file", file), data["line"], data["column"], data["byte"])


def _payload(data: Optional[Mapping[str, Any]]) -> Optional[Payload]:
    forms: Iterator[tuple[Literal["text", "json", "raw"], Any]] = (
        (form, data[form]) for form in ("text", "json", "raw") if data and form in data
    )
    return next((Payload(form, content) for form, content in forms), None)


def _usage(data: Optional[Mapping[str, Any]]) -> Optional[Usage]:
    return Usage(**_known(Usage, data)) if data else None


def _step(data: Mapping[str, Any], file: str) -> Step:
    return Step(
        turn=data["turn"],
        at=_place(data["at"], file),
        id=data.get("id"),
        model=data.get("model"),
        time=_time(data.get("time")),
        usage=_usage(data.get("usage")),
    )


def _result(data: Optional[Mapping[str, Any]], file: str) -> Optional[Result]:
    if data is None:
        return None
    at = _place(data["at"], file) if "at" in data else None
    return Result(_payload(data.get("payload")), _time(data.get("time")), at)


def _call(data: Mapping[str, Any], file: str) -> Call:
    nanoseconds = data.get("duration_ns")
    return Call(
        name=data["name"],
        status=data["status"],
        level=data["level"],
        actor=data["actor"],
        at=_place(data["at"], file),
        id=data.get("id"),
        namespace=data.get("namespace"),
        args=_payload(data.get("args")),
        result=_result(data.get("result"), file),
        exit_code=data.get("exit_code"),
        started=_time(data.get("started")),
        duration=None if nanoseconds is None else timedelta(microseconds=nanoseconds / 1000),
        step=data.get("step"),
        spawned=data.get("spawned"),
    )


def _event(data: Mapping[str, Any], file: str) -> Event:
    text = _payload(data.get("text"))
    return Event(
        kind=data["kind"],
        at=_place(data["at"], file),
        text=text.text if text else None,
        time=_time(data.get("time")),
        call=data.get("call"),
        step=data.get("step"),
        label=data.get("label"),
        record=data.get("record"),
    )
