"""One thing to do next, in the explorer's own words, and as an action of the protocol."""

from __future__ import annotations

import math
from dataclasses import dataclass

from playtest.exploring.scene import Thing
from playtest.ports import Point
from playtest.protocol.actions import Action, DoubleTap, Drag, Key, LongPress, Swipe, Tap, Wait

Recipe = tuple[object, ...]
DIRECTIONS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
KEYS = ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "Space", "Enter", "d", "a", "w", "s")
SAME_PLACE_PX = 20


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """What to do and why. `recipes` name the kind of deed, from the general to the special, for learning."""

    kind: str
    why: str
    start: Point | None = None
    end: Point | None = None
    key: str = ""
    ms: int = 0
    thing: Thing | None = None
    recipes: tuple[Recipe, ...] = ()

    @property
    def is_input(self) -> bool:
        """Whether it touches the game at all."""
        return self.kind != "wait"

    @property
    def is_flow(self) -> bool:
        """Whether it taps a label of the flow (start, next, back...) rather than the game itself."""
        return self.kind in ("tap", "key") and self.thing is not None and self.thing.label is not None

    def action(self) -> Action:
        """The move as the protocol has it."""
        if self.kind == "wait":
            return Wait(ms=self.ms)
        if self.kind == "key":
            return Key(key=self.key)
        assert self.start is not None
        name = self.thing.name if self.thing else ""
        x, y = round(self.start.x), round(self.start.y)
        if self.kind == "tap":
            return Tap(x=x, y=y, target=name)
        if self.kind == "double_tap":
            return DoubleTap(x=x, y=y, target=name)
        if self.kind == "long_press":
            return LongPress(x=x, y=y, ms=800, target=name)
        assert self.end is not None
        x2, y2 = round(self.end.x), round(self.end.y)
        stroke = Drag if self.kind == "drag" else Swipe
        return stroke(x1=x, y1=y, x2=x2, y2=y2, ms=self.ms or 300, target=name)

    @property
    def points(self) -> tuple[Point, ...]:
        """Where a finger went down and left the screen."""
        return tuple(point for point in (self.start, self.end) if point is not None)

    def same_deed(self, other: Move) -> bool:
        """Whether another move is the same input at the same place, within a finger's width."""
        if self.kind != other.kind or self.key != other.key:
            return False
        return _near(self.start, other.start) and _near(self.end, other.end)

    def describe(self) -> str:
        """For people: `tapped 'Start'`, `swiped left`."""
        name = f" {self.thing.name}" if self.thing else ""
        done = {
            "tap": "tapped", "double_tap": "double-tapped", "long_press": "long-pressed", "drag": "dragged",
            "swipe": "swiped", "key": "pressed", "wait": "waited",
        }[self.kind]  # fmt: skip
        return f"{done}{name}{' ' + self.key if self.key else ''}"


def _near(a: Point | None, b: Point | None) -> bool:
    if a is None or b is None:
        return a is b
    return math.dist(a, b) <= SAME_PLACE_PX


def tap(thing: Thing, why: str, recipes: tuple[Recipe, ...] = ()) -> Move:
    """A tap in the middle of a thing."""
    return Move("tap", why, start=thing.centre, thing=thing, recipes=recipes)


def swipe(direction: str, width: int, height: int, why: str, at: Point | None = None) -> Move:
    """A swipe of a third of the screen's width about its middle, or about another point."""
    dx, dy = DIRECTIONS[direction]
    x, y = at or Point(width / 2, height * 0.52)
    reach = width * 0.3
    start = Point(min(max(x - dx * reach, 12), width - 12), min(max(y - dy * reach, 12), height - 12))
    end = Point(min(max(x + dx * reach, 12), width - 12), min(max(y + dy * reach, 12), height - 12))
    return Move("swipe", why, start, end, key=direction, ms=220, recipes=(("swipe",), ("swipe", direction)))


def drag(thing: Thing, to: Thing, why: str, recipes: tuple[Recipe, ...] = ()) -> Move:
    """A drag from one thing to another."""
    return Move("drag", why, thing.centre, to.centre, ms=450, thing=thing, recipes=recipes)


def press_key(key: str, why: str, thing: Thing | None = None) -> Move:
    """A key, held a moment; `thing` is the label that asked for it."""
    return Move("key", why, key=key, thing=thing, recipes=(("key",), ("key", key)))


def wait(ms: int, why: str) -> Move:
    """Let time pass."""
    return Move("wait", why, ms=ms)
