"""Is there anything to see? One colour, or one flat card on it, is a blank picture; a single small dot is not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from playtest.pictures import COLOUR_STEP, Pixels, distinct_colours

# Fewer pixels than this are no content: a stray pixel of blending.
LEAST_PIXELS = 4
# A flat patch of this share of the screen is a card, such as a canvas that was cleared and never drawn on.
LEAST_CARD = 0.1
# Rounded corners up to this share of the shorter side; rounder shapes are things, not cards.
ROUNDEST = 0.2
# What lies so near to a card's edge is its border.
BORDER = 4


class Sight(NamedTuple):
    """What there is to see in one picture."""

    blank: str | None
    """Why there is nothing to see; None where there is something."""
    colours: int
    """Distinct colours at 32 levels a channel, up to 64."""
    deviation: float
    """Standard deviation of the grey levels (0-255)."""
    main_share: float
    """The share of the picture that has its most frequent colour."""


def look(pixels: Pixels) -> Sight:
    """What there is to see. `pixels` are (height, width, 3), RGB."""
    base = _most_frequent(pixels.reshape(-1, 3))
    apart = _differs(pixels, base)
    return Sight(
        blank=_blank(pixels, apart, base),
        colours=distinct_colours(pixels),
        deviation=round(float(pixels.mean(axis=2).std()), 2),
        main_share=round(1 - float(apart.mean()), 4),
    )


def _blank(pixels: Pixels, apart: NDArray[np.bool_], base: NDArray[np.uint8]) -> str | None:
    if int(apart.sum()) < LEAST_PIXELS:
        return f"one colour, {_name(base)}"
    rows, columns = np.nonzero(apart.any(axis=1))[0], np.nonzero(apart.any(axis=0))[0]
    top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    height, width = bottom - top, right - left
    if height * width < LEAST_CARD * apart.size or min(height, width) <= 2 * BORDER:
        return None
    card = _most_frequent(pixels[apart])
    content = _differs(pixels[top:bottom, left:right], card)
    box = apart[top:bottom, left:right]
    radius = _corner(box)
    if radius > ROUNDEST * min(height, width):
        return None
    inside = content & ~_outside(height, width, radius)
    if int(inside[BORDER:-BORDER, BORDER:-BORDER].sum()) >= LEAST_PIXELS:
        return None
    return f"one flat card of {width} x {height} px, {_name(card)} on {_name(base)}"


def _most_frequent(colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    codes = colours.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    values, counts = np.unique(codes, return_counts=True)
    code = int(values[counts.argmax()])
    return np.array([code >> 16, (code >> 8) & 255, code & 255], dtype=np.uint8)


def _differs(pixels: Pixels, colour: NDArray[np.uint8]) -> NDArray[np.bool_]:
    channels = np.maximum(pixels, colour) - np.minimum(pixels, colour) > COLOUR_STEP
    apart: NDArray[np.bool_] = np.any(channels, axis=-1)
    return apart


def _corner(box: NDArray[np.bool_]) -> int:
    """The radius of a card's rounded corners: how far its first and last rows start from the box's sides."""
    insets = [int(row.argmax()) for row in (box[0], box[0, ::-1], box[-1], box[-1, ::-1])]
    return max(insets)


def _outside(height: int, width: int, radius: int) -> NDArray[np.bool_]:
    """Where a box of this size with corners of this radius is not covered."""
    y, x = np.ogrid[:height, :width]
    dx = np.maximum(radius - x, x - (width - 1 - radius)).clip(0)
    dy = np.maximum(radius - y, y - (height - 1 - radius)).clip(0)
    out: NDArray[np.bool_] = (dx**2 + dy**2 > max(0, radius - BORDER) ** 2) & (dx > 0) & (dy > 0)
    return out


def _name(colour: NDArray[np.uint8]) -> str:
    return "#" + "".join(f"{channel:02x}" for channel in colour.tolist())
