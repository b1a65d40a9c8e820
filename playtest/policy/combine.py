"""One verdict from one or two rolls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from playtest.protocol.result import Roll
from playtest.protocol.verdict import FailKind, Verdict


class Combined(NamedTuple):
    """The run's verdict."""

    verdict: Verdict
    kind: FailKind | None
    degraded_reason: str | None


def needs_second_roll(first: Roll, rolls: int) -> bool:
    """A fail is confirmed by a second roll; not where the floor is red, which needs no second opinion."""
    floor_green = first.floor is not None and first.floor.passed
    return rolls > 1 and first.verdict is Verdict.FAIL and floor_green


def wants_turning(first: Roll, rolls: int) -> bool:
    """A game that asked for the other orientation while it was played gets it, once."""
    asked = first.screen.is_portrait and "needs_landscape" in first.faults
    return rolls > 1 and first.verdict is not Verdict.PASS and asked


def combine(rolls: Sequence[Roll]) -> Combined:
    """A pass at either roll passes; a fail stands when no later roll contradicts it; otherwise nobody can tell."""
    if not rolls:
        return Combined(Verdict.DEGRADED, None, "not_played")
    if any(roll.verdict is Verdict.PASS for roll in rolls):
        return Combined(Verdict.PASS, None, None)
    last = rolls[-1]
    if all(roll.verdict is Verdict.FAIL for roll in rolls):
        return Combined(Verdict.FAIL, last.kind, None)
    reasons = [roll.degraded_reason for roll in rolls if roll.degraded_reason]
    return Combined(Verdict.DEGRADED, None, reasons[-1])
