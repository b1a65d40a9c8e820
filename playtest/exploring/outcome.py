"""What came of one move: whether the game answered, and what it brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from playtest.exploring.idle import Idle
from playtest.exploring.moves import Move
from playtest.exploring.readings import Counters, Rise, Role
from playtest.exploring.response import PASSING, Change, Motion, Response
from playtest.exploring.scene import Scene
from playtest.protocol.transcript import Effect
from playtest.text_changes import TextChange, TextWatch, compare, pattern_of

NOTHING = "∅"
RING_PX = 24
_CLOCKS = TextWatch()  # knows clocks by their words
PROGRESS_ROLES = (Role.SCORE, Role.STAGE, Role.OTHER)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A move and what the screen showed after it.

    `doubtful` is a change of the picture alone on a screen that moves by itself; `moved_on` says that another
    screen came, `discovered` that it was never seen before, `fresh` that a text never seen before stands on the
    screen, whatever brought it; `reward` is about -1 (harm) to 1 (progress); `words` and `log` are new ones only.
    """

    step: int
    move: Move
    screen: int
    answered: bool
    doubtful: bool
    moved_on: bool
    discovered: bool
    fresh: bool
    area: float
    rises: tuple[Rise, ...]
    words: tuple[str, ...]
    log: tuple[str, ...]
    reward: float

    def describe(self) -> str:
        """What came of it, for people."""
        if self.rises:
            return "; ".join(f"'{rise.old.text}' became '{rise.new.text}'" for rise in self.rises[:3])
        if self.words:
            return f"new text '{self.words[0][:40]}'"
        if self.moved_on:
            return "another screen came"
        return "the screen changed" if self.answered else "nothing on the screen changed with it"


class Known(Protocol):
    """What weighing an outcome needs to know of the roll so far."""

    counters: Counters
    idle: Idle
    words: set[str]
    log: set[str]
    screen: int


def weigh(
    known: Known,
    move: Move,
    before: Scene,
    after: Scene,
    *,
    effect: Effect | None,
    log: Sequence[str],
    old_screen: int,
    discovered: bool,
    change: Change,
    motion: Motion,
) -> Outcome:
    """Judge one move by the scenes around it and the runner's measure.

    `known.screen` is the screen after it, `discovered` says that it was never seen before; `change` is what the
    pictures show, `motion` how the screen before has moved so far.
    """
    moved_on = known.screen != old_screen
    caused = _caused_texts(known, before, after, effect) if move.is_input else []
    if caused or (discovered and effect is not None and effect.changed):
        response = Response.SURE
    elif _is_press_only(move, before, change.area):
        response = Response.NONE
    else:
        response = motion.judge(change, move.points, effect, plain_tap=not _may_be_native(move, before, effect))
    rises: list[Rise] = []
    falls = len(known.counters.falls)
    if move.is_input:
        rises = known.counters.acted(before.step, before.numbers, after.numbers, _cause(move))
    fallen = known.counters.falls[falls:]
    came = [change.new for change in caused if change.new is not None]
    words = tuple(text for text in came if pattern_of(text) not in known.words)
    lines = tuple(line for line in log if pattern_of(line) not in known.log | known.idle.log) if move.is_input else ()
    answered = (response is Response.SURE or bool(rises)) and move.is_input
    doubtful = response is Response.MAYBE and not answered and move.is_input
    reward = _reward(rises, fallen, words, lines, moved_on and not move.is_flow) if answered else 0.0
    return Outcome(
        step=before.step,
        move=move,
        screen=old_screen,
        answered=answered,
        doubtful=doubtful,
        moved_on=moved_on,
        discovered=discovered,
        fresh=any(pattern_of(text) not in known.words for text in after.words()),
        area=change.area,
        rises=tuple(rises),
        words=words,
        log=lines,
        reward=reward,
    )


def _may_be_native(move: Move, before: Scene, effect: Effect | None) -> bool:
    """Whether a browser may have done it by itself: a text selected by a gesture, a ring around a button by a key."""
    if move.kind in ("tap", "swipe") or effect is None or effect.region is None:
        return False
    x, y, width, height = effect.region
    return any(
        item.box[0] - RING_PX < x + width
        and x < item.box[0] + item.box[2] + RING_PX
        and item.box[1] - RING_PX < y + height
        and y < item.box[1] + item.box[3] + RING_PX
        for item in before.texts
        if item.source == "dom" and item.box is not None and (item.tappable or move.kind != "key")
    )


def _is_press_only(move: Move, before: Scene, area: float) -> bool:
    """Whether a button gave way under the finger and then stood as before: it was pressed, and nothing came of it."""
    if area >= PASSING or move.start is None:
        return False
    x, y = move.start
    return any(
        thing.box[0] - RING_PX < x < thing.box[0] + thing.box[2] + RING_PX
        and thing.box[1] - RING_PX < y < thing.box[1] + thing.box[3] + RING_PX
        for thing in before.things
        if thing.tappable or thing.label is not None
    )


def _reward(
    rises: Sequence[Rise], falls: Sequence[Rise], words: Sequence[str], log: Sequence[str], another_screen: bool
) -> float:
    reward = 0.0
    if any(rise.role in PROGRESS_ROLES for rise in rises):
        reward += 1.0
    elif words or log:
        reward += 0.3
    if another_screen:
        reward += 0.2
    if any(move.role is Role.HARM for move in (*rises, *falls)) or any(fall.role is Role.SCORE for fall in falls):
        reward -= 0.6
    return reward


def _caused_texts(known: Known, before: Scene, after: Scene, effect: Effect | None) -> list[TextChange]:
    """Texts that came, went or took other numbers, if only for a moment, less what does so by itself."""
    changes = compare(before.texts, after.texts)
    for line in effect.texts if effect is not None else ():
        old, _, new = line.partition(" -> ")
        changes.append(TextChange(None if old == NOTHING else old, None if new == NOTHING else new))
    return [
        change
        for change in dict.fromkeys(changes)
        if not _CLOCKS.is_ambient(change) and not known.idle.explains(change, after.texts)
    ]


def _cause(move: Move) -> str:
    """The kind of deed, for telling whether the same one moves a number again and again."""
    return repr(move.recipes[-1]) if move.recipes else f"{move.kind} {move.key}"
