"""Did the picture answer an input, or did it only go on moving? Compared in space and in time.

In space: a finger's effect begins under the finger, so what changed there must stand out from what changed in
other places in the same while. In time: it must exceed what the same place did while the finger was elsewhere,
and an effect without a place must be larger than what the screen did in waits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from playtest.pictures import Pixels
from playtest.ports import Point
from playtest.protocol.transcript import Effect

CELL_PX = 24
FAR_PX = 84
NEAR_PX = 60
CLIP = 120
LEVELS = 12
KEPT = 24
# Below this share of moving screen a picture is as good as still, and any change is the input's.
STILL = 0.004
# A smaller share of a still screen, away from the finger, may have changed by chance.
SMALL = 0.02
# At rest as good as nothing is different: what changed was for a moment only.
PASSING = 0.0003
# A ring around a button or a selected word is no larger.
BROWSERS_OWN = 0.005
Grid = NDArray[np.float32]  # (rows, columns) of CELL_PX squares: mean change in colour levels, 0-CLIP


class Response(IntEnum):
    """What a change of the picture says about an input."""

    NONE = 0
    MAYBE = 1
    SURE = 2


class Change(NamedTuple):
    """What changed between two pictures at rest: the share of the screen, and how much where."""

    area: float
    grid: Grid


class Interval(NamedTuple):
    """A change, and where a finger was meanwhile; no finger and no key in a wait."""

    change: Change
    points: tuple[Point, ...]
    idle: bool


def change_between(before: Pixels, after: Pixels) -> Change:
    """Compare two pictures (height, width, 3), each second pixel of them."""
    if before.shape != after.shape:
        rows, columns = after.shape[0] // CELL_PX, after.shape[1] // CELL_PX
        return Change(1.0, np.full((rows, columns), CLIP, dtype=np.float32))
    moved = np.abs(before[::2, ::2].astype(np.int16) - after[::2, ::2]).max(axis=2)
    half = CELL_PX // 2
    rows, columns = moved.shape[0] // half, moved.shape[1] // half
    cut = np.minimum(moved[: rows * half, : columns * half], CLIP)
    grid = cut.reshape(rows, half, columns, half).mean(axis=(1, 3), dtype=np.float32)
    return Change(float((moved > LEVELS).mean()), grid)


@dataclass(slots=True)
class Motion:
    """How one screen has moved so far, with and without inputs."""

    intervals: list[Interval] = field(default_factory=list)

    def note(self, change: Change, points: Sequence[Point], idle: bool) -> None:
        """Remember one interval; waits are kept longest."""
        self.intervals.append(Interval(change, tuple(points), idle))
        if len(self.intervals) > KEPT:
            del self.intervals[next((i for i, interval in enumerate(self.intervals) if not interval.idle), 0)]

    @property
    def idle_areas(self) -> list[float]:
        """The shares of the screen that changed in waits."""
        return [interval.change.area for interval in self.intervals if interval.idle]

    def judge(self, change: Change, points: Sequence[Point], effect: Effect | None, plain_tap: bool = True) -> Response:
        """What a change says about an input with a finger at `points` (none for a key).

        Keys and gestures that are no `plain_tap` also make browsers select texts and ring buttons.
        """
        if effect is not None and effect.ambient < STILL:
            found = self._on_still_screen(points, effect)
            passing = change.area < PASSING or (not plain_tap and change.area < BROWSERS_OWN)
            return min(found, Response.MAYBE) if passing else found
        local = max((self._under_finger(change, point) for point in points), default=Response.NONE)
        found = max(local, self._stronger_than_idle(change, points))
        if effect is not None and not effect.changed:
            return min(found, Response.MAYBE)
        return max(found, self._beyond_idle(change.area))

    def _on_still_screen(self, points: Sequence[Point], effect: Effect) -> Response:
        """The screen stood still before the input, so a change is the input's, but for what changes now and then."""
        if not effect.changed:
            return Response.NONE
        if effect.region is None:
            return Response.SURE
        if self._happens_there(effect.region):
            return Response.NONE
        x, y, width, height = effect.region
        near = not points or any(
            x - NEAR_PX <= point.x <= x + width + NEAR_PX and y - NEAR_PX <= point.y <= y + height + NEAR_PX
            for point in points
        )
        return Response.SURE if near or effect.area >= SMALL else Response.MAYBE

    def _happens_there(self, region: tuple[int, int, int, int]) -> bool:
        """Whether nearly all of a region (x, y, width, height in px) was seen to change in waits."""
        grids = [interval.change.grid for interval in self.intervals if interval.idle]
        if not grids:
            return False
        idle = np.max(np.stack([grid for grid in grids if grid.shape == grids[0].shape]), axis=0) > 0.3
        wide = np.pad(idle, 1)
        rows, columns = idle.shape
        idle = np.logical_or.reduce([wide[r : r + rows, c : c + columns] for r in range(3) for c in range(3)])
        x, y, width, height = region
        part = idle[y // CELL_PX : -(-(y + height) // CELL_PX), x // CELL_PX : -(-(x + width) // CELL_PX)]
        return bool(part.size) and float(part.mean()) > 0.9

    def _under_finger(self, change: Change, point: Point) -> Response:
        here = _around(change.grid, point)
        elsewhere = _elsewhere(change.grid, point)
        earlier = [
            _around(interval.change.grid, point)
            for interval in self.intervals
            if all(math.dist(point, other) > FAR_PX for other in interval.points)
        ]
        usual = max([elsewhere, *earlier])
        if len(earlier) >= 2 and here > 2.5 * usual + 5:
            return Response.SURE
        return Response.MAYBE if here > 1.3 * usual + 1.5 else Response.NONE

    def _stronger_than_idle(self, change: Change, points: Sequence[Point]) -> Response:
        """Whether what changed is stronger than anything that waits showed anywhere: an effect in many places."""
        idle = [_strongest(interval.change.grid) for interval in self.intervals if interval.idle]
        if len(idle) < 2:
            return Response.NONE
        here = min(_strongest(change.grid), max((_around(change.grid, point) for point in points), default=CLIP))
        if len(idle) >= 3 and here > 3 * max(idle) + 12:
            return Response.SURE
        return Response.MAYBE if here > 1.8 * max(idle) + 8 else Response.NONE

    def _beyond_idle(self, area: float) -> Response:
        """Whether a change of this share of the screen exceeds what waits showed."""
        idle = self.idle_areas
        if not idle:
            return Response.MAYBE if area > 0.05 else Response.NONE
        if area > 2.5 * max(idle) + 0.08:
            return Response.SURE
        return Response.MAYBE if area > 1.3 * max(idle) + 0.015 else Response.NONE


def _around(grid: Grid, point: Point) -> float:
    """The mean change in the four cells nearest to a point."""
    row = min(max(round(point.y / CELL_PX), 1), grid.shape[0] - 1)
    column = min(max(round(point.x / CELL_PX), 1), grid.shape[1] - 1)
    return float(grid[row - 1 : row + 1, column - 1 : column + 1].mean())


def _strongest(grid: Grid) -> float:
    """The change of the place of four cells that changed most."""
    return float(((grid[1:, 1:] + grid[:-1, 1:] + grid[1:, :-1] + grid[:-1, :-1]) / 4).max())


def _elsewhere(grid: Grid, point: Point) -> float:
    """What places of the same size changed that are far from the point: nearly the most of them."""
    fours = (grid[1:, 1:] + grid[:-1, 1:] + grid[1:, :-1] + grid[:-1, :-1]) / 4
    rows, columns = np.mgrid[1 : grid.shape[0], 1 : grid.shape[1]]
    far = np.hypot(columns * CELL_PX - point.x, rows * CELL_PX - point.y) > FAR_PX
    return float(np.percentile(fours[far], 97)) if far.any() else 0.0
