"""Coordinate spaces on the wire, and their conversion to CSS pixels.

The picture that a tester gets is the viewport with a strip below it. A model answers either in the
picture's pixels (`css`) or in thousandths of its width and height (`norm1000`, the strip included).
A point outside the game is refused, never clamped.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel

from playtest.errors import ReplyRefused
from playtest.protocol.actions import Action, Pointed, Stroke

VIEWPORT_WIDTH = 390
VIEWPORT_HEIGHT = 844
STRIP_HEIGHT = 28
PICTURE_HEIGHT = VIEWPORT_HEIGHT + STRIP_HEIGHT


class CoordinateSpace(StrEnum):
    """How a model gives places."""

    CSS = "css"
    NORM1000 = "norm1000"


class Screen(BaseModel, frozen=True):
    """The size of the game's screen in CSS pixels; the picture has the strip below it."""

    width: int = VIEWPORT_WIDTH
    height: int = VIEWPORT_HEIGHT

    @property
    def picture_height(self) -> int:
        """Height of the picture that is sent, the strip included."""
        return self.height + STRIP_HEIGHT

    @property
    def turned(self) -> Screen:
        """The same screen on its side."""
        return Screen(width=self.height, height=self.width)

    @property
    def is_portrait(self) -> bool:
        """Whether it stands upright."""
        return self.height >= self.width

    def from_wire(self, x: float, y: float, space: CoordinateSpace) -> tuple[float, float]:
        """A wire point in CSS pixels. Raises ReplyRefused when it is not on the game, or in neither space."""
        if 0 <= x <= 1 and 0 <= y <= 1 and not (float(x).is_integer() and float(y).is_integer()):
            raise ReplyRefused(
                f"({x:g}, {y:g}) looks like fractions of the picture from 0 to 1; places are given in the space"
                f" {space.value}, as on the ruler. Read the ruler and give the place again."
            )
        if space is CoordinateSpace.CSS:
            limits, css = (self.width, self.picture_height), (x, y)
        else:
            limits = (1000, 1000)
            # The closed interval's right edge is the last pixel: 1000 is in range in this space.
            css = (min(x * self.width / 1000, self.width - 1), y * self.picture_height / 1000)
        if not (0 <= x <= limits[0] and 0 <= y <= limits[1]) or css[0] >= self.width:
            raise ReplyRefused(
                f"({x:g}, {y:g}) is outside the picture: x runs from 0 to {limits[0]}, y from 0 to {limits[1]}"
                f" in the space {space.value}. Read the ruler and give the place again."
            )
        if css[1] >= self.height:
            top = self.height if space is CoordinateSpace.CSS else self.height * 1000 / self.picture_height
            raise ReplyRefused(
                f"({x:g}, {y:g}) is on the status strip below the game (y from {top:.0f} down), not on the game."
            )
        return css

    def to_wire(self, x: float, y: float, space: CoordinateSpace) -> tuple[int, int]:
        """A CSS point as the tester's space has it, rounded."""
        if space is CoordinateSpace.CSS:
            return round(x), round(y)
        return round(x * 1000 / self.width), round(y * 1000 / self.picture_height)

    def action_from_wire(self, action: Action, space: CoordinateSpace) -> Action:
        """The action with its places in CSS pixels. Raises ReplyRefused."""
        if isinstance(action, Pointed):
            x, y = self.from_wire(action.x, action.y, space)
            return action.model_copy(update={"x": x, "y": y})
        if isinstance(action, Stroke):
            x1, y1 = self.from_wire(action.x1, action.y1, space)
            x2, y2 = self.from_wire(action.x2, action.y2, space)
            return action.model_copy(update={"x1": x1, "y1": y1, "x2": x2, "y2": y2})
        return action
