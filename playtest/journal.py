"""One roll's record: each line stamped with step, game time and wall time, flushed, and shown to who watches."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from playtest.ports import LogEntry, PageFault, RollSink
from playtest.protocol.transcript import FaultLine, TranscriptLine

Watcher: TypeAlias = Callable[[int, TranscriptLine], None]


def ignore(_roll: int, _line: TranscriptLine) -> None:
    """A watcher that shows nothing."""


class Journal:
    """Writes a roll's lines. `step` is set by the runner."""

    def __init__(self, roll: int, sink: RollSink, watcher: Watcher, now_ms: Callable[[], float]) -> None:
        self.step = 0
        self.faults: list[PageFault] = []
        self._roll = roll
        self._sink = sink
        self._watcher = watcher
        self._now_ms = now_ms
        self._zero = time.monotonic()

    @property
    def wall_ms(self) -> float:
        """Wall time since the roll began."""
        return (time.monotonic() - self._zero) * 1000

    def write(self, kind: Callable[..., TranscriptLine], /, **fields: Any) -> None:
        """Write one line. Raises EvidenceError."""
        stamp = {"step": self.step, "game_ms": round(self._now_ms(), 1), "wall_ms": round(self.wall_ms, 1)}
        line = kind(**stamp, **fields)
        self._sink.line(line)
        self._watcher(self._roll, line)

    def fault(self, fault: PageFault) -> None:
        """Record a fact about the page, with the step at which it was seen."""
        fault = PageFault(fault.kind, fault.message, {"step": self.step, **fault.detail})
        self.faults.append(fault)
        self.write(FaultLine, fault=fault.kind, message=fault.message, detail=fault.detail)

    def log(self, entries: Sequence[LogEntry]) -> None:
        """Keep console lines."""
        self._sink.log(entries)
