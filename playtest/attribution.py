"""Was it the game or the tester? Each claimed phenomenon is tried again before a fail may stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from playtest.aiming import SAME_TAP, Miss, Try, meaning_of, tries_for
from playtest.errors import BrowserFault
from playtest.experiments import Experiments, Moment
from playtest.exploring.leaks import leaked
from playtest.exploring.scene import Scene, see
from playtest.observer import Observer
from playtest.pictures import Picture, decode
from playtest.ports import Point
from playtest.protocol.actions import Pointed, contact_point, describe
from playtest.protocol.coordinates import CoordinateSpace, Screen
from playtest.protocol.result import Aim
from playtest.protocol.verdict import ClaimedPhenomenon, Probe, ProbeResult

# Each probe takes a rerun of the roll; the first few tell whether a claim holds.
MAX_PROBED = 3
# Game time for the screen to answer one try.
PROBE_SETTLE_MS = 400.0


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
        worked = 0
        for claim in claims:
            if claim in self._known:
                found[claim] = self._known[claim]
                continue
            if worked >= MAX_PROBED:
                found[claim] = Probe(result=ProbeResult.UNTESTABLE, why=f"only {MAX_PROBED} claims are tried again")
                continue
            try:
                spent_ms = self.experiments.spent_ms
                found[claim] = self._known[claim] = await self._one(claim, moments)
                worked += self.experiments.spent_ms > spent_ms
            except BrowserFault as fault:
                why = f"the game could not be replayed: {fault.message}"
                found[claim] = Probe(result=ProbeResult.UNTESTABLE, why=why)
        return found

    @property
    def aim(self) -> Aim | None:
        """What the misses have in common, if there were any."""
        if not self.misses:
            return None
        return Aim(
            offsets=tuple(miss.offset for miss in self.misses), meaning=meaning_of(self.misses, self.space, self.screen)
        )

    async def _one(self, claim: ClaimedPhenomenon, moments: Sequence[Moment]) -> Probe:
        here = next((moment for moment in moments if moment.step == claim.step), None)
        after = next((moment for moment in moments if moment.step == claim.step + 1), None)
        for moment in (here, after):
            leak = next((text for text in moment.texts if leaked(text)), None) if moment else None
            if leak is not None:
                return Probe(result=ProbeResult.CONFIRMED, why=f"the screen shows the leaked value {leak[:60]!r}")
        if here is None or here.action is None:
            return Probe(result=ProbeResult.UNTESTABLE, why="no input was made at that step")
        if not isinstance(here.action, Pointed):
            return Probe(result=ProbeResult.UNTESTABLE, why=f"a {here.action.type} has no one spot to try again")
        if here.changed and await self._did_change(here, after, moments):
            return Probe(
                result=ProbeResult.UNTESTABLE,
                why="the input of that step did change the screen, so the claim is about something else",
            )
        return await self._try_again(here.action, moments, claim.step)

    async def _did_change(self, here: Moment, after: Moment | None, moments: Sequence[Moment]) -> bool:
        """Whether an input that seemed to change the screen did so, against the same moment without it."""
        if after is None:
            return True
        shown = decode(after.picture, here.ended_ms)
        return (await self.experiments.difference(moments, here.step, shown)).changed

    async def _try_again(self, action: Pointed, moments: Sequence[Moment], step: int) -> Probe:
        """Other ways to touch what was aimed at, one after another from the very moment, against no input at all."""
        async with self.experiments.moment_before(moments, step) as (_, observer):
            tries = tries_for(action, _scene(observer))
            looks: list[Picture] = []
            for number, other in enumerate(tries, 1):
                outcome = await observer.act(other.action, mouse=other.mouse, settle_ms=PROBE_SETTLE_MS)
                if observer.still and outcome.effect.changed:
                    return self._refuted(action, other, number)
                looks.append(observer.now.picture)
            still = observer.still
        if not still:
            # What moves by itself moves just so without the inputs: the first look that differs tells which answered.
            answered = await self.experiments.first_difference(moments, step, looks)
            if answered is not None:
                return self._refuted(action, tries[answered], answered + 1)
        words = ", ".join(other.words for other in tries[:6])
        return Probe(result=ProbeResult.CONFIRMED, why=f"nothing there answers: {words}", tries=len(tries))

    def _refuted(self, action: Pointed, answered: Try, tried: int) -> Probe:
        spot = Point(*(contact_point(answered.action) or (action.x, action.y)))
        if answered.words == SAME_TAP:
            return Probe(result=ProbeResult.FLAKY, why="the same tap is answered when it is made again", tries=tried)
        miss = Miss(Point(action.x, action.y), spot)
        self.misses.append(miss)
        return Probe(
            result=ProbeResult.REFUTED, why=f"{answered.words} answers", tries=tried, offset=miss.offset,
            answered_by=describe(answered.action) + (" by mouse" if answered.mouse else ""),
        )  # fmt: skip


def _scene(observer: Observer) -> Scene:
    return see(0, observer.now.picture.pixels, observer.now.texts)
