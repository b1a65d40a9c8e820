"""The first play on film: the roll's beginning played again, every frame of it kept, with and without the input.

Exact to a frame, under the clock `frames`, at the cost of about five fresh browsers, each for the few seconds of game
time up to the first effective input. Where nothing is held, the roll itself is filmed as it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from playtest.experiments import Experiments, Moment, advance_to
from playtest.firstplay import Exact, FirstInput
from playtest.pictures import TILE, Picture, Tiles, changed_tiles, decode, distance, signature
from playtest.policy.progress import NEW_SCREEN_DISTANCE
from playtest.policy.timekeeping import HALF_A_FRAME_MS
from playtest.ports import Film
from playtest.protocol.actions import Action, Key, LongPress, Tap, contact_point

# What lies further back than this is not filmed.
MAX_FILMED_MS = 10_000.0
# After the change that the roll saw, this much more is filmed.
TAIL_MS = 250.0
LONGEST_WATCH_MS = 2000.0
# What moved so shortly before the input moves by itself.
AMBIENT_MS = 500.0
# The thing that was tapped is looked for within this distance of the tap.
NEAR_PX = 60
# A touch as short as one can be, to try when the screen begins to answer.
QUICK_MS = 16
HOLD_FACTOR = 3
MAX_TRIALS = 9
FRAME_MS = 2 * HALF_A_FRAME_MS
# Events that a touch gives when it begins, and those that it gives when it ends, a mouse's made-up ones among them.
BEGINNINGS = frozenset({"touchstart", "pointerdown"})
ENDINGS = frozenset({"touchend", "pointerup", "mousedown", "mouseup", "click"})


async def shoot(experiments: Experiments, moments: Sequence[Moment], first: FirstInput) -> Exact | None:
    """When the first effective input could have been made, and how soon it was answered; None where no film shows it.

    Raises BrowserFault.
    """
    studio = _Studio(experiments, [moment for moment in moments if moment.step < first.step], first)
    await studio.film_without_input()
    answer = await studio.answer()
    if answer is None:
        return None
    playable_ms, how_playable = await studio.playable(answer)
    return Exact(playable_ms, answer.feedback_ms, how_playable, answer.how)


@dataclass(frozen=True, slots=True)
class _Answer:
    """How soon the input was answered, and by which of its events (0 its beginning, -1 its end)."""

    feedback_ms: float
    event: int
    how: str


class _Studio:
    """Films one roll's beginning again and again. Frames are known by their game time."""

    def __init__(self, experiments: Experiments, past: Sequence[Moment], first: FirstInput) -> None:
        self._experiments = experiments
        self._past = past
        self._first = first
        self._idle: dict[float, bytes] = {}
        seen_ms = first.effect.first_change_ms
        self._watch_ms = min(LONGEST_WATCH_MS, (LONGEST_WATCH_MS if seen_ms is None else seen_ms) + TAIL_MS)

    async def film_without_input(self) -> None:
        """Every frame up to the input, and as many after it as are watched with it."""
        first, from_ms = self._first, self._first.began_ms - MAX_FILMED_MS
        async with self._experiments.fresh() as game:
            early = [moment for moment in self._past if moment.began_ms < from_ms]
            await self._experiments.fast_forward(game, early)
            await advance_to(game, from_ms)
            async with game.film() as film:
                await self._experiments.fast_forward(game, self._past[len(early) :])
                await advance_to(game, first.began_ms + self._watch_ms + TAIL_MS)
        self._idle = _by_time(film)

    async def answer(self) -> _Answer | None:
        """The first frame that differs from what no input would have given, counted from the event that it follows."""
        action = self._first.action
        film = await self._film_with(action, self._first.began_ms)
        changed_ms = self._first_change(film)
        if changed_ms is None or not film.events:
            return None
        began_ms, ended_ms = film.events[0], film.events[-1]
        if changed_ms < ended_ms or len(film.events) == 1:
            return _Answer(changed_ms - began_ms, 0, "filmed: from the input's beginning to the first changed frame")
        held = _held_longer(action, ended_ms - began_ms)
        if held is not None:
            other = await self._film_with(held, self._first.began_ms)
            moved_ms = self._first_change(other)
            if moved_ms is not None and abs(moved_ms - changed_ms) < abs(moved_ms - changed_ms - _longer(other, film)):
                return _Answer(changed_ms - began_ms, 0, "filmed: from the touch, however long it is held")
        return _Answer(changed_ms - ended_ms, -1, "filmed: from the input's end to the first changed frame")

    async def playable(self, answer: _Answer) -> tuple[float, str]:
        """The first frame of the screen as it was tapped, tried; where that gets no answer, when taps begin to."""
        times = [ms for ms in self._idle if ms <= self._first.began_ms + HALF_A_FRAME_MS]
        number = first_like_the_last(self._idle, times, self._first)
        step = self._first.step
        if number == len(times) - 1 or await self._answers_at(times[number], answer.event) is not None:
            how = f"filmed: the first frame of the screen as step {step} found it, and it answers"
            return times[number], how
        unanswered, answered = number, len(times) - 1
        found_ms, trials = self._first.began_ms, 1
        while answered - unanswered > 1 and trials < MAX_TRIALS:
            middle = (unanswered + answered) // 2
            at_ms = await self._answers_at(times[middle], answer.event)
            trials += 1
            if at_ms is None:
                unanswered = middle
            else:
                answered, found_ms = middle, at_ms
        return (
            found_ms,
            f"found by {trials} earlier tries of step {step}'s input: before this it is not answered",
        )

    async def _answers_at(self, game_ms: float, event: int) -> float | None:
        """Whether a quick input at that time is answered: when its event came, or None."""
        action = self._first.action
        quick = LongPress(x=action.x, y=action.y, ms=QUICK_MS) if isinstance(action, Tap) else action
        film = await self._film_with(quick, game_ms)
        return film.events[event] if film.events and self._first_change(film) is not None else None

    async def _film_with(self, action: Action, at_ms: float) -> Film:
        async with self._experiments.fresh() as game:
            await self._experiments.fast_forward(game, [m for m in self._past if m.ended_ms <= at_ms + FRAME_MS])
            await advance_to(game, at_ms)
            async with game.film() as film:
                await game.perform(action)
                await advance_to(game, at_ms + self._watch_ms)
        return film

    def _first_change(self, film: Film) -> float | None:
        """The time of the first frame that differs, in the region of the effect, from the same frame without input."""
        region = self._first.effect.region
        for ms, png in film.frames:
            idle = self._idle.get(_key(ms))
            if idle is None or idle == png:
                continue
            apart = changed_tiles(decode(idle, ms), decode(png, ms))
            if (apart & _within(region, apart.shape)).any():
                return ms
        return None


