"""Three game clocks with one interface: `frames`, `js` and `realtime`.

`frames` uses Chromium's begin-frame control with virtual time (headless shell only): nothing moves unless a
frame is issued, 1/60 s each. `js` uses Playwright's page clock and steps CSS animations by hand. `realtime`
holds nothing.
"""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import time
from collections.abc import Awaitable
from enum import Enum
from typing import Any, TypeVar

from playwright.async_api import Page

from playtest.browser.cdp import Channel, within

T = TypeVar("T")
FRAME_MS = 1000 / 60
# How many tasks may run at one virtual instant before time is moved on; high, so that it never is.
STARVATION = 1_000_000
# An event that the page has not handled after this many frames is left to itself (a page that is loading).
MAX_DELIVERY_FRAMES = 6
DELIVERY_GRACE_S = 0.5


class Handled(Enum):
    """When the page answers an input event."""

    AT_ONCE = "at once"
    BY_FRAME = "by a frame"
    LATER = "later"


class FrameClock:
    """Game time by begin-frame control: holds the page exactly, and advances it by whole frames."""

    name = "frames"

    def __init__(self, channel: Channel, start_date_ms: float) -> None:
        self._channel = channel
        self._start_date_ms = start_date_ms
        self._expired = asyncio.Event()
        self._base_ms = 0.0
        self._frames = 0
        self._zero = 0
        self._pending: set[asyncio.Task[Any]] = set()
        self.lost_events = 0
        channel.on("Emulation.virtualTimeBudgetExpired", lambda _: self._expired.set())

    @property
    def now_ms(self) -> float:
        """Game time since navigation began."""
        return (self._frames - self._zero) * FRAME_MS

    async def start(self) -> None:
        """Stop time at the starting date."""
        held = await self._channel.send(
            "Emulation.setVirtualTimePolicy",
            {"policy": "pause", "initialVirtualTime": self._start_date_ms / 1000},
        )
        self._base_ms = held["virtualTimeTicksBase"]

    async def load(self, navigation: Awaitable[T]) -> T:
        """Issue frames until the navigation is done; time waits for the network meanwhile."""
        self._zero = self._frames
        task = asyncio.ensure_future(navigation)
        try:
            while not task.done():
                await self.frame(policy="pauseIfNetworkFetchesPending")
            return await task
        finally:
            if not task.done():
                task.cancel()

    async def hold(self) -> None:
        """Nothing to do: the page only moves by frames."""

    async def advance(self, ms: float) -> None:
        """Issue the nearest number of frames, at least one."""
        for _ in range(max(1, round(ms / FRAME_MS))):
            await self.frame()

    async def deliver(self, event: Awaitable[Any], wait: Handled = Handled.BY_FRAME) -> None:
        """Dispatch an input event and issue the frames that it needs.

        Touches are only handed to the page by a frame that is shown, keys at once. How many frames that takes
        must not depend on the machine's speed, so the answer is waited for in real time before another is issued.
        """
        task = asyncio.ensure_future(event)
        self._pending.add(task)
        task.add_done_callback(self._delivered)
        if wait is Handled.AT_ONCE:
            await asyncio.wait({task}, timeout=DELIVERY_GRACE_S)
            return
        for _ in range(MAX_DELIVERY_FRAMES):
            await self.frame(show=True)
            if wait is Handled.LATER:
                return
            await asyncio.wait({task}, timeout=DELIVERY_GRACE_S)
            if task.done():
                return

    def _delivered(self, task: asyncio.Task[Any]) -> None:
        self._pending.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.lost_events += 1  # the page went away under the event; its own fault is told elsewhere

    async def frame(self, picture: bool = False, show: bool = False, policy: str = "advance") -> bytes:
        """One frame of 1/60 s; the PNG of it when asked for. Raises BrowserFault `hang` or `crash`.

        A frame that is neither shown nor pictured skips compositing.
        """
        self._expired.clear()
        self._frames += 1
        await self._channel.send(
            "Emulation.setVirtualTimePolicy",
            {"policy": policy, "budget": FRAME_MS, "maxVirtualTimeTaskStarvationCount": STARVATION},
        )
        await within(self._channel.deadline_s, self._expired.wait(), "a frame of game time")
        call: dict[str, Any] = {
            "interval": FRAME_MS,
            "frameTimeTicks": self._base_ms + self._frames * FRAME_MS,
            "noDisplayUpdates": not (picture or show),
        }
        if picture:
            call["screenshot"] = {"format": "png", "optimizeForSpeed": True}
        answer = await self._channel.send("HeadlessExperimental.beginFrame", call)
        return base64.b64decode(answer.get("screenshotData", ""))


