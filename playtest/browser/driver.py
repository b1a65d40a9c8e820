"""Playwright's driver process: one for all games open at a time, as starting it costs as much as a browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from weakref import WeakKeyDictionary

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright


class _Shared:
    """The driver of one event loop. It is there while anybody uses it."""

    def __init__(self) -> None:
        self.users = 0
        self._starting: asyncio.Future[Playwright] | None = None

    async def get(self) -> Playwright:
        """The driver, started by whoever comes first; a caller who is cancelled meanwhile does not end the start."""
        if self._starting is None:
            self._starting = asyncio.ensure_future(async_playwright().start())
        starting = self._starting
        try:
            return await asyncio.shield(starting)
        except (PlaywrightError, OSError):
            self._starting = None  # the next one tries anew
            raise

    async def end(self) -> None:
        """Wait for a start that is under way, and end the driver: else it would be left."""
        starting, self._starting = self._starting, None
        if starting is not None:
            with suppress(PlaywrightError, OSError):
                await (await starting).stop()


_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared] = WeakKeyDictionary()


@asynccontextmanager
async def driver() -> AsyncIterator[Playwright]:
    """The running loop's driver. It ends with its last user."""
    shared = _shared.setdefault(asyncio.get_running_loop(), _Shared())
    shared.users += 1
    try:
        yield await shared.get()
    finally:
        shared.users -= 1
        if not shared.users:
            await shared.end()
