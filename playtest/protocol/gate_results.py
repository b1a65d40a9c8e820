"""What `playtest floor` and `playtest gates` say: the record of each, which `--json` prints too."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from playtest.protocol.base import Document
from playtest.protocol.gates import Floor, Gate, GateName
from playtest.protocol.result import Versions


class CheckResult(Document):
    """What every check of one page tells of itself."""

    schema_: str = Field(alias="schema")
    gid: str
    game: str
    floor: Floor
    degraded_reason: str | None = Field(default=None, description="Why nobody can tell: `timeout`, `interrupted`, ...")
    seed: int
    clock: str
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = Field(default=(), description="Names of the facts seen, in order, without repeats.")
    blocked: tuple[str, ...] = Field(default=(), description="Hosts that the page asked for and did not get.")
    versions: Versions
    started_at: str
    duration_ms: float
    game_time_ms: float


class FloorResult(CheckResult):
    """One look at one page (`floor.json`)."""

    schema_: Literal["playtest-floor/1"] = Field(default="playtest-floor/1", alias="schema")


class ExportFault(Document):
    """Something wrong with what a game tells of its state: no fault of the game that is played."""

    kind: Literal["frozen_export", "unreadable_export"]
    detail: str
    paths: tuple[str, ...] = ()


class Latching(Document):
    """Whether an end was reached, and stayed."""

    passed: bool = Field(alias="pass")
    advisory: bool = Field(default=False, description="True when not to have reached one is told, but not fatal.")
    reason: str
    after: str | None = Field(default=None, description="The phase when the end was looked at again.")
    phase_now: str | None = Field(default=None, description="Where the game is stuck; there whenever `pass` is false.")


class GatesResult(CheckResult):
    """The nine gates of one game (`gates.json`)."""

    schema_: Literal["playtest-gates/1"] = Field(default="playtest-gates/1", alias="schema")
    passed: bool = Field(
        alias="pass",
        description="Driven: all nine. Undriven: seven, for E and H are advisory, and G and I pass where there was"
        " nothing to judge. Not the floor, which is a projection of four of them.",
    )
    driven: bool
    driver_type: str = Field(description="A driver's family, `input-sequence`, or `none`.")
    spec: str | None = None
    source_hash: str | None = None
    gates: dict[GateName, Gate]
    export_fault: ExportFault | None = None
    end: Literal["win", "lose"] | None = None
    latch: Latching | None = None
    inputs: int = 0
