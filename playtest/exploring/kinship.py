"""Which things on a screen belong together: by equal words, or by looking alike."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playtest.exploring.scene import Scene, Thing, plain

APART_PX = 56
ALIKE = 0.72


@dataclass(frozen=True, slots=True, eq=False)
class Kinship:
    """`words`: by index, the things that carry the same word elsewhere. `alike`: (n, n) likeness of looks, 0-1."""

    things: tuple[Thing, ...]
    words: dict[int, frozenset[int]]
    alike: NDArray[np.float32]

    def relation(self, first: int, second: int) -> str:
        """`word`, `look` or `none`."""
        if second in self.words.get(first, ()):
            return "word"
        return "look" if self.alike[first, second] > ALIKE else "none"

    def index_near(self, thing: Thing | None) -> int | None:
        """Today's number of a thing that was there in an earlier scene."""
        if thing is None:
            return None
        near = [(math.dist(other.centre, thing.centre), i) for i, other in enumerate(self.things)]
        best = min(near, default=(999.0, 0))
        return best[1] if best[0] <= 18 else None


def find_kin(scene: Scene) -> Kinship:
    """Relate the things of a scene to each other."""
    things = scene.things
    by_word: dict[str, list[int]] = defaultdict(list)
    for i, thing in enumerate(things):
        for word in thing.words:
            name = plain(word)
            if 0 < len(name) <= 14 and not name.isdigit() and thing.label is None:
                by_word[name].append(i)
    words: dict[int, frozenset[int]] = {}
    for numbers in by_word.values():
        for i in numbers:
            kin = {j for j in numbers if math.dist(things[i].centre, things[j].centre) >= APART_PX}
            if kin:
                words[i] = words.get(i, frozenset()) | kin
    return Kinship(things, words, _likeness(things))


def _likeness(things: tuple[Thing, ...]) -> NDArray[np.float32]:
    """`looks.likeness` for all pairs at once."""
    if not things:
        return np.zeros((0, 0), dtype=np.float32)
    thumbs = np.stack([thing.look.thumb.ravel() for thing in things])
    thumbs = thumbs - thumbs.mean(axis=1, keepdims=True)
    lengths = np.sqrt((thumbs * thumbs).sum(axis=1))
    spread = np.outer(lengths, lengths)
    correlation = np.where(spread > 1500, thumbs @ thumbs.T / np.maximum(spread, 1), 0)
    colours = np.stack([thing.look.colours for thing in things])
    shared = np.minimum(colours[:, None], colours[None]).sum(axis=2)
    alike = np.where(spread > 1500, 0.5 * shared + 0.5 * correlation, 0.7 * shared)
    found: NDArray[np.float32] = np.maximum(alike, 0).astype(np.float32)
    return found
