"""The run's result, `playtest.json`, and the parts of it that each roll keeps."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from playtest.protocol.base import Document
from playtest.protocol.coordinates import Screen
from playtest.protocol.gates import Floor
from playtest.protocol.usage import Cost, Usage
from playtest.protocol.verdict import Attribution, FailKind, Phenomenon, Verdict

SCHEMA = "playtest/1"


class FirstPlay(Document):
    """How soon a person could play. Game time, null where it never happened; `how` says how each was found."""

    playable_at_ms: float | None = None
    first_feedback_ms: float | None = None
    loop_closed: bool = False
    loop_closed_at_ms: float | None = Field(default=None, description="When the last of its progress was measured.")
    meets: dict[str, bool] = Field(default={}, description="Whether each keeps to its limit, which is a setting.")
    how: dict[str, str] = {}


class Control(Document):
    """The same seed and game time without any input, compared with the roll step by step."""

    steps: int = Field(ge=0, description="How many of the roll's pictures were compared.")
    same: int = Field(ge=0, description="How many of them no input would have changed.")
    self_progress: tuple[str, ...] = Field(default=(), description="Texts that moved without any input.")
    wall_time_ms: float = 0


class Aim(Document):
    """Where the tester's taps fell, against the spots that answered. Offsets in CSS px."""

    offsets: tuple[tuple[float, float], ...]
    meaning: str = Field(description="A constant factor or shift by name, or that there is none.")


class Roll(Document):
    """One game from boot to a verdict (`roll.json`)."""

    number: int = Field(ge=1)
    seed: int
    clock: str
    screen: Screen = Field(default=Screen(), description="The game's screen, in CSS pixels.")
    verdict: Verdict
    kind: FailKind | None = None
    degraded_reason: str | None = None
    summary: str = ""
    steps: int = Field(ge=0)
    budget: int = Field(ge=0)
    distinct_taps: int = Field(ge=0)
    effective_inputs: int = Field(ge=0)
    unseeded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    blocked: tuple[str, ...] = Field(default=(), description="Hosts that the game asked for and did not get.")
    faults: tuple[str, ...] = Field(default=(), description="Names of the faults seen, in order, without repeats.")
    phenomena: tuple[Phenomenon, ...] = ()
    speculation: tuple[str, ...] = ()
    first_play: FirstPlay = FirstPlay()
    attribution: Attribution | None = Field(default=None, description="Null for a pass.")
    control: Control | None = None
    aim: Aim | None = None
    floor: Floor | None = None
    usage: Usage = Usage()
    cost: Cost = Cost()
    game_time_ms: float = 0
    wall_time_ms: float = 0
    experiment_ms: float = Field(default=0, description="Wall time spent on control, probes and film.")
    probe_ms: float = Field(default=0, description="Of these, on trying claims again.")
    film_ms: float = Field(default=0, description="Of these, on filming the first play.")
    held_ms: float = Field(default=0, description="Wall time that the game was held while the tester thought.")
    unheld_ms: float = Field(default=0, description="Game time that ran on while the tester thought.")
    speed: float | None = Field(default=None, description="Game time per wall time while the game was driven.")


class TesterInfo(Document):
    """Who looked and decided."""

    __test__: ClassVar[bool] = False  # its name starts like a test's

    name: str
    model: str | None = None
    prompt_version: str | None = None
    coordinate_space: str = "css"
    limits: tuple[str, ...] = Field(default=(), description="What this tester can't judge.")


class Versions(Document):
    """What ran."""

    playtest: str
    chromium: str | None = None
    python: str


class EvidencePaths(Document):
    """Where the evidence is, relative to the result file."""

    report: str | None = None
    rolls: tuple[str, ...] = ()


class RunResult(Document):
    """The whole run (`playtest.json`; `--json` prints the same document)."""

    schema_: Literal["playtest/1"] = Field(default="playtest/1", alias="schema")
    gid: str
    verdict: Verdict
    kind: FailKind | None = None
    degraded_reason: str | None = None
    phenomena: tuple[Phenomenon, ...] = ()
    speculation: tuple[str, ...] = ()
    first_play: FirstPlay = FirstPlay()
    attribution: Attribution | None = Field(default=None, description="Null for a pass.")
    rolls: tuple[Roll, ...] = ()
    usage: Usage = Usage()
    cost: Cost = Cost()
    tester: TesterInfo
    versions: Versions
    started_at: str
    duration_ms: float
    game_time_ms: float
    held_ms: float = Field(default=0, description="Wall time that games were held while the tester thought.")
    experiment_ms: float = Field(default=0, description="Wall time spent on controls, probes and films.")
    speed: float | None = Field(default=None, description="Of the slowest roll: game time per wall time while driven.")
    evidence: EvidencePaths
    floor: Floor | None = None


class ErrorBody(Document):
    """What went wrong, and what to do next."""

    code: int
    message: str
    hint: str = ""


class ErrorDocument(Document):
    """What `--json` prints for exit codes 2 and 3."""

    error: ErrorBody
