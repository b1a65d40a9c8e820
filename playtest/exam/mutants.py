"""Faults planted into good games, so that a tester's recall can be measured: mutation testing, of the tester."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field, ValidationError

from playtest.errors import UsageError
from playtest.protocol.base import Document
from playtest.protocol.verdict import FailKind

MUTANTS = "mutants.jsonl"
PAGE, BRIEF = "index.html", "brief.md"

FaultClass: TypeAlias = Literal[
    "dropped_listener",
    "shifted_hit",
    "nan_score",
    "skipped_redraw",
    "frozen_level",
    "swapped_brief",
    "no_end",
]


class Mutant(Document):
    """One known fault in one good game: texts of its source replaced, or another game's brief."""

    mutant: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="Its own gid: `<gid>.<fault>`.")
    gid: str
    fault: FaultClass
    kinds: tuple[FailKind, ...] = Field(min_length=1, description="The kinds of fail that name it rightly.")
    edits: tuple[tuple[str, str], ...] = Field(default=(), description="What stands in the source, once, and instead.")
    brief_of: str | None = Field(default=None, description="The game whose brief it gets.")


def read_mutants(path: Path) -> list[Mutant]:
    """The mutants of a JSONL file. Raises UsageError with the line that is wrong."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the mutants {path} can't be read: {error}", "give an exam folder that has them") from error
    found: list[Mutant] = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(Mutant.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            raise UsageError(f"{path}:{number}: {where}: {first['msg']}", "mend the line") from error
    return found


def plant(mutant: Mutant, games: Path, target: Path) -> None:
    """Make the mutant's folder of the good games'. Raises UsageError where an edit does not fit the source once."""
    shutil.copytree(games / mutant.gid, target)
    if mutant.brief_of is not None:
        shutil.copyfile(games / mutant.brief_of / BRIEF, target / BRIEF)
    page = target / PAGE
    page.write_text(_edited(mutant, page.read_text("utf-8")), "utf-8")


def _edited(mutant: Mutant, source: str) -> str:
    for old, new in mutant.edits:
        if source.count(old) != 1:
            raise UsageError(
                f"{mutant.mutant}: {old[:60]!r} stands {source.count(old)} times in the source of {mutant.gid}",
                "an edit needs a text that stands there once",
            )
        source = source.replace(old, new)
    return source


def classes(mutants: Sequence[Mutant]) -> dict[FaultClass, list[Mutant]]:
    """The mutants by their class of fault, in the order in which they come."""
    found: dict[FaultClass, list[Mutant]] = {}
    for mutant in mutants:
        found.setdefault(mutant.fault, []).append(mutant)
    return found
