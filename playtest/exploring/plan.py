"""The next move: labels that lead on, then whatever promises most, all choices seeded."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace

from playtest.exploring import moves
from playtest.exploring.dead import FAR_PX, SUSPICION, next_probe
from playtest.exploring.endings import Loop
from playtest.exploring.kinship import Kinship, find_kin
from playtest.exploring.labels import FORWARD, LabelKind, hints, named_keys
from playtest.exploring.looks import difference, likeness
from playtest.exploring.memory import Memory
from playtest.exploring.moves import Move
from playtest.exploring.outcome import Outcome
from playtest.exploring.scene import Scene, Thing

NOISE = 0.12
CONTROL_MS = 1500
GOAL_MS = 2500
IDLE_LOOK_MS = 1200
MAX_DRAGS = 24
MOVING = 0.004
_ORDER = (*FORWARD, LabelKind.RETRY)


class Planner:
    """Chooses moves. `rng` makes the choices of a roll repeatable."""

    def __init__(self, rng: random.Random, memory: Memory, loop: Loop) -> None:
        self._rng = rng
        self._memory = memory
        self._loop = loop

    def next(self, scene: Scene, wish: str | None, ambient: float) -> Move:
        """The next move for this scene. `ambient` is the share of the screen that moves by itself."""
        memory = self._memory
        if scene.blank and sum(outcome.move.kind == "wait" for outcome in memory.silence) < 3:
            return moves.wait(2000, "nothing on the screen yet")
        if memory.in_doubt is not None:
            return _again(memory.in_doubt)
        if wish == "control":
            return moves.wait(CONTROL_MS, "does the counter move without an input?")
        if wish == "come":
            return moves.wait(GOAL_MS, "the goal is reached: waiting for what comes of it")
        if label := self._label(scene):
            return label
        silent = sum(outcome.move.is_input for outcome in memory.silence)
        suspicion = SUSPICION * (1 if memory.since_progress >= len(memory.inputs) - 1 else 2)
        if silent >= suspicion and (probe := next_probe(memory, scene, self._rng)) is not None:
            return probe
        if self._idle_look_due(scene, ambient):
            return moves.wait(IDLE_LOOK_MS, "what moves here by itself?")
        return self._best(scene, contrast=wish == "contrast")

    def _idle_look_due(self, scene: Scene, ambient: float) -> bool:
        """Whether to watch without an input.

        A screen that moves when it comes up, again later where much of it moves; one with numbers once it answered.
        """
        memory = self._memory
        looks = len(memory.idle_areas(memory.screen))
        here = [outcome for outcome in memory.inputs if outcome.screen == memory.screen]
        if ambient > MOVING:
            return bool(memory.inputs) and (looks == 0 or (ambient > 0.1 and looks < 3 and len(here) >= 4 * looks))
        return looks == 0 and bool(scene.numbers) and any(outcome.answered and not outcome.moved_on for outcome in here)

    # -- labels ---------------------------------------------------------------------------------------------

    def _label(self, scene: Scene) -> Move | None:
        """A label that leads on: the best fitting, tappable, shortest first; those that did nothing here are left."""
        found = []
        for thing in scene.labels:
            label = thing.label
            if label is None or label.kind not in _ORDER or not self._worth(thing):
                continue
            rank = _ORDER.index(label.kind) if label.kind is not LabelKind.RETRY else len(_ORDER)
            size = min((len(word) for word in thing.words), default=99)
            found.append((rank - 2 * label.fit - thing.tappable, size, thing.box, thing))
        if not found:
            return None
        thing = min(found, key=lambda item: item[:3])[3]
        assert thing.label is not None
        why = f"the label says {thing.label.kind.value}"
        keys = [key for word in thing.words for key in named_keys(word) if key in moves.KEYS]
        return moves.press_key(keys[0], why, thing) if keys else moves.tap(thing, why)

    def _worth(self, thing: Thing) -> bool:
        assert thing.label is not None
        if thing.label.kind is LabelKind.RETRY and not self._loop.pending and not self._alone(thing):
            return False
        tries = self._memory.label_tries(thing)
        closing = self._loop.closing
        if closing is not None and self._loop.pending:
            return sum(outcome.step > closing.step for outcome in tries) < 2
        if not tries or not tries[-1].answered:
            return not tries
        vain = sum(not outcome.moved_on and not outcome.words for outcome in tries)
        return vain < 3

    def _alone(self, thing: Thing) -> bool:
        """Whether the label was not part of the screen that was played on."""
        return not self._loop.furniture.intersection(thing.words)

    # -- everything else --------------------------------------------------------------------------------------

    def _best(self, scene: Scene, contrast: bool) -> Move:
        kin = find_kin(scene)
        told = frozenset[str]().union(*(hints(text) for text in scene.words()))
        candidates = [*self._taps(kin, contrast), *self._drags(kin, told), *self._others(scene, told)]
        noisy = [(score + self._rng.gauss(0, NOISE), -i, move) for i, (score, move) in enumerate(candidates)]
        return max(noisy, key=lambda item: item[:2])[2]

    def _taps(self, kin: Kinship, contrast: bool) -> Iterator[tuple[float, Move]]:
        memory = self._memory
        chosen = kin.index_near(memory.selected)
        for i, thing in enumerate(kin.things):
            tries = memory.tries(thing)
            recipes: tuple[moves.Recipe, ...] = (("tap", thing.group),)
            score = 0.6 * thing.salience + _worn(tries) + 1.2 * memory.recipes[recipes[0]].value
            why = (
                "not tried yet" if not tries else "it answered before" if tries[-1].answered else "nothing better left"
            )
            if thing.label is not None:
                score -= 1.2 if thing.label.kind in (LabelKind.BACK, LabelKind.SIDE) else 0.4
            if chosen is not None and chosen != i:
                relation = kin.relation(chosen, i)
                recipes = ("pair", relation), ("pair", relation, kin.things[chosen].group, thing.group)
                score += self._pair(kin, chosen, i, relation, recipes)
                why = f"after {kin.things[chosen].name}" + {"word": ", the same word", "look": ", it looks alike"}.get(
                    relation, ""
                )
            elif chosen == i:
                score -= 0.8
            elif i in kin.words:
                score += 0.6 + self._first(kin, i)
                why = "its word stands elsewhere too"
            score += self._remembered(thing)
            if contrast:
                score -= 3.0 * any(outcome.rises for outcome in tries)
            yield score, moves.tap(thing, why, recipes)

    def _pair(self, kin: Kinship, first: int, second: int, relation: str, recipes: tuple[moves.Recipe, ...]) -> float:
        memory = self._memory
        bonus = {"word": 1.6, "look": 0.6 * float(kin.alike[first, second]), "none": 0.1}[relation]
        learned = 0.7 * memory.recipes[recipes[0]].value + 1.2 * memory.recipes[recipes[1]].value
        return bonus + learned - 0.8 * memory.pair_tries(kin.things[first], kin.things[second])

    def _first(self, kin: Kinship, i: int) -> float:
        """How well pairs that begin with a thing of this group have fared."""
        group = kin.things[i].group
        values = [
            tally.value for recipe, tally in self._memory.recipes.items() if recipe[:3] == ("pair", "word", group)
        ]
        return 1.2 * max(values, default=0.0)

    def _remembered(self, thing: Thing) -> float:
        """A place that showed, when it was turned, what the last one to be turned shows now."""
        reveals = [reveal for reveal in self._memory.reveals if reveal.screen == self._memory.screen]
        if len(reveals) < 2:
            return 0.0
        last = reveals[-1]
        for reveal in reveals[:-1]:
            if math.dist(reveal.place, thing.centre) <= 18 and likeness(reveal.shown, last.shown) > 0.9:
                turned_back = difference(thing.look, reveal.hidden) < difference(thing.look, reveal.shown)
                return 1.8 if turned_back and difference(reveal.shown, last.shown) < 12 else 0.0
        return 0.0

    def _drags(self, kin: Kinship, told: frozenset[str]) -> Iterator[tuple[float, Move]]:
        memory, top = self._memory, range(min(18, len(kin.things)))
        pairs = [(i, j) for i in top for j in top if _draggable(kin.things[i], kin.things[j])]
        known = [pair for pair in pairs if memory.recipes[_end(kin.things[pair[1]])].value > 0.2]
        chosen = [*known[:MAX_DRAGS], *self._rng.sample(pairs, min(MAX_DRAGS, len(pairs)))]
        prior = 0.1 + 1.0 * ("drag" in told) + self._curiosity("drag")
        for i, j in dict.fromkeys(chosen):
            first, second = kin.things[i], kin.things[j]
            relation = kin.relation(i, j)
            size = ("drag", "size", first.group[0])
            recipes: tuple[moves.Recipe, ...] = (("drag",), ("drag", relation), size, _end(second))
            score = prior + {"word": 0.7, "look": 0.3, "none": 0.0}[relation]
            score += sum(w * memory.recipes[r].value for w, r in zip((0.0, 0.5, 0.7, 1.5), recipes, strict=True))
            score -= 0.6 * memory.pair_tries(first, second, "drag")
            yield score, moves.drag(first, second, f"one thing to another: {second.name}", recipes)

    def _others(self, scene: Scene, told: frozenset[str]) -> Iterator[tuple[float, Move]]:
        memory, rng = self._memory, self._rng
        height, width = scene.pixels.shape[:2]
        for direction in moves.DIRECTIONS:
            move = moves.swipe(direction, width, height, f"a swipe {direction}")
            yield self._gesture(move, "swipe", told), move
        named = [key for word in scene.words() for key in named_keys(word)]
        for key in moves.KEYS:
            move = moves.press_key(key, f"the key {key}")
            bonus = 0.3 * any(key.startswith(name) or key in name for name in named)
            yield self._gesture(move, "key", told) + bonus - (0.0 if key in moves.KEYS[:6] else 0.2), move
        for kind in ("long_press", "double_tap"):
            if scene.things:
                thing = rng.choice(scene.things[:10])
                move = Move(
                    kind, "another way to touch it", thing.centre, thing=thing, recipes=((kind,), (kind, thing.group))
                )
                yield self._gesture(move, kind, told) - 0.1, move
        waits = sum(outcome.move.kind == "wait" for outcome in memory.outcomes[-3:])
        yield 0.15 - 0.4 * waits, moves.wait(1000, "nothing better to do")

    def _gesture(self, move: Move, kind: str, told: frozenset[str]) -> float:
        tallies = [self._memory.recipes[recipe] for recipe in move.recipes]
        learned = 0.6 * tallies[0].value + 1.4 * tallies[-1].value
        vain = tallies[-1].tries - tallies[-1].answered
        return 0.1 + 1.0 * (kind in told) + self._curiosity(kind) + learned - 0.3 * vain - 0.05 * tallies[-1].tries

    def _curiosity(self, kind: str) -> float:
        """The longer nothing new came, the more an untried kind of input promises."""
        tally = self._memory.recipes[(kind,)]
        tries = tally.tries or sum(outcome.move.kind == kind for outcome in self._memory.outcomes)
        dull = min(1.4, 0.13 * self._memory.since_progress)
        return dull if not tries else (dull * 0.5 - 0.25 * tries if not tally.answered else 0.0)


def _worn(tries: list[Outcome]) -> float:
    """What is left of the interest in a thing that was tapped before."""
    if not tries:
        return 0.8
    count = len(tries)
    answered = sum(outcome.answered for outcome in tries) / count
    reward = sum(outcome.reward for outcome in tries[-4:]) / min(4, count)
    return 0.9 * reward + 0.2 * answered - 0.35 * count * (1 - answered) - 0.08 * count


def _end(thing: Thing) -> moves.Recipe:
    """The place where a drag ends, for learning which places take things."""
    return "drag", "to", int(thing.centre.x // 48), int(thing.centre.y // 48)


def _draggable(first: Thing, second: Thing) -> bool:
    apart = math.dist(first.centre, second.centre) >= FAR_PX
    return apart and first.label is None and not first.is_reading and not second.is_reading


def _again(move: Move) -> Move:
    """The same move once more."""
    return replace(move, why="again: was that the input, or the screen by itself?")
