"""Opens a test page in a real browser, as the runner would, and reads what became of it."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from playtest.browser.find import BrowserBinary, find_browser
from playtest.browser.launch import LaunchOptions
from playtest.browser.server import Gate, Origin
from playtest.browser.session import GameOptions, GameSession

GAMES = Path(__file__).parent / "games"
TEST_LIMIT_S = 60
CLOCKS = ("frames", "js", "realtime")
HELD_CLOCKS = ("frames", "js")
START_MS = 1767225600000
PHONE = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile"


@functools.cache
def browser() -> BrowserBinary:
    return find_browser(None)


def options_for(gate: Gate, url: str, clock: str = "frames", **changes: Any) -> GameOptions:
    launch = LaunchOptions(
        binary=browser(),
        clock=clock,
        proxy=gate.address,
        user_agent=PHONE,
        locale="zh-CN",
        timezone="Asia/Shanghai",
    )
    return GameOptions(**{"launch": launch, "url": url, "seed": 1, "start_date_ms": START_MS, **changes})


@asynccontextmanager
async def playing(
    game: str | Path, clock: str = "frames", page: str = "index.html", **changes: Any
) -> AsyncIterator[GameSession]:
    """A page of tests/games (or of any folder), booted under a clock."""
    folder = GAMES / game
    assert (folder / page.partition("?")[0]).is_file(), f"no page {folder / page}"
    async with asyncio.timeout(TEST_LIMIT_S), Gate(folder) as gate:
        session = GameSession(options_for(gate, f"{gate.address}/{page}", clock, **changes), gate)
        try:
            await session.open()
            yield session
        finally:
            await session.close()


@asynccontextmanager
async def playing_url(url: str, remote: Origin, clock: str = "frames", **changes: Any) -> AsyncIterator[GameSession]:
    """A page of another server, through the gate."""
    async with asyncio.timeout(TEST_LIMIT_S), Gate(remote=remote) as gate:
        session = GameSession(options_for(gate, url, clock, **changes), gate)
        try:
            await session.open()
            yield session
        finally:
            await session.close()


async def js(session: GameSession, expression: str, value: object = None) -> Any:
    """The value of an expression in the page, which takes no game time."""
    return await session._page.evaluate(expression, value)


def pixels_of(png: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


def hash_of(png: bytes) -> str:
    return hashlib.sha256(pixels_of(png).tobytes()).hexdigest()[:12]


def colour_at(png: bytes, x: int, y: int) -> tuple[int, int, int]:
    red, green, blue = pixels_of(png)[y, x]
    return int(red), int(green), int(blue)


def kinds(session: GameSession) -> list[str]:
    return [fault.kind for fault in session.drain_faults()]
