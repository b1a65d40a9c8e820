"""Loops that close: a new level, or an end card after play."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from playtest.exploring.labels import LabelKind, ending
from playtest.exploring.memory import Memory
from playtest.exploring.outcome import Outcome
from playtest.exploring.readings import Reading, Role
from playtest.exploring.scene import Scene, Thing
from playtest.text_changes import pattern_of

MIN_PLAYS = 3
CARD_AREA = 0.05
WAY_ON = (LabelKind.RETRY, LabelKind.NEXT_LEVEL)
_NEW_ROUND = (LabelKind.START, LabelKind.NEXT_LEVEL, LabelKind.RETRY)
# A menu that play can be taken up from again is no end.
_PAUSE = re.compile(r"暂停|继续游戏|返回游戏|设置|\bpaused?\b|\bresume\b|\bsettings\b", re.IGNORECASE)


@dataclass(slots=True)
class Closing:
    """An end card that came up after play. `confirmed` once its way on was tried, or where it has none."""

    step: int
    text: str
    kind: str
    confirmed: bool


@dataclass(slots=True)
class Loop:
    """Follows rounds of play: what was done since the last start, and how the round ended."""

    plays: int = 0
    deeds: int = 0
    gains: int = 0
    closing: Closing | None = None
    stages: dict[str, float] = field(default_factory=dict)
    stage_up: str | None = None
    furniture: set[str] = field(default_factory=set)
    stage_plays: int = 0
    before_play: set[str] = field(default_factory=set)

    def note(self, outcome: Outcome, before: Scene, after: Scene) -> None:
        """Take one move and the scenes around it."""
        move = outcome.move
        if not self.deeds:
            self.before_play.update(pattern_of(text) for text in before.words())
        if outcome.answered and not move.is_flow:
            self.plays += 1
            self.deeds += 1
            self.stage_plays += 1
            if not outcome.moved_on and outcome.area < 0.2:
                self.furniture.update(word for thing in before.labels for word in thing.words)
        elif outcome.answered and outcome.words:
            self.plays += 1  # a story goes on by its "continue"
        self.gains += bool(outcome.rises or outcome.words or (outcome.log and not move.is_flow))
        self._confirm(outcome)
        self._look_for_closing(outcome, before, after)
        self._look_for_stage(after)
        label = move.thing.label if move.thing is not None else None
        if outcome.answered and outcome.moved_on and label is not None and label.kind in _NEW_ROUND:
            self.plays = 0

    @property
    def pending(self) -> bool:
        """An end card is up and its way on has not been tried."""
        return self.closing is not None and not self.closing.confirmed

    def closed(self, memory: Memory) -> str | None:
        """What closed the loop, when there was progress too."""
        if self.stage_up is not None and self.gains >= 1:
            return self.stage_up
        if self.closing is None or not self.closing.confirmed:
            return None
        progress = memory.counters.any_rise or self.gains >= 3
        if not progress and self.closing.kind != "win":
            return None
        return f"after play the card '{self.closing.text[:40]}' came up ({self.closing.kind})"

    def _confirm(self, outcome: Outcome) -> None:
        thing = outcome.move.thing
        if self.closing is None or self.closing.confirmed or thing is None or thing.label is None:
            return
        if outcome.answered and thing.label.kind not in (LabelKind.BACK, LabelKind.SIDE):
            self.closing.confirmed = True

    def _look_for_closing(self, outcome: Outcome, before: Scene, after: Scene) -> None:
        if self.pending or self.plays < MIN_PLAYS or self.deeds < 1:
            return
        if outcome.move.is_flow and not outcome.words:
            return
        old = {pattern_of(text) for text in before.words()}
        new = [text for text in after.words() if pattern_of(text) not in old]
        if any(_PAUSE.search(text) for text in new):
            return
        ways = [t for t in new_things(after, new) if t.label and t.label.kind in WAY_ON]
        ways = [thing for thing in ways if not self.furniture.issuperset(thing.words)]
        # What stood there before anything was played is a title or an instruction, not the end of play.
        late = [text for text in new if pattern_of(text) not in self.before_play]
        ends = [(text, kind) for text in late if (kind := ending(text)) is not None]
        turned = outcome.moved_on or outcome.area >= CARD_AREA
        any_way = [t for t in new_things(after, new) if t.label and t.label.kind is not LabelKind.SIDE]
        if not ways and not (ends and (turned or any_way)):
            return
        if any(t.label and t.label.kind is LabelKind.NEXT for t in any_way) and not ends and not _next_level(ways):
            return  # "continue" beside "restart": a pause
        text, kind = ends[0] if ends else (ways[0].words[0], "win" if _next_level(ways) else "end")
        self.closing = Closing(outcome.step, text, kind, confirmed=not any_way)

    def _look_for_stage(self, after: Scene) -> None:
        stages = {key: reading for key, reading in after.numbers.items() if reading.role is Role.STAGE}
        if not stages or len(_stage_texts(after)) > 1:
            return
        for key, reading in stages.items():
            known = self.stages.get(key)
            if known is not None and reading.value > known and self.stage_plays >= 2:
                self.stage_up = f"'{_with(reading, known)}' became '{reading.text}' after play"
            if known is None or reading.value != known:
                self.stages[key] = reading.value
                self.stage_plays = 0


def new_things(scene: Scene, texts: Iterable[str]) -> list[Thing]:
    """The things that carry one of these texts."""
    wanted = {text.strip() for text in texts}
    return [thing for thing in scene.things if wanted.intersection(thing.words)]


def _next_level(ways: Iterable[Thing]) -> bool:
    return any(thing.label is not None and thing.label.kind is LabelKind.NEXT_LEVEL for thing in ways)


def _stage_texts(scene: Scene) -> set[str]:
    """Texts like `第 1 关` that stand on the screen at once; several are a choice of levels."""
    patterns = [key.removeprefix("stage:") for key, reading in scene.numbers.items() if reading.role is Role.STAGE]
    return {text for text in scene.words() if any(_shape(text) == pattern for pattern in patterns)}


def _shape(text: str) -> str:
    return re.sub(r"\d+", "#", text.strip())


def _with(reading: Reading, value: float) -> str:
    return reading.text.replace(f"{reading.value:g}", f"{value:g}")
