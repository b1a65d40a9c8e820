"""What `playtest floor` and `playtest gates` say: the record of each, which `--json` prints too."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from playtest.protocol.base import Document
from playtest.protocol.gates import Floor
from playtest.protocol.result import Versions


class FloorResult(Document):
    """One look at one page (`floor.json`)."""

    schema_: Literal["playtest-floor/1"] = Field(default="playtest-floor/1", alias="schema")
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
