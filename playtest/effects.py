"""Did the input do anything? Changes after an input, less what the game does by itself.

What changed in idle time (after the screen had settled, while waiting) is ambient: for each tile, the most pixels that
changed there or next to it between two looks. A change counts where idle time showed none (novel), or where it is
far stronger than idle time's (a surge). Where things drift over the screen, there must be clearly more of it than
idle time itself brings. Where nothing moves by itself any changed pixel counts.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from playtest.pictures import Counts, Picture, Tiles, bounds, changed_pixels, spread
from playtest.ports import VisibleText
from playtest.protocol.transcript import Effect
from playtest.text_changes import TextChange, TextWatch

IDLE_MEMORY = 12
# A change of this share of the screen is another screen: what moved on the old one says nothing about it.
NEW_SCREEN_AREA = 0.5
# How far what follows an input must exceed what idle time brings.
DRIFT_FACTOR = 1.6
SURGE_FACTOR, SURGE_PIXELS = 2, 8


@dataclass(slots=True)
class Ambient:
    """What moves by itself: learned from pairs of looks between which no input was made."""

    _idle: deque[Counts] = field(default_factory=lambda: deque(maxlen=IDLE_MEMORY))
    _drift: deque[float] = field(default_factory=lambda: deque(maxlen=IDLE_MEMORY))

    def learn(self, before: Picture, after: Picture) -> None:
        """Take two pictures of idle time."""
        counts = changed_pixels(before, after)
        beyond = int(self.beyond(counts).sum()) if self._idle else 0
        self._drift.append(beyond / max(1.0, after.game_ms - before.game_ms))
        self._idle.append(counts)

    def forget(self) -> None:
        """Another screen is shown."""
        self._idle.clear()
        self._drift.clear()

    def expected(self, like: Counts) -> Counts:
        """For each tile, the most changed pixels that idle time explains."""
        out = np.zeros_like(like)
        for counts in self._idle:
            if counts.shape == out.shape:
                np.maximum(out, counts, out=out)
        return spread(out)

    def novel(self, counts: Counts) -> Tiles:
        """Tiles that changed where idle time showed no motion."""
        tiles: Tiles = (counts > 0) & (self.expected(counts) == 0)
        return tiles

    def beyond(self, counts: Counts) -> Tiles:
        """Tiles between two looks whose change idle time doesn't explain: novel ones and surges."""
        expected = self.expected(counts)
        tiles: Tiles = ((counts > 0) & (expected == 0)) | (counts > SURGE_FACTOR * expected + SURGE_PIXELS)
        return tiles

    def share(self, like: Counts) -> float:
        """The share of the screen that moves by itself."""
        return float((self.expected(like) > 0).mean())

    @property
    def moves(self) -> bool:
        """Whether anything moved in idle time."""
        return any(counts.any() for counts in self._idle)

    def drift_tiles(self, ms: float) -> float:
        """How many unexplained tiles idle time brings in `ms`: the median, as one burst is no rule."""
        return statistics.median(self._drift) * ms if self.moves else 0.0


@dataclass(slots=True)
class Settling:
    """Watches the screen after an input until it is still, but for ambient motion, or the cap is met."""

    before: Picture
    ambient: Ambient
    cap_ms: float
    still_ms: float = 230.0
    pictures: list[Picture] = field(default_factory=list)
    _still_since: float | None = None

    def add(self, picture: Picture) -> bool:
        """Take the next picture; True when there is nothing more to wait for."""
        self.pictures.append(picture)
        if len(self.pictures) == 1 or not self._quiet(self.pictures[-2], picture):
            self._still_since = picture.game_ms
        return self.settled or self.elapsed_ms >= self.cap_ms

    def _quiet(self, before: Picture, after: Picture) -> bool:
        beyond = int(self.ambient.beyond(changed_pixels(before, after)).sum())
        return beyond <= self.ambient.drift_tiles(after.game_ms - before.game_ms)

    @property
    def elapsed_ms(self) -> float:
        """Game time watched so far."""
        return self.pictures[-1].game_ms - self.pictures[0].game_ms if self.pictures else 0.0

    @property
    def settled(self) -> bool:
        """Whether the screen has been still long enough."""
        if self._still_since is None or len(self.pictures) < 2:
            return False
        return self.pictures[-1].game_ms - self._still_since >= self.still_ms

    def idle_tail(self) -> Sequence[Picture]:
        """The last pictures, taken when the input's own effect was over (or the cap was met)."""
        if self.settled:
            return [p for p in self.pictures if self._still_since is not None and p.game_ms >= self._still_since]
        return self.pictures[-4:]


def measure(
    watch: Settling, texts_before: Sequence[VisibleText], readings: Sequence[Sequence[VisibleText]],
    text_watch: TextWatch, started_ms: float,
) -> tuple[Effect, list[TextChange]]:
    """The effect of one input that began at `started_ms`, against the ambient motion known before it.

    `readings` are the texts on the screen with each of the watch's pictures: one that came and went again counts.
    """
    ambient, looks = watch.ambient, [watch.before, *watch.pictures]
    touched, first_change = None, None
    for previous, picture in zip(looks, looks[1:], strict=False):
        # Since before the input only what is novel counts: slow motion adds up to strong changes by itself.
        now = ambient.novel(changed_pixels(watch.before, picture)) | ambient.beyond(changed_pixels(previous, picture))
        if first_change is None and now.any():
            first_change = picture.game_ms - started_ms
        touched = now if touched is None or touched.shape != now.shape else touched | now
    assert touched is not None, "a watch has at least one picture"
    changes = text_watch.caused(texts_before, readings)
    window = looks[-1].game_ms - watch.before.game_ms
    needed = 1 + DRIFT_FACTOR * ambient.drift_tiles(window)
    changed = int(touched.sum()) >= needed or bool(changes)
    effect = Effect(
        changed=changed,
        area=round(float(touched.mean()), 4) if changed else 0.0,
        region=bounds(touched) if changed else None,
        texts=tuple(change.describe() for change in changes)[:20],
        ambient=round(ambient.share(changed_pixels(watch.before, watch.before)), 4),
        settled=watch.settled,
        settle_ms=round(watch.elapsed_ms, 1),
        first_change_ms=round(first_change, 1) if changed and first_change is not None else None,
    )
    return effect, changes
