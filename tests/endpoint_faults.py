"""Ways in which the strict endpoint can misbehave, each for one request."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One way to misbehave, for one request. Made by the functions below."""

    connection: str | None = None
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    reply: Callable[[str], str] | None = None
    finish_reason: str | None = None
    blind: bool = False
    usage: bool = True


def refused() -> Fault:
    """Nobody listens. Takes the endpoint's `transport` to happen."""
    return Fault(connection="refused")


def reset() -> Fault:
    """The connection is reset before anything is answered."""
    return Fault(connection="reset")


def reset_mid_body() -> Fault:
    """Headers and half of the answer, then a reset."""
    return Fault(connection="reset_mid_body")


def stall() -> Fault:
    """Nothing comes until the endpoint closes. Under the endpoint's `transport` the wait for it passes at once."""
    return Fault(connection="stall")


def raw(
    body: str | bytes, status: int = 200, content_type: str = "application/json", headers: dict[str, str] | None = None
) -> Fault:
    """Any body at all."""
    data = body.encode() if isinstance(body, str) else body
    return Fault(status=status, body=data, headers={"Content-Type": content_type, **(headers or {})})


def error(status: int, code: int | None = None, message: str = "made to fail", retry_after: str | None = None) -> Fault:
    """An HTTP error in the vendor's shape, its code in the trailing parentheses."""
    text = f"{message} ({code})" if code else message
    headers = {"Retry-After": retry_after} if retry_after is not None else {}
    return raw(_error_body(text, status), status, headers=headers)


def base_resp(code: int, message: str = "made to fail") -> Fault:
    """HTTP 200 with the error in `base_resp`."""
    return raw(json.dumps({"choices": None, "base_resp": {"status_code": code, "status_msg": message}}))


def cut_json() -> Fault:
    """A whole response whose JSON stops in the middle."""
    return raw('{"id": "1", "choices": [{"message": {"role": "assistant", "content": "{\\"co')


def rewritten(change: Callable[[str], str], finish_reason: str | None = None) -> Fault:
    """The brain's reply, changed."""
    return Fault(reply=change, finish_reason=finish_reason)


def fenced() -> Fault:
    return rewritten(lambda text: f"```json\n{text}\n```")


def prose(before: str = "Here is my move.", after: str = "I hope that helps.") -> Fault:
    return rewritten(lambda text: f"{before}\n{text}\n{after}")


def thinking(thought: str, tag: str = "think", closed: bool = True) -> Fault:
    return rewritten(lambda text: f"<{tag}>{thought}{f'</{tag}>' if closed else ''}\n{text}")


def cut_off(at: int) -> Fault:
    """The reply stops after `at` characters for want of room."""
    return rewritten(lambda text: text[:at], "length")


def empty(finish_reason: str = "length") -> Fault:
    return rewritten(lambda _: "", finish_reason)


def blind() -> Fault:
    """A gateway strips the pictures: the brain sees none and none are counted."""
    return Fault(blind=True)


def without_usage() -> Fault:
    return Fault(usage=False)


def _error_body(message: str, status: int) -> str:
    return json.dumps({"type": "error", "error": {"type": "error", "message": message, "http_code": str(status)}})
