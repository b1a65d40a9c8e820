"""A film of a page that nothing holds: Chromium's screencast, each frame with the time at which it was drawn."""

from __future__ import annotations

import asyncio
import base64
import time
from contextlib import suppress
from typing import Any

from playtest.browser.cdp import Channel
from playtest.errors import BrowserFault

# About 30 s of a page that never rests; what comes later is not filmed.
MAX_FRAMES = 1800
LONGEST_S = 40.0
# How much later than the page drew it a frame is said to be shown, as measured: on a quiet page, and where frames
# follow each other so closely that they wait for one another.
LAG_S = 0.005
CROWDED_LAG_S = 0.045
CROWDED_S = 0.05


class Screencast:
    """Keeps the frames that are drawn, from `start` on; a screen that stands still gives none. Times: s since 1970."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._deadline = time.monotonic() + LONGEST_S
        self._acks: set[asyncio.Task[Any]] = set()
        self._shown_s = 0.0
        self.frames: list[tuple[float, bytes]] = []

    async def start(self) -> None:
        """Begin. Raises BrowserFault."""
        self._channel.on("Page.screencastFrame", self._keep)
        await self._channel.send("Page.startScreencast", {"format": "jpeg", "quality": 90})

    async def stop(self) -> None:
        """End; a page that is gone needs no ending."""
        with suppress(BrowserFault):
            await self._channel.send("Page.stopScreencast")

    def _keep(self, event: dict[str, Any]) -> None:
        shown_s = min(event["metadata"]["timestamp"], time.time())
        crowded = shown_s - self._shown_s < CROWDED_S
        self._shown_s = shown_s
        self.frames.append((shown_s - (CROWDED_LAG_S if crowded else LAG_S), base64.b64decode(event["data"])))
        enough = len(self.frames) >= MAX_FRAMES or time.monotonic() > self._deadline
        task = asyncio.ensure_future(self.stop() if enough else self._acknowledge(event["sessionId"]))
        self._acks.add(task)
        task.add_done_callback(self._acks.discard)

    async def _acknowledge(self, session: int) -> None:
        with suppress(BrowserFault):
            await self._channel.send("Page.screencastFrameAck", {"sessionId": session})
