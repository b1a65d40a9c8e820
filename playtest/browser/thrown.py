"""Uncaught errors of a page, each with its place: from its stack, or from what the browser says where it has none."""

from __future__ import annotations

import re
from collections import deque
from typing import Any
from urllib.parse import unquote, urlsplit

from playwright.async_api import Error as PlaywrightError

from playtest.browser.console import Recorder
from playtest.ports import PageFault

MAX_STACK = 2000
MAX_UNPAIRED = 200
_FRAME = re.compile(r"(?:^|[\s(@])((?:https?|blob):[^\s()]+?):(\d+):(\d+)\)?\s*$", re.MULTILINE)


class Thrown:
    """Records each uncaught error once, as the fault `uncaught`.

    Two sources tell of the same error, in either order: Playwright, for every frame of the page; and the browser's own
    event for the page's process, which alone has a place for a syntax error and tells a rejection from a throw.
    """

    def __init__(self, recorder: Recorder, game_url: str) -> None:
        self._recorder = recorder
        self._origin = _origin(game_url)
        self._recorded: deque[tuple[str, PageFault]] = deque(maxlen=MAX_UNPAIRED)
        self._told: deque[tuple[str, dict[str, Any]]] = deque(maxlen=MAX_UNPAIRED)

    def on_error(self, error: PlaywrightError) -> None:
        """Take Playwright's `pageerror`."""
        message = f"{error.name}: {error.message}" if error.name else error.message
        stack = (error.stack or "")[:MAX_STACK]
        frame = _FRAME.search(stack)
        place = self._place(frame[1], int(frame[2]), int(frame[3])) if frame else {}
        fault = self._recorder.fault("uncaught", message, stack=stack, gameMs=round(self._recorder.now_ms, 1), **place)
        told = _take(self._told, message)
        if told is None:
            self._recorded.append((message, fault))
        else:
            self._complete(fault, told)

    def on_exception(self, event: dict[str, Any]) -> None:
        """Take `Runtime.exceptionThrown`."""
        details = event["exceptionDetails"]
        thrown = details.get("exception", {})
        words = str(thrown.get("description") or thrown.get("value") or details.get("text", ""))
        message = re.split(r"\n\s+at ", words, maxsplit=1)[0]
        fault = _take(self._recorded, message)
        if fault is None:
            self._told.append((message, details))
        else:
            self._complete(fault, details)

    def _complete(self, fault: PageFault, details: dict[str, Any]) -> None:
        fault.detail["rejection"] = "(in promise)" in details.get("text", "")
        if "file" not in fault.detail and details.get("url"):
            fault.detail.update(self._place(details["url"], details["lineNumber"] + 1, details["columnNumber"] + 1))

    def _place(self, url: str, line: int, column: int) -> dict[str, Any]:
        """A file of the game's own by its path within the game."""
        within = unquote(urlsplit(url).path).lstrip("/") if _origin(url) == self._origin else ""
        return {"file": (within or url)[:300], "line": line, "column": column}


def _take(waiting: deque[tuple[str, Any]], message: str) -> Any:
    for at, (waits, value) in enumerate(waiting):
        if waits == message:
            del waiting[at]
            return value
    return None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
