"""Starting Chromium: flags for each clock, an empty profile, the gate as its only way out, and a sure end."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from playwright.async_api import BrowserContext, Page, Playwright
from playwright.async_api import Error as PlaywrightError

from playtest.browser.cdp import within
from playtest.browser.driver import driver
from playtest.browser.find import BrowserBinary
from playtest.errors import BrowserFault, UsageError
from playtest.protocol.coordinates import Screen

LAUNCH_DEADLINE_S = 60
CLOSE_DEADLINE_S = 10
BEGIN_FRAME_FLAGS = (
    "--enable-begin-frame-control",
    "--run-all-compositor-stages-before-draw",
    "--disable-threaded-animation",
    "--disable-threaded-scrolling",
    "--disable-checker-imaging",
    "--disable-image-animation-resync",
    "--disable-new-content-rendering-timeout",
)
# What Chromium says when its sandbox can't be set up for this user.
NO_SANDBOX = re.compile(r"No usable sandbox|sandbox_host_linux|setuid sandbox|zygote_host_impl_linux", re.IGNORECASE)
COMMON_FLAGS = (
    "--disable-quic",
    "--disable-domain-reliability",
    "--disable-dev-shm-usage",
    "--enable-unsafe-swiftshader",  # WebGL in software where there is no GPU
    # Peer connections don't use the proxy; this leaves them no way at all.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)

SOUND_FLAG = "--autoplay-policy=no-user-gesture-required"


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """How a game's browser is started."""

    binary: BrowserBinary
    clock: str
    proxy: str
    user_agent: str
    locale: str
    timezone: str
    headed: bool = False
    sound: bool = False
    """Whether sound may play before the first touch, as no phone lets it."""


def sandbox_refused(error: BaseException) -> bool:
    """Whether Chromium did not start because its sandbox can't be used here."""
    return NO_SANDBOX.search(str(error)) is not None


class Browser:
    """One Chromium with one page for one roll. Closing it ends every process and deletes the profile."""

    def __init__(self, options: LaunchOptions) -> None:
        self._options = options
        self._stack = AsyncExitStack()
        self.notes: list[str] = []
        self.context: BrowserContext
        self.page: Page

    async def start(self, screen: Screen) -> None:
        """Start Chromium. Raises UsageError with the browser's own words when it can't."""
        try:
            self._profile = profile = tempfile.mkdtemp(prefix="playtest-profile-")
            self._stack.callback(shutil.rmtree, profile, ignore_errors=True)  # last: when no process writes there
            playwright = await self._stack.enter_async_context(driver())
            self._stack.push_async_callback(asyncio.to_thread, _end_processes_of, profile)
            self.context = await self._launch_sandboxed_or_not(playwright, profile)
            self._stack.push_async_callback(self._close_context)
            self.page = await self._open_page(screen)
        except (BrowserFault, PlaywrightError) as error:
            await self.close()
            raise UsageError(
                f"Chromium could not be started from {self._options.binary.path}: {_last_words(error)}",
                "run `playtest doctor`",
            ) from error

    def is_running(self) -> bool:
        """Whether Chromium's own process is there, whatever became of its pages'."""
        return any(_processes_of(self._profile))

    async def close(self) -> None:
        """End the browser, whatever state it is in."""
        await self._stack.aclose()

    async def _close_context(self) -> None:
        with suppress(TimeoutError, PlaywrightError):  # a wedged browser is killed after that
            async with asyncio.timeout(CLOSE_DEADLINE_S):
                await self.context.close()

    async def _launch_sandboxed_or_not(self, playwright: Playwright, profile: str) -> BrowserContext:
        """Chromium in its sandbox, or, where that can't work (as root, in many containers), without and with a note."""
        if running_as_root():
            self.notes.append("Chromium's sandbox is off: running as root")
            return await self._launch_in_time(playwright, profile, sandbox=False)
        try:
            return await self._launch_in_time(playwright, profile, sandbox=True)
        except BrowserFault as fault:
            if not sandbox_refused(fault.__cause__ or fault):
                raise
        self.notes.append("Chromium's sandbox is off: it can't be used on this machine")
        return await self._launch_in_time(playwright, profile, sandbox=False)

    async def _launch_in_time(self, playwright: Playwright, profile: str, *, sandbox: bool) -> BrowserContext:
        return await within(LAUNCH_DEADLINE_S, self._launch(playwright, profile, sandbox=sandbox), "starting Chromium")

    async def _launch(self, playwright: Playwright, profile: str, *, sandbox: bool) -> BrowserContext:
        options = self._options
        flags = [*COMMON_FLAGS, *(BEGIN_FRAME_FLAGS if options.clock == "frames" else ())]
        flags += [SOUND_FLAG] if options.sound else []
        return await playwright.chromium.launch_persistent_context(
            profile,
            executable_path=str(options.binary.path),
            args=flags,
            headless=not options.headed,
            chromium_sandbox=sandbox,
            no_viewport=True,
            has_touch=True,
            user_agent=options.user_agent,
            locale=options.locale,
            timezone_id=options.timezone,
            accept_downloads=False,
            permissions=[],
            proxy={"server": options.proxy, "bypass": "<-loopback>"},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=LAUNCH_DEADLINE_S * 1000,
        )

    async def _open_page(self, screen: Screen) -> Page:
        if self._options.clock != "frames":
            return self.context.pages[0]
        arrived: asyncio.Future[Page] = asyncio.get_running_loop().create_future()

        def take(page: Page) -> None:
            if not arrived.done():
                arrived.set_result(page)

        self.context.once("page", take)
        opener = await self.context.new_cdp_session(self.context.pages[0])
        target: dict[str, Any] = {"url": "about:blank", "width": screen.width, "height": screen.height}
        await within(20, opener.send("Target.createTarget", {**target, "enableBeginFrameControl": True}), "a page")
        return await within(20, arrived, "a page")


def _processes_of(profile: str) -> Iterator[psutil.Process]:
    """The browser that uses this profile. One that has ended, but was not waited for, has no command line."""
    for process in psutil.process_iter(["cmdline"]):
        if f"--user-data-dir={profile}" in (process.info["cmdline"] or ()):
            yield process


def _end_processes_of(profile: str) -> None:
    """Kill the browser that uses this profile, if it is still there, with all its children."""
    for process in _processes_of(profile):
        with suppress(psutil.NoSuchProcess):
            for child in process.children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    child.kill()
            process.kill()


def _last_words(error: BrowserFault | PlaywrightError) -> str:
    """What the browser itself said, from the driver's many lines."""
    lines = str(error.__cause__ or error).splitlines()
    said = [line.split("[err]", 1)[1].strip() for line in lines if "[err]" in line]
    return " ".join([lines[0], *said[:3]])[:600]


def running_as_root() -> bool:
    """Chromium's sandbox refuses to start as root on Linux."""
    return sys.platform == "linux" and os.geteuid() == 0


def leftover_profiles() -> list[Path]:
    """Profiles that a killed run left behind."""
    return sorted(Path(tempfile.gettempdir()).glob("playtest-profile-*"))
