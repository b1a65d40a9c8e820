"""What `playtest check --json` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from playtest.protocol.base import Document


class Place(Document):
    """A place in the sources, and what stands there."""

    file: str
    line: int = Field(ge=1)
    text: str = Field(description="The call's name, or the line, cut.")


class EngineCalls(Document):
    """One prefix that calls to the engine or a plugin begin with."""

    prefix: str
    calls: int = Field(ge=0, description="How often it is called in code that a page loads.")
    places: tuple[Place, ...] = Field(description="The first of these calls.")
    not_calls: tuple[Place, ...] = Field(
        default=(), description="Where it is never called: where else it stands, in a comment or text, or unloaded."
    )


class Mention(Place):
    """A word in the sources that should not be there."""

    word: str
    where: Literal["code", "string", "comment", "text"] = Field(description="`text` is a file that is no code.")
    sure: bool = Field(default=True, description="False for a word that may mean something else there.")


class SourceCheck(Document):
    """The static check of a game's sources."""

    schema_: Literal["playtest-check/1"] = Field(default="playtest-check/1", alias="schema")
    ok: bool
    folder: str
    files: int = Field(description="Files that were read.")
    calls: tuple[EngineCalls, ...] = Field(description="Each listed prefix; empty where none was listed.")
    red_words: tuple[Mention, ...]
    residue: tuple[Mention, ...] = Field(description="What is left of contracts that were retired.")
    problems: tuple[str, ...] = Field(description="Why it is not ok.")
    notes: tuple[str, ...] = Field(default=(), description="What could not be read or followed.")
