"""The words of a conversation with a vision model, and what such a model must be able to do."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from playtest.protocol.usage import Cost, Usage
from playtest.texts import whole

Role: TypeAlias = Literal["system", "user", "assistant"]
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def media_type(data: bytes) -> str:
    """The media type of a picture by its first bytes: PNG, JPEG, GIF or WebP. Raises ValueError for others."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return name
    raise ValueError("not a PNG, JPEG, GIF or WebP picture")


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded picture and its size in px."""

    data: bytes = field(repr=False)
    width: int
    height: int


Part: TypeAlias = str | Picture


@dataclass(frozen=True, slots=True)
class Message:
    """One message: texts and pictures in order. Pictures belong to the user only."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer. `usage` is this answer's alone; `text` is as received, thinking included."""

    text: str
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    latency_ms: float = 0.0


class ChatModel(Protocol):
    """A model that answers a conversation."""

    @property
    def model(self) -> str:
        """The model's id, as it is sent."""
        ...

    async def complete(self, messages: Sequence[Message], max_completion_tokens: int | None = None) -> Completion:
        """One answer. Raises TesterFault, with what was used until then in `spent`."""
        ...

    @property
    def spent(self) -> tuple[Usage, Cost]:
        """All that was used so far, failed requests included."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Size(NamedTuple):
    """How big a conversation is. The true token count of its texts lies between the two bounds."""

    pictures: tuple[Picture, ...]
    least_text_tokens: int
    most_text_tokens: int


def size_of(messages: Iterable[Message]) -> Size:
    """The pictures and the bounds of the text tokens.

    Tokenizers differ: ASCII text runs at 2 to 5 characters a token, Chinese at 0.7 to 3.
    """
    parts = [part for message in messages for part in message.parts]
    text = "".join(part for part in parts if isinstance(part, str))
    ascii_count = sum(map(str.isascii, text))
    other_count = len(text) - ascii_count
    return Size(
        tuple(part for part in parts if isinstance(part, Picture)),
        least_text_tokens=int(ascii_count / 5 + other_count / 3),
        most_text_tokens=int(ascii_count / 2 + other_count * 1.5) + 1,
    )


def to_wire(messages: Iterable[Message], detail: str | None = None) -> list[dict[str, Any]]:
    """The messages as the chat-completions protocol has them. A picture is a data URL with `detail` beside it.

    Lone surrogates, which no request can carry, are spelled out.
    """
    return [{"role": message.role, "content": _content(message.parts, detail)} for message in messages]


class WireAnswer(NamedTuple):
    """An answer as the protocol has it. `usage` is None where the endpoint did not say."""

    text: str
    finish_reason: str
    usage: Usage | None


def usage_in(body: Any) -> Usage | None:
    """The usage of one request, in an answer or in an error, or None where none stands."""
    given = body.get("usage") if isinstance(body, dict) else None
    if not isinstance(given, dict) or given.get("prompt_tokens") is None:
        return None
    details = given.get("prompt_tokens_details")
    return Usage(
        requests=1,
        prompt_tokens=_count(given["prompt_tokens"]),
        cached_tokens=_count(details.get("cached_tokens")) if isinstance(details, dict) else 0,
        completion_tokens=_count(given.get("completion_tokens")),
    )


def from_wire(body: Any) -> WireAnswer:
    """The answer in a response's parsed JSON. Raises ValueError when there is none of the protocol's shape."""
    try:
        choice = body["choices"][0]
        content = choice["message"]["content"]
    except (TypeError, KeyError, IndexError) as error:
        raise ValueError("no choices[0].message.content") from error
    if isinstance(content, list):  # some gateways answer in parts
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return WireAnswer(whole(str(content or "")), str(choice.get("finish_reason") or ""), usage_in(body))


def _count(value: Any) -> int:
    return max(0, int(value)) if isinstance(value, int | float) and math.isfinite(value) else 0


def _content(parts: tuple[Part, ...], detail: str | None) -> str | list[dict[str, Any]]:
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts):
        return whole("\n\n".join(texts))
    return [_part(part, detail) for part in parts]


def _part(part: Part, detail: str | None) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": whole(part)}
    url = f"data:{media_type(part.data)};base64,{base64.b64encode(part.data).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url} | ({"detail": detail} if detail else {})}
