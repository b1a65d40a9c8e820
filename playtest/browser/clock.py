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
from contextlib import suppress
from enum import Enum
from typing import Any, TypeVar

from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from playtest.browser.cdp import Channel
from playtest.browser.screencast import Screencast
from playtest.browser.seeding import hold_script
from playtest.browser.traffic import PATIENCE_S, Traffic
from playtest.errors import BrowserFault
from playtest.ports import Film

T = TypeVar("T")
# 1/60 s, less so little that a page's timers of 50 or 100 ms never fall due at the very end of a frame's time.
FRAME_MS = 16.665
# Virtual time that is spent before game time begins. A frame's own time lies behind the page's by as much: where they
# are level, one frame in some thousands, after a touch, is never answered.
RUN_UP_MS = 150
GRAIN_US = 5
# How many tasks may run at one virtual instant before time is moved on; high, so that it never is.
STARVATION = 1_000_000
# An event that the page has not handled after this many frames is left to itself (a page that is loading).
MAX_DELIVERY_FRAMES = 6
# How often its answer is looked for after the first frame, and after each further one. Looks are counted, not seconds:
# a machine that stands still for a while uses up one.
FIRST_LOOKS, LATER_LOOKS = 100, 10
LOOK_S = 0.05
# An event is there, and one that needs no frame is answered, within this; it must be so before the frame is.
ARRIVAL_GRACE_S = 0.004


class Handled(Enum):
    """When the page answers an input event."""

    AT_ONCE = "at once"
    BY_FRAME = "by a frame"
    LATER = "later"


