"""The verdict: what the roll has shown, and whether that is enough to say pass or fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from playtest.exploring.dead import is_dead
from playtest.exploring.endings import Loop
from playtest.exploring.leaks import leaks
from playtest.exploring.memory import Memory
from playtest.exploring.outcome import Outcome
from playtest.exploring.readings import Rise, Role
from playtest.exploring.scene import Scene
from playtest.protocol.verdict import ClaimedPhenomenon, FailKind, Verdict, VerdictClaim

CYCLES = 3
LAST_STEPS = 1
LEAK_VIEWS = 2
LEAK_TAPS = 3
BLANK_MOVES = 6
STUCK_AT_GOAL = 8
HOLLOW_ANSWERS = 12
MAX_PHENOMENA = 12


@dataclass(slots=True)
class Judge:
    """Keeps the evidence of one roll and judges only what the explorer can."""

    loop: Loop = field(default_factory=Loop)
    leaked: Counter[str] = field(default_factory=Counter)
    first_leak: dict[str, ClaimedPhenomenon] = field(default_factory=dict)

    def note(self, outcome: Outcome, before: Scene, after: Scene) -> None:
        """Take one move and the scenes around it."""
        self.loop.note(outcome, before, after)

    def verdict(self, scene: Scene, memory: Memory, steps_left: int) -> VerdictClaim | None:
        """The verdict, when there is enough for one or no step is left; None to play on."""
        last = steps_left <= LAST_STEPS
        claim = self._leak(scene, memory, last) or self._blank(scene, memory) or self._dead(scene, memory)
        if claim is not None:
            return claim
        if (claim := self._passed(memory, steps_left)) is not None or not last:
            return claim
        return self._hollow(scene, memory) or _undecided(memory, self.loop)

    def wish(self, memory: Memory) -> str | None:
        """What a pass still lacks: `control` (does it rise by itself?), `contrast`, or time for the end to `come`."""
        last = memory.outcomes[-1] if memory.outcomes else None
        if last is not None and any(
            rise.new.goal is not None and rise.new.value >= rise.new.goal for rise in last.rises
        ):
            return "come"
        for rises in _cycles(memory):
            key = rises[-1].key
            if memory.counters.quiet[key] == 0:
                return "control"
            if not _contrast(memory, key):
                return "contrast"
        return None

    # -- fails ----------------------------------------------------------------------------------------------

    def _leak(self, scene: Scene, memory: Memory, last: bool) -> VerdictClaim | None:
        for item, value in leaks(scene.texts):
            self.leaked[item.text] += 1
            if item.text not in self.first_leak:
                x, y = (None, None) if item.centre is None else item.centre
                what = f"the visible text '{item.text[:80]}' shows the leaked value {value}"
                self.first_leak[item.text] = ClaimedPhenomenon(step=scene.step, x=x, y=y, what=what)
        shown = [text for text, views in self.leaked.items() if views >= LEAK_VIEWS]
        taps = sum(outcome.move.kind == "tap" for outcome in memory.outcomes)
        if not shown or (taps < LEAK_TAPS and not last):
            return None
        return _fail(FailKind.BROKEN, [self.first_leak[text] for text in shown], "the screen shows leaked values")

    def _blank(self, scene: Scene, memory: Memory) -> VerdictClaim | None:
        silent = memory.silence
        taps = sum(outcome.move.kind == "tap" for outcome in silent)
        if not scene.blank or len(silent) < BLANK_MOVES or taps < LEAK_TAPS or len(silent) < len(memory.outcomes):
            return None
        what = f"the screen stayed one flat colour without a text for {len(silent)} steps"
        return _fail(FailKind.BROKEN, [ClaimedPhenomenon(step=scene.step, what=what)], "the page never showed a game")

    def _dead(self, scene: Scene, memory: Memory) -> VerdictClaim | None:
        inputs = is_dead(memory, scene)
        if not inputs:
            return None
        taps = [outcome for outcome in inputs if outcome.move.kind == "tap"]
        others = [outcome for outcome in inputs if outcome.move.kind != "tap"]
        chosen = sorted([*taps[:8], *others[: MAX_PHENOMENA - min(8, len(taps))]], key=lambda o: o.step)
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(Counter(o.move.kind for o in inputs).items()))
        summary = f"{len(inputs)} inputs in a row did nothing on this screen ({kinds}), and no label leads on or back"
        return _fail(FailKind.BROKEN, [_phenomenon(outcome) for outcome in chosen], summary)

    def _hollow(self, scene: Scene, memory: Memory) -> VerdictClaim | None:
        """Things react, but over the whole budget nothing advanced, and no number on the screen asks to."""
        played = [outcome for outcome in memory.inputs if not outcome.move.is_flow]
        answers = [outcome for outcome in played if outcome.answered]
        words = {text for outcome in played for text in outcome.words}
        log = {line for outcome in played for line in outcome.log}
        screens = any(outcome.discovered and outcome.area > 0.2 for outcome in played)
        advanced = any(outcome.rises for outcome in played) or len(words) > 1 or len(log) > 1 or screens
        counted = any(reading.role in (Role.SCORE, Role.STAGE) for reading in scene.numbers.values())
        if advanced or counted or len(answers) < HOLLOW_ANSWERS or len({o.move.kind for o in played}) < 3:
            return None
        summary = (
            f"{len(answers)} of {len(played)} inputs changed the picture, yet no text, screen or log line ever advanced"
        )
        return _fail(FailKind.HOLLOW, [_phenomenon(outcome) for outcome in answers[-6:]], summary)

    # -- pass -----------------------------------------------------------------------------------------------

    def _passed(self, memory: Memory, steps_left: int) -> VerdictClaim | None:
        evidence = self.loop.closed(memory)
        if evidence is not None:
            return _pass(memory, evidence)
        if self.loop.pending:
            return None
        for rises in _cycles(memory):
            key = rises[-1].key
            if memory.counters.quiet[key] == 0 or not _contrast(memory, key):
                continue
            if not _goal_allows(rises[-1], memory, steps_left):
                continue
            shown = ", ".join(f"'{rise.new.text}'" for rise in rises[-CYCLES:])
            return _pass(memory, f"a counter rose with inputs in {len(rises)} cycles ({shown}) and stood still without")
        return None


def _cycles(memory: Memory) -> list[list[Rise]]:
    """The counters that inputs made rise in three or more steps; one without a name needs one repeated cause."""
    found = []
    for role in (Role.SCORE, Role.OTHER):
        for rises in map(_heights, memory.counters.rises_of(role).values()):
            repeated = max(Counter(rise.cause for rise in rises).values())
            if len({rise.step for rise in rises}) >= CYCLES and (role is Role.SCORE or repeated >= CYCLES - 1):
                found.append(rises)
    return found


def _heights(rises: Sequence[Rise]) -> list[Rise]:
    """The rises to a height not reached before: points won back after a loss are no new cycle."""
    return [rise for i, rise in enumerate(rises) if all(rise.new.value > other.new.value for other in rises[:i])]


def _contrast(memory: Memory, key: str) -> bool:
    """Whether some input in play left the counter alone: one that rises with anything counts touches, not play."""
    return any(
        not outcome.move.is_flow and all(rise.key != key for rise in outcome.rises)
        for outcome in memory.inputs
        if outcome.step >= min(rise.step for rise in memory.counters.rises if rise.key == key)
    )


def _goal_allows(rise: Rise, memory: Memory, steps_left: int) -> bool:
    """A counter with a goal is played on to it while there are steps; a goal reached without an end is no loop."""
    goal = rise.new.goal
    since = sum(outcome.step > rise.step for outcome in memory.inputs)
    if goal is None:
        return True
    if rise.new.value >= goal:
        return False
    return steps_left <= LAST_STEPS + 1 or since > 3 * STUCK_AT_GOAL


def _pass(memory: Memory, evidence: str) -> VerdictClaim:
    steps = [outcome for outcome in memory.inputs if outcome.rises or (outcome.reward > 0.25 and outcome.answered)]
    shown = tuple(_phenomenon(outcome) for outcome in steps[-6:])
    return VerdictClaim(
        result=Verdict.PASS, loop_closed=True, phenomena=shown, summary=f"progress and a closed loop: {evidence}"
    )


def _fail(kind: FailKind, phenomena: Sequence[ClaimedPhenomenon], summary: str) -> VerdictClaim:
    return VerdictClaim(result=Verdict.FAIL, kind=kind, phenomena=tuple(phenomena[:MAX_PHENOMENA]), summary=summary)


def _undecided(memory: Memory, loop: Loop) -> VerdictClaim:
    answered = sum(outcome.answered for outcome in memory.inputs)
    rises = len(memory.counters.rises)
    summary = (
        f"undecided: {answered} of {len(memory.inputs)} inputs were answered, counters rose {rises} times, "
        f"{'an end card was seen' if loop.pending else 'no loop was seen to close'}; more than the explorer can judge"
    )
    shown = tuple(_phenomenon(outcome) for outcome in memory.inputs[-3:])
    return VerdictClaim(result=Verdict.DEGRADED, phenomena=shown, summary=summary)


def _phenomenon(outcome: Outcome) -> ClaimedPhenomenon:
    start = outcome.move.start
    x, y = (None, None) if start is None else (round(start.x), round(start.y))
    what = f"{outcome.move.describe()}: {outcome.describe()}"
    return ClaimedPhenomenon(step=outcome.step, x=x, y=y, what=what)
