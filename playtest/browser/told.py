"""What the probe tells of a page, read with care: a page may have put words in its mouth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from playtest.browser.console import whole
from playtest.ports import CanvasBox, VisibleText, Vitals

MAX_TEXT = 200


def text_from(item: Any, dx: float, dy: float) -> VisibleText | None:
    """What the probe told of one text, its frame's place added. None where it makes no sense."""
    try:
        box = None
        if item["box"] is not None:
            x, y, width, height = (float(side) for side in item["box"])
            if not all(map(math.isfinite, (x, y, width, height))):
                return None
            box = (x + dx, y + dy, width, height)
        source: Literal["dom", "canvas"] = "canvas" if item["source"] == "canvas" else "dom"
        return VisibleText(whole(str(item["text"]), MAX_TEXT), box, source, bool(item["tappable"]))
    except (KeyError, TypeError, ValueError):
        return None


def vitals_from(told: Sequence[tuple[Any, float, float]]) -> Vitals:
    """The vitals of a page from those of its frames, top frame first, each with its place in the page."""
    canvas, frames, contexts = None, 0, 0
    for item, dx, dy in told:
        try:
            frames += int(item["frames"])
            contexts += int(item["contexts"])
            found = _canvas_from(item["canvas"], dx, dy)
        except (KeyError, TypeError, ValueError):
            continue
        if found is not None and (canvas is None or found.width * found.height > canvas.width * canvas.height):
            canvas = found
    top = told[0][0] if told and isinstance(told[0][0], dict) else {}
    parsed = top.get("ready") in ("interactive", "complete")
    return Vitals(parsed, frames, contexts > 0, canvas, str(top.get("scroll")))


def _canvas_from(box: Any, dx: float, dy: float) -> CanvasBox | None:
    if box is None:
        return None
    sides = [float(side) for side in box]
    if len(sides) != 6 or not all(map(math.isfinite, sides)) or min(sides[2:]) <= 0:
        return None
    x, y, *rest = sides
    return CanvasBox(x + dx, y + dy, *rest)
