"""Asking the probe that lies in every frame of a page: texts, counts, what it was told to do."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from playtest.browser.cdp import Channel
from playtest.browser.told import text_from, vitals_from
from playtest.errors import BrowserFault
from playtest.ports import VisibleText, Vitals

# Border and padding of a frame's element.
FRAME_EDGE = """e => { const s = getComputedStyle(e);
    return [e.clientLeft + parseFloat(s.paddingLeft), e.clientTop + parseFloat(s.paddingTop)]; }"""


class Probe:
    """`js/probe.js` in each frame, reached by the roll's own key."""

    def __init__(self, page: Page, channel: Channel, key: str) -> None:
        self._page = page
        self._channel = channel
        self._key = key

    async def ask(self, frame: Frame, what: str, value: object = None) -> Any:
        """The answer of one frame; None where the frame has no probe (it is loading, or gone). Raises BrowserFault."""
        call = "([key, what, value]) => window[key] ? window[key](what, value) : null"
        try:
            return await self._channel.within(frame.evaluate(call, [self._key, what, value]), what)
        except BrowserFault as error:
            if error.kind == "hang":
                raise
            self._channel.check()
            return None

    async def all(self, what: str, value: object = None) -> list[Any]:
        """The answers of all frames."""
        return [await self.ask(frame, what, value) for frame in self._page.frames]

    async def texts(self) -> list[VisibleText]:
        """The texts on the screen, top frame first, frames within it at their places."""
        return [
            text
            for told, dx, dy in await self._placed("texts")
            for item in told or ()
            if (text := text_from(item, dx, dy)) is not None
        ]

    async def vitals(self) -> Vitals:
        """What the page's frames are about, from the outside."""
        return vitals_from(await self._placed("vitals"))

    async def _placed(self, what: str) -> list[tuple[Any, float, float]]:
        """The answers of all frames, top frame first, each with its frame's place in the page."""
        told = []
        for frame in self._page.frames:
            dx, dy = (0.0, 0.0) if frame.parent_frame is None else await self._offset_of(frame)
            told.append((await self.ask(frame, what), dx, dy))
        return told

    async def _offset_of(self, frame: Frame) -> tuple[float, float]:
        with suppress(PlaywrightError, BrowserFault):
            element = await self._channel.within(frame.frame_element(), "a frame's place")
            box = await self._channel.within(element.bounding_box(), "a frame's place")
            edge = await self._channel.within(element.evaluate(FRAME_EDGE), "a frame's place")
            if box:
                return box["x"] + edge[0], box["y"] + edge[1]
        return 0.0, 0.0
