"""One fresh game in its own browser: `ports.Game` on Playwright and CDP."""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from playtest.browser.cdp import Channel, fault_from
from playtest.browser.clock import FRAME_MS, Clock, FrameClock, PageClock, RealClock, StartedClock, UnstartedClock
from playtest.browser.console import Recorder
from playtest.browser.echo import Echo
from playtest.browser.events import PageEvents, page_of
from playtest.browser.exports import read
from playtest.browser.facts import PageFacts
from playtest.browser.glyphs import missing_here
from playtest.browser.inputs import Hand
from playtest.browser.launch import Browser, LaunchOptions
from playtest.browser.listeners import heard_at
from playtest.browser.probe import Probe
from playtest.browser.seeding import begin_script, init_script, probe_key
from playtest.browser.server import Gate
from playtest.browser.thrown import Thrown
from playtest.browser.traffic import Traffic
from playtest.errors import BrowserFault, UsageError
from playtest.ports import Film, LogEntry, PageFault, Point, Reading, VisibleText, Vitals
from playtest.protocol.actions import Action, Key, Wait, contact_point
from playtest.protocol.coordinates import Screen
from playtest.protocol.keys import key_name

MAX_NOTES = 20
HEARTBEAT_S = 0.5


@dataclass(frozen=True, slots=True)
class GameOptions:
    """What one game is opened with."""

    launch: LaunchOptions
    url: str
    seed: int
    start_date_ms: float
    hang_s: float = 10.0
    film: bool = False
    boot_s: float = 20.0
    screen: Screen = field(default_factory=Screen)


