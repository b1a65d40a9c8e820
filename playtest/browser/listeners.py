"""Which events the page listens for at a point: it tells which end of a touch was answered."""

from __future__ import annotations

from contextlib import suppress

from playtest.browser.cdp import Channel
from playtest.errors import BrowserFault

# The node under a point and all that hold it, shadow roots and the window among them.
_PATH = """(() => {
  const path = [];
  for (let node = document.elementFromPoint(%g, %g); node; node = node.parentNode || node.host) path.push(node);
  return [...path, window];
})()"""
_GROUP = "playtest-listeners"


async def heard_at(channel: Channel, x: float, y: float) -> frozenset[str]:
    """The types of the events that are listened for at a point; none where it can't be told.

    Asked by DOMDebugger.getEventListeners: the page notices nothing of it. Raises BrowserFault where it is gone or
    hangs.
    """
    try:
        return await _heard_at(channel, x, y)
    except BrowserFault as fault:
        if fault.kind in ("hang", "crash"):
            raise
        return frozenset()  # the node is gone already
    finally:
        with suppress(BrowserFault):
            await channel.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})


async def _heard_at(channel: Channel, x: float, y: float) -> frozenset[str]:
    asked = {"expression": _PATH % (x, y), "objectGroup": _GROUP}
    path = (await channel.send("Runtime.evaluate", asked))["result"].get("objectId")
    if path is None:
        return frozenset()
    found = await channel.send("Runtime.getProperties", {"objectId": path, "ownProperties": True})
    types: set[str] = set()
    for node in found["result"]:
        if node["name"].isdigit():
            told = await channel.send("DOMDebugger.getEventListeners", {"objectId": node["value"]["objectId"]})
            types |= {listener["type"] for listener in told["listeners"]}
    return frozenset(types)
