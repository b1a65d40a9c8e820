"""What an endpoint's error means: its reason, and whether another try can help.

MiniMax puts its own code into errors, also under HTTP 200, and the HTTP status beside it is not reliable (refused
content was seen as 500 and as 422). So the code decides first, the status only where there is no known code.
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from playtest.errors import TesterFault

TEXT_CHARS = 300


class EndpointFault(TesterFault):
    """A request that failed. `retry_after_s` is how long the endpoint asked to be left alone, in seconds."""

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(reason, message, _HINTS.get(reason, ""))
        self.retryable = retryable
        self.retry_after_s = retry_after_s


_HINTS = {
    "unreachable": "check the base URL and the network; `playtest doctor` tries it without a paid call",
    "endpoint_auth": "check the key, and that it belongs to the region of the base URL",
    "endpoint_balance": "the account has no balance left",
    "endpoint_quota": "the plan's quota window is used up: wait for the next one, or raise it",
    "endpoint_request": "check the model's name, the preset and the base URL",
    "image_channel": "the model or a gateway on the way does not take pictures",
}


class _Meaning(NamedTuple):
    reason: str
    retryable: bool = False


_OVERLOADED = _Meaning("overloaded", retryable=True)
_RATE = _Meaning("rate_limited", retryable=True)
_CONTENT = _Meaning("content_refused")
_REQUEST = _Meaning("endpoint_request")
_AUTH = _Meaning("endpoint_auth")
_BALANCE = _Meaning("endpoint_balance")
_QUOTA = _Meaning("endpoint_quota")

# The vendor's error list. 1026 and 1027 are its content filter, on the way in and on the way out.
_BY_CODE = {
    **dict.fromkeys((1000, 1013, 1024, 1033), _OVERLOADED),
    1001: _Meaning("timeout", retryable=True),
    **dict.fromkeys((1002, 1039, 1041, 2045), _RATE),
    **dict.fromkeys((1004, 2049), _AUTH),
    1008: _BALANCE,
    **dict.fromkeys((1026, 1027), _CONTENT),
    2013: _REQUEST,
    2056: _QUOTA,
}
# Names that gateways in OpenAI's manner put into `error.code` or `error.type`.
_BY_NAME = {
    "insufficient_quota": _QUOTA,
    "invalid_api_key": _AUTH,
    "content_filter": _CONTENT,
    "content_policy_violation": _CONTENT,
}
_BY_STATUS = {401: _AUTH, 402: _BALANCE, 403: _AUTH, 408: _Meaning("timeout", retryable=True), 429: _RATE}

# Set in an answer whose content was held back.
_FLAGGED = ("input_sensitive", "output_sensitive")
_CODE_IN_TEXT = re.compile(r"\((\d{4})\)\s*$")
_PICTURES = r"(?:images?|image_url|vision|pictures?|multimodal|图片|图像)"
_REFUSED = r"(?:(?:not|n't)\s+(?:be\s+)?(?:support|accept|allow)|unsupported|no endpoints found that support|不支持)"
_NO_PICTURES = re.compile(
    rf"{_PICTURES}[^.]{{0,40}}?{_REFUSED}|{_REFUSED}[^.]{{0,30}}?{_PICTURES}",
    re.IGNORECASE,
)
_BAD_PICTURE = re.compile(r"format|size|large|mime|dimension|decode|格式|大小", re.IGNORECASE)


def fault_of(status: int, body: Any, retry_after_s: float | None = None, key: str = "") -> EndpointFault | None:
    """What an answer's error means, or None for an answer without one.

    `body` is the parsed JSON, or the text of an answer that is not JSON. `key` is kept out of the message.
    """
    error = body.get("error") if isinstance(body, dict) else None
    base = body.get("base_resp") if isinstance(body, dict) else None
    base = base if isinstance(base, dict) else {}
    text = _text_of(error, base, body)
    code = _number(base.get("status_code")) or _code_in(error, text)
    if isinstance(error, dict) and status < 400:
        status = _number(error.get("http_code")) or 400
    if isinstance(body, dict) and not body.get("choices") and True in (body.get(flag) for flag in _FLAGGED):
        code = code or 1026
    if 200 <= status < 300 and not error and not code:
        return None
    meaning = _meaning(status, code, error)
    if meaning is _REQUEST and _NO_PICTURES.search(text) and not _BAD_PICTURE.search(text):
        meaning = _Meaning("image_channel")
    where = f"HTTP {status}" + (f", code {code}" if code else "")
    return EndpointFault(
        meaning.reason,
        f"the endpoint answered {where}: {shown(text, key) or 'no message'}",
        retryable=meaning.retryable,
        retry_after_s=retry_after_s,
    )


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds from a Retry-After header, given as seconds or as an HTTP date. `now` is Unix time in seconds."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None


def shown(text: str, key: str) -> str:
    """A bounded part of an endpoint's text, on one line, without the key. Servers echo keys, sometimes cut short."""
    text = " ".join(text[: 20 * TEXT_CHARS].split())
    if key:
        text = text.replace(key, "***")
    if len(key) > 16:
        text = re.sub(rf"{re.escape(key[:8])}[\w.*…-]*", "***", text)
    return text[:TEXT_CHARS]


def _meaning(status: int, code: int, error: Any) -> _Meaning:
    if code in _BY_CODE:
        return _BY_CODE[code]
    if isinstance(error, dict):
        for name in (error.get("code"), error.get("type")):
            if isinstance(name, str) and name in _BY_NAME:
                return _BY_NAME[name]
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return _OVERLOADED if status >= 500 else _REQUEST


def _text_of(error: Any, base: dict[str, Any], body: Any) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return " ".join(str(message or base.get("status_msg") or (body if isinstance(body, str) else "")).split())


def _code_in(error: Any, text: str) -> int:
    named = _number(error.get("code")) if isinstance(error, dict) else 0
    found = _CODE_IN_TEXT.search(text)
    return int(found.group(1)) if found else named


def _number(value: Any) -> int:
    """The value as a whole number, 0 when it is none."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0