class FrameClock:
    """Game time by begin-frame control: holds the page exactly, and advances it by whole frames."""

    name = "frames"

    def __init__(self, channel: Channel, start_date_ms: float, traffic: Traffic | None = None) -> None:
        self._channel = channel
        self._start_date_ms = start_date_ms
        self._traffic = traffic
        self._expired = asyncio.Event()
        self._first_us = 0
        self._frames = 0
        self._pending: set[asyncio.Task[Any]] = set()
        self.lost_events = 0
        self.drawn = (0, 0.0)  # frames that nobody looked at, and the seconds of real time that they took
        self.film: Film | None = None
        channel.on("Emulation.virtualTimeBudgetExpired", lambda _: self._expired.set())

    @property
    def now_ms(self) -> float:
        """Game time since the page was loaded."""
        return self._frames * FRAME_MS

    async def start(self) -> None:
        """Stop time at the starting date."""
        held = await self._channel.send(
            "Emulation.setVirtualTimePolicy",
            {"policy": "pause", "initialVirtualTime": (self._start_date_ms - RUN_UP_MS) / 1000},
        )
        base_us = round(held["virtualTimeTicksBase"] * 1000)
        # Chromium cuts a page's times to a grain, up or down by chance where they lie in between. On the grain, two
        # runs see the same times, and CSS animations the same pixels.
        await self._channel.send("Performance.enable")
        metrics = (await self._channel.send("Performance.getMetrics"))["metrics"]
        origin_us = round(next((m["value"] for m in metrics if m["name"] == "NavigationStart"), 0) * 1e6)
        self._first_us = base_us + (origin_us - base_us) % GRAIN_US
        await self._advance("advance", RUN_UP_MS + (-base_us % GRAIN_US) / 1000)
        await self._channel.within(self._expired.wait(), "game time")

    async def load(self, navigation: Awaitable[T]) -> T:
        """Wait for the navigation, then stop time at the starting date: loading needs no game time and no frame."""
        try:
            answer = await navigation
        except PlaywrightTimeout:
            await self.start()
            raise
        await self.start()
        return answer

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
            await self._answered(task, FIRST_LOOKS)
            self._note_event()
            return
        await self._let_arrive(task)
        for number in range(MAX_DELIVERY_FRAMES):
            await self.frame(show=True)
            if wait is Handled.LATER:
                return
            if await self._answered(task, LATER_LOOKS if number else FIRST_LOOKS):
                self._note_event()
                return

    async def _answered(self, task: asyncio.Future[Any], looks: int) -> bool:
        """Whether the event is answered, after that many looks; what the browser said before is read at each."""
        for _ in range(looks):
            await asyncio.wait({task}, timeout=LOOK_S)
            if task.done():
                return True
            await self._channel.send("Target.getTargetInfo")
        return task.done()

    def _note_event(self) -> None:
        if self.film is not None:
            self.film.events.append(self.now_ms)

    async def _let_arrive(self, task: asyncio.Future[Any]) -> None:
        """Ask the page's process something: what was sent to it before, on another way, is then there as well.

        A frame that overtakes its touch leaves the touch to the next frame, once in some hundred.
        """
        await self._channel.send("Performance.getMetrics")
        await asyncio.wait({task}, timeout=ARRIVAL_GRACE_S)

    def _delivered(self, task: asyncio.Task[Any]) -> None:
        self._pending.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.lost_events += 1  # the page went away under the event; its own fault is told elsewhere

    async def frame(self, picture: bool = False, show: bool = False) -> bytes:
        """One frame of 1/60 s; the PNG of it when asked for. Raises BrowserFault `hang` or `crash`.

        A frame that is neither shown nor pictured skips compositing.
        """
        self._frames += 1
        picture = picture or self.film is not None
        if self._traffic is not None:
            await self._traffic.settle()
        await self._let_time_pass()
        call: dict[str, Any] = {
            "interval": FRAME_MS,
            "frameTimeTicks": _whole_us(self._first_us / 1000 + self._frames * FRAME_MS),
            "noDisplayUpdates": not (picture or show),
        }
        if picture:
            call["screenshot"] = {"format": "png", "optimizeForSpeed": True}
        started = time.perf_counter()
        answer = await self._channel.send("HeadlessExperimental.beginFrame", call)
        if not picture:
            self.drawn = self.drawn[0] + 1, self.drawn[1] + time.perf_counter() - started
        png = base64.b64decode(answer.get("screenshotData", ""))
        if self.film is not None:
            self.film.frames.append((self.now_ms, png))
        return png

    async def _let_time_pass(self) -> None:
        """A frame's worth of virtual time, which stands still while an answer is on its way to the page."""
        traffic = self._traffic
        if traffic is None or traffic.has_ignored:
            await self._advance("advance", FRAME_MS)
        else:
            await self._advance("pauseIfNetworkFetchesPending", FRAME_MS)
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_S):
                    await self._expired.wait()
            if not self._expired.is_set() and traffic.expected:
                traffic.ignore()
                await self._advance("advance", FRAME_MS)
        await self._channel.within(self._expired.wait(), "a frame of game time")

    async def _advance(self, policy: str, ms: float) -> None:
        self._expired.clear()
        await self._channel.send(
            "Emulation.setVirtualTimePolicy",
            {
                "policy": policy,
                "budget": _whole_us(ms),
                "maxVirtualTimeTaskStarvationCount": STARVATION,
            },
        )


class PageClock:
    """Game time by Playwright's page clock: timers, rAF and Date; CSS animations are stepped after each slice."""

    name = "js"
    SLICE_MS = 50
    STEP = "([key, ms]) => { if (window[key]) window[key](ms); }"
    FRAME = "key => window[key] && window[key]('frame')"

    def __init__(self, page: Page, channel: Channel, start_date_ms: float, key: str = "_held") -> None:
        self._page = page
        self._channel = channel
        self._start_ms = start_date_ms
        self._probe_key, self._hold_key = key, f"{key}t"
        self._now = 0

    @property
    def now_ms(self) -> float:
        """Game time since navigation began."""
        return float(self._now)

    async def start(self) -> None:
        """Install the page clock, standing still, and stop CSS animations."""
        # Not `install` first: the machine's time between the two calls would pass in the page.
        await self._page.clock.pause_at(_utc(self._start_ms))
        await self._page.context.add_init_script(hold_script(self._hold_key, self._probe_key))
        await self._channel.send("Animation.enable")
        await self._channel.send("Animation.setPlaybackRate", {"playbackRate": 0})

    async def load(self, navigation: Awaitable[T]) -> T:
        """Stand still, then wait for the navigation, which needs no game time."""
        await self.start()
        return await navigation

    async def hold(self) -> None:
        """Nothing to do: the page clock stands between advances."""

    async def deliver(self, event: Awaitable[Any], wait: Handled = Handled.BY_FRAME) -> None:
        """Dispatch an input event and wait until the page has handled it. Raises BrowserFault."""
        await self._channel.within(event, "an input event")
        if wait is not Handled.AT_ONCE:
            await self._in_page(self._page.evaluate(self.FRAME, self._probe_key), "an input event")

    async def advance(self, ms: float) -> None:
        """Run the page clock for `ms`, rounded to whole milliseconds."""
        left = max(1, round(ms))
        while left > 0:
            piece = min(left, self.SLICE_MS)
            left -= piece
            self._now += piece
            await self._in_page(self._page.clock.run_for(piece), "game time")
            for frame in self._page.frames:
                await self._in_page(frame.evaluate(self.STEP, [self._hold_key, piece]), "animations")

    async def _in_page(self, call: Awaitable[Any], what: str) -> None:
        """A call that a page may end by going elsewhere meanwhile, or by an error of its own."""
        try:
            await self._channel.within(call, what)
        except BrowserFault as fault:
            # The clock is the whole context's: a window that was closed meanwhile fails the call, not the game.
            self._channel.check()
            if fault.kind == "hang" or self._page.is_closed():
                raise


