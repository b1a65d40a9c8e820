"""Eyes for test brains: they find grid, ring and canary in the picture that was sent, and nothing else."""

from __future__ import annotations

from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from playtest.overlay import CANARY_INK, CANARY_LETTERS, STRIP_GROUND
from playtest.protocol.coordinates import STRIP_HEIGHT

CANARY_WIDTH = 90


def read_canary(picture: Image.Image) -> str:
    """The four characters at the right of the strip, matched letter by letter from the right."""
    strip = picture.convert("RGB").crop(
        (picture.width - CANARY_WIDTH, picture.height - STRIP_HEIGHT, picture.width, picture.height)
    )
    seen = _yellow(np.asarray(strip))
    found = ""
    for _ in range(4):
        scores = {letter: _fit(seen, letter + found) for letter in CANARY_LETTERS}
        found = max(scores, key=lambda letter: scores[letter]) + found
    return found


def _yellow(pixels: np.ndarray) -> np.ndarray:
    """How much of the canary's ink is in each pixel, 0 to 1."""
    ink, ground = np.array(CANARY_INK, float), np.array(STRIP_GROUND, float)
    return np.clip(((pixels - ground) * (ink - ground)).sum(axis=-1) / ((ink - ground) ** 2).sum(), 0, 1)


@cache
def _drawn(text: str) -> tuple[np.ndarray, int]:
    image = Image.new("RGB", (CANARY_WIDTH, STRIP_HEIGHT), STRIP_GROUND)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(24)
    draw.text((CANARY_WIDTH - 8, STRIP_HEIGHT / 2), text, font=font, fill=CANARY_INK, anchor="rm")
    return _yellow(np.asarray(image)), int(CANARY_WIDTH - 8 - font.getlength(text))


def _fit(seen: np.ndarray, text: str) -> float:
    drawn, left = _drawn(text)
    return -float(np.abs(seen[:, max(0, left) :] - drawn[:, max(0, left) :]).mean())


def find_ring(picture: Image.Image) -> tuple[float, float] | None:
    """The centre of the bright yellow ring on the game, in picture pixels."""
    pixels = np.asarray(picture.convert("RGB")).astype(int)[: picture.height - STRIP_HEIGHT]
    ring = (pixels[..., 0] > 215) & (pixels[..., 1] > 190) & (pixels[..., 2] < 90)
    ys, xs = np.nonzero(ring)
    if len(xs) < 100:
        return None
    return (xs.min() + xs.max()) / 2, (ys.min() + ys.max()) / 2


def has_grid(picture: Image.Image, every_px: float) -> bool:
    """Whether dotted lines of dark and light dots stand at every multiple of `every_px` across the picture."""
    pixels = np.asarray(picture.convert("L")).astype(int)[: picture.height - STRIP_HEIGHT]
    lines = [round(every_px * n) for n in range(1, int(picture.width / every_px)) if every_px * n < picture.width - 12]
    return bool(lines) and all(_dotted(pixels[:, at]) for at in lines)


def _dotted(line: np.ndarray) -> bool:
    return bool((line < 60).sum() > 40 and (line > 200).sum() > 40)
