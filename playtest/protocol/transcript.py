"""The lines of `transcript.jsonl`: a tagged union, each line written and flushed as it happens."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from playtest.protocol.actions import Action
from playtest.protocol.base import Document
from playtest.protocol.coordinates import Screen
from playtest.protocol.usage import Cost, Usage
from playtest.protocol.verdict import FailKind, Verdict, VerdictClaim


class Line(Document):
    """Where and when a line was written. Times are milliseconds since the roll's navigation began."""

    step: int = Field(ge=0, description="0 before the first step.")
    game_ms: float
    wall_ms: float


class StartLine(Line):
    """How the roll began."""

    type: Literal["start"] = "start"
    protocol: Literal["playtest/1"] = "playtest/1"
    gid: str
    roll: int = Field(ge=1)
    seed: int
    clock: str
    screen: Screen = Field(default=Screen(), description="The game's screen, in CSS pixels.")
    start_date: str
    game: str = Field(description="The game's page as a path, or its URL.")
    locale: str
    settle_ms: float
    reaction_ms: float
    url: str
    tester: str
    budget: int
    max_budget: int


class Effect(Document):
    """What an input changed beyond what moved by itself before it."""

    changed: bool
    area: float = Field(ge=0, le=1, description="Share of the screen that changed beyond the ambient motion.")
    region: tuple[int, int, int, int] | None = Field(default=None, description="x, y, width, height in CSS px.")
    texts: tuple[str, ...] = Field(default=(), description="Texts that changed with the input: `old -> new`.")
    ambient: float = Field(default=0, ge=0, le=1, description="Share of the screen that moved by itself before.")
    settled: bool = True
    settle_ms: float = Field(default=0, ge=0, description="Game time until the screen was still or the cap was met.")
    first_change_ms: float | None = Field(default=None, description="Game time from the input to the first change.")


class StepLine(Line):
    """One observation and one decision, with what came of it."""

    type: Literal["step"] = "step"
    seen: str = ""
    observed: dict[str, str | None] = {}
    reason: str = ""
    action: Action | None = None
    wire: dict[str, Any] | None = Field(default=None, description="The action's places as the tester gave them.")
    effect: Effect | None = None
    progress: tuple[str, ...] = Field(default=(), description="Evidence of progress that this step brought.")
    texts: tuple[str, ...] = Field(default=(), description="Visible texts before the action.")
    log: tuple[str, ...] = Field(default=(), description="New lines of the game's log.")
    picture: str | None = None
    ruled_picture: str | None = None
    picture_hash: str | None = Field(default=None, description="SHA-256 of the clean picture's pixels, 16 digits.")
    canary: str | None = None
    code: str | None = None
    raw: str | None = Field(default=None, description="The reply as received, bounded.")
    usage: Usage = Usage()
    cost: Cost = Cost()
    thought_ms: float = Field(default=0, description="Wall time that the game was held for the tester.")
    budget: int = Field(default=0, description="Steps allowed so far.")


class WarningLine(Line):
    """A warning that the runner gave the tester."""

    type: Literal["warning"] = "warning"
    warning: str
    message: str


class RefusalLine(Line):
    """A reply or verdict that the runner did not accept."""

    type: Literal["refusal"] = "refusal"
    refusal: str
    message: str
    raw: str | None = None
    usage: Usage = Usage()
    cost: Cost = Cost()


class BudgetLine(Line):
    """The budget grew, or ran out."""

    type: Literal["budget"] = "budget"
    budget: int
    why: str


class FaultLine(Line):
    """Something that happened to the page, the browser or the tester: a fact, not a judgement."""

    type: Literal["fault"] = "fault"
    fault: str
    message: str
    detail: dict[str, Any] = {}


class VerdictLine(Line):
    """A verdict that the runner took."""

    type: Literal["verdict"] = "verdict"
    claim: VerdictClaim


class EndLine(Line):
    """How the roll ended."""

    type: Literal["end"] = "end"
    verdict: Verdict
    kind: FailKind | None = None
    degraded_reason: str | None = None
    message: str = ""


TranscriptLine: TypeAlias = Annotated[
    StartLine | StepLine | WarningLine | RefusalLine | BudgetLine | FaultLine | VerdictLine | EndLine,
    Field(discriminator="type"),
]
transcript_line: TypeAdapter[TranscriptLine] = TypeAdapter(TranscriptLine)
