"""Texts of games and models, made fit to show: nothing hidden, nothing obeyed, nothing endless.

`sanitize` is for a terminal (one line, what can't be seen is taken out); `reveal` is for a page
(lines stay, what can't be seen is shown by its name).
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

_T = TypeVar("_T")

# C0 but for tab and line feed, DEL and C1; soft hyphen; bidi marks, embeddings, overrides and isolates; zero-width and
# other invisible format characters but for the joiners that emoji and some scripts need; line and paragraph
# separators; lone surrogates; noncharacters; tag characters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
# Whole terminal sequences: CSI; OSC, DCS, SOS, PM and APC with their terminator; two- and three-character escapes.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]+[0-~]|\x1b[0-Z\\^-~]"
)
_BLANKS = re.compile(r"\s+")
# A letter keeps four combining marks; a pile of hundreds would cover the lines around it.
_PILE = re.compile(
    "([{0}]{{4}})[{0}]+".format("\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f")
)
_NAMES = {0x00: "NUL", 0x07: "BEL", 0x08: "BS", 0x0D: "CR", 0x1B: "ESC", 0x7F: "DEL"}


class Bounded(NamedTuple):
    """A text that may have been cut, and how many characters were left out."""

    text: str
    left_out: int


@dataclass(frozen=True, slots=True)
class Kept(Generic[_T]):
    """The beginning and the end of something long."""

    head: tuple[_T, ...] = ()
    left_out: int = 0
    tail: tuple[_T, ...] = ()

    @classmethod
    def of(cls, items: Iterable[_T], head: int, tail: int) -> Kept[_T]:
        """The first `head` and the last `tail` of the items, with the count between them."""
        first: list[_T] = []
        last: deque[_T] = deque(maxlen=tail)
        count = 0
        for count, item in enumerate(items, start=1):
            if count <= head:
                first.append(item)
            else:
                last.append(item)
        return cls(tuple(first), count - len(first) - len(last), tuple(last))

    def __iter__(self) -> Iterator[_T]:
        yield from self.head
        yield from self.tail


def sanitize(text: str, limit: int) -> str:
    """One line for a terminal: escapes, control and bidi characters taken out, cut at `limit` with a count."""
    plain = _HIDDEN.sub("", _ESCAPES.sub("", _BLANKS.sub(" ", text)))
    plain = _PILE.sub(r"\1", _BLANKS.sub(" ", plain)).strip()
    left_out = len(plain) - limit
    return plain if left_out <= 0 else f"{plain[:limit]}… (+{left_out} characters)"


def reveal(text: str, limit: int) -> Bounded:
    """A text for a page: line breaks stay, hidden characters become visible names, at most `limit` characters."""
    head = text[:limit].replace("\r\n", "\n")
    if not _HIDDEN.search(head):
        return Bounded(_PILE.sub(r"\1", head), max(0, len(text) - limit))
    shown: list[str] = []
    size = used = 0
    for character in text[:limit]:
        piece = _HIDDEN.sub(_name, character)
        if size + len(piece) > limit:
            break
        shown.append(piece)
        size, used = size + len(piece), used + 1
    return Bounded(_PILE.sub(r"\1", "".join(shown)), len(text) - used)


def whole(text: str) -> str:
    """The text with lone surrogates spelled out, so that it can be encoded."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def spelled_out(value: Any) -> Any:
    """A JSON value with lone surrogates spelled out in every text and name."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [spelled_out(item) for item in value]
    return {whole(name): spelled_out(item) for name, item in value.items()} if isinstance(value, dict) else value


def _name(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"⟨{_NAMES.get(code, f'U+{code:04X}')}⟩"


def duration(ms: float | None) -> str:
    """A time for people: `0.35 s`, `12.4 s`, `3 min 05 s`."""
    if ms is None or not math.isfinite(ms):
        return "unknown"
    if ms < 59_950:
        return f"{ms / 1000:.2f} s" if ms < 1000 else f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(round(ms / 1000), 60)
    return f"{minutes} min {seconds:02d} s"


def share(part: float) -> str:
    """A share of the whole as a percentage: `12%`, `1.4%`, `under 0.1%`."""
    percent = part * 100
    if 0 < percent < 0.1:
        return "under 0.1%"
    return f"{percent:.1f}%" if 0 < percent < 10 else f"{percent:.0f}%"


def figure(value: float) -> str:
    """A whole number with its thousands set apart."""
    return f"{value:,.0f}" if math.isfinite(value) else "unknown"
