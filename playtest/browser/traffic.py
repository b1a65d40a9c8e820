"""The requests of a page that are under way, so that game time can wait for their answers.

A request that has no answer for too long (a long poll, a server that is silent) is waited for no more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from playwright.async_api import Page, Request

PATIENCE_S = 2.0
STALL_S = 3.0
QUIET_S = 0.1


class Traffic:
    """Counts one page's requests."""

    def __init__(self, page: Page, on_ignored: Callable[[str], None]) -> None:
        self._open: set[Request] = set()
        self._ignored: set[Request] = set()
        self._changed = asyncio.Event()
        self._on_ignored = on_ignored
        page.on("request", self._begun)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)

    def _begun(self, request: Request) -> None:
        self._open.add(request)
        self._changed.set()

    def _ended(self, request: Request) -> None:
        self._open.discard(request)
        self._ignored.discard(request)
        self._changed.set()

    @property
    def expected(self) -> bool:
        """Whether an answer that is worth waiting for is on its way."""
        return bool(self._open - self._ignored)

    @property
    def has_ignored(self) -> bool:
        """Whether a request is open that nobody waits for."""
        return bool(self._ignored)

    def ignore(self) -> None:
        """Wait no more for what is under way."""
        for request in self._open - self._ignored:
            self._ignored.add(request)
            self._on_ignored(request.url[:200])

    async def settle(self) -> None:
        """Wait until all answers are there, or are ignored."""
        if self.expected and not await self._until(lambda: not self.expected, PATIENCE_S):
            self.ignore()

    async def quiet(self) -> None:
        """Wait until no request has been under way for a moment: chains of them have come to their end."""
        while True:
            await self.settle()
            if not await self._until(lambda: self.expected, QUIET_S):
                return

    async def stalled(self) -> None:
        """Wait until requests are under way and nothing has happened to any for long."""
        while True:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(STALL_S):
                    await self._changed.wait()
                continue
            if self._open:
                return

    async def _until(self, condition: Callable[[], bool], seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not condition():
            self._changed.clear()
            try:
                async with asyncio.timeout_at(end):
                    await self._changed.wait()
            except TimeoutError:
                return condition()
        return True
