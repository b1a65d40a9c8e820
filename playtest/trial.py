"""A verdict before it stands: the referee's guards, then the experiments that a verdict hangs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from playtest.attribution import Prober
from playtest.briefing import Briefing, Says
from playtest.errors import BrowserFault
from playtest.experiments import Experiments, Moment
from playtest.filming import from_live_film, shoot
from playtest.firstplay import FirstPlayWatch
from playtest.journal import Journal
from playtest.policy.causes import outside_cause, unreadable
from playtest.policy.outcome import Ending
from playtest.ports import Game, PageFault
from playtest.protocol.actions import Action
from playtest.protocol.coordinates import CoordinateSpace, Screen
from playtest.protocol.result import Aim, Control
from playtest.protocol.verdict import Attribution, ClaimedPhenomenon, Probe, ProbeResult, Verdict, VerdictClaim
from playtest.referee import Referee

# Degraded reasons that say something of the tester, or of what carries its words.
TESTER_REASONS = frozenset({"refuted_fail", "unsupported_pass", "unsupported_fail", "unparseable", "script_ended"})
# A run that is out of time is `interrupted` here: a `timeout` is the endpoint's.
UNKNOWN_REASONS = frozenset({"budget", "undecided", "interrupted"})


@dataclass(slots=True)
class Trial:
    """Judges claims. Without `experiments` (a clock that can't repeat a game) only the referee's guards hold."""

    referee: Referee
    journal: Journal
    say: Says
    briefing: Briefing
    experiments: Experiments | None
    space: CoordinateSpace
    screen: Screen
    control: Control | None = None
    probes: dict[ClaimedPhenomenon, Probe] = field(default_factory=dict)
    probe_ms: float = 0.0
    film_ms: float = 0.0
    _prober: Prober | None = None
    _told: bool = False

    async def judge(
        self, claim: VerdictClaim, *, actions: list[Action], effective: int, page_is_up: bool, moments: Sequence[Moment]
    ) -> Ending | None:
        """The ending that a claim brings, or None when it is sent back and play goes on."""
        cause = outside_cause(self.journal.faults, effective)
        if claim.result is Verdict.FAIL and cause is not None:
            self.referee.claim = claim
            return cause
        supported = effective > 0
        if claim.result is Verdict.PASS and supported:
            await self._control(moments)
            supported = self.control is None or self.control.same < self.control.steps
        ending = self.referee.verdict(claim, actions, supported, page_is_up)
        if ending is None or ending.verdict is not Verdict.FAIL or not page_is_up:
            return ending
        await self._control(moments)
        if not await self._stands(claim, moments):
            return self._refuted(ending)
        confirmed = any(probe.result is ProbeResult.CONFIRMED for probe in self.probes.values())
        return (None if confirmed else unreadable(self.journal.faults)) or ending

    @property
    def aim(self) -> Aim | None:
        """What the tester's misses have in common."""
        return self._prober.aim if self._prober is not None else None

    @property
    def spent_ms(self) -> float:
        """Wall time that experiments took."""
        return self.experiments.spent_ms if self.experiments is not None else 0.0

    def attribution(self, ending: Ending) -> Attribution | None:
        """Whose fault it is that the roll did not pass."""
        if ending.verdict is Verdict.PASS:
            return None
        if ending.verdict is Verdict.FAIL:
            results = {probe.result for probe in self.probes.values()}
            runner_saw = self.referee.claim is None  # the page died; no tester's word is in it
            return Attribution.GAME if runner_saw or ProbeResult.CONFIRMED in results else Attribution.UNDETERMINED
        if ending.reason in TESTER_REASONS:
            return Attribution.TESTER
        return Attribution.UNDETERMINED if ending.reason in UNKNOWN_REASONS else Attribution.HARNESS

    async def close(self, watch: FirstPlayWatch, game: Game, moments: Sequence[Moment], *, film: bool) -> None:
        """Complete the record of a roll that was played to an ending: its control, its first play on film."""
        if self.control is None and game.alive:
            await self._control(moments)
        if any(fault.kind == "audio_gate" for fault in self.journal.faults):
            await self._with_sound(moments)
        if film:
            await self._film(watch, game, moments)

    async def _film(self, watch: FirstPlayWatch, game: Game, moments: Sequence[Moment]) -> None:
        """Tell from a film when the game was playable, where the clock allows it."""
        if watch.first is None:
            return
        before_ms = self.spent_ms
        try:
            if self.experiments is not None:
                watch.exact = await shoot(self.experiments, moments, watch.first)
            elif (live := await game.film_so_far()) is not None:
                watch.exact = from_live_film(live, watch.first)
        except BrowserFault as fault:
            self._note("the first play could not be filmed", fault)
        finally:
            self.film_ms = self.spent_ms - before_ms

    async def _control(self, moments: Sequence[Moment]) -> None:
        if self.experiments is None or len(moments) < 2:
            return
        try:
            self.control = await self.experiments.control(moments)
        except BrowserFault as fault:
            self._note("the control could not be run", fault)

    async def _with_sound(self, moments: Sequence[Moment]) -> None:
        """Whether it is its sound that the game waits for; said in the record."""
        if self.experiments is None or not moments:
            return
        try:
            other = await self.experiments.with_sound(moments)
        except BrowserFault as fault:
            self._note("the game could not be tried with sound allowed from the start", fault)
            return
        found = "the screen is another one: it waits for its sound to be unlocked" if other else "nothing is different"
        self.journal.fault(PageFault("experiment", f"with sound allowed before the first touch {found}"))

    async def _stands(self, claim: VerdictClaim, moments: Sequence[Moment]) -> bool:
        """Whether a fail survives its claims being tried again: something is refuted and nothing confirmed, or not."""
        if self.experiments is None:
            return True
        if self._prober is None:
            self._prober = Prober(self.experiments, self.space, self.screen)
        before_ms = self.spent_ms
        self.probes = await self._prober.probe(claim.phenomena, moments)
        self.probe_ms += self.spent_ms - before_ms
        results = {probe.result for probe in self.probes.values()}
        return ProbeResult.REFUTED not in results or bool(results & {ProbeResult.CONFIRMED, ProbeResult.FLAKY})

    def _refuted(self, ending: Ending) -> Ending | None:
        """Tell the tester once what answers; a second time the roll is degraded."""
        claim, probe = next((c, p) for c, p in self.probes.items() if p.result is ProbeResult.REFUTED)
        aim = self.aim
        if self._told or self.referee.budget.left(self.journal.step) == 0:
            why = f"the tester says fail, but the game answers next to where it touched: {probe.why}"
            return Ending(
                Verdict.DEGRADED, reason="refuted_fail", message=f"{why}. {aim.meaning if aim else ''}".strip()
            )
        self._told = True
        dx, dy = probe.offset or (0.0, 0.0)
        x, y = self.briefing.place((claim.x or 0.0) + dx, (claim.y or 0.0) + dy)
        self.referee.send_back(
            "refuted_fail",
            self.say("refuted_fail", step=claim.step, what=probe.why, x=x, y=y, dx=f"{dx:+.0f}", dy=f"{dy:+.0f}"),
        )
        return None

    def _note(self, what: str, fault: BrowserFault) -> None:
        self.journal.fault(PageFault("experiment", f"{what}: {fault.message}"))
