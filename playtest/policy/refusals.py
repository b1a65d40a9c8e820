"""Which replies the runner does not take: early fails, empty passes, and replies without the picture's canary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from playtest.policy.repeat_tap import same_spot
from playtest.ports import Point
from playtest.protocol.actions import Action, Pointed, Stroke, contact_point
from playtest.protocol.verdict import Verdict, VerdictClaim

MIN_DISTINCT_TAPS = 3
MAX_UNPARSEABLE = 3
CANARY_FAULTS = 2
CANARY_FORGIVEN = 1


def distinct_taps(actions: Sequence[Action]) -> int:
    """How many different places were touched."""
    places: list[Point] = []
    for action in actions:
        point = contact_point(action) if isinstance(action, Pointed | Stroke) else None
        if point is not None and not any(same_spot(Point(*point), other) for other in places):
            places.append(Point(*point))
    return len(places)


@dataclass(slots=True)
class VerdictGuard:
    """Refuses a first early fail, a first empty pass, and a first fail that cites steps which never happened."""

    early_fail_refused: bool = False
    empty_pass_refused: bool = False
    unknown_step_refused: bool = False

    def judge(self, claim: VerdictClaim, taps: int, supported: bool, page_is_up: bool, last_step: int) -> str | None:
        """The id of the refusal, or None when the claim is taken."""
        if any(item.step > last_step for item in claim.phenomena) and not self.unknown_step_refused:
            self.unknown_step_refused = True
            return "phenomenon_step_unknown"
        if not claim.saw_screens:
            return None
        if claim.result is Verdict.FAIL and taps < MIN_DISTINCT_TAPS and page_is_up and not self.early_fail_refused:
            self.early_fail_refused = True
            return "early_fail_refused"
        if claim.result is Verdict.PASS and not supported and not self.empty_pass_refused:
            self.empty_pass_refused = True
            return "unsupported_pass_refused"
        return None


@dataclass(slots=True)
class CanaryGuard:
    """Whether the tester gets the pictures: it must repeat each picture's code."""

    wrong_in_a_row: int = field(default=0)

    def check(self, sent: str, answered: str | None) -> bool:
        """True when the code is right, one wrong character forgiven."""
        given = (answered or "").strip().upper()
        wrong = sum(a != b for a, b in zip(sent, given, strict=False)) + abs(len(sent) - len(given))
        good = wrong <= CANARY_FORGIVEN
        self.wrong_in_a_row = 0 if good else self.wrong_in_a_row + 1
        return good

    @property
    def blind(self) -> bool:
        """Wrong often enough in a row that no verdict can stand."""
        return self.wrong_in_a_row >= CANARY_FAULTS
