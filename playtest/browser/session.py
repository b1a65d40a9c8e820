"""One fresh game in its own browser: `ports.Game` on Playwright and CDP."""

from __future__ import annotations

import asyncio
import base64
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from playwright.async_api import ConsoleMessage, Dialog, Download, Frame, Page, Worker
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from playtest.browser.cdp import Channel, fault_from, within
from playtest.browser.clock import FRAME_MS, Clock, FrameClock, PageClock, RealClock, UnstartedClock
from playtest.browser.console import Recorder
from playtest.browser.echo import Echo
from playtest.browser.inputs import Hand
from playtest.browser.launch import Browser, LaunchOptions, running_as_root
from playtest.browser.seeding import init_script, probe_key
from playtest.browser.server import Gate
from playtest.errors import BrowserFault, UsageError
from playtest.ports import LogEntry, PageFault, Point, VisibleText
from playtest.protocol.actions import Action
from playtest.protocol.coordinates import Screen

MAX_DIALOGS = 20
PROMPT_NAME = "Player"


@dataclass(frozen=True, slots=True)
class GameOptions:
    """What one game is opened with."""

    launch: LaunchOptions
    url: str
    seed: int
    start_date_ms: float
    hang_s: float = 10.0
    boot_s: float = 20.0
    screen: Screen = field(default_factory=Screen)


