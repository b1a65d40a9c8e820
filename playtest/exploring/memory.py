"""What was tried where, what came of it, and what the game does by itself."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from playtest.exploring.idle import Idle
from playtest.exploring.looks import Look, difference, look_at
from playtest.exploring.moves import Move, Recipe
from playtest.exploring.outcome import Outcome, weigh
from playtest.exploring.readings import Counters
from playtest.exploring.response import Motion, change_between
from playtest.exploring.scene import Scene, Thing
from playtest.pictures import distance
from playtest.ports import Point
from playtest.protocol.transcript import Effect
from playtest.text_changes import pattern_of

SAME_SCREEN = 13.0
SAME_LOOK = 20.0
NEAR_PX = 18


@dataclass(slots=True)
class Tally:
    """How a kind of deed has fared."""

    tries: int = 0
    answered: int = 0
    reward: float = 0.0

    @property
    def value(self) -> float:
        """What to expect of it, about -1 to 1; 0 when untried."""
        return (self.reward + 0.1 * self.answered) / (self.tries + 0.5)


@dataclass(slots=True)
class ScreenMemory:
    """One screen of the game, whatever little moves on it."""

    signatures: list[NDArray[np.float32]]
    visits: int = 1
    motion: Motion = field(default_factory=Motion)


@dataclass(slots=True)
class Reveal:
    """A place whose picture changed when it was tapped: a card that was turned."""

    screen: int
    place: Point
    hidden: Look
    shown: Look


@dataclass(slots=True)
class Memory:
    """One roll as the explorer remembers it."""

    screens: list[ScreenMemory] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    recipes: dict[Recipe, Tally] = field(default_factory=lambda: defaultdict(Tally))
    reveals: list[Reveal] = field(default_factory=list)
    counters: Counters = field(default_factory=Counters)
    idle: Idle = field(default_factory=Idle)
    words: set[str] = field(default_factory=set)
    log: set[str] = field(default_factory=set)
    screen: int = -1
    selected: Thing | None = None

    def begin(self, scene: Scene, log: Sequence[str]) -> None:
        """Take the first look."""
        self.screen = self._recognise(scene)
        self.words.update(pattern_of(text) for text in scene.words())
        self.log.update(pattern_of(line) for line in log)

    def observe(self, move: Move, before: Scene, after: Scene, effect: Effect | None, log: Sequence[str]) -> Outcome:
        """Take what the screen shows after a move; remember and return what came of it."""
        old_screen, known = self.screen, len(self.screens)
        self.screen = self._recognise(after)
        if not move.is_input:
            self.counters.waited(before.numbers, after.numbers)
            self.idle.learn(before.texts, after.texts, log)
        change, motion = change_between(before.pixels, after.pixels), self.screens[old_screen].motion
        outcome = weigh(
            self, move, before, after, effect=effect, log=log, old_screen=old_screen,
            discovered=len(self.screens) > known, change=change, motion=motion,
        )  # fmt: skip
        if outcome.doubtful and self.in_doubt is not None and self.in_doubt.same_deed(move):
            outcome = replace(outcome, answered=True, doubtful=False)  # it did so again
        if not outcome.moved_on:
            motion.note(change, move.points, not move.is_input)
        self.outcomes.append(outcome)
        self.words.update(pattern_of(text) for text in (*after.words(), *outcome.words))
        self.log.update(pattern_of(line) for line in log)
        if move.is_input:
            for recipe in move.recipes:
                tally = self.recipes[recipe]
                tally.tries += 1
                tally.answered += outcome.answered
                tally.reward += outcome.reward
            self._remember_reveal(move, before, after, outcome)
        self._select(move, outcome)
        return outcome

    def _recognise(self, scene: Scene) -> int:
        best, found = SAME_SCREEN, -1
        for number, known in enumerate(self.screens):
            far = min(distance(scene.signature, signature) for signature in known.signatures)
            if far < best:
                best, found = far, number
        if found < 0:
            self.screens.append(ScreenMemory([scene.signature]))
            return len(self.screens) - 1
        known = self.screens[found]
        known.signatures[1:] = [scene.signature]
        known.visits += found != self.screen
        return found

    def idle_areas(self, screen: int) -> list[float]:
        """The shares of a screen that changed in waits."""
        return self.screens[screen].motion.idle_areas

    def _remember_reveal(self, move: Move, before: Scene, after: Scene, outcome: Outcome) -> None:
        if move.kind != "tap" or move.thing is None or not outcome.answered or outcome.area > 0.2:
            return
        hidden, shown = look_at(before.pixels, move.thing.box), look_at(after.pixels, move.thing.box)
        if difference(hidden, shown) < SAME_LOOK:
            return
        self.reveals = [
            r for r in self.reveals if r.screen != self.screen or math.dist(r.place, move.thing.centre) > NEAR_PX
        ]
        self.reveals.append(Reveal(self.screen, move.thing.centre, hidden, shown))

    def _select(self, move: Move, outcome: Outcome) -> None:
        """A tap that answered at its own place, without progress, may have picked something up."""
        if not move.is_input:
            return
        if outcome.rises or outcome.moved_on or move.is_flow:
            self.selected = None
        elif move.kind == "tap" and outcome.answered and move.thing is not None:
            self.selected = move.thing
        elif move.kind != "tap":
            self.selected = None

    # -- questions ------------------------------------------------------------------------------------------

    def tries(self, thing: Thing, kind: str = "tap", any_look: bool = False) -> list[Outcome]:
        """The earlier moves of a kind on this thing: same screen, same place, same look."""
        return [
            outcome
            for outcome in self.outcomes
            if outcome.screen == self.screen
            and outcome.move.kind == kind
            and outcome.move.start is not None
            and math.dist(outcome.move.start, thing.centre) <= NEAR_PX
            and (any_look or outcome.move.thing is None or difference(outcome.move.thing.look, thing.look) < SAME_LOOK)
        ]

    def label_tries(self, thing: Thing) -> list[Outcome]:
        """The earlier taps on a label with these words on this screen, wherever it stood."""
        return [
            outcome
            for outcome in self.outcomes
            if outcome.screen == self.screen
            and outcome.move.thing is not None
            and outcome.move.is_flow
            and outcome.move.thing.words == thing.words
        ]

    def pair_tries(self, first: Thing, second: Thing, kind: str = "tap") -> int:
        """How often these two were tried one after the other (or dragged) in vain, looking as they do."""
        count, previous = 0, None
        for outcome in self.outcomes:
            move = outcome.move
            if kind == "drag":
                hit = move.kind == "drag" and _at(move.start, first) and _at(move.end, second)
            else:
                hit = move.kind == "tap" and _at(move.start, second) and previous is not None and _at(previous, first)
            count += bool(hit and not outcome.rises and move.thing is not None and _alike(move.thing, first, second))
            previous = move.start if move.is_input else previous
        return count

    @property
    def inputs(self) -> list[Outcome]:
        """All moves but waits."""
        return [outcome for outcome in self.outcomes if outcome.move.is_input]

    @property
    def in_doubt(self) -> Move | None:
        """The last move, where it is not clear whether the game answered it or moved by itself."""
        return self.outcomes[-1].move if self.outcomes and self.outcomes[-1].doubtful else None

    @property
    def silence(self) -> list[Outcome]:
        """The moves since anything last answered, or a new screen or text came up, waits among them."""
        out: list[Outcome] = []
        for outcome in reversed(self.outcomes):
            if outcome.answered or outcome.discovered or outcome.fresh:
                break
            out.append(outcome)
        return out[::-1]

    @property
    def since_progress(self) -> int:
        """Inputs since the last one that brought something new."""
        count = 0
        for outcome in reversed(self.inputs):
            if outcome.reward > 0.25:
                break
            count += 1
        return count


def _at(point: Point | None, thing: Thing) -> bool:
    return point is not None and math.dist(point, thing.centre) <= NEAR_PX


def _alike(tried: Thing, first: Thing, second: Thing) -> bool:
    return min(difference(tried.look, first.look), difference(tried.look, second.look)) < SAME_LOOK
