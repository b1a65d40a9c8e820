"""Was it the game or the tester? Each claimed phenomenon is tried again before a fail may stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from playtest.aiming import SAME_STROKE, SAME_TAP, Miss, Try, meaning_of, strokes_for, tries_for
from playtest.errors import BrowserFault
from playtest.experiments import Experiments, Moment
from playtest.exploring.leaks import leaked
from playtest.exploring.scene import see
from playtest.observer import Observer
from playtest.pictures import decode, distance, signature
from playtest.policy.progress import NEW_SCREEN_DISTANCE
from playtest.ports import Point
from playtest.protocol.actions import Action, Drag, Pointed, Stroke, Swipe, contact_point, describe
from playtest.protocol.coordinates import CoordinateSpace, Screen
from playtest.protocol.result import Aim
from playtest.protocol.verdict import ClaimedPhenomenon, Probe, ProbeResult
from playtest.text_changes import pattern_of

# The first few tell whether a claim holds.
MAX_PROBED = 6
# Each takes the roll's game time up to the claim, once or twice.
MAX_RERUNS = 3
# Game time for the screen to answer one try.
PROBE_SETTLE_MS = 400.0


class _Attempt(NamedTuple):
    """One other way to touch what a claim is about."""

    claim: ClaimedPhenomenon
    action: Pointed | Stroke
    tried: Try
    number: int


@dataclass(slots=True)
class Prober:
    """Tries claims again. `misses` are the tester's taps next to what it aimed at."""

    experiments: Experiments
    space: CoordinateSpace
    screen: Screen
    misses: list[Miss] = field(default_factory=list)
    _known: dict[ClaimedPhenomenon, Probe] = field(default_factory=dict)

    async def probe(
        self, claims: Sequence[ClaimedPhenomenon], moments: Sequence[Moment]
    ) -> dict[ClaimedPhenomenon, Probe]:
        """A result for each claim."""
        found: dict[ClaimedPhenomenon, Probe] = {}
        untried: list[ClaimedPhenomenon] = []
        for claim in claims:
            try:
                known = self._known.get(claim) or await self._by_the_record(claim, moments)
            except BrowserFault as fault:
                found[claim] = _untestable(f"the game could not be replayed: {fault.message}")
                continue
            if known is None:
                untried.append(claim)
            else:
                found[claim] = self._known[claim] = known
        tried = await self._try_all(untried[:MAX_PROBED], moments)
        for claim in untried:
            found[claim] = tried.get(claim) or _untestable(f"only {MAX_PROBED} claims are tried again")
        return {claim: found[claim] for claim in claims}

    async def _try_all(
        self, claims: Sequence[ClaimedPhenomenon], moments: Sequence[Moment]
    ) -> dict[ClaimedPhenomenon, Probe]:
        """Claims about one screen are tried in one rerun, until something answers and so makes another screen of it."""
        found: dict[ClaimedPhenomenon, Probe] = {}
        for _ in range(MAX_RERUNS):
            left = [claim for claim in claims if claim not in found]
            if not left:
                break
            group = _on_one_screen(left, moments)
            try:
                results = await self._try_group(group, moments)
                found |= results
                self._known |= results
            except BrowserFault as fault:
                found[group[0]] = _untestable(f"the game could not be replayed: {fault.message}")
        for claim in claims:
            found.setdefault(claim, _untestable(f"only {MAX_RERUNS} screens are played to again"))
        return found

    @property
    def aim(self) -> Aim | None:
        """What the misses have in common, if there were any."""
        if not self.misses:
            return None
        return Aim(
            offsets=tuple(miss.offset for miss in self.misses), meaning=meaning_of(self.misses, self.space, self.screen)
        )

    async def _by_the_record(self, claim: ClaimedPhenomenon, moments: Sequence[Moment]) -> Probe | None:
        """What the record alone says of a claim; None when it takes another try. Raises BrowserFault."""
        here = next((moment for moment in moments if moment.step == claim.step), None)
        after = next((moment for moment in moments if moment.step == claim.step + 1), None)
        for moment in (here, after):
            leak = next((text for text in moment.texts if leaked(text)), None) if moment else None
            if leak is not None:
                return Probe(result=ProbeResult.CONFIRMED, why=f"the screen shows the leaked value {leak[:60]!r}")
        if here is None or here.action is None:
            return _untestable("no input was made at that step")
        if not isinstance(here.action, Pointed | Stroke):
            return _untestable(f"a {here.action.type} has no one spot to try again")
        if here.changed and await self._did_change(here, after, moments):
            return _untestable("the input of that step did change the screen, so the claim is about something else")
        return None

    async def _did_change(self, here: Moment, after: Moment | None, moments: Sequence[Moment]) -> bool:
        """Whether an input that seemed to change the screen did so, against the same moment without it."""
        if after is None:
            return True
        shown = decode(after.picture, here.ended_ms)
        return (await self.experiments.difference(moments, here.step, shown)).changed

    async def _try_group(
        self, group: Sequence[ClaimedPhenomenon], moments: Sequence[Moment]
    ) -> dict[ClaimedPhenomenon, Probe]:
        """Other ways to touch what was aimed at, one after another from the first claim's moment, against no input."""
        step = group[0].step
        actions = {moment.step: moment.action for moment in moments}
        made: list[_Attempt] = []
        async with (
            self.experiments.beside(moments, step) as beside,
            self.experiments.moment_before(moments, step) as (_, observer),
        ):
            for claim in group:
                action = actions[claim.step]
                assert isinstance(action, Pointed | Stroke), "the others are told from the record"
                for number, other in enumerate(_tries(action, observer), 1):
                    outcome = await observer.act(other.action, mouse=other.mouse, settle_ms=PROBE_SETTLE_MS)
                    made.append(_Attempt(claim, action, other, number))
                    # What moves by itself moves just so without the inputs, and a screen at rest may change by itself.
                    beside.look(observer.now.picture, moves=outcome.effect.changed or not observer.still)
                    if beside.first is not None:
                        return self._results(made, beside.first)
            return self._results(made, await beside.result())

    def _results(self, made: Sequence[_Attempt], answered: int | None) -> dict[ClaimedPhenomenon, Probe]:
        """What the attempts say, the one that was answered among them; those after it saw another screen."""
        found: dict[ClaimedPhenomenon, Probe] = {}
        counted = made if answered is None else made[: answered + 1]
        for claim in dict.fromkeys(attempt.claim for attempt in counted):
            own = [attempt for attempt in counted if attempt.claim is claim]
            words = ", ".join(dict.fromkeys(attempt.tried.words for attempt in own))
            found[claim] = Probe(result=ProbeResult.CONFIRMED, why=f"nothing there answers: {words}", tries=len(own))
        if answered is not None:
            last = made[answered]
            found[last.claim] = self._refuted(last.action, last.tried, last.number)
        return found

    def _refuted(self, action: Pointed | Stroke, answered: Try, tried: int) -> Probe:
        by = describe(answered.action) + (" by mouse" if answered.mouse else "")
        if isinstance(action, Stroke):
            return _of_stroke(answered, tried, by)
        spot = Point(*(contact_point(answered.action) or (action.x, action.y)))
        if answered.words == SAME_TAP:
            return Probe(result=ProbeResult.FLAKY, why="the same tap is answered when it is made again", tries=tried)
        miss = Miss(Point(action.x, action.y), spot)
        self.misses.append(miss)
        return Probe(
            result=ProbeResult.REFUTED,
            why=f"{answered.words} answers",
            tries=tried,
            offset=miss.offset,
            answered_by=by,
        )


