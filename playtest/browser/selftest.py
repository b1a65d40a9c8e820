"""What a browser can do on this machine: which clocks hold a page, WebGL, glyphs, the sandbox.

Nothing here judges a game. Every call has a deadline, every browser is closed, every profile deleted.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from playwright.async_api import BrowserContext, Page, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from playtest.browser.cdp import Channel
from playtest.browser.clock import FRAME_MS, FrameClock, PageClock
from playtest.browser.find import BrowserBinary
from playtest.browser.glyphs import GLYPHS, NEEDED, SAMPLES, missing_on
from playtest.browser.launch import BEGIN_FRAME_FLAGS, COMMON_FLAGS, LAUNCH_DEADLINE_S, running_as_root, sandbox_refused
from playtest.errors import BrowserFault

T = TypeVar("T")

_DEADLINE_S = 10.0
_PAGE = "data:text/html,<title>self-test</title><canvas></canvas>"
_START_DATE_MS = 1_700_000_000_000
_FRAMES = 12
_HELD_S = 0.15

_WATCH_FRAMES = """() => { window.stamps = [];
    const look = stamp => { window.stamps.push(stamp); requestAnimationFrame(look); };
    requestAnimationFrame(look); }"""
_WEBGL = """() => {
    const make = kind => document.createElement('canvas').getContext(kind);
    const gl = make('webgl2') || make('webgl');
    if (!gl) return null;
    const named = gl.getExtension('WEBGL_debug_renderer_info');
    return String(gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER)); }"""
_SOFTWARE_RENDERERS = ("swiftshader", "llvmpipe", "softpipe", "software")


class Finding(NamedTuple):
    """Whether something works here, and what was seen."""

    works: bool
    detail: str


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What one browser can do on this machine."""

    version: str
    clocks: dict[str, Finding]
    webgl: Finding
    glyphs: dict[str, bool]
    sandbox: Finding

    @property
    def missing_glyphs(self) -> list[str]:
        """The scripts that games need and that would show as boxes."""
        return [name for name in NEEDED if not self.glyphs.get(name, False)]


async def self_test(binary: BrowserBinary) -> SelfTest:
    """Try everything that playing depends on. What fails is a finding, never an exception."""
    async with async_playwright() as playwright:
        version, webgl, glyphs = binary.version, Finding(False, "no browser"), dict.fromkeys(SAMPLES, False)
        try:
            async with _plain_page(playwright, binary) as page:
                browser = page.context.browser
                version = browser.version if browser else version
                realtime = await _finding(lambda: _try_realtime(page))
                webgl = await _finding(lambda: _try_webgl(page))
                glyphs = await _within(page.evaluate(GLYPHS, SAMPLES))
        except (PlaywrightError, TimeoutError, BrowserFault) as error:
            realtime = Finding(False, _reason(error))
        return SelfTest(
            version=version,
            clocks={
                "frames": await _finding(lambda: _try_frames(playwright, binary)),
                "js": await _finding(lambda: _try_js(playwright, binary)),
                "realtime": realtime,
            },
            webgl=webgl,
            glyphs=glyphs,
            sandbox=await _finding(lambda: _try_sandbox(playwright, binary)),
        )


async def missing_glyphs(binary: BrowserBinary) -> list[str]:
    """The scripts that games need and that this machine shows as boxes. Raises BrowserFault."""
    try:
        async with async_playwright() as playwright, _plain_page(playwright, binary) as page:
            return await _within(missing_on(page))
    except (PlaywrightError, TimeoutError) as error:
        raise BrowserFault("boot", f"{binary.path} does not start: {_reason(error)}") from error


async def _try_frames(playwright: Playwright, binary: BrowserBinary) -> str:
    """Begin-frame control: nothing moves by itself, and each frame is 1/60 s."""
    if sys.platform == "darwin":
        raise BrowserFault("clock", "Chromium has no begin-frame control on macOS")
    if binary.kind != "headless_shell":
        raise BrowserFault("clock", "needs the headless shell; this is a full Chromium")
    async with _context(playwright, binary, args=BEGIN_FRAME_FLAGS) as context:
        page = await _page_under_frame_control(context)
        clock = FrameClock(Channel(await _within(context.new_cdp_session(page)), _DEADLINE_S), _START_DATE_MS)
        await clock.start()
        await _within(page.evaluate(_WATCH_FRAMES))
        for _ in range(_FRAMES):
            await clock.frame()
        stamps: list[float] = await _within(page.evaluate("window.stamps"))
        await asyncio.sleep(_HELD_S)
        later: list[float] = await _within(page.evaluate("window.stamps"))
    if len(later) > len(stamps):
        raise BrowserFault("clock", f"{len(later) - len(stamps)} frames came by themselves")
    steps = [after - before for before, after in itertools.pairwise(stamps)]
    if len(steps) < _FRAMES - 2 or any(abs(step - FRAME_MS) > 0.5 for step in steps):
        raise BrowserFault("clock", f"{_FRAMES} frames advanced the page by {[round(step, 1) for step in steps]} ms")
    return f"{len(stamps)} frames of 1/60 s each, none by itself"