class GameSession:
    """A page under a clock. Open it once; close it always."""

    def __init__(self, options: GameOptions, gate: Gate) -> None:
        self._options = options
        self._gate = gate
        self._browser = Browser(options.launch)
        self._key = probe_key(options.seed)
        self._events: PageEvents | None = None
        self._refused_before = dict(gate.refused)
        self._webgl = False
        self._may_blind = True
        self._dead = False
        self._recorder = Recorder(lambda: self.clock.now_ms)
        self._facts = PageFacts(self._recorder)
        self.screen = options.screen
        self.clock: Clock = UnstartedClock(options.launch.clock)
        self.unseeded: list[str] = []
        self.notes: list[str] = []
        self.chromium = ""

    # -- opening and closing ---------------------------------------------------------------------------------

    async def open(self) -> None:
        """Start the browser, load the game and let it boot. Raises UsageError or BrowserFault."""
        await self._browser.start(self.screen)
        try:
            await self._start_page(self._browser.page)
            await self._boot()
        except PlaywrightError as error:
            raise fault_from(error, "opening the game") from error

    async def _start_page(self, page: Page) -> None:
        self._page = page
        self._channel = Channel(await self._browser.context.new_cdp_session(page), self._options.hang_s)
        self.chromium = (await self._channel.send("Browser.getVersion"))["product"]
        thrown = Thrown(self._recorder, self._options.url)
        self._events = PageEvents(
            page, self._recorder, self.unseeded, self._facts, lets_through=self._gate.lets_through, thrown=thrown
        )
        self._channel.on("Runtime.exceptionThrown", thrown.on_exception)
        await self._channel.send("Runtime.enable")
        page.on("crash", self._on_crash)
        page.on("close", self._on_close)
        self._channel.on("Page.frameNavigated", self._events.on_document)
        await self._set_up_page()
        self._probe = Probe(page, self._channel, self._key)
        self._traffic = Traffic(page, self._note_silence)
        self._facts.missing_glyphs = await self._channel.within(missing_here(page, self.chromium), "fonts")
        self.clock = clock = self._make_clock()
        self._hand = Hand(page, self._channel, clock)
        self._echo = Echo(self._channel)

    async def _set_up_page(self) -> None:
        screen, options = self.screen, self._options
        orientation = (
            {"type": "portraitPrimary", "angle": 0} if screen.is_portrait else {"type": "landscapePrimary", "angle": 90}
        )
        sides = {"width": screen.width, "height": screen.height}
        full = {"screenWidth": screen.width, "screenHeight": screen.height}
        # The window's new size makes Chromium move a mouse that nobody has, at some moment of real time.
        await self._channel.send("Input.setIgnoreInputEvents", {"ignore": True})
        await self._channel.send(
            "Emulation.setDeviceMetricsOverride",
            {**sides, **full, "deviceScaleFactor": 1, "mobile": False, "screenOrientation": orientation},
        )
        await self._channel.send("Emulation.setFocusEmulationEnabled", {"enabled": True})
        await self._channel.send("Page.enable")
        script = init_script(options.seed, options.start_date_ms, options.launch.clock)
        await self._browser.context.add_init_script(script)
        self.notes.extend(self._browser.notes)

    def _make_clock(self) -> StartedClock:
        name = self._options.launch.clock
        if name == "frames":
            return FrameClock(self._channel, self._options.start_date_ms, self._traffic)
        if name == "js":
            return PageClock(self._page, self._channel, self._options.start_date_ms, self._key)
        return RealClock(self._channel, film=self._options.film)

    async def _boot(self) -> None:
        """Load up to the document's load event or the boot limit; a page that never ends loading is played.

        Raises UsageError when there is no page at the address, BrowserFault when it dies while it boots.
        """
        limit, clock = self._options.boot_s, self.clock
        assert not isinstance(clock, UnstartedClock), "the page's clock has been started"
        try:
            response = await clock.load(self._navigate())
        except PlaywrightTimeout:
            self._recorder.fault(
                "slow_load", f"the page had not ended loading after {limit:g} s, or the network fell silent"
            )
        except PlaywrightError as error:
            fault = fault_from(error, "opening the game")
            if "net::" in fault.message:
                raise UsageError(fault.message, "check the address given with --game") from error
            raise fault from error
        else:
            if response is not None and response.status >= HTTPStatus.BAD_REQUEST:
                raise UsageError(
                    f"the game's page was answered with HTTP {response.status}", "check the address given with --game"
                )
        if isinstance(clock, FrameClock):
            begin = begin_script(self._key)
            await self._browser.context.add_init_script(begin)
            for frame in self._page.frames:
                try:
                    await self._channel.within(frame.evaluate(begin), "the page's own clocks")
                except BrowserFault as fault:
                    if fault.kind != "browser":  # a frame that is gone again
                        raise
        await clock.advance(3 * FRAME_MS)
        await self._channel.send("Input.setIgnoreInputEvents", {"ignore": False})
        assert self._events is not None, "the page is listened to"
        self._events.home = page_of(self._page.url)
        await self._note_facts()

    async def _navigate(self) -> Response | None:
        """The document's answer once it has loaded, and what it asked for with it.

        Raises BrowserFault as soon as the page hangs, PlaywrightTimeout when it ends in neither way.
        """
        limit_ms = self._options.boot_s * 1000
        loading = asyncio.ensure_future(self._page.goto(self._options.url, wait_until="load", timeout=limit_ms))
        watches = [asyncio.ensure_future(self._traffic.stalled()), asyncio.ensure_future(self._hangs())]
        try:
            await asyncio.wait({loading, *watches}, return_when=asyncio.FIRST_COMPLETED)
            if watches[1].done():
                watches[1].result()
            if not loading.done():
                raise PlaywrightTimeout("the network fell silent")
            response = await loading
            if self.clock.name != "realtime":
                await self._traffic.quiet()
            return response
        finally:
            for task in (loading, *watches):
                task.cancel()
            await asyncio.gather(loading, *watches, return_exceptions=True)

    async def _hangs(self) -> None:
        """Raise BrowserFault as soon as the page answers no more."""
        while True:
            try:
                await self._channel.send("Runtime.evaluate", {"expression": "1"})
            except BrowserFault as fault:
                if fault.kind != "browser":  # it is between two documents
                    raise
            await asyncio.sleep(HEARTBEAT_S)

    def _note_silence(self, url: str) -> None:
        note = f"game time did not wait for the answer to {url}, which was long in coming"
        if len(self.notes) < MAX_NOTES and note not in self.notes:
            self.notes.append(note)

    async def close(self) -> None:
        """End the browser and delete its profile."""
        self._dead = True
        if self._events is not None:
            await self._events.close()
        await self._browser.close()

    def _on_crash(self, _page: Page) -> None:
        self._lost("crash", "the page's process crashed or was ended")

    def _on_close(self, _page: Page) -> None:
        if self._browser.is_running():
            self._lost("crash", "the page was closed")
        else:
            self._lost("browser", "the browser itself came to an end")

    def _lost(self, kind: str, message: str) -> None:
        if not self._dead:
            self._dead = True
            self._channel.lose(kind, message)
            self._recorder.fault(kind, message)

    # -- looking -----------------------------------------------------------------------------------------------

    async def picture(self) -> bytes:
        """The screen as PNG: one frame under `frames`, two where WebGL draws were being skipped."""
        if not isinstance(self.clock, FrameClock):
            shot = {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": False}
            answer = await self._channel.send("Page.captureScreenshot", shot)
            return base64.b64decode(answer["data"])
        if not self._webgl:
            return await self.clock.frame(picture=True)
        await self._probe.all("blind", False)
        await self.clock.frame(show=True)
        shown = await self.clock.frame(picture=True)
        if any(await self._probe.all("owing")):
            # It stopped drawing between two looks, and its last picture was among the skipped ones.
            self._webgl = self._may_blind = False
            self.notes.append("WebGL draws were skipped until the page stopped drawing; one picture may be older")
        else:
            await self._probe.all("blind", True)
        return shown

    @asynccontextmanager
    async def film(self) -> AsyncIterator[Film]:
        """Keeps a picture of every frame while open. From then on no WebGL draw is skipped. Raises BrowserFault."""
        if not isinstance(self.clock, FrameClock):
            raise BrowserFault("clock", f"frames can't be filmed under the clock {self.clock.name}")
        self._webgl = self._may_blind = False
        await self._probe.all("blind", False)
        self.clock.film = Film()
        try:
            yield self.clock.film
        finally:
            self.clock.film = None

    async def film_so_far(self) -> Film | None:
        """What was filmed while nothing was held (clock `realtime`); it ends here. Raises BrowserFault."""
        return await self.clock.end_film() if isinstance(self.clock, RealClock) else None

    async def texts(self) -> list[VisibleText]:
        """The texts on the screen, top frame first, frames within it at their places."""
        found = await self._probe.texts()
        self._facts.read(found)
        return found

    async def asks_to_be_turned(self) -> str | None:
        """The words on the screen that ask for the other orientation. Raises BrowserFault."""
        return self._facts.landscape(await self._probe.texts())

    def was_turned(self, words: str) -> None:
        """Record that the game is played in the orientation that these words asked for."""
        self._facts.turned(words, self.screen.width, self.screen.height)

    async def vitals(self) -> Vitals:
        """What the page's frames are about, from the outside. Raises BrowserFault `hang` or `crash`."""
        return await self._probe.vitals()

    async def read(self, path: str) -> Reading:
        """What the game exports at a path from its window, of the first frame that has it. Raises BrowserFault."""
        return await read(self._page, self._channel, path)

    async def facts(self) -> dict[str, Any]:
        """What the probe counted in the top frame: WebGL, read-backs, workers, cancelled pointers."""
        return await self._probe.ask(self._page.main_frame, "facts") or {}

    async def frames_advance(self) -> bool:
        """Whether an animation frame, or at least a timer, comes within a second of game time."""
        top = self._page.main_frame
        with suppress(BrowserFault):
            await self._probe.ask(top, "count")
            await self.clock.advance(200)
            return bool(await self._probe.ask(top, "ticks"))
        return False

    async def _note_facts(self) -> None:
        """Ask each frame once for what its probe counted; for the names of facts the top frame's will do."""
        top, may_blind = self._page.main_frame, isinstance(self.clock, FrameClock) and self._may_blind
        others = [frame for frame in self._page.frames if frame is not top] if may_blind else []
        told = [await self.facts(), *[await self._probe.ask(frame, "facts") or {} for frame in others]]
        self._facts.counted(told[0])
        if isinstance(self.clock, FrameClock):
            self._facts.drew(*self.clock.drawn)
        if may_blind:
            await self._look_for_webgl(told)

    async def _look_for_webgl(self, told: list[dict[str, Any]]) -> None:
        if any(facts.get("webgl") for facts in told) and not self._webgl:
            self._webgl = True
            await self._probe.all("blind", True)

    # -- acting ------------------------------------------------------------------------------------------------

    async def picture_at(self, game_ms: float) -> bytes:
        """The screen at a game time to come: the picture's own last frame lands on it."""
        own_ms = FRAME_MS * (2 if self._webgl else 1) if isinstance(self.clock, FrameClock) else 0.0
        left_ms = game_ms - own_ms - self.clock.now_ms
        if left_ms > FRAME_MS / 2:
            await self.clock.advance(left_ms)
        return await self.picture()

    async def perform(self, action: Action, *, mouse: bool = False) -> None:
        """Real input events in game time, a tap by mouse instead of touch when asked for. Raises BrowserFault."""
        if isinstance(action, Key) and key_name(action.key) is None:
            self._recorder.fault("no_such_key", f"there is no key named {action.key!r}; nothing was pressed")
            action = Wait(ms=100)
        try:
            self._facts.touched()
            point = contact_point(action)
            if point is not None and isinstance(self.clock, RealClock) and self.clock.filming:
                self.clock.heard = await heard_at(self._channel, *point)
            await self._hand.perform(action, mouse)
            await self._note_facts()
        except PlaywrightError as error:
            raise BrowserFault("browser", str(error).splitlines()[0]) from error

    async def finger(self, point: Point | None) -> None:
        """Put the finger down, or move it, to a place; None lifts it. Takes the frames that it needs."""
        self._facts.touched()
        await self._hand.finger(point)

    async def hold_key(self, key: str, down: bool) -> None:
        """Press a key and keep it down, or let it go."""
        self._facts.touched()
        await self._hand.hold_key(key, down)

    async def revive(self) -> bool:
        """End an endless loop of the page's. True when the page answers again."""
        with suppress(BrowserFault):
            await self._channel.send("Runtime.terminateExecution", deadline_s=3)
            await self._channel.within(self._page.evaluate("1"), "coming back", 3)
            return True
        self._dead = True
        return False

    async def show_echo(self, point: Point) -> None:
        """Put the ring where a tap landed."""
        await self._echo.show(point)

    async def hide_echo(self) -> None:
        """Take the ring away."""
        await self._echo.hide()

    # -- records -----------------------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """False once the page crashed or can't be brought back."""
        return not self._dead

    def drain_log(self) -> list[LogEntry]:
        """Console lines since the last call."""
        return self._recorder.drain_log()

    def drain_faults(self) -> list[PageFault]:
        """Faults since the last call, blocked hosts among them."""
        for host, count in self._gate.refused.items():
            if count > self._refused_before.get(host, 0):
                self._recorder.fault("blocked_request", f"a request to {host} was blocked", host=host)
                self._refused_before[host] = sys.maxsize  # told once
        return self._recorder.drain_faults()