class GameSession:
    """A page under a clock. Open it once; close it always."""

    def __init__(self, options: GameOptions, gate: Gate) -> None:
        self._options = options
        self._gate = gate
        self._browser = Browser(options.launch)
        self._key = probe_key(options.seed)
        self._dialogs = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._refused_before = 0
        self._webgl = False
        self._dead = False
        self._recorder = Recorder(lambda: self.clock.now_ms)
        self.screen = options.screen
        self.clock: Clock = UnstartedClock(options.launch.clock)
        self.unseeded: list[str] = []
        self.notes: list[str] = []
        self.chromium = ""

    # -- opening and closing ---------------------------------------------------------------------------------

    async def open(self) -> None:
        """Start the browser, load the game and let it boot. Raises UsageError or BrowserFault."""
        await self._browser.start(self.screen)
        page = self._page = self._browser.page
        self._channel = Channel(await self._browser.context.new_cdp_session(page), self._options.hang_s)
        self.chromium = (await self._channel.send("Browser.getVersion"))["product"]
        self._listen(page)
        await self._set_up_page()
        self.clock = self._make_clock()
        self._hand = Hand(page, self._channel, self.clock)
        self._echo = Echo(self._channel)
        await self.clock.start()
        await self._boot()

    async def _set_up_page(self) -> None:
        screen, options = self.screen, self._options
        portrait = screen.height >= screen.width
        orientation = {"type": "portraitPrimary", "angle": 0} if portrait else {"type": "landscapePrimary", "angle": 90}
        sides = {"width": screen.width, "height": screen.height}
        full = {"screenWidth": screen.width, "screenHeight": screen.height}
        await self._channel.send(
            "Emulation.setDeviceMetricsOverride",
            {**sides, **full, "deviceScaleFactor": 1, "mobile": False, "screenOrientation": orientation},
        )
        await self._channel.send("Emulation.setFocusEmulationEnabled", {"enabled": True})
        script = init_script(options.seed, options.start_date_ms, options.launch.clock)
        await self._browser.context.add_init_script(script)
        if running_as_root():
            self.notes.append("Chromium's sandbox is off: running as root")

    def _make_clock(self) -> Clock:
        name = self._options.launch.clock
        if name == "frames":
            return FrameClock(self._channel, self._options.start_date_ms)
        if name == "js":
            return PageClock(self._page, self._channel, self._options.start_date_ms)
        return RealClock(self._options.hang_s)

    async def _boot(self) -> None:
        """Load up to the document's load event or the boot limit; a page that never ends loading is played.

        Raises UsageError when there is no page at the address, BrowserFault when it dies while it boots.
        """
        limit = self._options.boot_s
        navigation = self._page.goto(self._options.url, wait_until="load", timeout=limit * 1000)
        try:
            response = await self.clock.load(navigation)
        except PlaywrightTimeout:
            self._recorder.fault("slow_load", f"the page had not ended loading after {limit:g} s")
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
        await self.clock.advance(3 * FRAME_MS)
        await self._look_for_webgl()

    async def close(self) -> None:
        """End the browser and delete its profile."""
        self._dead = True
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._browser.close()

    # -- listening ---------------------------------------------------------------------------------------------

    def _listen(self, page: Page) -> None:
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        page.on("crash", self._on_crash)
        page.on("close", self._on_crash)
        page.on("dialog", lambda dialog: self._later(self._on_dialog(dialog)))
        page.on("download", lambda download: self._later(self._on_download(download)))
        page.on("worker", self._on_worker)
        page.on("framenavigated", self._on_navigated)
        self._browser.context.on("page", lambda popup: self._later(self._on_popup(popup)))

    def _later(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _on_console(self, message: ConsoleMessage) -> None:
        where = message.location
        place = f"{where.get('url', '')}:{where.get('lineNumber', 0) + 1}" if where.get("url") else ""
        self._recorder.log(message.type, message.text, place)

    def _on_error(self, error: PlaywrightError) -> None:
        self._recorder.fault("uncaught", f"{error.name}: {error.message}", stack=(error.stack or "")[:2000])

    def _on_crash(self, _page: Page) -> None:
        if not self._dead:
            self._dead = True
            self._recorder.fault("crash", "the page's process crashed or was ended")

    async def _on_dialog(self, dialog: Dialog) -> None:
        self._dialogs += 1
        if self._dialogs <= MAX_DIALOGS:
            self._recorder.fault("dialog", f"{dialog.type}: {dialog.message[:200]}", dialog=dialog.type)
        with suppress(PlaywrightError):
            if self._dialogs > MAX_DIALOGS:
                await dialog.dismiss()
            elif dialog.type == "prompt":
                await dialog.accept(PROMPT_NAME)
            else:
                await dialog.accept()

    async def _on_download(self, download: Download) -> None:
        self._recorder.fault("download", f"the game offered a download: {download.suggested_filename[:100]}")
        with suppress(PlaywrightError):
            await download.cancel()

    def _on_worker(self, worker: Worker) -> None:
        name = f"worker {worker.url[:100]}"
        if name not in self.unseeded:
            self.unseeded.append(name)

    def _on_navigated(self, frame: Frame) -> None:
        if frame.parent_frame is not None or frame.url in ("about:blank", self._options.url):
            return
        if frame.url.split("#")[0] != self._options.url.split("#")[0]:
            self._recorder.fault("left_game", f"the page went to {frame.url[:200]}", url=frame.url[:500])

    async def _on_popup(self, popup: Page) -> None:
        if popup is self._browser.page:
            return
        self._recorder.fault("popup", f"the game opened a window: {popup.url[:200]}", url=popup.url[:500])
        with suppress(PlaywrightError):
            await popup.close()

    # -- looking -----------------------------------------------------------------------------------------------

    async def picture(self) -> bytes:
        """The screen as PNG: one frame under `frames`, two where WebGL draws were being skipped."""
        if not isinstance(self.clock, FrameClock):
            shot = {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": False}
            answer = await self._channel.send("Page.captureScreenshot", shot)
            return base64.b64decode(answer["data"])
        if not self._webgl:
            return await self.clock.frame(picture=True)
        await self._probe_all("blind", False)
        await self.clock.frame()
        shown = await self.clock.frame(picture=True)
        await self._probe_all("blind", True)
        return shown

    async def texts(self) -> list[VisibleText]:
        """The texts on the screen, top frame first, frames within it at their places."""
        found: list[VisibleText] = []
        for frame in self._page.frames:
            dx, dy = (0.0, 0.0) if frame.parent_frame is None else await self._offset_of(frame)
            for item in await self._probe(frame, "texts") or ():
                box = item["box"] and (item["box"][0] + dx, item["box"][1] + dy, item["box"][2], item["box"][3])
                found.append(VisibleText(item["text"], box and tuple(box), item["source"], item["tappable"]))
        return found

    async def facts(self) -> dict[str, Any]:
        """What the probe counted in the top frame: WebGL, read-backs, workers, cancelled pointers."""
        return await self._probe(self._page.main_frame, "facts") or {}

    async def frames_advance(self) -> bool:
        """Whether an animation frame, or at least a timer, comes within a second of game time."""
        top = self._page.main_frame
        with suppress(BrowserFault):
            await self._probe(top, "count")
            await self.clock.advance(200)
            return bool(await self._probe(top, "ticks"))
        return False

    async def _look_for_webgl(self) -> None:
        if not isinstance(self.clock, FrameClock):
            return
        webgl = False
        for frame in self._page.frames:
            facts = await self._probe(frame, "facts") or {}
            webgl = webgl or bool(facts.get("webgl"))
        if webgl and not self._webgl:
            self._webgl = True
            await self._probe_all("blind", True)

    async def _probe_all(self, what: str, value: object) -> None:
        for frame in self._page.frames:
            await self._probe(frame, what, value)

    async def _probe(self, frame: Frame, what: str, value: object = None) -> Any:
        """Ask the probe of one frame; None where the frame has none (it is loading, or gone)."""
        call = "([key, what, value]) => window[key] ? window[key](what, value) : null"
        try:
            return await within(self._channel.deadline_s, frame.evaluate(call, [self._key, what, value]), what)
        except BrowserFault as error:
            if error.kind == "hang":
                raise
            return None

    async def _offset_of(self, frame: Frame) -> tuple[float, float]:
        with suppress(PlaywrightError, BrowserFault):
            element = await within(5, frame.frame_element(), "a frame's place")
            box = await within(5, element.bounding_box(), "a frame's place")
            if box:
                return box["x"], box["y"]
        return 0.0, 0.0

    # -- acting ------------------------------------------------------------------------------------------------

    async def perform(self, action: Action) -> None:
        """Real input events in game time. Raises BrowserFault; the page is brought back from an endless loop."""
        try:
            await self._hand.perform(action)
            await self._look_for_webgl()
        except PlaywrightError as error:
            raise BrowserFault("browser", str(error).splitlines()[0]) from error

    async def revive(self) -> bool:
        """End an endless loop of the page's. True when the page answers again."""
        with suppress(BrowserFault):
            await self._channel.send("Runtime.terminateExecution", deadline_s=3)
            await within(3, self._page.evaluate("1"), "coming back")
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
        for host in list(self._gate.refused)[self._refused_before :]:
            self._recorder.fault("blocked_request", f"a request to {host} was blocked", host=host)
            self._refused_before += 1
        return self._recorder.drain_faults()
