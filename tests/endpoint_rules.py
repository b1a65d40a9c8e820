"""What the API accepts, and how it counts: the strict endpoint's rules, apart from its plumbing."""

from __future__ import annotations

import base64
import binascii
import functools
import io
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from PIL import Image, UnidentifiedImageError

MOST_PICTURES = 10
MOST_BYTES = 5_000_000
FIELDS = {"model", "messages", "temperature", "top_p", "max_completion_tokens", "thinking", "reasoning_split", "stream"}
FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
_DATA_URL = re.compile(r"data:(image/\w+);base64,(.+)", re.DOTALL)


class Rejection(NamedTuple):
    """Why a request is refused: HTTP status, the vendor's code, its words."""

    status: int
    code: int
    message: str


class _Bad(Exception):
    pass


def rejection_of(body: Any, authorization: str, model: str, key: str) -> Rejection | None:
    """The first rule that the request breaks, or None."""
    if authorization != f"Bearer {key}":
        return Rejection(401, 1004, "login fail: this key is not known")
    try:
        _check_fields(body, model)
        _check_messages(body["messages"])
        count = sum(1 for _ in _picture_parts(body))
        _require(count <= MOST_PICTURES, f"invalid params: {count} pictures, at most {MOST_PICTURES}")
    except _Bad as bad:
        return Rejection(400, 2013, str(bad))
    return None


def decoded_pictures(body: dict[str, Any]) -> list[Image.Image]:
    """All pictures of an accepted request in order."""
    return [_decode(part["image_url"]["url"]) for part in _picture_parts(body)]


def is_solid(image: Image.Image) -> bool:
    """Whether the picture has one colour: the API may drop such a one silently, so the endpoint always does."""
    return image.convert("RGB").getcolors(maxcolors=1) is not None


def picture_tokens(message: dict[str, Any]) -> int:
    """(W/28)(H/28) with rounded sides for every picture that is not dropped."""
    images = [_decode(part["image_url"]["url"]) for part in _picture_parts({"messages": [message]})]
    return sum(round(image.width / 28) * round(image.height / 28) for image in images if not is_solid(image))


def text_tokens(text: str) -> int:
    """About four ASCII characters or one and a half Chinese ones a token."""
    ascii_count = sum(map(str.isascii, text))
    return round(ascii_count / 4 + (len(text) - ascii_count) * 0.6)


def _require(condition: object, message: str) -> None:
    if not condition:
        raise _Bad(message)


def _check_fields(body: Any, model: str) -> None:
    _require(isinstance(body, dict), "invalid params: no JSON object")
    unknown = sorted(set(body) - FIELDS)
    _require(not unknown, f"invalid params: {', '.join(unknown)} not supported")
    _require(body.get("model") == model, f"invalid params: unknown model {body.get('model')!r}")
    _require(not body.get("stream"), "invalid params: this endpoint does not stream")
    temperature = body.get("temperature", 1.0)
    _require(isinstance(temperature, int | float) and 0 <= temperature <= 2, "invalid params: temperature")
    room = body.get("max_completion_tokens", 1)
    _require(isinstance(room, int) and room > 0, "invalid params: max_completion_tokens")
    thinking = body.get("thinking", {"type": "disabled"})
    _require(thinking in ({"type": "adaptive"}, {"type": "disabled"}), "invalid params: thinking.type")
    _require(isinstance(body.get("reasoning_split", True), bool), "invalid params: reasoning_split")


def _check_messages(messages: Any) -> None:
    _require(isinstance(messages, list) and messages, "invalid params: messages empty")
    roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
    _require(roles[0] == "system" and roles.count("system") == 1, "invalid params: one system message, first")
    turns = ["user" if index % 2 == 0 else "assistant" for index in range(len(roles) - 1)]
    _require(roles[1:] == turns and roles[-1] == "user", f"invalid params: roles {roles}")
    for message in messages:
        _require(set(message) == {"role", "content"}, f"invalid params: message fields {sorted(message)}")
        _check_content(message["role"], message["content"])


def _check_content(role: str, content: Any) -> None:
    if isinstance(content, str):
        _require(content.strip(), f"invalid params: empty {role} content")
        return
    _require(isinstance(content, list) and content, f"invalid params: {role} content")
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text":
            _require(isinstance(part.get("text"), str) and part["text"].strip(), "invalid params: empty text part")
            continue
        _require(kind == "image_url" and role == "user", f"invalid params: part {kind!r} in a {role} message")
        picture = part.get("image_url")
        _require(isinstance(picture, dict) and set(picture) <= {"url", "detail"}, "invalid params: image_url")
        _require(picture.get("detail", "default") in ("low", "default", "high"), "invalid params: image_url.detail")
        _decode(picture.get("url"))


def _picture_parts(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for message in body["messages"]:
        if isinstance(message["content"], list):
            yield from (part for part in message["content"] if part["type"] == "image_url")


@functools.lru_cache(maxsize=64)
def _decode(url: Any) -> Image.Image:
    found = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
    _require(found and found.group(1) in FORMATS, "invalid params: image_url.url is no data URL of a known type")
    assert found is not None
    try:
        data = base64.b64decode(found.group(2), validate=True)
        _require(len(data) <= MOST_BYTES, f"invalid params: image size {len(data)}")
        image = Image.open(io.BytesIO(data), formats=[FORMATS[found.group(1)]])
        image.load()
    except (binascii.Error, UnidentifiedImageError, OSError) as error:
        raise _Bad(f"invalid params: image can't be decoded: {error}") from error
    return image
