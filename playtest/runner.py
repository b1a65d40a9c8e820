"""One roll: the step loop from boot to a verdict.

budget → hold the clock → capture → overlay → ask the tester → charge usage → guards → act → run the clock until the
screen settles → measure the effect → write the transcript line (in `finally`).
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from typing import Any

from playtest.briefing import Briefing, Done, Says
from playtest.errors import BrowserFault, ReplyRefused, TesterFault
from playtest.experiments import Experiments, Moment
from playtest.firstplay import LIMITS, FirstInput, FirstPlayWatch, Limits
from playtest.floor import BOOT_MS, FloorWatch
from playtest.journal import Journal
from playtest.observer import Observer, Outcome, Seen
from playtest.overlay import StripText, encode, new_canary, rule
from playtest.pictures import is_flat, picture_hash
from playtest.policy.budget import Budget
from playtest.policy.causes import cannot_boot, outside_cause
from playtest.policy.outcome import Ending, phenomena_of
from playtest.policy.progress import Progress
from playtest.policy.refusals import distinct_taps
from playtest.policy.timekeeping import Timekeeping
from playtest.ports import Decision, Game, LogEntry, PageFault, RollSink, Tester, View
from playtest.protocol.actions import Action, Wait, contact_point, describe
from playtest.protocol.coordinates import CoordinateSpace
from playtest.protocol.result import Roll
from playtest.protocol.transcript import BudgetLine, EndLine, StartLine, StepLine
from playtest.protocol.usage import Cost, Usage
from playtest.protocol.verdict import Verdict
from playtest.referee import RAW_LIMIT, Referee
from playtest.trial import Trial

TEXTS_KEPT = 60
LOG_KEPT = 40
MAX_HANGS = 2


@dataclass(frozen=True, slots=True)
class RollPlan:
    """What a roll is played with. Times in ms."""

    gid: str
    number: int
    seed: int
    url: str
    game: str
    locale: str
    start_date: str
    steps: int
    max_steps: int
    settle_ms: float = 1500.0
    reaction_ms: float = 0.0
    limits: Limits = LIMITS
    film: bool = True
    boot_ms: float = BOOT_MS


@dataclass(slots=True)
class Step:
    """One step's record in the making."""

    fields: dict[str, Any] = field(default_factory=dict)
    log: list[LogEntry] = field(default_factory=list)


