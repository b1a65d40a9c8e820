"""Pictures of the screen as arrays: decoding, hashes, and what differs between two of them."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels: TypeAlias = NDArray[np.uint8]  # (height, width, 3), RGB
Tiles: TypeAlias = NDArray[np.bool_]  # (rows, columns) of TILE x TILE px
Counts: TypeAlias = NDArray[np.int16]  # (rows, columns): changed pixels in each tile, 0 to TILE * TILE
TILE = 10
# Colour steps below this are taken for dithering and blending of the same picture.
COLOUR_STEP = 10
SIGNATURE_SHAPE = (28, 13)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One look at the screen: the PNG as captured, its pixels, and the game time it was taken at."""

    png: bytes
    pixels: Pixels
    game_ms: float


def decode(png: bytes, game_ms: float) -> Picture:
    """A captured PNG as a Picture. Raises OSError where the bytes are no picture."""
    with Image.open(io.BytesIO(png)) as image:
        return Picture(png, np.asarray(image.convert("RGB")), game_ms)


def is_flat(pixels: Pixels) -> bool:
    """Whether there is but one colour."""
    return not (pixels != pixels[0, 0]).any()


def picture_hash(pixels: Pixels) -> str:
    """SHA-256 over shape and pixels, its first 16 hexadecimal digits."""
    return hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()[:16]


def changed_pixels(before: Picture, after: Picture) -> Counts:
    """For each tile, how many pixels' colour moved by more than COLOUR_STEP."""
    a, b = before.pixels, after.pixels
    rows, columns = _grid(b)
    if a.shape != b.shape:
        return np.full((rows, columns), TILE * TILE, dtype=np.int16)
    if before.png == after.png:
        return np.zeros((rows, columns), dtype=np.int16)
    apart = np.maximum(a, b)
    apart -= np.minimum(a, b)
    channels = apart > COLOUR_STEP
    moved = channels[..., 0] | channels[..., 1] | channels[..., 2]  # ten times as fast as a maximum over the axis
    padded = np.zeros((rows * TILE, columns * TILE), dtype=bool)
    padded[: a.shape[0], : a.shape[1]] = moved
    counts: Counts = padded.reshape(rows, TILE, columns, TILE).sum(axis=(1, 3), dtype=np.int16)
    return counts


def changed_tiles(before: Picture, after: Picture) -> Tiles:
    """Which tiles hold at least one changed pixel."""
    return changed_pixels(before, after) > 0


def spread(counts: Counts) -> Counts:
    """Each tile's highest count among itself and its eight neighbours."""
    padded = np.pad(counts, 1)
    rows, columns = counts.shape
    out = np.zeros_like(counts)
    for dy in range(3):
        for dx in range(3):
            np.maximum(out, padded[dy : dy + rows, dx : dx + columns], out=out)
    return out


def bounds(tiles: Tiles) -> tuple[int, int, int, int] | None:
    """The box around the set tiles: x, y, width, height in px; None when there is none."""
    rows, columns = np.nonzero(tiles.any(axis=1))[0], np.nonzero(tiles.any(axis=0))[0]
    if not len(rows):
        return None
    left, top = int(columns[0]) * TILE, int(rows[0]) * TILE
    return left, top, (int(columns[-1]) + 1) * TILE - left, (int(rows[-1]) + 1) * TILE - top


def signature(pixels: Pixels) -> NDArray[np.float32]:
    """A small grey picture (28 x 13) for telling screens apart whatever little moves on them."""
    grey = Image.fromarray(pixels).convert("L").resize(SIGNATURE_SHAPE[::-1], Image.Resampling.BOX)
    return np.asarray(grey, dtype=np.float32)


def distance(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    """Mean absolute difference of two signatures in grey levels (0-255)."""
    return float(np.abs(a - b).mean())


def distinct_colours(pixels: Pixels, limit: int = 64) -> int:
    """How many colours there are in a sample of the picture, at 32 levels a channel, up to `limit`."""
    sample = (pixels[::3, ::3] >> 3).astype(np.uint32)
    codes = (sample[..., 0] << 10) | (sample[..., 1] << 5) | sample[..., 2]
    return min(limit, len(np.unique(codes)))


def _grid(pixels: Pixels) -> tuple[int, int]:
    return -(-pixels.shape[0] // TILE), -(-pixels.shape[1] // TILE)