async def _page_under_frame_control(context: BrowserContext) -> Page:
    opener = await _within(context.new_cdp_session(context.pages[0]))
    async with context.expect_page(timeout=_DEADLINE_S * 1000) as arriving:
        target = {"url": "about:blank", "width": 390, "height": 844, "enableBeginFrameControl": True}
        await _within(opener.send("Target.createTarget", target))
    return await arriving.value


async def _try_js(playwright: Playwright, binary: BrowserBinary) -> str:
    """The page clock: timers and frames stand still until they are run."""
    async with _plain_page(playwright, binary) as page:
        clock = PageClock(page, Channel(await _within(page.context.new_cdp_session(page)), _DEADLINE_S), _START_DATE_MS)
        await _within(clock.start())
        await _within(page.evaluate(_WATCH_FRAMES))
        await asyncio.sleep(_HELD_S)
        held: int = await _within(page.evaluate("window.stamps.length"))
        await clock.advance(200)
        run: int = await _within(page.evaluate("window.stamps.length"))
    if held:
        raise BrowserFault("clock", f"{held} frames came by themselves")
    if run < 10:
        raise BrowserFault("clock", f"200 ms of page time brought {run} frames")
    return f"200 ms of page time brought {run} frames, none by itself"


async def _try_realtime(page: Page) -> str:
    await _within(page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"))
    return "frames come by themselves"


async def _try_webgl(page: Page) -> str:
    renderer: str | None = await _within(page.evaluate(_WEBGL))
    if renderer is None:
        raise BrowserFault("boot", "no WebGL context")
    is_software = any(name in renderer.lower() for name in _SOFTWARE_RENDERERS)
    return f"{'software' if is_software else 'hardware'}: {renderer}"


async def _try_sandbox(playwright: Playwright, binary: BrowserBinary) -> str:
    if running_as_root():
        raise BrowserFault("boot", "Chromium has no sandbox for root")
    async with _launched(playwright, binary, (), sandbox=True) as context:
        await _within(context.pages[0].evaluate("1 + 1"))
    return "Chromium runs in its sandbox"


@asynccontextmanager
async def _plain_page(playwright: Playwright, binary: BrowserBinary) -> AsyncIterator[Page]:
    async with _context(playwright, binary) as context:
        page = context.pages[0]
        await _within(page.goto(_PAGE))
        yield page


@asynccontextmanager
async def _context(
    playwright: Playwright, binary: BrowserBinary, args: tuple[str, ...] = ()
) -> AsyncIterator[BrowserContext]:
    """A browser as a game gets it: without its sandbox where that can't be used."""
    async with AsyncExitStack() as stack:
        try:
            launched = _launched(playwright, binary, args, sandbox=not running_as_root())
            context = await stack.enter_async_context(launched)
        except PlaywrightError as error:
            if running_as_root() or not sandbox_refused(error):
                raise
            context = await stack.enter_async_context(_launched(playwright, binary, args, sandbox=False))
        yield context


@asynccontextmanager
async def _launched(
    playwright: Playwright, binary: BrowserBinary, args: tuple[str, ...], *, sandbox: bool
) -> AsyncIterator[BrowserContext]:
    """A browser on an empty profile; both are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="playtest-doctor-", ignore_cleanup_errors=True) as profile:
        context = await playwright.chromium.launch_persistent_context(
            profile,
            executable_path=binary.path,
            args=[*COMMON_FLAGS, *args],
            headless=True,
            chromium_sandbox=sandbox,
            timeout=LAUNCH_DEADLINE_S * 1000,
            no_viewport=True,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
        try:
            yield context
        finally:
            with suppress(TimeoutError, PlaywrightError):  # leaving the driver ends a wedged browser
                await _within(context.close())


async def _finding(trial: Callable[[], Awaitable[str]]) -> Finding:
    try:
        return Finding(True, await trial())
    except (PlaywrightError, TimeoutError, BrowserFault) as error:
        return Finding(False, _reason(error))


async def _within(call: Awaitable[T]) -> T:
    async with asyncio.timeout(_DEADLINE_S):
        return await call


def _reason(error: Exception) -> str:
    """The line of a launch or page error that says why."""
    if isinstance(error, TimeoutError):
        return f"no answer within {_DEADLINE_S:g} s"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "ERROR" in line or "FATAL" in line or "sandbox" in line.lower()]
    return (telling or lines or [type(error).__name__])[0][:300]
