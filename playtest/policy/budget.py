"""How many steps a roll has: a base that grows with progress up to a cap."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Steps from base to cap are handed out over this many pieces of progress.
PIECES = 5


@dataclass(slots=True)
class Budget:
    """The steps allowed so far."""

    base: int
    cap: int
    allowed: int = 0

    def __post_init__(self) -> None:
        self.allowed = self.allowed or self.base

    def left(self, step: int) -> int:
        """Steps left, when `step` steps are done."""
        return max(0, self.allowed - step)

    def grow(self) -> bool:
        """Extend for one step that brought progress; False when the cap was met already."""
        before = self.allowed
        self.allowed = min(self.cap, before + max(1, math.ceil((self.cap - self.base) / PIECES)))
        return self.allowed > before
