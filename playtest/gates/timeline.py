"""What was seen while a driver played: the facts that the observed gates judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from playtest.gates.conditions import MISSING, Value, at, same

End = Literal["win", "lose"]


@dataclass(frozen=True, slots=True)
class Moment:
    """One reading of the game. Times in ms of game time."""

    game_ms: float
    what: str
    """What was done before it: `boot`, `started`, an input, `dwell`."""
    state: Value = MISSING
    problem: str = ""
    """Why there is no state."""
    calls: tuple[str, ...] = ()
    """Calls to the engine that the game tells of."""
    picture: str = ""
    """Where the screen at that time is kept, if it is."""


@dataclass(slots=True)
class Played:
    """How a driver played one game."""

    driver: str
    moments: list[Moment] = field(default_factory=list)
    started: int | None = None
    """Which moment is the one after the start ritual; None where the game never started."""
    stuck: str = ""
    """Why the start ritual did not get through."""
    inputs: int = 0
    """Touches and keys since the start."""
    missed: list[str] = field(default_factory=list)
    """Inputs that could not be made, and why."""
    end: End | None = None
    stayed: bool | None = None
    """Whether the end was still there after the dwell; None where none was reached."""
    phase: str | None = None
    """The phase at the last reading."""
    died: str = ""
    """How the page ended, if it did."""
    calls: set[str] = field(default_factory=set)

    @property
    def before(self) -> Moment | None:
        """The reading after the start ritual, before the first input."""
        return self.moments[self.started] if self.started is not None else None

    @property
    def after(self) -> Moment | None:
        """The last reading."""
        return self.moments[-1] if self.started is not None and self.moments else None

    @property
    def read(self) -> list[Moment]:
        """The moments that have a state."""
        return [moment for moment in self.moments if moment.state is not MISSING]

    @property
    def constant(self) -> bool:
        """Whether every reading, from the loaded page on, gave the same state."""
        read = self.read
        return len(read) > 1 and all(same(moment.state, read[0].state) for moment in read[1:])

    def unmoved(self, paths: Sequence[str]) -> list[str]:
        """Those of the paths whose value was the same in every reading."""
        read = self.read
        if len(read) < 2:
            return []
        first = {path: at(read[0].state, path) for path in paths}
        return [path for path in paths if all(same(at(m.state, path), first[path]) for m in read[1:])]


@dataclass(frozen=True, slots=True)
class Control:
    """The same game without inputs: what of its state differs by the inputs alone."""

    compared: int
    """How many readings were compared, at equal game times."""
    paths: tuple[str, ...] = ()
    """The paths that differ at the first reading that differs."""
    input: str = ""
    """The input after which they do."""


@dataclass(frozen=True, slots=True)
class Follow:
    """One place that the hand went to, and where the controlled body was then. CSS px, or a direction for keys."""

    asked: str
    came: str
    followed: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """All facts behind the observed gates."""

    played: Played
    control: Control | None = None
    """None where no control was needed, or could be played."""
    screen_follows: bool = False
    """Whether the screen at the end is another than that of the game left alone since it was loaded."""
    follows: tuple[Follow, ...] = ()
    follow_problem: str = ""
    """Why the body could not be watched."""
