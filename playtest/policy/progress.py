"""Progress evidence: a score or level that moved, a new log line, a screen never seen that an input caused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from playtest.pictures import Picture, distance, signature
from playtest.ports import LogEntry
from playtest.protocol.transcript import Effect
from playtest.text_changes import TextChange, pattern_of

SCORE = re.compile(
    r"得分|分数|积分|总分|金币|硬币|收入|营业额|进度|完成|步数|步骤|连击|经验|生命|体力|线索|好感|\bscore|\bpoints?\b|"
    r"\bcoins?\b|\bgold\b|\bcash\b|\blevel\b|\blv\.?|\bstage\b|\bround\b|\bwave\b|\bmoves?\b|\bcombo\b|\bhp\b|"
    r"\bprogress\b|\bclicks?\b|关卡|第\s*#\s*[关章回天轮幕步]|[关章回天轮幕]\s*#|#\s*/\s*#|#\s*分",
    re.IGNORECASE,
)
NEW_SCREEN_DISTANCE = 14.0
NEW_SCREEN_AREA = 0.08
MAX_REMEMBERED = 200


@dataclass(slots=True)
class Progress:
    """What has been seen so far in a roll, and what is new."""

    _screens: list[Any] = field(default_factory=list)
    _values: set[str] = field(default_factory=set)
    _log: set[str] = field(default_factory=set)

    def start(self, picture: Picture, log: Sequence[LogEntry]) -> None:
        """Take the first screen and what the game had logged by then."""
        self._screens.append(signature(picture.pixels))
        self.idle_log(log)

    def idle_log(self, log: Sequence[LogEntry]) -> None:
        """Lines that came without an input are no evidence."""
        self._log.update(pattern_of(entry.text) for entry in log)

    def note(
        self, effect: Effect, changes: Sequence[TextChange], log: Sequence[LogEntry], picture: Picture
    ) -> tuple[str, ...]:
        """The evidence that one input brought; every piece counts once in a roll."""
        found = [*self._numbers(changes), *self._log_lines(log)]
        if effect.changed and effect.area >= NEW_SCREEN_AREA and self._is_new_screen(picture):
            found.append("a screen not seen before")
        return tuple(found)

    def _numbers(self, changes: Sequence[TextChange]) -> list[str]:
        found = []
        for change in changes:
            if change.old is None or change.new is None or not SCORE.search(change.pattern):
                continue
            if change.new not in self._values and len(self._values) < MAX_REMEMBERED:
                self._values.update((change.old, change.new))
                found.append(change.describe())
        return found

    def _log_lines(self, log: Sequence[LogEntry]) -> list[str]:
        found = []
        for entry in log:
            pattern = pattern_of(entry.text)
            if entry.level in ("log", "info") and pattern not in self._log and len(self._log) < MAX_REMEMBERED:
                self._log.add(pattern)
                found.append(f"log: {entry.text[:80]}")
        return found

    def _is_new_screen(self, picture: Picture) -> bool:
        here = signature(picture.pixels)
        if any(distance(here, seen) < NEW_SCREEN_DISTANCE for seen in self._screens):
            return False
        if len(self._screens) < MAX_REMEMBERED:
            self._screens.append(here)
        return True
