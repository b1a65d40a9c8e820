"""What a tap was aimed at, where else to try it, and what a roll's misses have in common."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from playtest.exploring.scene import Scene, Thing
from playtest.ports import Point, VisibleText
from playtest.protocol.actions import Action, Drag, LongPress, Pointed, Swipe, Tap, contact_point
from playtest.protocol.coordinates import CoordinateSpace, Screen

RING_PX = (24, 48, 72, 96)
DIRECTIONS = 8
REACH_PX = 96
INSET_PX = 8
SAME_TAP = "the same tap once more"
MAX_TRIES = 9
# Of the places around a spot that lie on the thing, this many, near and far ones.
RING_TRIES = 4
SAME_SHIFT_PX = 14
# How near a factor must bring every miss to the spot that answered, as a share of the screen's width.
FACTOR_FIT = 0.12

SAME_STROKE = "the same stroke again"
QUICK_STROKE_MS = 120
SLOW_STROKE_MS = 900


@dataclass(frozen=True, slots=True)
class Try:
    """One way to touch what was aimed at."""

    action: Action
    words: str
    mouse: bool = False


def tries_for(action: Pointed, scene: Scene) -> list[Try]:
    """Other inputs for a tap that nothing answered, most telling first; only places on the thing that was aimed at.

    What was aimed at is the label that the tester named, wherever it stands; else the thing under the tap; else the
    nearest one within REACH_PX.
    """
    spot = Point(action.x, action.y)
    found = []
    for text in named(action.target, scene.texts):
        assert text.centre is not None
        found.append(Try(_moved(action, text.centre), f"the label {text.text[:30]!r}"))
    thing = aimed_at(spot, scene.things)
    if thing is not None:
        found.append(Try(_moved(action, thing.centre), f"the centre of {thing.name}"))
    found += [
        Try(_moved(action, spot), SAME_TAP),
        Try(LongPress(x=spot.x, y=spot.y, ms=900), "the same spot held longer"),
        Try(_moved(action, spot), "a mouse click on the same spot", mouse=True),
    ]
    if thing is not None:
        places = ring(spot, thing)
        spread = places[:: max(1, len(places) // RING_TRIES)][:RING_TRIES]
        found += [Try(_moved(action, place), f"another spot on {thing.name}") for place in spread]
    return _distinct(found)[:MAX_TRIES]


def strokes_for(action: Swipe | Drag) -> list[Try]:
    """Other strokes for one that nothing answered: the same way, at other speeds; the mouse is the last."""
    places = action.model_dump(include={"x1", "y1", "x2", "y2"})
    other = Swipe(**places, ms=action.ms) if isinstance(action, Drag) else Drag(**places, ms=action.ms)
    return [
        Try(action, SAME_STROKE),
        Try(Swipe(**places, ms=QUICK_STROKE_MS), "a quick swipe the same way"),
        Try(Swipe(**places, ms=SLOW_STROKE_MS), "a slow swipe the same way"),
        Try(other, f"a {other.type} the same way"),
        Try(action, "the same way by mouse", mouse=True),
    ]


def named(target: str, texts: Sequence[VisibleText]) -> list[VisibleText]:
    """The visible texts that carry the label a tester named, best match first. Shape: at most two."""
    wanted = _plain(target)
    if not wanted:
        return []
    matches = []
    for text in texts:
        label = _plain(text.text)
        if text.centre is None or not label:
            continue
        if label == wanted:
            matches.append((0.0, text))
        elif len(label) >= 2 and (label in wanted or wanted in label):
            matches.append((1 - min(len(label), len(wanted)) / max(len(label), len(wanted)), text))
    matches.sort(key=lambda match: match[0])
    return [text for _, text in matches[:2]]


def aimed_at(spot: Point, things: Sequence[Thing]) -> Thing | None:
    """The smallest thing under the spot, else the nearest within REACH_PX."""
    under = [thing for thing in things if gap(spot, thing) == 0]
    if under:
        return min(under, key=lambda thing: thing.box[2] * thing.box[3])
    near = [thing for thing in things if gap(spot, thing) <= REACH_PX]
    return min(near, key=lambda thing: gap(spot, thing), default=None)


def gap(spot: Point, thing: Thing) -> float:
    """How far a spot is from a thing's box in px; 0 on it."""
    x, y, width, height = thing.box
    return math.hypot(max(x - spot.x, 0, spot.x - x - width), max(y - spot.y, 0, spot.y - y - height))


def ring(spot: Point, thing: Thing) -> list[Point]:
    """Places around a spot, out to 96 px, that lie on the thing."""
    x, y, width, height = thing.box
    found = []
    for radius in RING_PX:
        for n in range(DIRECTIONS):
            angle = 2 * math.pi * n / DIRECTIONS
            place = Point(spot.x + radius * math.cos(angle), spot.y + radius * math.sin(angle))
            inside_x = x + INSET_PX <= place.x <= x + width - INSET_PX
            if inside_x and y + INSET_PX <= place.y <= y + height - INSET_PX:
                found.append(place)
    return found


@dataclass(frozen=True, slots=True)
class Miss:
    """Where a tester touched, and the spot of the same thing that answers."""

    touched: Point
    answered: Point

    @property
    def offset(self) -> tuple[float, float]:
        """From the touch to the spot, rounded to px."""
        return round(self.answered.x - self.touched.x), round(self.answered.y - self.touched.y)


def meaning_of(misses: Sequence[Miss], space: CoordinateSpace, screen: Screen) -> str:
    """A roll's misses by name: a wrong coordinate space, a constant shift, or neither."""
    tolerance = FACTOR_FIT * screen.width
    across, down = 1000 / screen.width, 1000 / screen.picture_height
    spaces = (
        (across, down, CoordinateSpace.NORM1000, "wrong coordinate space: it answers in css pixels"),
        (1 / across, 1 / down, CoordinateSpace.CSS, "wrong coordinate space: it answers in thousandths (norm1000)"),
        (0.5, 0.5, None, "wrong coordinate space: it answers in pixels of a picture twice the size"),
        (2.0, 2.0, None, "wrong coordinate space: it answers in pixels of a picture half the size"),
    )
    far = [miss for miss in misses if math.hypot(*miss.offset) > tolerance]
    if far:
        for fx, fy, declared, words in spaces:
            fits = all(
                math.hypot(miss.touched.x * fx - miss.answered.x, miss.touched.y * fy - miss.answered.y) <= tolerance
                for miss in misses
            )
            if fits and declared in (None, space):
                return f"{words} while {space.value} is declared"
    if len(misses) >= 2:
        dx, dy = zip(*(miss.offset for miss in misses), strict=True)
        if max(statistics.pstdev(dx), statistics.pstdev(dy)) <= SAME_SHIFT_PX:
            return f"a constant shift of about ({statistics.mean(dx):.0f}, {statistics.mean(dy):.0f}) px"
    return "no constant factor or shift"


def _moved(action: Pointed, spot: Point) -> Action:
    return Tap(x=spot.x, y=spot.y, target=action.target)


def _plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _distinct(found: Sequence[Try]) -> list[Try]:
    kept: list[Try] = []
    for item in found:
        place = contact_point(item.action)
        same = [
            other
            for other in kept
            if other.mouse == item.mouse
            and other.action.type == item.action.type
            and place is not None
            and math.dist(place, contact_point(other.action) or (math.inf, math.inf)) < INSET_PX
        ]
        if not same:
            kept.append(item)
    return kept
