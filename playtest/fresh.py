"""Fresh games in fresh browsers: what is opened, under which clocks, and as which phone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from playtest.browser.find import BrowserBinary, find_browser
from playtest.browser.launch import LaunchOptions
from playtest.browser.opening import clocks_for, opened
from playtest.browser.server import Gate, Origin, origin_of
from playtest.browser.session import GameOptions
from playtest.config import Settings
from playtest.errors import UsageError
from playtest.games import Game
from playtest.ports import OpenedGame
from playtest.prompts import Language
from playtest.protocol.coordinates import Screen

LOCALES: dict[Language, str] = {"zh": "zh-CN", "en": "en-US"}


@dataclass(frozen=True, slots=True)
class Machine:
    """What games are opened with here: checked, and nothing of it has reached outside yet."""

    settings: Settings
    binary: BrowserBinary
    clocks: tuple[str, ...]
    start_date_ms: float
    locale: str


@dataclass(frozen=True, slots=True)
class FreshGames:
    """One game, as often as it is needed, each time in a fresh browser."""

    machine: Machine
    gate: Gate
    url: str

    def open(
        self,
        seed: int,
        screen: Screen | None = None,
        *,
        may_turn: bool = False,
        sound: bool = False,
        film: bool = False,
    ) -> AbstractAsyncContextManager[OpenedGame]:
        """The game under the first clock that it boots under. Raises UsageError when it can't be reached.

        `may_turn`: on the turned screen, where the game asks for it. `sound`: may play before the first touch.
        """
        machine, settings = self.machine, self.machine.settings

        def options_for(clock: str) -> GameOptions:
            launch = LaunchOptions(
                binary=machine.binary,
                clock=clock,
                proxy=self.gate.address,
                user_agent=settings.user_agent,
                locale=machine.locale,
                timezone=settings.timezone,
                headed=settings.headed,
                sound=sound,
            )
            return GameOptions(
                launch=launch,
                url=self.url,
                seed=seed,
                start_date_ms=machine.start_date_ms,
                hang_s=settings.hang_s,
                boot_s=settings.boot_s,
                film=film,
                screen=screen or Screen(),
            )

        return opened(self.gate, machine.clocks, options_for, may_turn=may_turn)


def machine_for(settings: Settings, locale: str, *, clock: str | None = None, start: str | None = None) -> Machine:
    """What games are opened with; `clock` and `start` in place of the settings'. Raises UsageError."""
    binary = find_browser(settings.chromium)
    clocks = tuple(clocks_for(binary, clock or settings.clock, settings.headed))
    return Machine(settings, binary, clocks, start_ms(start or settings.start_date), locale)


@asynccontextmanager
async def fresh_games(machine: Machine, game: Game) -> AsyncIterator[FreshGames]:
    """The game behind its gate, which is open as long as this is."""
    origin: Origin | None = origin_of(game.url) if game.url else None
    async with Gate(game.folder, origin) as gate:
        yield FreshGames(machine, gate, game.url or f"{gate.address}/{game.page}")


def start_ms(date: str) -> float:
    """An ISO instant in ms since the epoch. Raises UsageError."""
    try:
        instant = datetime.fromisoformat(date)
    except ValueError as error:
        raise UsageError(f"start_date {date!r} is no ISO 8601 instant", "write 2026-01-15T02:00:00+00:00") from error
    if instant.tzinfo is None:
        raise UsageError(f"start_date {date!r} has no offset", "write 2026-01-15T02:00:00+00:00")
    return instant.timestamp() * 1000
