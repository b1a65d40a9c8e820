"""Things on a picture: connected regions that stand out from what lies around them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from playtest.exploring.looks import Box
from playtest.pictures import Pixels

CELL = 4
# Neighbouring cells whose colours differ by less (0-255, the strongest channel) belong to one surface.
SAME_SURFACE = 14
# A surface of this share of the screen is a background: things lie on it, though it may be a thing itself.
BACKGROUND = 0.07
MIN_CELLS = 12
MAX_REGIONS = 60
SAME_MIDDLE_PX = 10

Labels = NDArray[np.intp]
Side = NDArray[np.intp]
Cells = NDArray[np.float32]  # (rows, columns, 3): mean colour of CELL x CELL px


class Region(NamedTuple):
    """A thing: its box in px, and how much its colour differs from around it, 0-255."""

    box: Box
    contrast: float


def find_regions(pixels: Pixels) -> list[Region]:
    """The regions of a picture (height, width, 3), those that stand out most first."""
    cells = _cells(pixels)
    surfaces = _connect(_near(cells, axis=1), _near(cells, axis=0))
    sizes = np.bincount(surfaces.ravel())
    ground = (sizes > BACKGROUND * surfaces.size)[surfaces]
    figures = _connect(~ground[:, 1:] & ~ground[:, :-1], ~ground[1:] & ~ground[:-1])
    figures = np.where(ground, -1, figures)
    boxes = [*_boxes(figures, 0.30, 0.0), *_boxes(surfaces, 0.30, 0.45)]
    if not boxes:
        return []
    contrasts = _contrasts(cells, np.asarray(boxes))
    order = sorted(range(len(boxes)), key=lambda i: (-contrasts[i], boxes[i]))
    regions = [Region(_to_px(boxes[i]), float(contrasts[i])) for i in order]
    return [regions[i] for i in _apart([region.box for region in regions])][:MAX_REGIONS]


def is_blank(pixels: Pixels) -> bool:
    """Whether the picture shows one flat colour, or as good as."""
    sample = pixels[::4, ::4].reshape(-1, 3).astype(np.int16)
    off = np.abs(sample - np.median(sample, axis=0)).max(axis=1) > 10
    return float(off.mean()) < 0.002


def _cells(pixels: Pixels) -> Cells:
    rows, columns = pixels.shape[0] // CELL, pixels.shape[1] // CELL
    cut = pixels[: rows * CELL, : columns * CELL]
    # Two of the four rows and columns are enough for a mean, at a quarter of the time.
    sample = cut.reshape(rows, CELL, columns, CELL, 3)[:, 1:3, :, 1:3]
    cells: Cells = sample.mean(axis=(1, 3), dtype=np.float32)
    return cells


def _near(cells: Cells, axis: int) -> NDArray[np.bool_]:
    near: NDArray[np.bool_] = np.abs(np.diff(cells, axis=axis)).max(axis=2) < SAME_SURFACE
    return near


def _connect(across: NDArray[np.bool_], down: NDArray[np.bool_]) -> Labels:
    """Connected components of a grid, given which cells hang together with the next one across and down."""
    rows, columns = across.shape[0], down.shape[1]
    index = np.arange(rows * columns).reshape(rows, columns)
    first = np.concatenate([index[:, :-1][across], index[:-1][down]])
    second = np.concatenate([index[:, 1:][across], index[1:][down]])
    parent = index.ravel().copy()
    while True:
        one, other = parent[first], parent[second]
        low, high = np.minimum(one, other), np.maximum(one, other)
        apart = low < high
        if not apart.any():
            return np.unique(parent, return_inverse=True)[1].reshape(rows, columns)
        first, second = first[apart], second[apart]
        np.minimum.at(parent, high[apart], low[apart])
        while True:
            shorter = parent[parent]
            if np.array_equal(shorter, parent):
                break
            parent = shorter


def _boxes(labels: Labels, largest: float, fullness: float) -> list[tuple[int, int, int, int]]:
    """The boxes (left, top, right, bottom in cells) of the labels >= 0 that are neither too small nor too large."""
    rows, columns = np.nonzero(labels >= 0)
    if not len(rows):
        return []
    names, which = np.unique(labels[rows, columns], return_inverse=True)
    sizes = np.bincount(which)
    left, top = np.full(len(names), 1 << 30), np.full(len(names), 1 << 30)
    right, bottom = np.zeros(len(names), dtype=int), np.zeros(len(names), dtype=int)
    np.minimum.at(left, which, columns)
    np.minimum.at(top, which, rows)
    np.maximum.at(right, which, columns + 1)
    np.maximum.at(bottom, which, rows + 1)
    areas = (right - left) * (bottom - top)
    good = (sizes >= MIN_CELLS) & (areas <= largest * labels.size) & (sizes >= fullness * areas)
    good &= (right - left >= 3) & (bottom - top >= 3)
    return [(int(left[i]), int(top[i]), int(right[i]), int(bottom[i])) for i in np.nonzero(good)[0]]


def _to_px(box: tuple[int, int, int, int]) -> Box:
    left, top, right, bottom = (float(side * CELL) for side in box)
    return left, top, right - left, bottom - top


def _contrasts(cells: Cells, boxes: NDArray[np.intp]) -> NDArray[np.float64]:
    """How far the mean colour in each box (n, 4) is from that of the cells around it, plus half its own variety."""
    rows, columns = cells.shape[:2]
    sums = np.zeros((2, rows + 1, columns + 1, 3))
    sums[0, 1:, 1:] = cells.cumsum(axis=0, dtype=np.float64).cumsum(axis=1)
    sums[1, 1:, 1:] = (cells * cells).cumsum(axis=0, dtype=np.float64).cumsum(axis=1)

    def total(left: Side, top: Side, right: Side, bottom: Side) -> NDArray[np.float64]:
        return sums[:, bottom, right] - sums[:, top, right] - sums[:, bottom, left] + sums[:, top, left]

    left, top, right, bottom = boxes.T
    outer_box = (
        np.maximum(left - 2, 0), np.maximum(top - 2, 0), np.minimum(right + 2, columns), np.minimum(bottom + 2, rows),
    )  # fmt: skip
    inner, outer = total(left, top, right, bottom), total(*outer_box)
    size = ((right - left) * (bottom - top))[:, None]
    around = ((outer_box[2] - outer_box[0]) * (outer_box[3] - outer_box[1]))[:, None] - size
    mean = inner[0] / size
    spread = np.sqrt(np.maximum(inner[1] / size - mean * mean, 0))
    rim = (outer[0] - inner[0]) / np.maximum(around, 1)
    found: NDArray[np.float64] = np.abs(mean - rim).max(axis=1) + 0.5 * spread.max(axis=1)
    return found


def _apart(boxes: list[Box]) -> list[int]:
    """The boxes that are one thing each to a finger: of those whose middles are close, the first."""
    sides = np.asarray(boxes)
    middles = sides[:, :2] + sides[:, 2:] / 2
    close = np.abs(middles[:, None] - middles[None]).max(axis=2) < SAME_MIDDLE_PX
    kept: list[int] = []
    for i in range(len(boxes)):
        if not close[i, kept].any():
            kept.append(i)
    return kept
