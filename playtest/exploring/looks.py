"""How things look: small descriptors that tell like from unlike whatever the size and the background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playtest.pictures import Pixels

Box = tuple[float, float, float, float]
GRID = 6


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """`thumb`: (6, 6, 3) mean colours, 0-255. `colours`: (64,) shares of the colours in the middle, summing to 1."""

    thumb: NDArray[np.float32]
    colours: NDArray[np.float32]


def look_at(pixels: Pixels, box: Box) -> Look:
    """The look of the picture (height, width, 3) inside a box in px; the box is cut at the picture's edges."""
    return look_at_all(pixels, [box])[0]


def look_at_all(pixels: Pixels, boxes: Sequence[Box]) -> list[Look]:
    """The looks inside several boxes, at once."""
    if not boxes:
        return []
    height, width = pixels.shape[:2]
    left, top, sides, heights = np.asarray(boxes, dtype=np.float32).T
    rows = _samples(top, heights, height)
    columns = _samples(left, sides, width)
    sample = pixels[rows[:, :, None], columns[:, None, :]]  # (n, 18, 18, 3)
    thumbs = sample.reshape(len(boxes), GRID, 3, GRID, 3, 3).mean(axis=(2, 4), dtype=np.float32)
    middle = (sample[:, 2:-2, 2:-2] >> 6).astype(np.intp)
    codes = (middle[..., 0] << 4) | (middle[..., 1] << 2) | middle[..., 2]
    codes = codes.reshape(len(boxes), -1) + 64 * np.arange(len(boxes))[:, None]
    counts = np.bincount(codes.ravel(), minlength=64 * len(boxes)).reshape(len(boxes), 64).astype(np.float32)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return [Look(thumb, colours) for thumb, colours in zip(thumbs, shares, strict=True)]


def _samples(start: NDArray[np.float32], length: NDArray[np.float32], limit: int) -> NDArray[np.intp]:
    """GRID * 3 evenly spaced pixel numbers for each span, kept inside the picture: (n, 18)."""
    steps = np.linspace(0, 1, GRID * 3, dtype=np.float32)
    found: NDArray[np.intp] = (
        (start[:, None] + steps[None] * np.maximum(length - 1, 1)[:, None]).round().astype(np.intp)
    )
    return np.clip(found, 0, limit - 1)


def difference(a: Look, b: Look) -> float:
    """Mean difference of the thumbs in colour levels, 0-255: 0 is the same picture."""
    return float(np.abs(a.thumb - b.thumb).mean())


def likeness(a: Look, b: Look) -> float:
    """0-1: the better of the thumbs' correlation, where they vary, and the shares of colours in common."""
    shared = float(np.minimum(a.colours, b.colours).sum())
    one, other = a.thumb - a.thumb.mean(), b.thumb - b.thumb.mean()
    spread = float(np.sqrt((one * one).sum() * (other * other).sum()))
    correlation = float((one * other).sum()) / spread if spread > 1500 else 0.0
    return max(0.0, 0.5 * shared + 0.5 * correlation if spread > 1500 else shared * 0.7)
