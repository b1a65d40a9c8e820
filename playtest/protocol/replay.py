"""What `playtest replay` says: whether a recorded roll can be repeated, or what became of its phenomena."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from playtest.protocol.base import Document
from playtest.protocol.verdict import Phenomenon


class StepCheck(Document):
    """One step compared with its record."""

    step: int = Field(ge=0)
    pixels: bool = Field(description="Whether the pictures are equal.")
    texts: bool = Field(description="Whether the texts are equal.")


class Divergence(Document):
    """The first step that differs from its record; pictures relative to the replay's folder."""

    step: int
    recorded: str | None = Field(description="Null where the record's picture is missing or can't be read.")
    replayed: str
    difference: str | None
    spoilt: str = Field(default="", description="What is wrong with the record's own picture, if anything.")
    texts: tuple[str, ...] = Field(default=(), description="Texts that differ: `recorded -> replayed`.")


class Fate(StrEnum):
    """What became of a recorded phenomenon on another build."""

    STILL_THERE = "still there"
    GONE = "gone"
    NOT_REACHED = "not reached"


class Checked(Document):
    """One recorded phenomenon on another build."""

    phenomenon: Phenomenon
    fate: Fate
    why: str


class ReplayResult(Document):
    """The whole replay (`replay.json`)."""

    schema_: Literal["playtest-replay/1"] = Field(default="playtest-replay/1", alias="schema")
    roll: str
    game: str
    clock: str
    ended_early: str | None = Field(default=None, description="Why not all steps could be played.")
    steps: tuple[StepCheck, ...]
    divergence: Divergence | None = None
    phenomena: tuple[Checked, ...] = Field(default=(), description="Filled by the fix check only.")
    game_time_ms: float
    wall_time_ms: float
