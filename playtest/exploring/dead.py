"""Is this screen dead? What must have been tried in vain, all in a row, before that may be said."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence

from playtest.exploring import moves
from playtest.exploring.labels import LabelKind, hints, named_keys
from playtest.exploring.memory import Memory
from playtest.exploring.moves import Move
from playtest.exploring.outcome import Outcome
from playtest.exploring.scene import Scene, Thing
from playtest.ports import Point

SUSPICION = 4
MIN_INPUTS = 14
TAPS = 8
# How often each other kind must have been tried, and how often where the texts on the screen speak of it.
OTHERS = {"swipe": (2, 4), "drag": (4, 10), "key": (4, 6), "long_press": (1, 4), "double_tap": (1, 4)}
APART_PX = 40
FAR_PX = 70
WAIT_MS = 2500
INPUTS_AFTER_WAIT = 3
_NOT_ON = (LabelKind.BACK, LabelKind.SIDE)
_WHY = "the screen has not answered: trying every kind of input"


def is_dead(memory: Memory, scene: Scene) -> list[Outcome]:
    """The inputs that were all in vain, when they are enough to call the screen dead; else none."""
    silence = memory.silence
    inputs = [outcome for outcome in silence if outcome.move.is_input]
    if len(inputs) < MIN_INPUTS or any(outcome.doubtful for outcome in silence[-1:]) or _missing(silence, scene):
        return []
    if sum(outcome.doubtful for outcome in inputs) > len(inputs) // 3:
        return []  # too much of it is not clear
    return inputs


def next_probe(memory: Memory, scene: Scene, rng: random.Random) -> Move | None:
    """The next input that the case still lacks; None when nothing is lacking."""
    silence = memory.silence
    missing = _missing(silence, scene)
    if not missing:
        return None
    if "tap" in missing and len(_tapped(silence)) % 3 != 2:
        return _tap(silence, scene, rng)
    kinds = [kind for kind in missing if kind not in ("tap", "label", "wait", "after")] or missing
    kind = rng.choice(kinds) if "wait" not in kinds else "wait"
    return _make(kind, silence, scene, rng)


def _missing(silence: Sequence[Outcome], scene: Scene) -> list[str]:
    """The kinds of input that have not been tried enough in the silence, in a sensible order."""
    told = frozenset[str]().union(*(hints(text) for text in scene.words()))
    missing = ["tap"] if len(_places(_tapped(silence))) < TAPS else []
    for kind, (few, many) in OTHERS.items():
        if len(_marks(kind, silence)) < _enough(kind, few, many, told, scene):
            missing.append(kind)
    if _named(scene) - {outcome.move.key for outcome in silence} and "key" not in missing:
        missing.append("key")
    if _untried_labels(silence, scene):
        missing.append("label")
    if missing:
        return missing
    waited = [i for i, outcome in enumerate(silence) if outcome.move.kind == "wait" and outcome.move.ms >= WAIT_MS]
    if not waited:
        return ["wait"]
    tail = silence[waited[-1] + 1 :]
    due = len(tail) < INPUTS_AFTER_WAIT or _due_again(tail, scene)
    return ["after"] if due else []


def _due_again(tail: Sequence[Outcome], scene: Scene) -> list[Thing | str]:
    """What must be tried once more after the wait: the labels that lead on, and the keys that texts name."""
    leading = [t for t in _untried_labels(tail, scene) if t.label is None or t.label.kind not in _NOT_ON]
    return [*leading, *sorted(_named(scene) - {outcome.move.key for outcome in tail})]


def _enough(kind: str, few: int, many: int, told: frozenset[str], scene: Scene) -> int:
    """How many distinct moves of a kind are needed; no more touches than there are things for them."""
    touches = sum(not thing.is_reading and thing.label is None for thing in scene.things[:16])
    wanted = many if kind in told else few
    return max(1, min(wanted, touches)) if kind in ("long_press", "double_tap") else wanted


def _marks(kind: str, silence: Sequence[Outcome]) -> set[object]:
    return {_mark(outcome.move) for outcome in silence if outcome.move.kind == kind}


def _mark_at(thing: Thing) -> object:
    return thing.centre.x // APART_PX, thing.centre.y // APART_PX


def _mark(move: Move) -> object:
    """What makes two moves of one kind distinct: key or direction, or else where the finger went down."""
    return move.key or (move.start and (move.start.x // APART_PX, move.start.y // APART_PX))


def _make(kind: str, silence: Sequence[Outcome], scene: Scene, rng: random.Random) -> Move:
    height, width = scene.pixels.shape[:2]
    things = list(scene.things[:16])
    if kind == "wait":
        return moves.wait(WAIT_MS, "the screen may be busy: waiting before trying again")
    if kind == "label":
        return moves.tap(_untried_labels(silence, scene)[0], "the last labels left on this screen")
    if kind == "key":
        pressed = {outcome.move.key for outcome in silence if outcome.move.kind == "key"}
        first = sorted(_named(scene) - pressed) or [key for key in ("Space", "Enter") if key not in pressed]
        return moves.press_key(rng.choice(first or [key for key in moves.KEYS if key not in pressed]), _WHY)
    if kind == "swipe":
        done = [outcome.move.key for outcome in silence if outcome.move.kind == "swipe"]
        across = ("up", "down") if done and done[-1] in ("left", "right") else ("left", "right")
        left = [way for way in across if way not in done] or [way for way in moves.DIRECTIONS if way not in done]
        return moves.swipe(rng.choice(left or list(moves.DIRECTIONS)), width, height, _WHY)
    if kind == "drag":
        return _drag(silence, scene, rng)
    if kind in ("long_press", "double_tap"):
        fresh = [t for t in things if not t.is_reading and t.label is None and _mark_at(t) not in _marks(kind, silence)]
        # The most salient thing gets the double tap: with the tap that it had, three touches.
        thing = (fresh[0] if kind == "double_tap" else rng.choice(fresh)) if fresh else None
        return Move(kind, _WHY, thing.centre if thing else Point(width / 2, height / 2), thing=thing)
    if kind == "after":
        tail = silence[max(i for i, outcome in enumerate(silence) if outcome.move.kind == "wait") + 1 :]
        for due in _due_again(tail, scene):
            return moves.press_key(due, _WHY) if isinstance(due, str) else moves.tap(due, _WHY)
        return _tap(tail, scene, rng)
    return _tap(silence, scene, rng)


def _drag(silence: Sequence[Outcome], scene: Scene, rng: random.Random) -> Move:
    """A drag from a thing that was not dragged yet to another that is not like it, or across the screen."""
    dragged = [outcome.move.start for outcome in silence if outcome.move.kind == "drag" and outcome.move.start]
    things = [thing for thing in scene.things[:20] if not thing.is_reading and thing.label is None]
    fresh = [thing for thing in things if all(math.dist(thing.centre, point) >= APART_PX for point in dragged)]
    if first := (rng.choice(fresh) if fresh else None):
        ends = [thing for thing in things if math.dist(thing.centre, first.centre) >= FAR_PX]
        unlike = [thing for thing in ends if thing.group != first.group]
        if ends:
            return moves.drag(first, rng.choice(unlike or ends), _WHY)
    height, width = scene.pixels.shape[:2]
    x, y = width * rng.uniform(0.2, 0.8), height * rng.uniform(0.2, 0.8)
    return Move("drag", _WHY, Point(x, y), Point(width - x, height - y), ms=450)


def _tap(silence: Sequence[Outcome], scene: Scene, rng: random.Random) -> Move:
    """A tap on something that was not touched in the silence, labels that lead on first; else on a free place."""
    touched = _tapped(silence)
    free = [thing for thing in scene.things if all(math.dist(thing.centre, point) >= APART_PX for point in touched)]
    leading = [t for t in free if t.label is not None and t.label.kind not in _NOT_ON]
    if leading or free:
        return moves.tap(leading[0] if leading else rng.choice(free[:8]), _WHY)
    height, width = scene.pixels.shape[:2]
    places = [Point(width * x / 8, height * y / 16) for x in range(1, 8, 2) for y in range(1, 16, 2)]
    left = [place for place in places if all(math.dist(place, point) >= APART_PX for point in touched)]
    return Move("tap", _WHY, rng.choice(left or places))


def _named(scene: Scene) -> set[str]:
    """The keys that texts on the screen tell to press."""
    named = [key for word in scene.words() for key in named_keys(word)]
    return {key for key in moves.KEYS if any(key.startswith(name) or key in name for name in named)}


def _tapped(silence: Iterable[Outcome]) -> list[Point]:
    return [o.move.start for o in silence if o.move.kind == "tap" and o.move.start is not None]


def _places(points: Iterable[Point]) -> list[Point]:
    """Points that are at least APART_PX from each other."""
    kept: list[Point] = []
    for point in points:
        if all(math.dist(point, other) >= APART_PX for other in kept):
            kept.append(point)
    return kept


def _untried_labels(silence: Sequence[Outcome], scene: Scene) -> list[Thing]:
    """Labels and buttons on the screen that were not tapped in the silence, those that lead on first."""
    touched = _tapped(silence)
    buttons = [thing for thing in scene.things if thing.label is not None or thing.tappable]
    buttons.sort(key=lambda thing: thing.label is not None and thing.label.kind in _NOT_ON)
    done = [o.move.thing.words for o in silence if o.move.is_flow and o.move.thing is not None]
    return [t for t in buttons if all(math.dist(t.centre, p) > 24 for p in touched) and t.words not in done]
