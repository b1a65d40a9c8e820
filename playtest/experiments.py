"""Playing a roll again up to a moment: the same seed and inputs give the same game, so any claim can be tried.

Exact only under the clock `frames`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, Protocol

from playtest.errors import BrowserFault
from playtest.observer import Observer
from playtest.pictures import Picture, bounds, changed_tiles, decode
from playtest.policy.timekeeping import HALF_A_FRAME_MS
from playtest.ports import Game, OpenedGame
from playtest.protocol.actions import Action
from playtest.protocol.result import Control
from playtest.text_changes import compare, pattern_of

MAX_SELF_PROGRESS = 20


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of a roll as it was: what was seen before the action, when, and the action if there was one."""

    step: int
    picture: bytes
    texts: tuple[str, ...]
    action: Action | None
    began_ms: float
    """Game time when the action began."""
    ended_ms: float
    """Game time when the step was over."""
    changed: bool = False


class Difference(NamedTuple):
    """What an input changed, against the same moment without it."""

    changed: bool
    region: tuple[int, int, int, int] | None


class Beside:
    """The game without inputs, on the other core: a look that it does not give too is the answer to an input.

    It is only opened once something moves, and then compares every look, the earlier ones first.
    """

    def __init__(self, unwatched: Callable[[], AbstractAsyncContextManager[Game]]) -> None:
        self._unwatched = unwatched
        self._looks: asyncio.Queue[Picture | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self.first: int | None = None
        """Which look is known to be the first that no input would have given."""

    def look(self, picture: Picture, *, moves: bool) -> None:
        """One more look at the game with inputs, in order; `moves`: something changed by it, or may by itself."""
        self._looks.put_nowait(picture)
        if moves and self._task is None:
            self._task = asyncio.create_task(self._compare())

    async def result(self) -> int | None:
        """Which look was the first that no input would have given; None for none. Raises BrowserFault."""
        self._looks.put_nowait(None)
        if self._task is not None:
            await self._task
        return self.first

    async def close(self) -> None:
        """Leave off, whatever was still to be compared."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _compare(self) -> None:
        async with self._unwatched() as game:
            number = 0
            while (look := await self._looks.get()) is not None:
                shown = decode(await game.picture_at(look.game_ms), game.clock.now_ms)
                if changed_tiles(shown, look).any():
                    self.first = number
                    return
                number += 1


class OpenGame(Protocol):
    """Opens the roll's game once more."""

    def __call__(self, *, sound: bool = False) -> AbstractAsyncContextManager[OpenedGame]:
        """The same game in a fresh browser, which with `sound` asks no touch for it."""
        ...


@dataclass(slots=True)
class Experiments:
    """Reruns of one roll, each in a fresh browser. `spent_ms` is the wall time that they took."""

    open_game: OpenGame
    settle_ms: float
    reaction_ms: float
    spent_ms: float = field(default=0.0)
    _open: int = 0
    _started: float = 0.0

    @asynccontextmanager
    async def moment_before(self, moments: Sequence[Moment], step: int) -> AsyncIterator[tuple[Game, Observer]]:
        """The game as it stood when the step's action was about to be made. Raises BrowserFault."""
        async with self.fresh() as game:
            observer = Observer(game, self.settle_ms, self.reaction_ms)
            past = [moment for moment in moments if moment.step < step]
            if len(past) < 2:
                await observer.start()
            else:
                await self.fast_forward(game, past[:-1])
                await observer.resume(past[-2].action, past[-2].ended_ms)
            # The last step is watched in full, so that the observer knows what moves on the screen.
            for moment in past[-1:]:
                await observer.picture_with_echo()
                if moment.action is not None:
                    await observer.act(moment.action)
            await observer.picture_with_echo()
            yield game, observer

    @asynccontextmanager
    async def _unwatched(self, moments: Sequence[Moment], step: int) -> AsyncIterator[Game]:
        """The game at the same moment, for those who only need to see what comes after it. Raises BrowserFault."""
        async with self.fresh() as game:
            await self.fast_forward(game, [moment for moment in moments if moment.step < step])
            yield game

    async def fast_forward(self, game: Game, past: Sequence[Moment]) -> None:
        """Make the recorded inputs at their recorded times; nobody looks in between."""
        for moment in past:
            if moment.action is None:
                continue
            await advance_to(game, moment.began_ms)
            await game.perform(moment.action)

    async def without(self, moments: Sequence[Moment], step: int, until_ms: float) -> Picture:
        """The screen at `until_ms`, had the step's input not been made. Raises BrowserFault."""
        async with self._unwatched(moments, step) as game:
            return decode(await game.picture_at(until_ms), game.clock.now_ms)

    async def difference(self, moments: Sequence[Moment], step: int, after: Picture) -> Difference:
        """What the step's input changed by the time of `after`, exactly. Raises BrowserFault."""
        control = await self.without(moments, step, after.game_ms)
        tiles = changed_tiles(control, after)
        return Difference(bool(tiles.any()), bounds(tiles))

    @asynccontextmanager
    async def beside(self, moments: Sequence[Moment], step: int) -> AsyncIterator[Beside]:
        """The step's moment without any input from there on, played while somebody else tries inputs."""
        running = Beside(lambda: self._unwatched(moments, step))
        try:
            yield running
        finally:
            await running.close()

    async def with_sound(self, moments: Sequence[Moment]) -> bool:
        """Whether the screen is another at the last moment when sound needs no touch. Raises BrowserFault."""
        last = moments[-1]
        async with self.fresh(sound=True) as game:
            await self.fast_forward(game, moments[:-1])
            shown = decode(await game.picture_at(last.began_ms), game.clock.now_ms)
        return bool(changed_tiles(shown, decode(last.picture, last.began_ms)).any())

    async def control(self, moments: Sequence[Moment]) -> Control:
        """The whole roll's game time without any input, compared at each of its pictures. Raises BrowserFault."""
        started = time.monotonic()
        same, compared = 0, 0
        progress: list[str] = []
        async with self.fresh() as game:
            before = await game.texts()
            for previous, moment in pairwise(moments):
                shown = decode(await game.picture_at(previous.ended_ms), game.clock.now_ms)
                texts = await game.texts()
                compared += 1
                same += not changed_tiles(shown, decode(moment.picture, shown.game_ms)).any()
                progress += [change.describe() for change in compare(before, texts) if change.old and change.new]
                before = texts
        kinds: dict[str, str] = {}
        for words in progress:
            kinds.setdefault(pattern_of(words), words)
        return Control(
            steps=compared,
            same=same,
            self_progress=tuple(kinds.values())[:MAX_SELF_PROGRESS],
            wall_time_ms=round((time.monotonic() - started) * 1000, 1),
        )

    @asynccontextmanager
    async def fresh(self, *, sound: bool = False) -> AsyncIterator[Game]:
        """The same game from its boot, in a fresh browser; with `sound`, one that asks no touch for it.

        Raises BrowserFault.
        """
        if not self._open:
            self._started = time.monotonic()
        self._open += 1
        try:
            async with self.open_game(sound=sound) as opened:
                if opened.fault is not None:
                    raise BrowserFault(opened.fault.kind, f"the game did not come up again: {opened.fault.message}")
                yield opened.game
        finally:
            self._open -= 1
            if not self._open:  # games that are open side by side take their time once
                self.spent_ms += (time.monotonic() - self._started) * 1000


async def advance_to(game: Game, game_ms: float) -> None:
    """Let the game run up to an instant; nothing where it is there already."""
    left_ms = game_ms - game.clock.now_ms
    if left_ms > HALF_A_FRAME_MS:
        await game.clock.advance(left_ms)