def _tries(action: Action, observer: Observer) -> list[Try]:
    if isinstance(action, Swipe | Drag):
        return strokes_for(action)
    assert isinstance(action, Pointed), "only these are tried"
    return tries_for(action, see(0, observer.now.picture.pixels, observer.now.texts))


def _of_stroke(answered: Try, tried: int, by: str) -> Probe:
    """A finger's stroke that is only answered by mouse is the game's fault: people have fingers."""
    if answered.mouse:
        why = "no finger's stroke is answered, only the mouse's: the page's own panning may take the touch away"
        return Probe(result=ProbeResult.CONFIRMED, why=why, tries=tried, answered_by=by)
    if answered.words == SAME_STROKE:
        return Probe(result=ProbeResult.FLAKY, why="the same stroke is answered when it is made again", tries=tried)
    return Probe(result=ProbeResult.REFUTED, why=f"{answered.words} answers", tries=tried, answered_by=by)


def _untestable(why: str) -> Probe:
    return Probe(result=ProbeResult.UNTESTABLE, why=why)


def _on_one_screen(claims: Sequence[ClaimedPhenomenon], moments: Sequence[Moment]) -> list[ClaimedPhenomenon]:
    """The earliest claim and those whose moments show the same screen with the same words."""
    by_step = {moment.step: moment for moment in moments}
    first = min(claims, key=lambda claim: claim.step)
    shown = by_step[first.step]
    words = {pattern_of(text) for text in shown.texts}
    look = signature(decode(shown.picture, 0.0).pixels)
    group = [first]
    for claim in claims:
        other = by_step[claim.step]
        if claim is not first and words == {pattern_of(text) for text in other.texts}:
            near = distance(look, signature(decode(other.picture, 0.0).pixels)) < NEW_SCREEN_DISTANCE
            group += [claim] if near else []
    return group
