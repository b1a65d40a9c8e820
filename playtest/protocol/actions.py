"""What a tester can do in one step. Coordinates are CSS pixels here; see coordinates.py for the wire."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from playtest.protocol.base import Foreign

Coordinate: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
HoldMs: TypeAlias = Annotated[int, Field(ge=1, le=10_000)]


class Pointed(Foreign):
    """An action at one spot."""

    x: Coordinate
    y: Coordinate
    target: str = Field(default="", max_length=500, description="What the tester aims at, in its own words.")


class Tap(Pointed):
    """Touch and release."""

    type: Literal["tap"] = "tap"


class DoubleTap(Pointed):
    """Two taps on one spot, fast enough to count as a double tap."""

    type: Literal["double_tap"] = "double_tap"


class LongPress(Pointed):
    """Touch, hold for `ms`, release."""

    type: Literal["long_press"] = "long_press"
    ms: HoldMs = 600


class Stroke(Foreign):
    """A touch that moves from one spot to another."""

    x1: Coordinate
    y1: Coordinate
    x2: Coordinate
    y2: Coordinate
    ms: HoldMs = 300
    target: str = Field(default="", max_length=500)


class Swipe(Stroke):
    """Touch, move at once, release."""

    type: Literal["swipe"] = "swipe"


class Drag(Stroke):
    """Press, wait 150 ms, move, release."""

    type: Literal["drag"] = "drag"


class Key(Foreign):
    """Press and hold one key, named as in `KeyboardEvent.key` or `.code` (`ArrowLeft`, `a`, `Space`)."""

    type: Literal["key"] = "key"
    key: str = Field(min_length=1, max_length=40)
    ms: HoldMs = 80


class Type(Foreign):
    """Type a text into whatever has the focus."""

    type: Literal["type"] = "type"
    text: str = Field(min_length=1, max_length=500)


class Wait(Foreign):
    """Do nothing for `ms` of game time."""

    type: Literal["wait"] = "wait"
    ms: int = Field(ge=100, le=10_000)


Action: TypeAlias = Annotated[
    Tap | DoubleTap | LongPress | Swipe | Drag | Key | Type | Wait, Field(discriminator="type")
]
ACTION_TYPES = ("tap", "double_tap", "long_press", "swipe", "drag", "key", "type", "wait")


def contact_point(action: Action) -> tuple[float, float] | None:
    """Where the finger first touches, or None for actions without a place."""
    if isinstance(action, Pointed):
        return action.x, action.y
    if isinstance(action, Stroke):
        return action.x1, action.y1
    return None


def end_point(action: Action) -> tuple[float, float] | None:
    """Where the finger leaves the screen, or None for actions without a place."""
    if isinstance(action, Stroke):
        return action.x2, action.y2
    return contact_point(action)


def describe(action: Action) -> str:
    """One short line for people: `tap (195, 612) Start button`."""
    target = f" {action.target}" if isinstance(action, Pointed | Stroke) and action.target else ""
    if isinstance(action, Pointed):
        hold = f" {action.ms} ms" if isinstance(action, LongPress) else ""
        return f"{action.type} ({action.x:.0f}, {action.y:.0f}){hold}{target}"
    if isinstance(action, Stroke):
        return f"{action.type} ({action.x1:.0f}, {action.y1:.0f}) to ({action.x2:.0f}, {action.y2:.0f}){target}"
    if isinstance(action, Key):
        return f"key {action.key} {action.ms} ms"
    if isinstance(action, Type):
        return f"type {action.text!r}"
    return f"wait {action.ms} ms"
