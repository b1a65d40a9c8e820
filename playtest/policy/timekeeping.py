"""Where a roll's time went: the game's own, the wall's, and who waited for whom."""

from __future__ import annotations

from dataclasses import dataclass

HALF_A_FRAME_MS = 1000 / 120


@dataclass(slots=True)
class Timekeeping:
    """Sums over one roll, in ms. Whether the game was held is measured, not taken from the clock's name."""

    held_ms: float = 0.0
    unheld_ms: float = 0.0
    _thinking_ms: float = 0.0

    def thought(self, wall_ms: float, game_ms: float) -> None:
        """The tester thought for `wall_ms`, and `game_ms` of game time passed meanwhile."""
        self._thinking_ms += wall_ms
        if game_ms < HALF_A_FRAME_MS:
            self.held_ms += wall_ms
        else:
            self.unheld_ms += game_ms

    def speed(self, game_ms: float, wall_ms: float, experiment_ms: float) -> float | None:
        """Game time per wall time while the game was driven; None where it never was."""
        driven_ms = wall_ms - self._thinking_ms - experiment_ms
        return round((game_ms - self.unheld_ms) / driven_ms, 2) if driven_ms > 0 else None

    @property
    def caveat(self) -> str:
        """What to tell of an end that came while the game ran on by itself; empty when it was always held."""
        if not self.unheld_ms:
            return ""
        return f" (nothing was held: the game ran on for {self.unheld_ms / 1000:.1f} s while the tester thought)"