class PageClock:
    """Game time by Playwright's page clock: timers, rAF and Date; CSS animations are stepped after each slice."""

    name = "js"
    SLICE_MS = 50
    STEP_ANIMATIONS = """ms => { for (const a of document.getAnimations()) {
        if (a.playState !== 'running' || a.currentTime === null) continue;
        const end = a.effect ? a.effect.getComputedTiming().endTime : Infinity;
        if (a.currentTime + ms >= end) a.finish(); else a.currentTime += ms; } }"""

    def __init__(self, page: Page, channel: Channel, start_date_ms: float) -> None:
        self._page = page
        self._channel = channel
        self._start_ms = start_date_ms
        self._now = 0

    @property
    def now_ms(self) -> float:
        """Game time since navigation began."""
        return float(self._now)

    async def start(self) -> None:
        """Install the page clock, standing still, and stop CSS animations."""
        await self._page.clock.install(time=self._start_ms / 1000)
        await self._page.clock.pause_at(_utc(self._start_ms + 1))
        await self._channel.send("Animation.enable")
        await self._channel.send("Animation.setPlaybackRate", {"playbackRate": 0})

    async def load(self, navigation: Awaitable[T]) -> T:
        """Wait for the navigation, which needs no game time."""
        self._now = 0
        return await navigation

    async def hold(self) -> None:
        """Nothing to do: the page clock stands between advances."""

    async def deliver(self, event: Awaitable[Any], wait: Handled = Handled.BY_FRAME) -> None:
        """Dispatch an input event and wait until the page has handled it. Raises BrowserFault."""
        await within(self._channel.deadline_s, event, "an input event")

    async def advance(self, ms: float) -> None:
        """Run the page clock for `ms`, rounded to whole milliseconds."""
        left = max(1, round(ms))
        while left > 0:
            piece = min(left, self.SLICE_MS)
            left -= piece
            self._now += piece
            await within(self._channel.deadline_s, self._page.clock.run_for(piece), "game time")
            for frame in self._page.frames:
                await within(self._channel.deadline_s, frame.evaluate(self.STEP_ANIMATIONS, piece), "animations")


class RealClock:
    """No held time: the page runs as in front of a person, also while the tester thinks."""

    name = "realtime"

    def __init__(self, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self._zero = time.monotonic()

    @property
    def now_ms(self) -> float:
        """Wall time since navigation began."""
        return (time.monotonic() - self._zero) * 1000

    async def start(self) -> None:
        """Nothing to install."""

    async def load(self, navigation: Awaitable[T]) -> T:
        """Wait for the navigation."""
        self._zero = time.monotonic()
        return await navigation

    async def hold(self) -> None:
        """Nothing is held under this clock."""

    async def deliver(self, event: Awaitable[Any], wait: Handled = Handled.BY_FRAME) -> None:
        """Dispatch an input event and wait until the page has handled it. Raises BrowserFault."""
        await within(self._deadline_s, event, "an input event")

    async def advance(self, ms: float) -> None:
        """Wait."""
        await asyncio.sleep(ms / 1000)


class UnstartedClock(RealClock):
    """Stands in until the page's own clock is started."""

    def __init__(self, name: str) -> None:
        super().__init__(0)
        self.name = name

    @property
    def now_ms(self) -> float:
        """No time has passed."""
        return 0.0


Clock = FrameClock | PageClock | RealClock


def _utc(ms: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC)
