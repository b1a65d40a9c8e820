"""The ring that shows where a tap landed.

It is a pseudo-element of an inspector style sheet: drawn by the page above the game, yet no node, attribute or
style sheet that the game could find is added, no pointer event meets it, and no observer fires.
"""

from __future__ import annotations

from contextlib import suppress

from playtest.browser.cdp import Channel
from playtest.errors import BrowserFault
from playtest.ports import Point

DIAMETER = 44
WIDTH = 5
COLOUR = "#ffe600"
RING = (
    "{where} {{ content: '' !important; position: fixed !important; left: {left}px !important;"
    " top: {top}px !important; width: {size}px !important; height: {size}px !important; margin: 0 !important;"
    " box-sizing: border-box !important; border: {width}px solid {colour} !important; display: block !important;"
    " border-radius: 50% !important; background: none !important; opacity: 1 !important; transform: none !important;"
    " animation: none !important; transition: none !important; filter: none !important; visibility: visible !important;"
    " box-shadow: 0 0 0 2px #000, inset 0 0 0 2px #000 !important;"
    " z-index: 2147483647 !important; pointer-events: none !important; }}"
)
ABOVE_THE_PAGE, ABOVE_A_DIALOG = "html::after", ":modal::after, :popover-open::after"
# The last element of the top layer, which no z-index reaches: where its own fixed children are counted from.
TOP_LAYER = """(() => {
  const all = document.querySelectorAll(':modal, :popover-open'), e = all[all.length - 1];
  if (!e || e === document.documentElement) return null;
  const s = getComputedStyle(e), box = e.getBoundingClientRect();
  const moves = [s.transform, s.translate, s.rotate, s.scale, s.filter, s.backdropFilter, s.perspective];
  const holds = moves.some((value) => value && value !== 'none') || /paint|layout|strict|content/.test(s.contain)
    || /transform|translate|scale|rotate|filter|perspective/.test(s.willChange);
  return holds ? [box.left + e.clientLeft, box.top + e.clientTop] : [0, 0];
})()"""


class Echo:
    """Shows and hides the ring in one page."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._sheet: str | None = None
        self._frame: str | None = None
        self._shown = False

    async def show(self, point: Point) -> None:
        """Draw the ring around a point, from the next frame on. Raises BrowserFault."""
        found = await self._channel.send("Runtime.evaluate", {"expression": TOP_LAYER, "returnByValue": True})
        origin = found.get("result", {}).get("value")
        left, top = origin or (0, 0)
        css = RING.format(
            where=ABOVE_A_DIALOG if origin else ABOVE_THE_PAGE,
            left=point.x - DIAMETER / 2 - left,
            top=point.y - DIAMETER / 2 - top,
            size=DIAMETER,
            width=WIDTH,
            colour=COLOUR,
        )
        await self._set(css)
        self._shown = True

    async def hide(self) -> None:
        """Take the ring away, from the next frame on. Raises BrowserFault."""
        if self._shown:
            self._shown = False
            await self._set("")

    async def _set(self, css: str) -> None:
        if self._sheet is not None:
            with suppress(BrowserFault):  # the page went elsewhere and took the sheet with it
                await self._channel.send("CSS.setStyleSheetText", {"styleSheetId": self._sheet, "text": css})
                return
        await self._channel.send("DOM.enable")
        await self._channel.send("CSS.enable")
        tree = await self._channel.send("Page.getFrameTree")
        sheet = await self._channel.send("CSS.createStyleSheet", {"frameId": tree["frameTree"]["frame"]["id"]})
        self._sheet = sheet["styleSheetId"]
        await self._channel.send("CSS.setStyleSheetText", {"styleSheetId": self._sheet, "text": css})