class RealClock:
    """No held time: the page runs as in front of a person, also while the tester thinks."""

    name = "realtime"

    def __init__(self, channel: Channel, *, film: bool = False) -> None:
        self._channel = channel
        self._zero = time.monotonic()
        self._screencast = Screencast(channel) if film else None
        self._events: list[float] = []
        self.heard: frozenset[str] = frozenset()

    @property
    def filming(self) -> bool:
        """Whether a film is being made."""
        return self._screencast is not None

    @property
    def now_ms(self) -> float:
        """Wall time since navigation began."""
        return (time.monotonic() - self._zero) * 1000

    async def start(self) -> None:
        """Nothing to install."""

    async def load(self, navigation: Awaitable[T]) -> T:
        """Wait for the navigation, and count from when the browser says that it began."""
        if self._screencast is not None:
            await self._screencast.start()
        self._zero = time.monotonic()
        answer = await navigation
        await self._channel.send("Performance.enable")
        told = (await self._channel.send("Performance.getMetrics"))["metrics"]
        metrics = {metric["name"]: metric["value"] for metric in told}
        self._zero = time.monotonic() - (metrics["Timestamp"] - metrics["NavigationStart"])
        return answer

    async def end_film(self) -> Film | None:
        """What was filmed since navigation, by game time; None without a film. It ends here."""
        if self._screencast is None:
            return None
        await self._screencast.stop()
        zero_s = time.time() - self.now_ms / 1000
        frames = [((shown_s - zero_s) * 1000, image) for shown_s, image in self._screencast.frames]
        self._screencast = None
        return Film(frames, self._events, self.heard)

    async def hold(self) -> None:
        """Nothing is held under this clock."""

    async def deliver(self, event: Awaitable[Any], wait: Handled = Handled.BY_FRAME) -> None:
        """Dispatch an input event and wait until the page has handled it. Raises BrowserFault."""
        sent_ms = self.now_ms
        await self._channel.within(event, "an input event")
        self._events.append((sent_ms + self.now_ms) / 2)  # it is answered once the page has handled it

    async def advance(self, ms: float) -> None:
        """Wait. Raises BrowserFault once the page is gone."""
        self._channel.check()
        await asyncio.sleep(ms / 1000)
        self._channel.check()


class UnstartedClock:
    """Stands in until the page's own clock is started."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.now_ms = 0.0

    async def hold(self) -> None:
        """Nothing moves yet."""

    async def advance(self, ms: float) -> None:
        """There is no page that could move. Raises BrowserFault."""
        raise BrowserFault("crash", "the game was never opened")


StartedClock = FrameClock | PageClock | RealClock
Clock = StartedClock | UnstartedClock


def _whole_us(ms: float) -> float:
    """Time in ms that is a whole number of µs also where the rest is cut off, as Chromium does."""
    return round(ms, 3) + 0.0002


def _utc(ms: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC)
