"""What the page says and what happens to it: a bounded log and a list of faults."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable

from playtest.ports import LogEntry, PageFault

MAX_ENTRIES = 500
MAX_TEXT = 500
MAX_FAULTS = 200
# Lines of the browser's or its driver's own, which say nothing about a game.
NOISE = (
    re.compile(r"^Failed to load resource: .*ERR_TUNNEL_CONNECTION_FAILED"),  # our own block; told as blocked_request
    re.compile(r"^The AudioContext was not allowed to start"),
    re.compile(r"GL Driver Message .*GPU stall due to ReadPixels"),
    re.compile(r"^\[\.WebGL-0x[0-9a-f]+\]GL Driver Message"),
    re.compile(r"Automatic fallback to software WebGL has been deprecated"),
)


def whole(text: str, limit: int) -> str:
    """The beginning of a page's text, without halves of characters, which no file or endpoint takes."""
    return text[:limit].encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _whole_values(detail: dict[str, object]) -> dict[str, object]:
    return {name: whole(value, 2 * len(value)) if isinstance(value, str) else value for name, value in detail.items()}


class Recorder:
    """Keeps what a page logs, bounded and without repeats, and the faults that were seen on it."""

    def __init__(self, now_ms: Callable[[], float]) -> None:
        self._now_ms = now_ms
        self._new: deque[LogEntry] = deque(maxlen=MAX_ENTRIES)
        self._faults: list[PageFault] = []
        self._counts: dict[tuple[str, str], int] = {}
        self.dropped = 0

    def log(self, level: str, text: str, place: str = "") -> None:
        """Take one console line. A line seen before is counted, and given again only the first few times."""
        text = whole(text, MAX_TEXT)
        if any(pattern.search(text) for pattern in NOISE):
            return
        key = (level, text)
        count = self._counts.get(key, 0) + 1
        if len(self._counts) < 20_000 or key in self._counts:
            self._counts[key] = count
        if count > 20 or len(self._new) == MAX_ENTRIES:
            self.dropped += 1
            return
        self._new.append(LogEntry(level, text, self._now_ms(), place))

    def fault(self, kind: str, message: str, **detail: object) -> PageFault:
        """Take one fact about the page."""
        fault = PageFault(kind, whole(message, MAX_TEXT), _whole_values(detail))
        if len(self._faults) < MAX_FAULTS:
            self._faults.append(fault)
        return fault

    @property
    def now_ms(self) -> float:
        """Game time."""
        return self._now_ms()

    def drain_log(self) -> list[LogEntry]:
        """New lines since the last call."""
        lines = list(self._new)
        self._new.clear()
        return lines

    def drain_faults(self) -> list[PageFault]:
        """New faults since the last call."""
        faults, self._faults = self._faults, []
        return faults
