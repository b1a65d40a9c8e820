"""Did the input do anything? Changes after an input, less what the game does by itself.

What changed in idle time (after the screen had settled, while waiting) is ambient. On a screen whose motion stays in
its places, a change counts where idle time showed none (novel), or where it is far stronger than idle time's (a
surge); where nothing moves by itself that is any changed pixel. On a screen where things drift to ever new places,
places tell nothing: there the activity between two looks must clearly exceed that of idle time.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from playtest.pictures import Counts, Picture, Tiles, bounds, changed_pixels, spread
from playtest.ports import VisibleText
from playtest.protocol.transcript import Effect
from playtest.text_changes import TextChange, TextWatch

IDLE_MEMORY = 12
# A change of this share of the screen is another screen: what moved on the old one says nothing about it.
NEW_SCREEN_AREA = 0.5
SURGE_FACTOR, SURGE_PIXELS = 2, 8
# More tiles than this outside of what was seen to move a while ago: things drift.
DRIFT_TILES = 3
# Activity above the most that idle time showed, by this factor and so many tiles, is a burst.
BURST_FACTOR, BURST_TILES = 1.3, 5
# Only looks about as far apart as those of the settle wait are compared for activity.
MAX_LOOK_GAP_MS = 200.0
LOOK_MS = 117.0


@dataclass(slots=True)
class Ambient:
    """What moves by itself: learned from looks between which no input was made."""

    _idle: deque[Counts] = field(default_factory=lambda: deque(maxlen=IDLE_MEMORY))
    _stale: deque[int] = field(default_factory=lambda: deque(maxlen=IDLE_MEMORY))
    _activity: deque[int] = field(default_factory=lambda: deque(maxlen=2 * IDLE_MEMORY))

    def learn(self, looks: Sequence[Picture]) -> None:
        """Take pictures of idle time, in order."""
        pairs = [(changed_pixels(a, b), b.game_ms - a.game_ms) for a, b in pairwise(looks)]
        if self._idle and pairs:
            # Measured against what was known before: how far motion strays from its places with time.
            self._stale.append(max(int(self.beyond(counts).sum()) for counts, _ in pairs))
        for counts, gap_ms in pairs:
            self._idle.append(counts)
            if gap_ms <= MAX_LOOK_GAP_MS:
                self._activity.append(int((counts > 0).sum()))

    def forget(self) -> None:
        """Another screen is shown."""
        self._idle.clear()
        self._stale.clear()
        self._activity.clear()

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

    @property
    def drifts(self) -> bool:
        """Whether motion keeps reaching places where there was none."""
        return bool(self._stale) and statistics.median(self._stale) > DRIFT_TILES

    def burst(self, counts: Counts, gap_ms: float) -> bool:
        """Whether more tiles changed between two looks than idle time explains, wherever they are."""
        highest = sorted(self._activity)
        usual: float = highest[-3 if len(highest) > 8 else -1] if highest else 0  # one event of its own is not the rule
        usual *= max(1.0, gap_ms / LOOK_MS)
        return int((counts > 0).sum()) > BURST_FACTOR * usual + BURST_TILES

    def unexplained(self, before: Picture, after: Picture) -> Tiles:
        """Tiles between two looks that an input may be credited with."""
        counts = changed_pixels(before, after)
        if self.drifts and not self.burst(counts, after.game_ms - before.game_ms):
            return np.zeros(counts.shape, dtype=bool)
        return self.beyond(counts)


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
        if len(self.pictures) == 1 or self.ambient.unexplained(self.pictures[-2], picture).any():
            self._still_since = picture.game_ms
        return self.settled or self.elapsed_ms >= self.cap_ms

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
    watch: Settling,
    texts_before: Sequence[VisibleText],
    readings: Sequence[Sequence[VisibleText]],
    text_watch: TextWatch,
    *,
    started_ms: float,
) -> tuple[Effect, list[TextChange]]:
    """The effect of one input that began at `started_ms`, against the ambient motion known before it.

    `readings` are the texts on the screen with each of the watch's pictures: one that came and went again counts.
    """
    ambient, looks = watch.ambient, [watch.before, *watch.pictures]
    touched, first_change = None, None
    for previous, picture in pairwise(looks):
        now = ambient.unexplained(previous, picture)
        if not ambient.drifts:
            # Slow motion adds up to strong changes by itself, so since before the input only what is novel counts.
            now = now | ambient.novel(changed_pixels(watch.before, picture))
        if first_change is None and now.any():
            first_change = picture.game_ms - started_ms
        touched = now if touched is None or touched.shape != now.shape else touched | now
    assert touched is not None, "a watch has at least one picture"
    changes = text_watch.caused_over(texts_before, readings)
    changed = bool(touched.any()) or bool(changes)
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
