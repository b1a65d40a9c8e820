"""The verdict: what a tester claims, and what a run says."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field, model_validator

from playtest.protocol.base import Document, Foreign


class Verdict(StrEnum):
    """What a roll or a run comes to."""

    PASS = "pass"
    FAIL = "fail"
    DEGRADED = "degraded"


class FailKind(StrEnum):
    """Why a game fails. Each says that there is no game of the brief, never how good it is."""

    BROKEN = "broken"
    HOLLOW = "hollow"
    OFF_BRIEF = "off_brief"


class ClaimedPhenomenon(Foreign):
    """One observation in a tester's verdict. Coordinates may be left out where there is no place."""

    step: int = Field(ge=0)
    x: float | None = Field(default=None, allow_inf_nan=False)
    y: float | None = Field(default=None, allow_inf_nan=False)
    what: str = Field(min_length=1, max_length=2000)


class VerdictClaim(Foreign):
    """The `verdict` of a tester's reply.

    A fail needs a kind and at least one phenomenon; `degraded` is for a tester that can't tell.
    """

    result: Verdict
    kind: FailKind | None = None
    saw_screens: bool = Field(default=True, description="Whether the tester really saw the pictures.")
    loop_closed: bool = Field(default=False, description="Whether the core loop was completed once.")
    phenomena: tuple[ClaimedPhenomenon, ...] = ()
    speculation: tuple[str, ...] = ()
    summary: str = Field(default="", max_length=4000)

    @model_validator(mode="after")
    def _fail_is_founded(self) -> VerdictClaim:
        if self.result is Verdict.FAIL and self.kind is None:
            raise ValueError("a fail needs a kind: broken, hollow or off_brief")
        if self.result is Verdict.FAIL and not self.phenomena:
            raise ValueError("a fail needs at least one phenomenon: what was seen, at which step and place")
        return self


class ProbeResult(StrEnum):
    """What trying a claim again came to."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    FLAKY = "flaky"
    UNTESTABLE = "untestable"


class Probe(Document):
    """A claimed phenomenon tried again: the same game up to its step, then other ways to touch the same thing."""

    result: ProbeResult
    why: str
    tries: int = Field(default=0, ge=0, description="How many inputs were tried in the same moment.")
    offset: tuple[float, float] | None = Field(
        default=None, description="From where the tester touched to a spot that answers, CSS px."
    )
    answered_by: str | None = Field(default=None, description="The input that the game answered.")


class Attribution(StrEnum):
    """Whose fault a fail or a missing verdict is."""

    GAME = "game"
    TESTER = "tester"
    HARNESS = "harness"
    UNDETERMINED = "undetermined"


class Phenomenon(Document):
    """What was observed, by a tester or by the runner's own measurement."""

    roll: int = Field(ge=1)
    step: int = Field(ge=0)
    x: float | None = None
    y: float | None = None
    what: str
    source: Literal["tester", "runner"] = "tester"
    fault: str | None = Field(default=None, description="The name of the fault, where the runner saw one.")
    probe: Probe | None = Field(default=None, description="How the claim fared when it was tried again.")
    picture: str | None = Field(default=None, description="Clean picture after the step, relative to the result file.")
