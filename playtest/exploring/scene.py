"""One look at the screen: the picture, its texts and numbers, and the things that could be touched."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from playtest.exploring.labels import Label, read_label
from playtest.exploring.looks import Box, Look, look_at_all
from playtest.exploring.objects import Region, find_regions, is_blank
from playtest.exploring.readings import Reading, read_numbers
from playtest.pictures import Pixels, signature
from playtest.ports import Point, VisibleText

MAX_THINGS = 48
TEXT_CONTRAST = 30.0
_PLAIN = re.compile(r"[^\w\u4e00-\u9fff]+")


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """Something on the screen. `words` are the short texts on it; `salience` is 0-1."""

    box: Box
    words: tuple[str, ...]
    tappable: bool
    salience: float
    look: Look
    label: Label | None = None

    @property
    def centre(self) -> Point:
        """Where a finger would touch it."""
        return Point(self.box[0] + self.box[2] / 2, self.box[1] + self.box[3] / 2)

    @property
    def name(self) -> str:
        """What to call it in a report."""
        if self.words:
            return f"'{self.words[0][:24]}'"
        return f"a thing of {self.box[2]:.0f}x{self.box[3]:.0f} px"

    @property
    def is_reading(self) -> bool:
        """Whether it is there to be read: sentences and counters, no button."""
        return bool(self.words) and not self.tappable and all(_for_reading(text) for text in self.words)

    @property
    def group(self) -> tuple[int, int, bool]:
        """Things of one group are of like size, height on the screen and make."""
        area = max(1.0, self.box[2] * self.box[3])
        return round(math.log2(area) / 1.5), int(self.centre.y // 170), bool(self.words)


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What one step shows. `signature` is a small grey picture (28 x 13)."""

    step: int
    pixels: Pixels
    texts: tuple[VisibleText, ...]
    numbers: dict[str, Reading]
    things: tuple[Thing, ...]
    signature: NDArray[np.float32]
    blank: bool

    @property
    def labels(self) -> list[Thing]:
        """The things whose words belong to the flow: start, next, close, retry, back..."""
        return [thing for thing in self.things if thing.label is not None]

    def words(self) -> list[str]:
        """The visible texts, in order."""
        return [item.text for item in self.texts]


def see(step: int, pixels: Pixels, texts: Sequence[VisibleText]) -> Scene:
    """Take in a picture (height, width, 3) with its texts."""
    shown = tuple(item for item in texts if _visible(item, pixels))
    regions = [region for region in find_regions(pixels) if not _is_lettering(region.box, shown)]
    return Scene(
        step=step,
        pixels=pixels,
        texts=shown,
        numbers=read_numbers(shown),
        things=tuple(_things(pixels, regions, shown)),
        signature=signature(pixels),
        blank=is_blank(pixels) and not shown,
    )


def plain(text: str) -> str:
    """A short text for comparing: no blanks, marks or case."""
    return _PLAIN.sub("", text).lower()


def _visible(item: VisibleText, pixels: Pixels) -> bool:
    """Whether a canvas text can still be seen at its place: something may have been painted over it."""
    if item.box is None or item.source == "dom":
        return True
    height, width = pixels.shape[:2]
    left, top = max(0, int(item.box[0])), max(0, int(item.box[1]))
    right, bottom = min(width, int(item.box[0] + item.box[2]) + 1), min(height, int(item.box[1] + item.box[3]) + 1)
    if right - left < 2 or bottom - top < 2:
        return False
    part = pixels[top:bottom:2, left:right:2].reshape(-1, 3)
    return bool((part.max(axis=0) - part.min(axis=0)).max() > 24)


def _things(pixels: Pixels, regions: Sequence[Region], texts: Sequence[VisibleText]) -> list[Thing]:
    """Regions with the texts on them, texts that lie on none, the most salient first."""
    on: dict[int, list[VisibleText]] = {}
    loose: list[VisibleText] = []
    for item in texts:
        if item.box is None:
            continue
        holders = [i for i, region in enumerate(regions) if _holds(region.box, item)]
        if holders:
            on.setdefault(min(holders, key=lambda i: regions[i].box[2] * regions[i].box[3]), []).append(item)
        else:
            loose.append(item)
    found = [_Found.on(region.box, region.contrast, on.get(i, [])) for i, region in enumerate(regions)]
    height, width = pixels.shape[:2]
    for item in loose:
        if item.box is not None:
            left, top = max(0.0, item.box[0]), max(0.0, item.box[1])
            right, bottom = min(width, item.box[0] + item.box[2]), min(height, item.box[1] + item.box[3])
            if right - left >= 2 and bottom - top >= 2:
                found.append(_Found.on((left, top, right - left, bottom - top), TEXT_CONTRAST, [item]))
    found.sort(key=lambda thing: (-thing.salience, thing.box))
    del found[MAX_THINGS:]
    looks = look_at_all(pixels, [thing.box for thing in found])
    return [Thing(**thing._asdict(), look=look) for thing, look in zip(found, looks, strict=True)]


def _for_reading(text: str) -> bool:
    return len(text) > 12 or any(character.isdigit() for character in text)


def _is_lettering(box: Box, texts: Sequence[VisibleText]) -> bool:
    """Whether a region is a piece of a text, not a thing that a text stands on."""
    x, y, width, height = box
    return any(
        x >= item.box[0] - 6 and y >= item.box[1] - 6
        and x + width <= item.box[0] + item.box[2] + 6 and y + height <= item.box[1] + item.box[3] + 6
        for item in texts
        if item.box is not None
    )  # fmt: skip


def _holds(box: Box, item: VisibleText) -> bool:
    assert item.box is not None
    assert item.centre is not None
    x, y, width, height = box
    inside = x <= item.centre.x <= x + width and y <= item.centre.y <= y + height
    return inside and width * height <= 45_000 and width * height >= 0.7 * item.box[2] * item.box[3]


class _Found(NamedTuple):
    """A thing before its look is taken."""

    box: Box
    words: tuple[str, ...]
    tappable: bool
    salience: float
    label: Label | None

    @classmethod
    def on(cls, box: Box, contrast: float, items: Sequence[VisibleText]) -> _Found:
        """A region or a text, with the texts on it."""
        words = tuple(item.text.strip() for item in items)
        tappable = any(item.tappable for item in items)
        labels = [label for text in words if (label := read_label(text)) is not None]
        side = math.sqrt(max(1.0, box[2] * box[3]))
        size = 1.0 if 30 <= side <= 150 else max(0.2, side / 30 if side < 30 else 150 / side)
        salience = 0.55 * min(1.0, contrast / 70) + 0.35 * size + (0.3 if tappable else 0.0)
        if words and not tappable and all(_for_reading(text) for text in words):
            salience *= 0.55  # a sentence or a counter: something to read
        return cls(box, words, tappable, min(1.0, salience), max(labels, key=lambda found: found.fit, default=None))
