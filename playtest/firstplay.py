"""How soon a person could play, from the roll's own record."""

from __future__ import annotations

from dataclasses import dataclass

from playtest.protocol.result import FirstPlay
from playtest.protocol.transcript import Effect


@dataclass(slots=True)
class FirstPlayWatch:
    """Keeps the first input that had an effect."""

    _playable_ms: float | None = None
    _feedback_ms: float | None = None
    _step: int = 0

    def note(self, step: int, effect: Effect, before_ms: float) -> None:
        """Take one input's effect; `before_ms` is the game time at which the input began."""
        if self._playable_ms is None and effect.changed:
            self._playable_ms = before_ms
            self._feedback_ms = effect.first_change_ms
            self._step = step

    def result(self, claimed_loop: bool, progress: int) -> FirstPlay:
        """The three facts. A loop counts as closed when the tester says so and progress was measured."""
        if self._playable_ms is None:
            return FirstPlay(how={"playableAtMs": "no input ever had an effect"})
        return FirstPlay(
            playable_at_ms=round(self._playable_ms, 1),
            first_feedback_ms=self._feedback_ms,
            loop_closed=claimed_loop and progress > 0,
            how={
                "playableAtMs": f"when the first effective input began (step {self._step}); an upper bound",
                "firstFeedbackMs": "from that input to the first picture that differed; pictures are ~117 ms apart",
                "loopClosed": f"the tester's word ({claimed_loop}) and {progress} pieces of measured progress",
            },
        )
