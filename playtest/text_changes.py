"""Texts on the screen: which changed with an input, and which change by themselves."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from playtest.ports import Point, VisibleText

# A number without words is known by its place: one may count down where another one is the score.
SAME_PLACE_PX = 40
MAX_PLACES = 50
_WORD = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
# Texts of this kind run down or up by themselves wherever they stand.
_CLOCK = re.compile(r"倒计时|剩余时间|时间|计时|\btime(r| left)?\b|\bfps\b|\d+:\d{2}\b|\d\s*(秒|s\b)", re.IGNORECASE)


def pattern_of(text: str) -> str:
    """The text with its numbers replaced, so that `Score 7` and `Score 14` are one."""
    return _NUMBER.sub("#", text).strip()


def numbers_in(text: str) -> list[float]:
    """The numbers in a text; `1,200` is 1200 and `1:05` two numbers."""
    parts = re.findall(r"-?\d+(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?", text)
    return [float(part.replace(",", "")) for part in parts]


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text that came, went, or took other numbers."""

    old: str | None
    new: str | None
    place: Point | None = field(default=None, compare=False)

    @property
    def pattern(self) -> str:
        """What stays the same in it."""
        return pattern_of(self.new if self.new is not None else self.old or "")

    def describe(self) -> str:
        """`old -> new`, bounded."""
        return f"{(self.old or '∅')[:60]} -> {(self.new or '∅')[:60]}"


def compare(before: Iterable[VisibleText], after: Iterable[VisibleText]) -> list[TextChange]:
    """The changes between two readings, numbers that changed within a known text told as one change."""
    gone, came = _unmatched(before, after)
    changes = []
    for text in came:
        twin = _twin(text, gone)
        if twin is not None:
            gone.remove(twin)
        changes.append(TextChange(twin.text if twin else None, text.text, text.centre))
    changes.extend(TextChange(text.text, None, text.centre) for text in gone)
    return changes


def _unmatched(
    before: Iterable[VisibleText], after: Iterable[VisibleText]
) -> tuple[list[VisibleText], list[VisibleText]]:
    """What is on the screen only before, and only after, wherever it is."""
    old = list(before)
    left = Counter(text.text for text in old)
    came = []
    for text in after:
        if left[text.text]:
            left[text.text] -= 1
        else:
            came.append(text)
    gone = []
    for text in old:
        if left[text.text]:
            left[text.text] -= 1
            gone.append(text)
    return gone, came


def _twin(text: VisibleText, gone: Sequence[VisibleText]) -> VisibleText | None:
    """The text that this one was, with other numbers: the nearest one of those with the same words."""
    alike = [other for other in gone if pattern_of(other.text) == pattern_of(text.text)]
    return min(alike, key=lambda other: _distance(other.centre, text.centre), default=None)


def _distance(a: Point | None, b: Point | None) -> float:
    if a is None or b is None:
        return 0.0 if a is b else math.inf
    return math.hypot(a.x - b.x, a.y - b.y)


@dataclass(slots=True)
class TextWatch:
    """Remembers which texts change in idle time, so that no input is credited with them."""

    _idle: dict[str, set[Point | None]] = field(default_factory=dict)

    def learn(self, before: Sequence[VisibleText], after: Sequence[VisibleText]) -> None:
        """Take two readings between which no input was made."""
        for change in compare(before, after):
            places = self._idle.setdefault(change.pattern, set())
            if len(places) < MAX_PLACES:
                places.add(change.place)

    def is_ambient(self, change: TextChange) -> bool:
        """Whether the text changes by itself: seen in idle time, or a clock by its words."""
        places = self._idle.get(change.pattern)
        if places and (
            _WORD.search(change.pattern) or any(_distance(p, change.place) <= SAME_PLACE_PX for p in places)
        ):
            return True
        return change.old is not None and change.new is not None and bool(_CLOCK.search(change.new))

    def caused(self, before: Sequence[VisibleText], after: Sequence[VisibleText]) -> list[TextChange]:
        """The changes that idle time doesn't explain."""
        return [change for change in compare(before, after) if not self.is_ambient(change)]

    def caused_over(self, before: Sequence[VisibleText], readings: Sequence[Sequence[VisibleText]]) -> list[TextChange]:
        """What idle time doesn't explain: the changes up to the last reading, then texts that came and went again."""
        changes = self.caused(before, readings[-1])
        known = {change.new for change in changes}
        for reading in readings[:-1]:
            for change in self.caused(before, reading):
                if change.old is None and change.new not in known:
                    known.add(change.new)
                    changes.append(change)
        return changes
