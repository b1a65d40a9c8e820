"""What the game does by itself, learned from waits: texts that come, go or count, and log lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from playtest.ports import Point, VisibleText
from playtest.text_changes import TextChange, compare, pattern_of

SAME_PLACE_PX = 24


@dataclass(slots=True)
class Idle:
    """Remembers how texts change in waits: by their pattern and way of changing, and by their place."""

    texts: set[tuple[str, str]] = field(default_factory=set)
    places: list[Point] = field(default_factory=list)
    log: set[str] = field(default_factory=set)

    def learn(self, before: Sequence[VisibleText], after: Sequence[VisibleText], log: Sequence[str]) -> None:
        """Take two readings between which no input was made, and what the game logged meanwhile."""
        changes = compare(before, after)
        self.texts.update((change.pattern, _way(change)) for change in changes)
        changed = {change.new for change in changes if change.new is not None}
        places = [item.centre for item in after if item.text in changed and item.centre is not None]
        self.places.extend(place for place in places if not self._knows(place))
        self.log.update(pattern_of(line) for line in log)

    def explains(self, change: TextChange, now: Sequence[VisibleText]) -> bool:
        """Whether such a change of a text, or any change at its place, was seen to come by itself."""
        if (change.pattern, _way(change)) in self.texts:
            return True
        places = [item.centre for item in now if item.text == change.new and item.centre is not None]
        return bool(places) and all(self._knows(place) for place in places)

    def _knows(self, place: Point) -> bool:
        return any(math.dist(place, other) < SAME_PLACE_PX for other in self.places)


def _way(change: TextChange) -> str:
    if change.old is None or change.new is None:
        return "came" if change.old is None else "went"
    return "counted"
