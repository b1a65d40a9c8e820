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
# A frame is said to be shown 5 ms (a quiet page) to 48 ms (one that never rests) after the page drew it, as measured.
LAG_S = 0.025


class Screencast:
    """Keeps the frames that are drawn, from `start` on; a screen that stands still gives none. Times: s since 1970."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._deadline = time.monotonic() + LONGEST_S
        self._acks: set[asyncio.Task[Any]] = set()
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
        self.frames.append((shown_s - LAG_S, base64.b64decode(event["data"])))
        enough = len(self.frames) >= MAX_FRAMES or time.monotonic() > self._deadline
        task = asyncio.ensure_future(self.stop() if enough else self._acknowledge(event["sessionId"]))
        self._acks.add(task)
        task.add_done_callback(self._acks.discard)

    async def _acknowledge(self, session: int) -> None:
        with suppress(BrowserFault):
            await self._channel.send("Page.screencastFrameAck", {"sessionId": session})
