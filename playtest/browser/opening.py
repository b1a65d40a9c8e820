"""Opening a game under the best clock that works for it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial

from playtest.browser.find import BrowserBinary
from playtest.browser.server import Gate
from playtest.browser.session import GameOptions, GameSession
from playtest.errors import BrowserFault, UsageError
from playtest.ports import OpenedGame


def clocks_for(binary: BrowserBinary, wanted: str, headed: bool) -> Sequence[str]:
    """The clocks to try, best first. Raises UsageError where the wanted one can't work with this browser."""
    frames_work = binary.kind == "headless_shell" and not headed and sys.platform != "darwin"
    if wanted == "frames" and not frames_work:
        raise UsageError(
            f"the clock `frames` needs Chromium's headless shell on Linux or Windows, not {binary.path}",
            "install it (`playtest doctor --install`), or play with --clock js",
        )
    if wanted != "auto":
        return (wanted,)
    return ("frames", "js", "realtime") if frames_work else ("js", "realtime")


@asynccontextmanager
async def opened(
    gate: Gate, clocks: Sequence[str], options_for: Callable[[str], GameOptions], *, may_turn: bool = False
) -> AsyncIterator[OpenedGame]:
    """The game under the first clock that it boots under, else the last attempt with its fault.

    With `may_turn`, a game that asks for the other orientation gets it, if it asks no more then. Each failed attempt is
    told in the game's notes. Raises UsageError when the browser can't start or the page can't be reached: nothing was
    played then.
    """
    async with AsyncExitStack() as stack:
        fresh = partial(_open_anew, stack, gate, clocks)
        game, fault = await fresh(options_for)
        words = await game.asks_to_be_turned() if may_turn and fault is None else None
        if words is not None:
            game, fault = await fresh(lambda clock: _turned(options_for(clock)))
            if fault is None and await game.asks_to_be_turned() is None:
                game.was_turned(words)
            else:
                game, fault = await fresh(options_for)
                game.notes.append(f"the game says {words!r}, but turning it changes nothing; it is played upright")
        yield OpenedGame(game, fault)


async def _open_anew(
    stack: AsyncExitStack, gate: Gate, clocks: Sequence[str], options_for: Callable[[str], GameOptions]
) -> tuple[GameSession, BrowserFault | None]:
    """Close what is open on the stack and open the game on it."""
    await stack.aclose()
    return await stack.enter_async_context(_under_a_clock(gate, clocks, options_for))


def _turned(options: GameOptions) -> GameOptions:
    """The same with the screen on its side."""
    return replace(options, screen=options.screen.turned)


@asynccontextmanager
async def _under_a_clock(
    gate: Gate, clocks: Sequence[str], options_for: Callable[[str], GameOptions]
) -> AsyncIterator[tuple[GameSession, BrowserFault | None]]:
    notes: list[str] = []
    for number, clock in enumerate(clocks, 1):
        game = GameSession(options_for(clock), gate)
        game.notes.extend(notes)
        try:
            fault = await _try_to_open(game)
            if fault is None or number == len(clocks) or not _worth_another_clock(fault, clock):
                yield game, fault
                return
            notes.append(f"the page could not be booted under the clock {clock}: {fault.message}")
        finally:
            await game.close()


async def _try_to_open(game: GameSession) -> BrowserFault | None:
    try:
        await game.open()
    except BrowserFault as fault:
        return fault
    return None


def _worth_another_clock(fault: BrowserFault, clock: str) -> bool:
    """A crash is the page's own; a page that hangs under two held clocks would hang without them too."""
    return fault.kind != "crash" and not (fault.kind == "hang" and clock == "js")
