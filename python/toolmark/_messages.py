"""Messages that a program has in memory, as JSON."""

from __future__ import annotations

import json
from typing import Any, Iterable, Literal, Mapping, Optional

MessageFormat = Literal["openai", "openai-responses", "anthropic", "langchain"]

_FORMATS = {
    "openai": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic-messages",
    "langchain": "langchain",
}


def to_json(
    messages: Any, format: Optional[str], tools: Optional[Iterable[Any]] = None
) -> tuple[bytes, Optional[str]]:
    """The messages as JSON, and the format to read them as, where it is known.

    >>> to_json([{"role": "user", "content": "hi"}], "openai")
    (b'[{"role": "user", "content": "hi"}]', 'openai-chat')
    """
    if format is not None and format not in _FORMATS:
        raise ValueError(f"format is {format!r}; expected one of {', '.join(_FORMATS)}")
    if not isinstance(messages, Mapping):
        messages = list(messages)
    if format is None and _is_langchain(messages):
        format = "langchain"
    value: Any = messages
    if tools is not None or format == "anthropic":
        value = dict(messages) if isinstance(messages, Mapping) else {"messages": messages}
        if tools is not None:
            value["tools"] = list(tools)
    text = json.dumps(value, default=_plain, ensure_ascii=False)
    return text.encode("utf-8"), _FORMATS[format] if format else None


def _is_langchain(messages: Any) -> bool:
    first = messages[0] if isinstance(messages, list) and messages else None
    return type(first).__module__.startswith("langchain")


def _plain(value: Any) -> Any:
    """An object of a client library as plain data."""
    # pydantic 2, as openai, anthropic and langchain use it
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "dict"):
        return value.dict()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    raise TypeError(f"a message has a {type(value).__name__}, which has no JSON form")