def from_live_film(film: Film, first: FirstInput) -> Exact | None:
    """The same from a film of the roll itself, where nothing was held: as exact as its frames are close.

    A touch is held for some frames. Which of its ends was answered is told by what the page listens for; where it
    listens for both, and both came before the change, it is counted from their middle.
    """
    events = [ms for ms in film.events if ms >= first.began_ms - FRAME_MS]
    before = {ms: image for ms, image in film.frames if events and ms < events[0]}
    if not before:
        return None
    times = sorted(before)
    playable_ms = times[first_like_the_last(before, times, first)]
    how = f"filmed as it was shown: the first frame of the screen as step {first.step} found it"
    changed_ms = _first_change_live(film, before[times[-1]], _moving(before, times), first, events[0])
    if changed_ms is None:
        return Exact(playable_ms, first.effect.first_change_ms, how, "at the latest: the first picture that differed")
    began_ms, ended_ms = events[0], events[1] if len(events) > 1 else events[0]
    ends = {end for end, types in (("begin", BEGINNINGS), ("end", ENDINGS)) if film.heard & types}
    if changed_ms < ended_ms or began_ms == ended_ms or ends == {"begin"}:
        return Exact(playable_ms, changed_ms - began_ms, how, "filmed as it was shown: from the input's beginning")
    if ends == {"end"}:
        return Exact(playable_ms, changed_ms - ended_ms, how, "filmed as it was shown: from the input's end")
    half_ms = (ended_ms - began_ms) / 2
    words = f"filmed as it was shown: from the middle of the touch, within {half_ms:.0f} ms and a frame"
    return Exact(playable_ms, changed_ms - began_ms - half_ms, how, words)