class RollRunner:
    """Plays one roll. `game` is opened already; `close` of game and tester is the caller's."""

    def __init__(
        self,
        plan: RollPlan,
        *,
        game: Game,
        tester: Tester,
        sink: RollSink,
        journal: Journal,
        say: Says,
        canary_chance: random.Random,
        experiments: Experiments | None = None,
    ) -> None:
        self._plan = plan
        self._game = game
        self._tester = tester
        self._sink = sink
        self._journal = journal
        self._say = say
        self._chance = canary_chance
        self._space = CoordinateSpace(tester.info.coordinate_space)
        self._briefing = Briefing(say, game.screen, self._space)
        self._observer = Observer(game, plan.settle_ms, plan.reaction_ms)
        self._budget = Budget(plan.steps, plan.max_steps)
        self._referee = Referee(journal, say, self._briefing, self._budget)
        self._trial = Trial(
            self._referee, journal, say, self._briefing, experiments, space=self._space, screen=game.screen
        )
        self._moments: list[Moment] = []
        self._progress = Progress()
        self._first_play = FirstPlayWatch(plan.limits)
        self.floor = FloorWatch(plan.boot_ms)
        self.roll: Roll | None = None
        self._pending_log: list[LogEntry] = []
        self._last: Done | None = None
        self._actions: list[Action] = []
        self._pictures: dict[int, str] = {}
        self._effective = 0
        self._hangs = 0
        self._time = Timekeeping()
        self._charged: tuple[Usage, Cost] = tester.spent
        self._started_with: tuple[Usage, Cost] = tester.spent
        self._ending: Ending | None = None

    # -- the loop ----------------------------------------------------------------------------------------------

    async def play(self, boot_fault: BrowserFault | None = None) -> Roll:
        """Play to an ending and write the roll's record; `boot_fault` is why the game never came up.

        Raises EvidenceError, and CancelledError after the record was closed.
        """
        plan = self._plan
        self._journal.write(
            StartLine,
            gid=plan.gid,
            roll=plan.number,
            seed=plan.seed,
            clock=self._game.clock.name,
            screen=self._game.screen,
            start_date=plan.start_date,
            game=plan.game,
            locale=plan.locale,
            settle_ms=plan.settle_ms,
            reaction_ms=plan.reaction_ms,
            url=plan.url,
            tester=self._tester.info.name,
            budget=plan.steps,
            max_budget=plan.max_steps,
        )
        try:
            await self._boot(boot_fault)
            while self._ending is None:
                await self._step()
            await self._trial.close(self._first_play, self._game, self._moments, film=plan.film)
        except TesterFault as fault:
            self._journal.fault(PageFault(f"tester_{fault.reason}", fault.message))
            self._ending = Ending(Verdict.DEGRADED, reason=fault.reason, message=fault.message)
        except BrowserFault as fault:
            self._ending = self._page_is_gone(fault)
        except BaseException:
            self._ending = Ending(Verdict.DEGRADED, reason="interrupted", message="the run was stopped")
            raise
        finally:
            self.roll = self._close()
        return self.roll

    async def _boot(self, fault: BrowserFault | None) -> None:
        if fault is not None:
            raise fault
        self.floor.opened(await self._game.vitals(), self._game.clock.now_ms)
        self.floor.answered(await self._observer.start())
        seen = self._observer.now
        self.floor.looked(seen.picture, await self._game.vitals())
        self._progress.start(seen.picture, self._take_log())
        self._take_faults()
        self._ending = cannot_boot(self._journal.faults, blank=is_flat(seen.picture.pixels) and not seen.texts)

    async def _step(self) -> None:
        if self._budget.left(self._journal.step) == 0:
            self._journal.write(BudgetLine, budget=self._budget.allowed, why="no step is left and there is no verdict")
            self._ending = Ending(Verdict.DEGRADED, reason="budget", message="out of steps without a verdict")
            return
        self._journal.step += 1
        step = Step()
        try:
            decision = await self._decide(step)
            if decision.reply.verdict is not None:
                self._remember(None, self._game.clock.now_ms, changed=False)
                self._ending = await self._trial.judge(
                    decision.reply.verdict,
                    actions=self._actions,
                    effective=self._effective,
                    page_is_up=self._game.alive,
                    moments=self._moments,
                )
            elif decision.reply.action is not None:
                await self._act(decision.reply.action, step)
        finally:
            self._write_step(step)

    async def _decide(self, step: Step) -> Decision:
        """A decision whose picture arrived. Raises TesterFault."""
        await self._game.clock.hold()
        for attempt in itertools.count(1):
            view, canary = await self._look(step, attempt)
            thinking, game_ms = self._journal.wall_ms, self._game.clock.now_ms
            try:
                decision = await self._tester.decide(view)
            except ReplyRefused as refused:
                self._referee.unusable(refused)
                continue
            finally:
                thought = self._journal.wall_ms - thinking
                self._time.thought(thought, self._game.clock.now_ms - game_ms)
                usage, cost = self._charge()
                step.fields["usage"] = step.fields.get("usage", Usage()) + usage
                step.fields["cost"] = step.fields["cost"].plus(cost) if "cost" in step.fields else cost
                step.fields["thought_ms"] = round(step.fields.get("thought_ms", 0.0) + thought, 1)
            self._note_decision(step, decision)
            if not self._tester.reads_canary or self._referee.picture_arrived(decision, canary):
                return decision
        raise AssertionError("unreachable: the referee ends endless attempts")

    async def _act(self, action: Action, step: Step) -> None:
        self._actions.append(action)
        before = self._observer.now
        try:
            outcome = await self._observer.act(action)
        except BrowserFault as fault:
            await self._survive(fault, action)
            return
        self._remember(action, outcome.began_ms, changed=outcome.effect.changed, before=before)
        self._measure(action, outcome, step)

    def _remember(self, action: Action | None, began_ms: float, *, changed: bool, before: Seen | None = None) -> None:
        """Keep the step as a moment that experiments can come back to."""
        seen = before or self._observer.now
        texts = tuple(text.text for text in seen.texts)
        self._moments.append(
            Moment(self._journal.step, seen.picture.png, texts, action, began_ms, self._game.clock.now_ms, changed)
        )

    def _measure(self, action: Action, outcome: Outcome, step: Step) -> None:
        effect, log = outcome.effect, self._take_log()
        is_input = not isinstance(action, Wait)
        self._last = Done(action, effect)
        step.fields["effect"] = effect
        if is_input:
            self._effective += effect.changed
            self._first_play.note(FirstInput(self._journal.step, action, effect, outcome.began_ms))
            found = self._progress.note(effect, outcome.changes, log, self._observer.now.picture)
            step.fields["progress"] = found
            self._first_play.progressed(len(found), self._game.clock.now_ms)
            self._referee.progressed(found)
        else:
            self._progress.idle_log(log)
        self.floor.looked(self._observer.now.picture)
        self._referee.repeated(action, effect)
        self._take_faults()

    # -- looking -----------------------------------------------------------------------------------------------

    async def _look(self, step: Step, attempt: int) -> tuple[View, str]:
        """Capture, burn ruler and strip in, keep both pictures, and put the view together."""
        number = self._journal.step
        canary = new_canary(self._chance)
        shown = await self._observer.picture_with_echo()
        strip = StripText(number, self._budget.allowed, self._briefing.strip(self._last), canary)
        ruled = encode(rule(shown.pixels, self._space, strip))
        clean = self._observer.now
        path = self._sink.clean_picture(number, clean.picture.png)
        self._pictures[number] = path
        step.fields.update(
            picture=path,
            ruled_picture=self._sink.ruled_picture(number, attempt, ruled),
            picture_hash=picture_hash(clean.picture.pixels),
            canary=canary,
            texts=tuple(t.text for t in clean.texts[:TEXTS_KEPT]),
            budget=self._budget.allowed,
        )
        left = self._budget.left(number - 1)
        turn = self._say("turn", step=number, steps_left=left - 1, result=self._briefing.result(self._last))
        messages = [turn, *self._referee.inbox]
        self._referee.inbox.clear()
        if left == 1:
            messages.append(self._say("last_step"))
        log = [f"[{entry.level}] {entry.text}" for entry in self._pending_log]
        step.log, self._pending_log = self._pending_log, []
        effect = self._last.effect if self._last else None
        view = View(number, left, ruled, clean.picture.png, clean.texts, log, messages, effect, self._game.screen)
        return view, canary

    # -- faults ------------------------------------------------------------------------------------------------

    async def _survive(self, fault: BrowserFault, action: Action) -> None:
        """Record a fault under an action; an endless loop is ended and play goes on. Raises BrowserFault."""
        point = contact_point(action)
        place = dict(zip("xy", point, strict=True)) if point else {}
        self._journal.fault(PageFault(fault.kind, f"{fault.message}, after {describe(action)}", place))
        self._hangs += fault.kind == "hang"
        if fault.kind == "hang" and self._hangs < MAX_HANGS and await self._game.revive():
            self._referee.tell(fault.kind, fault.message)
            return
        raise fault

    def _page_is_gone(self, fault: BrowserFault) -> Ending:
        """The page died: after an input that is the game's own fault to answer for; else we can't tell."""
        self._take_faults()
        if not any(seen.kind == fault.kind for seen in self._journal.faults):
            self._journal.fault(PageFault(fault.kind, fault.message))
        self.floor.died(fault.kind, fault.message)
        cause = outside_cause(self._journal.faults, self._effective)
        return cause or Ending.of_dead_page(fault.kind, fault.message, bool(self._actions))

    def _take_faults(self) -> None:
        for fault in self._game.drain_faults():
            self._journal.fault(fault)
            self.floor.fault(fault)
            self._referee.tell(fault.kind, fault.message)

    def _take_log(self) -> list[LogEntry]:
        entries = self._game.drain_log()
        self._journal.log(entries)
        self._pending_log.extend(entries)
        del self._pending_log[:-LOG_KEPT]
        return entries

    # -- records -----------------------------------------------------------------------------------------------

    def _charge(self) -> tuple[Usage, Cost]:
        """What the tester used since the last call."""
        usage, cost = self._tester.spent
        before_usage, before_cost = self._charged
        self._charged = usage, cost
        return usage - before_usage, cost.since(before_cost)

    def _note_decision(self, step: Step, decision: Decision) -> None:
        reply = decision.reply
        step.fields.update(
            seen=reply.seen,
            observed=reply.observed.model_dump(),
            reason=reply.reason,
            action=reply.action,
            wire=decision.wire,
            code=reply.code,
            raw=decision.raw[:RAW_LIMIT] or None,
        )

    def _write_step(self, step: Step) -> None:
        log = tuple(f"[{entry.level}] {entry.text}" for entry in step.log)
        self._journal.write(StepLine, log=log, **step.fields)

    def _close(self) -> Roll:
        ending = self._ending or Ending(Verdict.DEGRADED, reason="interrupted", message="the run was stopped")
        self._journal.write(
            EndLine, verdict=ending.verdict, kind=ending.kind, degraded_reason=ending.reason, message=ending.message
        )
        roll = self._roll(ending)
        self._sink.close(roll)
        return roll

    def _roll(self, ending: Ending) -> Roll:
        usage, cost = self._tester.spent
        faults, claim = self._journal.faults, self._referee.claim
        return Roll(
            number=self._plan.number,
            seed=self._plan.seed,
            clock=self._game.clock.name,
            screen=self._game.screen,
            verdict=ending.verdict,
            kind=ending.kind,
            degraded_reason=ending.reason,
            summary=ending.message + ("" if ending.verdict is Verdict.PASS else self._time.caveat),
            steps=self._journal.step,
            budget=self._budget.allowed,
            distinct_taps=distinct_taps(self._actions),
            effective_inputs=self._effective,
            unseeded=tuple(self._game.unseeded),
            notes=tuple(self._game.notes),
            blocked=tuple(dict.fromkeys(str(f.detail.get("host")) for f in faults if f.kind == "blocked_request")),
            faults=tuple(dict.fromkeys(f.kind for f in faults)),
            phenomena=phenomena_of(
                self._plan.number,
                claim=claim,
                probes=self._trial.probes,
                ending=ending,
                faults=faults,
                last_step=self._journal.step,
                pictures=self._pictures,
            ),
            speculation=claim.speculation if claim else (),
            first_play=self._first_play.result(bool(claim and claim.loop_closed)),
            attribution=self._trial.attribution(ending),
            control=self._trial.control,
            aim=self._trial.aim,
            floor=self.floor.result(self._pictures.get(1)),
            experiment_ms=round(self._trial.spent_ms, 1),
            probe_ms=round(self._trial.probe_ms, 1),
            film_ms=round(self._trial.film_ms, 1),
            usage=usage - self._started_with[0],
            cost=cost.since(self._started_with[1]),
            game_time_ms=round(self._game.clock.now_ms, 1),
            wall_time_ms=round(self._journal.wall_ms, 1),
            held_ms=round(self._time.held_ms, 1),
            unheld_ms=round(self._time.unheld_ms, 1),
            speed=self._time.speed(self._game.clock.now_ms, self._journal.wall_ms, self._trial.spent_ms),
        )
