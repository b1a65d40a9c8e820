"""Playing a recorded roll again, without a tester: is it the same game still, and is the fault gone?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from playtest.errors import BrowserFault
from playtest.experiments import Experiments, Moment
from playtest.exploring.leaks import leaked
from playtest.observer import Observer, Seen
from playtest.pictures import Picture, decode, distance, picture_hash, signature
from playtest.policy.outcome import TELLING_FAULTS
from playtest.policy.progress import NEW_SCREEN_DISTANCE
from playtest.ports import Game
from playtest.protocol.actions import Pointed
from playtest.protocol.replay import Checked, Fate, StepCheck
from playtest.protocol.transcript import StepLine
from playtest.protocol.verdict import Phenomenon, ProbeResult

TEXTS_COMPARED = 60  # as many as a step's record keeps


@dataclass(slots=True)
class Replayed:
    """What came of each recorded step on the game at hand."""

    checks: list[StepCheck] = field(default_factory=list)
    before: dict[int, Seen] = field(default_factory=dict)
    changed: dict[int, bool] = field(default_factory=dict)
    moments: list[Moment] = field(default_factory=list)
    faults: set[str] = field(default_factory=set)
    ended_early: str | None = None
    game_ms: float = 0.0


async def replay(game: Game, lines: Sequence[StepLine], settle_ms: float, reaction_ms: float) -> Replayed:
    """Play the recorded inputs at the clock's full speed and compare each step's picture and texts."""
    done = Replayed()
    observer = Observer(game, settle_ms, reaction_ms)
    try:
        await observer.start()
        for line in lines:
            await _step(observer, line, done, game)
    except BrowserFault as fault:
        done.ended_early = fault.message
        done.faults.add(fault.kind)
    done.faults |= {fault.kind for fault in game.drain_faults()}
    done.game_ms = game.clock.now_ms
    return done


async def _step(observer: Observer, line: StepLine, done: Replayed, game: Game) -> None:
    seen = done.before[line.step] = observer.now
    texts = tuple(text.text for text in seen.texts)
    done.checks.append(
        StepCheck(
            step=line.step,
            pixels=picture_hash(seen.picture.pixels) == line.picture_hash,
            texts=texts[:TEXTS_COMPARED] == line.texts,
        )
    )
    await observer.picture_with_echo()
    began_ms = game.clock.now_ms
    if line.action is not None and line.effect is not None:
        outcome = await observer.act(line.action)
        began_ms = outcome.began_ms
        done.changed[line.step] = outcome.effect.changed
    done.moments.append(
        Moment(line.step, seen.picture.png, texts, line.action if line.effect else None, began_ms, game.clock.now_ms)
    )


async def fates(
    phenomena: Sequence[Phenomenon],
    lines: Sequence[StepLine],
    done: Replayed,
    recorded: dict[int, bytes],
    experiments: Experiments | None,
) -> list[Checked]:
    """What became of each recorded phenomenon. `recorded` are the clean pictures of the roll by step, as PNG."""
    by_step = {line.step: line for line in lines}
    found = []
    for phenomenon in phenomena:
        fate, why = await _fate(phenomenon, by_step, done, recorded, experiments)
        found.append(Checked(phenomenon=phenomenon, fate=fate, why=why))
    return found


async def _fate(
    phenomenon: Phenomenon,
    by_step: dict[int, StepLine],
    done: Replayed,
    recorded: dict[int, bytes],
    experiments: Experiments | None,
) -> tuple[Fate, str]:
    step = phenomenon.step
    astray = _astray(step, done, recorded)
    if phenomenon.fault in TELLING_FAULTS:
        return _fate_of_fault(phenomenon.fault, step, done, astray)
    if step not in done.before:
        return Fate.NOT_REACHED, done.ended_early or f"step {step} was not played"
    if astray is not None:
        return Fate.NOT_REACHED, astray
    for at in (step, step + 1):
        if at in by_step and any(leaked(text) for text in by_step[at].texts):
            return _fate_of_leak(at, done)
    line = by_step.get(step)
    if line is None or step not in done.changed or not _was_dead(phenomenon, line):
        return Fate.NOT_REACHED, "the record has no dead input at that step, so there is nothing to try again"
    return await _fate_of_dead_input(line, done, experiments)


def _was_dead(phenomenon: Phenomenon, line: StepLine) -> bool:
    """Nothing changed after it, or an experiment showed that what did would have changed without it too."""
    confirmed = phenomenon.probe is not None and phenomenon.probe.result is ProbeResult.CONFIRMED
    return line.effect is not None and (confirmed or not line.effect.changed)


async def _fate_of_dead_input(line: StepLine, done: Replayed, experiments: Experiments | None) -> tuple[Fate, str]:
    """A recorded input without effect, tried on the game at hand; what moves by itself is no answer."""
    if not done.changed[line.step]:
        return Fate.STILL_THERE, "the same input changes nothing here either"
    after = done.before.get(line.step + 1)
    if after is not None and experiments is not None:
        difference = await experiments.difference(done.moments, line.step, after.picture)
        if not difference.changed:
            return Fate.STILL_THERE, "what changes after the input changes without it too"
    where = f" at ({line.action.x:.0f}, {line.action.y:.0f})" if isinstance(line.action, Pointed) else ""
    return Fate.GONE, f"the same input{where} is answered now"


def _fate_of_leak(at: int, done: Replayed) -> tuple[Fate, str]:
    if at not in done.before:
        return Fate.NOT_REACHED, done.ended_early or f"step {at} was not played"
    leaks = [text.text for text in done.before[at].texts if leaked(text.text)]
    return (Fate.STILL_THERE, f"still shown: {leaks[0][:60]!r}") if leaks else (Fate.GONE, "no leaked value")


def _fate_of_fault(fault: str | None, step: int, done: Replayed, astray: str | None) -> tuple[Fate, str]:
    """Seen again anywhere it is there; not seen it is gone only where the inputs met the same screens."""
    if fault in done.faults:
        return Fate.STILL_THERE, f"{fault} again"
    if done.ended_early is not None or (done.checks and done.checks[-1].step < step):
        return Fate.NOT_REACHED, done.ended_early or f"step {step} was not played"
    return (Fate.NOT_REACHED, astray) if astray is not None else (Fate.GONE, f"no {fault} up to step {step}")


def _astray(step: int, done: Replayed, recorded: dict[int, bytes]) -> str | None:
    """Why the moment before a step is not the recorded one; None where it is, or where the record has no picture."""
    here = done.before.get(step)
    if here is None or step not in recorded:
        return None
    try:
        same = _same_screen(here.picture, recorded[step])
    except OSError:  # Pillow's own error for what is no picture is one
        return f"the recorded picture of step {step} can't be read"
    return None if same else f"before step {step} the screen is another one than in the record"


def _same_screen(here: Picture, recorded: bytes) -> bool:
    return distance(signature(here.pixels), signature(decode(recorded, 0.0).pixels)) < NEW_SCREEN_DISTANCE
