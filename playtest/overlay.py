"""The ruler and the status strip that are burned onto each picture sent to a tester.

Lines are dotted in alternating dark and light dots, visible on any background; numbers stand on small dark plates
at the top, at mid-height and at both sides. The strip lies below the game, so no coordinate moves. Its canary is a
random code in large type that the tester must repeat: proof that the picture arrived.
"""

from __future__ import annotations

import io
import random
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from playtest.pictures import Pixels
from playtest.protocol.coordinates import STRIP_HEIGHT, CoordinateSpace, Screen

# No look-alikes: 0/O, 1/I/L, 2/Z, 5/S, 8/B, and none that small type confuses (U/V, Q/O, D/O, G/6).
CANARY_LETTERS = "34679ACEFHJKMNPRTWXY"
CANARY_LENGTH = 4
MAJOR_DOT, MINOR_DOT = 6, 14
PLATE = (16, 16, 20)
INK = (255, 255, 255)
STRIP_GROUND, STRIP_INK, CANARY_INK = (18, 20, 26), (200, 206, 216), (255, 230, 0)
WEBP_QUALITY = 88


@dataclass(frozen=True, slots=True)
class StripText:
    """What the strip says."""

    step: int
    budget: int
    last_tap: str
    canary: str


def new_canary(chance: random.Random) -> str:
    """A code of 4 characters without look-alikes."""
    return "".join(chance.choice(CANARY_LETTERS) for _ in range(CANARY_LENGTH))


def rule(pixels: Pixels, space: CoordinateSpace, strip: StripText) -> Image.Image:
    """The picture with ruler and strip: as wide as the game, STRIP_HEIGHT higher. Shape (h, w, 3) in."""
    height, width = pixels.shape[:2]
    mask, ink = _ruler(width, height, space)
    ruled = np.empty((height + STRIP_HEIGHT, width, 3), dtype=np.uint8)
    ruled[:height] = np.where(mask[..., None], ink, pixels)
    ruled[height:] = STRIP_GROUND
    image = Image.fromarray(ruled)
    _draw_strip(image, strip, height)
    return image


def encode(image: Image.Image) -> bytes:
    """The picture as WebP, small and sharp enough to read."""
    out = io.BytesIO()
    image.save(out, "WEBP", quality=WEBP_QUALITY, method=1)
    return out.getvalue()


def marks(length_px: int, span_px: int, space: CoordinateSpace) -> list[tuple[int, int, bool]]:
    """The ruler's lines along one axis: pixel, number, and whether it is a major line.

    `length_px` is the game's side, `span_px` the picture's (they differ by the strip in height).
    """
    found = []
    for value in range(0, 1001 if space is CoordinateSpace.NORM1000 else span_px + 1, 50):
        at = round(value * span_px / 1000) if space is CoordinateSpace.NORM1000 else value
        if at < length_px:
            found.append((at, value, value % 100 == 0))
    return found


@lru_cache(maxsize=8)
def _ruler(width: int, height: int, space: CoordinateSpace) -> tuple[np.ndarray, np.ndarray]:
    """Where the ruler covers the game (h, w) and with what (h, w, 3); the same for every picture of a size."""
    screen = Screen(width=width, height=height)
    mask = np.zeros((height, width), dtype=bool)
    ink = np.zeros((height, width, 3), dtype=np.uint8)
    across = marks(width, width, space)
    down = marks(height, screen.picture_height, space)
    for at, _, major in across:
        _dots(mask[:, at], ink[:, at], MAJOR_DOT if major else MINOR_DOT)
    for at, _, major in down:
        _dots(mask[at, :], ink[at, :], MAJOR_DOT if major else MINOR_DOT)
    plates = Image.fromarray(ink)
    covered = Image.fromarray(mask.astype(np.uint8) * 255)
    _number_plates(plates, covered, across, down)
    return np.asarray(covered) > 0, np.asarray(plates)


def _dots(mask: np.ndarray, ink: np.ndarray, every: int) -> None:
    """Dotted line in place: a dark dot, then a light one, of two pixels each."""
    places = np.arange(len(mask))
    for offset, colour in ((0, 0), (every, 255)):
        dot = (places - offset) % (2 * every) < 2
        mask[dot] = True
        ink[dot] = colour


def _number_plates(
    plates: Image.Image, covered: Image.Image, across: list[tuple[int, int, bool]], down: list[tuple[int, int, bool]]
) -> None:
    draw, cover, font = ImageDraw.Draw(plates), ImageDraw.Draw(covered), ImageFont.load_default(10)
    width, height = plates.size

    def plate(x: float, y: float, number: int) -> None:
        left, top, right, bottom = draw.textbbox((0, 0), str(number), font=font)
        w, h = right - left + 4, bottom - top + 4
        x, y = min(max(0, x - w / 2), width - w), min(max(0, y - h / 2), height - h)
        cover.rectangle((x, y, x + w - 1, y + h - 1), fill=255)
        draw.rectangle((x, y, x + w - 1, y + h - 1), fill=PLATE)
        draw.text((x + 2 - left, y + 2 - top), str(number), font=font, fill=INK)

    for at, number, major in across:
        if major and number:
            plate(at, 7, number)
            plate(at, height / 2, number)
    for at, number, major in down:
        if major and number:
            plate(0, at, number)
            plate(width, at, number)


def _draw_strip(image: Image.Image, strip: StripText, top: int) -> None:
    draw = ImageDraw.Draw(image)
    small, large = ImageFont.load_default(12), ImageFont.load_default(24)
    middle = top + STRIP_HEIGHT / 2
    draw.text((6, middle), f"STEP {strip.step}/{strip.budget}", font=small, fill=STRIP_INK, anchor="lm")
    draw.text((88, middle), strip.last_tap, font=small, fill=STRIP_INK, anchor="lm")
    draw.text((image.width - 8, middle), strip.canary, font=large, fill=CANARY_INK, anchor="rm")
