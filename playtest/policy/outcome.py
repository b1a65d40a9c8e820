"""How a roll ends, and the phenomena that its record carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from playtest.errors import EvidenceError
from playtest.ports import PageFault
from playtest.protocol.verdict import ClaimedPhenomenon, FailKind, Phenomenon, Probe, Verdict, VerdictClaim

# Faults that are phenomena of a failing game in their own right, whatever the tester says.
TELLING_FAULTS = ("hang", "crash", "uncaught", "boot")


class Ending(NamedTuple):
    """A roll's verdict."""

    verdict: Verdict
    kind: FailKind | None = None
    reason: str | None = None
    message: str = ""

    @classmethod
    def of_dead_page(cls, kind: str, message: str, after_input: bool) -> Ending:
        """The page hung or crashed for good."""
        if kind in ("hang", "crash"):
            when = "after an input" if after_input else "before any input"
            return cls(Verdict.FAIL, FailKind.BROKEN, None, f"the page came to an end {when}: {message}")
        return cls(Verdict.DEGRADED, None, "browser", message)

    @classmethod
    def of_stop(cls, error: BaseException) -> Ending:
        """The roll was broken off from outside it, or by a mistake of ours; what it had come to does not stand."""
        if isinstance(error, EvidenceError):
            return cls(Verdict.DEGRADED, None, "evidence", error.message)
        if isinstance(error, Exception):
            return cls(Verdict.DEGRADED, None, "bug", f"a bug of playtest's own: {type(error).__name__}")
        return cls(Verdict.DEGRADED, None, "interrupted", "the run was stopped")


UNRECORDED = Ending(Verdict.DEGRADED, reason="evidence", message="the record could not be kept")


def ending_of_claim(claim: VerdictClaim, supported: bool, last_step: int) -> Ending:
    """What a claim that passed the guards comes to. A pass without any effective input is never one."""
    if not claim.saw_screens:
        return Ending(Verdict.DEGRADED, reason="image_channel", message="the tester says that it saw no picture")
    if claim.result is Verdict.PASS and not supported:
        return Ending(
            Verdict.DEGRADED,
            reason="unsupported_pass",
            message="the tester says pass, but no input ever had an effect by the runner's own measurement",
        )
    if claim.result is Verdict.DEGRADED:
        return Ending(Verdict.DEGRADED, reason="undecided", message=claim.summary)
    if claim.result is Verdict.FAIL and all(item.step > last_step for item in claim.phenomena):
        return Ending(
            Verdict.DEGRADED,
            reason="unsupported_fail",
            message="the tester says fail, but cites only steps that never happened",
        )
    return Ending(claim.result, claim.kind if claim.result is Verdict.FAIL else None, None, claim.summary)


def phenomena_of(
    roll: int,
    *,
    claim: VerdictClaim | None,
    probes: Mapping[ClaimedPhenomenon, Probe],
    ending: Ending,
    faults: Sequence[PageFault],
    last_step: int,
    pictures: Mapping[int, str],
) -> tuple[Phenomenon, ...]:
    """The tester's observations (of steps that happened) and the runner's own."""
    found = [
        Phenomenon(
            roll=roll,
            step=item.step,
            x=item.x,
            y=item.y,
            what=item.what,
            probe=probes.get(item),
            picture=_after(item.step, pictures),
        )
        for item in (claim.phenomena if claim else ())
        if item.step <= last_step
    ]
    if ending.verdict is Verdict.FAIL:
        found.extend(_of_fault(roll, fault, last_step, pictures) for fault in faults if fault.kind in TELLING_FAULTS)
    return tuple(found[:50])


def _of_fault(roll: int, fault: PageFault, last_step: int, pictures: Mapping[int, str]) -> Phenomenon:
    step = min(int(fault.detail.get("step", last_step)), last_step)
    return Phenomenon(
        roll=roll,
        step=step,
        x=fault.detail.get("x"),
        y=fault.detail.get("y"),
        what=f"{fault.kind}: {fault.message}",
        source="runner",
        fault=fault.kind,
        picture=_after(step, pictures),
    )


def _after(step: int, pictures: Mapping[int, str]) -> str | None:
    """The picture that shows what came of a step: the next one taken, else the last."""
    later = [number for number in pictures if number > step]
    return pictures[min(later)] if later else pictures.get(step)
