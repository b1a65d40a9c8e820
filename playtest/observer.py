"""Looking at a game under its clock: pictures, texts, the settle wait, and what an input changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from playtest.effects import NEW_SCREEN_AREA, Ambient, Settling, measure
from playtest.pictures import Picture, decode
from playtest.ports import Game, Point, VisibleText
from playtest.protocol.actions import Action, Wait, end_point
from playtest.protocol.transcript import Effect
from playtest.text_changes import TextChange, TextWatch

# Game time between two pictures of the settle wait, the picture's own frame included.
LOOK_EVERY_MS = 100.0
# The first screen is watched no longer than this: a game that runs at once must not be lost before the first input.
FIRST_LOOK_MS = 500.0


class Seen(NamedTuple):
    """The screen at rest: its picture and the texts on it."""

    picture: Picture
    texts: list[VisibleText]


class Outcome(NamedTuple):
    """What one action came to."""

    effect: Effect
    changes: list[TextChange]
    began_ms: float
    """Game time at which the input began."""


class Observer:
    """Watches one game. `now` is the screen as last seen, from which the next effect is measured."""

    def __init__(self, game: Game, settle_ms: float, reaction_ms: float = 0.0) -> None:
        self._game = game
        self._settle_ms = settle_ms
        self._reaction_ms = reaction_ms
        self._ambient = Ambient()
        self._texts = TextWatch()
        self._echo: Point | None = None
        self._latest: Picture | None = None
        self.now: Seen

    async def start(self) -> bool:
        """Watch the first screen until it is still; what moves on it is ambient. Whether frames or timers come."""
        advances = await self._game.frames_advance()
        first = await self._picture()
        await self._watch(Settling(first, self._ambient, min(FIRST_LOOK_MS, self._settle_ms)))
        return advances

    async def resume(self, last: Action | None, ended_ms: float) -> None:
        """Begin in the middle of a game, at the end of a step at `ended_ms` whose action was `last`."""
        png = await self._game.picture_at(ended_ms)
        self._latest = decode(png, self._game.clock.now_ms)
        self.now = Seen(self._latest, await self._game.texts())
        self._remember_echo(last)

    async def idle(self, ms: float) -> None:
        """Let game time pass without an input; what changes meanwhile is learned as ambient."""
        before = self.now
        await self._game.clock.advance(ms)
        self.now = Seen(await self._picture(), await self._game.texts())
        self._ambient.learn([before.picture, self.now.picture])
        self._texts.learn(before.texts, self.now.texts)

    async def picture_with_echo(self) -> Picture:
        """The screen with the ring of the last tap, if there was one; the ring is gone afterwards."""
        if self._echo is None:
            return self.now.picture
        await self._game.show_echo(self._echo)
        try:
            return await self._picture()
        finally:
            await self._game.hide_echo()
            self._echo = None

    async def act(self, action: Action, *, mouse: bool = False, settle_ms: float | None = None) -> Outcome:
        """Carry out an action, watch the screen settle, and measure what changed. Raises BrowserFault."""
        if self._reaction_ms:
            await self.idle(self._reaction_ms)
        before, started_ms = self.now, self._game.clock.now_ms
        self._remember_echo(action)
        await self._game.perform(action, mouse=mouse)
        watch = Settling(before.picture, self._ambient, settle_ms or self._settle_ms)
        readings = await self._watch(watch, learn=False)
        if isinstance(action, Wait):
            self._ambient.learn([before.picture, self.now.picture])
            self._texts.learn(before.texts, self.now.texts)
        effect, changes = measure(watch, before.texts, readings, self._texts, started_ms=started_ms)
        if isinstance(action, Wait):
            effect = effect.model_copy(update={"changed": False, "region": None, "area": 0.0})
        self._learn(watch, readings, new_screen=effect.area > NEW_SCREEN_AREA)
        return Outcome(effect, changes, started_ms)

    def _remember_echo(self, action: Action | None) -> None:
        point = end_point(action) if action is not None else None
        self._echo = Point(*point) if point is not None else None

    @property
    def still(self) -> bool:
        """Whether nothing was ever seen to move by itself on this screen."""
        return not self._ambient.moves

    async def _watch(self, watch: Settling, learn: bool = True) -> list[list[VisibleText]]:
        readings = []
        while True:
            done = watch.add(await self._picture())
            readings.append(await self._game.texts())
            if done:
                break
            await self._game.clock.advance(LOOK_EVERY_MS)
        self.now = Seen(watch.pictures[-1], readings[-1])
        if learn:
            # Nothing was input yet: all of it is idle time, its first half known when the second is looked at.
            half = len(watch.pictures) // 2
            self._ambient.learn(watch.pictures[: half + 1])
            self._learn(watch, readings, new_screen=False)
        return readings

    def _learn(self, watch: Settling, readings: Sequence[list[VisibleText]], new_screen: bool) -> None:
        """Take the pictures after the settling for idle time."""
        if new_screen:
            self._ambient.forget()
        tail = watch.idle_tail()
        self._ambient.learn(tail)
        idle_readings = readings[len(readings) - len(tail) :]
        if watch.settled and len(idle_readings) > 1:
            self._texts.learn(idle_readings[0], idle_readings[-1])

    async def _picture(self) -> Picture:
        png = await self._game.picture()
        if self._latest is not None and self._latest.png == png:  # the same picture need not be decoded again
            self._latest = Picture(png, self._latest.pixels, self._game.clock.now_ms)
        else:
            self._latest = decode(png, self._game.clock.now_ms)
        return self._latest
