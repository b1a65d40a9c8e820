"""Calls to the browser that can't hang us: every one has a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from playtest.errors import BrowserFault

T = TypeVar("T")


async def within(seconds: float, call: Awaitable[T], what: str) -> T:
    """The call's value. Raises BrowserFault `hang` past the deadline, `crash` when the page is gone."""
    try:
        return await asyncio.wait_for(asyncio.ensure_future(call), seconds)
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

    While the browser is known to be dead every call fails at once, so that nothing waits on it.
    """

    def __init__(self, session: CDPSession, deadline_s: float) -> None:
        self._session = session
        self.deadline_s = deadline_s

    async def send(self, method: str, params: dict[str, Any] | None = None, deadline_s: float = 0) -> dict[str, Any]:
        """The answer to one command. Raises BrowserFault."""
        answer: dict[str, Any] = await within(
            deadline_s or self.deadline_s, self._session.send(method, params or {}), method
        )
        return answer

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        """Calls `handler` with the parameters of each such event."""
        self._session.on(event, handler)
