"""How soon a person could play: the facts of a roll, made exact by film where the clock allows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from playtest.protocol.actions import Action
from playtest.protocol.result import FirstPlay
from playtest.protocol.transcript import Effect


class Limits(NamedTuple):
    """What a good game keeps to, in ms of game time."""

    playable_ms: float = 2000
    feedback_ms: float = 100
    loop_ms: float = 60_000


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class FirstInput:
    """The first input of a roll that had an effect. `began_ms` is the game time at which it began."""

    step: int
    action: Action
    effect: Effect
    began_ms: float


class Exact(NamedTuple):
    """What the film showed, in ms of game time, and how each was found."""

    playable_ms: float
    feedback_ms: float | None
    how_playable: str
    how_feedback: str


@dataclass(slots=True)
class FirstPlayWatch:
    """Keeps the first input that had an effect, and when progress was measured last."""

    limits: Limits = LIMITS
    first: FirstInput | None = None
    exact: Exact | None = None
    _progress: int = 0
    _progress_ms: float | None = None

    def note(self, first: FirstInput) -> None:
        """Take one input; the first one with an effect is kept."""
        if self.first is None and first.effect.changed:
            self.first = first

    def progressed(self, pieces: int, game_ms: float) -> None:
        """Take the measured progress of one input."""
        self._progress += pieces
        if pieces:
            self._progress_ms = game_ms

    def result(self, claimed_loop: bool) -> FirstPlay:
        """The three facts. A loop counts as closed when the tester says so and progress was measured."""
        if self.first is None:
            return FirstPlay(how={"playableAtMs": "no input ever had an effect"})
        exact = self.exact or _estimate(self.first)
        closed = claimed_loop and self._progress > 0
        at_ms = self._progress_ms if closed else None
        return FirstPlay(
            playable_at_ms=round(exact.playable_ms, 2),
            first_feedback_ms=None if exact.feedback_ms is None else round(exact.feedback_ms, 2),
            loop_closed=closed,
            loop_closed_at_ms=None if at_ms is None else round(at_ms, 1),
            meets={
                "playableAtMs": exact.playable_ms <= self.limits.playable_ms,
                "firstFeedbackMs": exact.feedback_ms is not None and exact.feedback_ms <= self.limits.feedback_ms,
                "loopClosed": at_ms is not None and at_ms <= self.limits.loop_ms,
            },
            how={
                "playableAtMs": exact.how_playable,
                "firstFeedbackMs": exact.how_feedback,
                "loopClosed": f"the tester's word ({'yes' if claimed_loop else 'no'}) and {self._progress} pieces of "
                "measured progress",
            },
        )


def _estimate(first: FirstInput) -> Exact:
    """Upper bounds, where nothing was filmed."""
    return Exact(
        first.began_ms,
        first.effect.first_change_ms,
        f"at the latest: when the first effective input began (step {first.step})",
        "at the latest: from that input's beginning to the first picture that differed; pictures are ~117 ms apart",
    )