def _first_change_live(film: Film, last: bytes, own: Tiles, first: FirstInput, since_ms: float) -> float | None:
    shown = decode(last, since_ms)
    region = _within(first.effect.region, own.shape) & ~own
    for ms, image in film.frames:
        if ms >= since_ms and image != last and (changed_tiles(shown, decode(image, ms)) & region).any():
            return ms
    return None


def first_like_the_last(frames: dict[float, bytes], times: Sequence[float], first: FirstInput) -> int:
    """Which frame is the first of the last screen on which the tapped thing looked as when it was tapped."""
    last = decode(frames[times[-1]], times[-1])
    own = _moving(frames, times)
    point = contact_point(first.action)
    box = None if point is None else (point[0] - NEAR_PX, point[1] - NEAR_PX, 2 * NEAR_PX, 2 * NEAR_PX)
    shape = _within(box, own.shape) & ~own
    look = _cached(lambda png: _likeness(last, decode(png, 0.0), shape))
    found = len(times) - 1
    for number in range(len(times) - 1, -1, -1):
        same_screen, same_thing = look(frames[times[number]])
        if not same_screen:
            break
        if same_thing:
            found = number
    return found


def _moving(frames: dict[float, bytes], times: Sequence[float]) -> Tiles:
    """The tiles that moved by themselves shortly before the last of these frames."""
    last = decode(frames[times[-1]], times[-1])
    moving = np.zeros_like(changed_tiles(last, last))
    recent = [ms for ms in times if ms > times[-1] - AMBIENT_MS]
    for before, after in pairwise(recent):
        if frames[before] != frames[after]:
            moving |= changed_tiles(decode(frames[before], before), decode(frames[after], after))
    return moving


def _longer(film: Film, than: Film) -> float:
    """By how much later the input of one film ended than another's."""
    return film.events[-1] - than.events[-1]


def _by_time(film: Film) -> dict[float, bytes]:
    return {_key(ms): png for ms, png in film.frames}


def _key(ms: float) -> float:
    return round(ms, 3)


def _within(box: tuple[float, float, float, float] | None, shape: tuple[int, ...]) -> Tiles:
    """The tiles that a box touches; all of them without a box."""
    if box is None:
        return np.ones(shape, dtype=bool)
    tiles = np.zeros(shape, dtype=bool)
    x, y, width, height = box
    top, left = max(0, int(y // TILE)), max(0, int(x // TILE))
    tiles[top : int((y + height) // TILE) + 1, left : int((x + width) // TILE) + 1] = True
    return tiles


def _held_longer(action: Action, held_ms: float) -> Action | None:
    """The same input with a longer hold, where it has one."""
    if isinstance(action, Tap):
        return LongPress(x=action.x, y=action.y, ms=round(held_ms) * HOLD_FACTOR)
    if isinstance(action, Key):
        return action.model_copy(update={"ms": round(held_ms) * HOLD_FACTOR})
    return None


def _likeness(last: Picture, other: Picture, still: Tiles) -> tuple[bool, bool]:
    """Whether it is the same screen, and whether the tapped thing on it looks the same."""
    same = distance(signature(last.pixels), signature(other.pixels)) < NEW_SCREEN_DISTANCE
    return same, same and not (changed_tiles(last, other) & still).any()


def _cached(look: Callable[[bytes], tuple[bool, bool]]) -> Callable[[bytes], tuple[bool, bool]]:
    """Equal pictures are looked at once."""
    seen: dict[bytes, tuple[bool, bool]] = {}

    def cached(png: bytes) -> tuple[bool, bool]:
        if png not in seen:
            seen[png] = look(png)
        return seen[png]

    return cached
