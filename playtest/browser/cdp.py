"""Calls to the browser that can't hang us: every one has a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from playtest.errors import BrowserFault

T = TypeVar("T")
TOLD_WITHIN_S = 1.0


async def within(seconds: float, call: Awaitable[T], what: str) -> T:
    """The call's value. Raises BrowserFault `hang` past the deadline, `crash` when the page is gone."""
    try:
        async with asyncio.timeout(seconds):
            return await call
    except TimeoutError as error:
        raise BrowserFault("hang", f"the page did not answer within {seconds:g} s ({what})") from error
    except PlaywrightError as error:
        raise fault_from(error, what) from error


def fault_from(error: PlaywrightError, what: str) -> BrowserFault:
    """A Playwright error as a fault of the page."""
    text = str(error).splitlines()[0]
    gone = any(sign in text for sign in ("crashed", "closed", "Target closed", "not attached", "disconnected"))
    return BrowserFault("crash" if gone else "browser", f"{what}: {text}")


class Channel:
    """A CDP session with deadlines.

    Once the page is known to be dead every call fails at once, those under way too, so that nothing waits on it.
    """

    def __init__(self, session: CDPSession, deadline_s: float) -> None:
        self._session = session
        self._gone: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
        self.deadline_s = deadline_s

    def lose(self, kind: str, message: str) -> None:
        """The page is gone, by a `crash` of its own or with the `browser`."""
        if not self._gone.done():
            self._gone.set_result((kind, message))

    def check(self) -> None:
        """Raise BrowserFault `crash` or `browser` once the page is gone."""
        if self._gone.done():
            raise BrowserFault(*self._gone.result())

    async def within(self, call: Awaitable[T], what: str, deadline_s: float = 0) -> T:
        """The value of any call that the page must answer. Raises BrowserFault."""
        seconds = deadline_s or self.deadline_s
        task = asyncio.ensure_future(call)
        try:
            waited: set[asyncio.Future[Any]] = {task, self._gone}
            await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not task.done():
                task.cancel()
        if task.done():
            return await self._value(task, what)
        self.check()
        raise BrowserFault("hang", f"the page did not answer within {seconds:g} s ({what})")

    async def _value(self, task: asyncio.Future[T], what: str) -> T:
        try:
            return task.result()
        except PlaywrightError as error:
            fault = fault_from(error, what)
            if fault.kind == "crash":  # the call may fail before it is told what became of the page
                await asyncio.wait({self._gone}, timeout=TOLD_WITHIN_S)
                self.check()
            raise fault from error

    async def send(self, method: str, params: dict[str, Any] | None = None, deadline_s: float = 0) -> dict[str, Any]:
        """The answer to one command. Raises BrowserFault."""
        answer: dict[str, Any] = await self.within(self._session.send(method, params or {}), method, deadline_s)
        return answer

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        """Calls `handler` with the parameters of each such event."""
        self._session.on(event, handler)
