"""Repeated taps on one spot: told to the tester from the second on, with whether they change anything."""

from __future__ import annotations

import math
from dataclasses import dataclass

from playtest.ports import Point
from playtest.protocol.actions import Action, Pointed, contact_point

SAME_SPOT_PX = 12


def same_spot(a: Point, b: Point) -> bool:
    """Whether two taps count as one place."""
    return math.dist(a, b) <= SAME_SPOT_PX


@dataclass(slots=True)
class RepeatedTaps:
    """Counts taps in a row on one spot."""

    spot: Point | None = None
    count: int = 0

    def note(self, action: Action, changed: bool) -> str | None:
        """Take one action with its effect; the id of a warning for the next message, if one is due."""
        point = contact_point(action) if isinstance(action, Pointed) else None
        if point is None:
            self.spot, self.count = None, 0
            return None
        here = Point(*point)
        self.count = self.count + 1 if self.spot is not None and same_spot(self.spot, here) else 1
        self.spot = here if self.count == 1 else self.spot
        if self.count < 2:
            return None
        return "repeat_with_effect" if changed else "repeat_no_effect"
