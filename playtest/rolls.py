"""The run: a roll, a second one to confirm a fail, and the result of both."""

from __future__ import annotations

import asyncio
import functools
import platform
import random
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from playtest import __version__
from playtest.briefing import Says
from playtest.experiments import Experiments
from playtest.firstplay import LIMITS, Limits
from playtest.floor import BOOT_MS
from playtest.journal import Journal, Watcher
from playtest.policy.combine import combine, needs_second_roll, wants_turning
from playtest.ports import KeepReply, OpenedGame, RollSink, Tester
from playtest.protocol.coordinates import Screen
from playtest.protocol.result import EvidencePaths, FirstPlay, Roll, RunResult, TesterInfo, Versions
from playtest.protocol.usage import Cost, Usage
from playtest.protocol.verdict import Verdict
from playtest.runner import RollPlan, RollRunner


@dataclass(slots=True)
class Stop:
    """Why the run is being cancelled; set before its task is."""

    reason: str = "interrupted"


class Table(Protocol):
    """What a run is played with: everything that reaches outside comes from here."""

    say: Says

    def open_game(
        self, seed: int, screen: Screen | None = None, *, sound: bool = False
    ) -> AbstractAsyncContextManager[OpenedGame]:
        """A fresh game in a fresh browser, on its screen of choice unless one is given.

        With `sound` it may play some before the first touch, as no phone lets it.
        """
        ...

    def seat_tester(self, number: int, seed: int, spent: Cost, keep: KeepReply) -> Tester:
        """A fresh tester for one roll. `spent` is what earlier rolls cost; `keep` takes each answer as it came."""
        ...

    def open_sink(self, number: int) -> RollSink:
        """Where the roll's record goes."""
        ...


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run is to do. Times in ms, `timeout_s` in seconds of wall time."""

    gid: str
    seed: int
    rolls: int
    url: str
    game: str
    locale: str
    start_date: str
    steps: int
    max_steps: int
    settle_ms: float
    reaction_ms: float
    timeout_s: float
    limits: Limits = LIMITS
    film: bool = True
    boot_ms: float = BOOT_MS

    def for_roll(self, number: int) -> RollPlan:
        """The plan of one roll. Each has a seed of its own."""
        return RollPlan(
            gid=self.gid,
            number=number,
            seed=self.seed + number - 1,
            url=self.url,
            game=self.game,
            locale=self.locale,
            start_date=self.start_date,
            steps=self.steps,
            max_steps=self.max_steps,
            settle_ms=self.settle_ms,
            reaction_ms=self.reaction_ms,
            limits=self.limits,
            film=self.film,
            boot_ms=self.boot_ms,
        )


@dataclass(slots=True)
class Run:
    """A run in the making; `result` can be asked for at any time, also after an interruption."""

    plan: RunPlan
    table: Table
    watcher: Watcher
    stop: Stop = field(default_factory=Stop)
    rolls: list[Roll] = field(default_factory=list)
    chromium: str | None = None
    tester: TesterInfo = field(default_factory=lambda: TesterInfo(name="none"))
    _started: float = field(default_factory=time.monotonic)
    _started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    _stopped: bool = False

    async def play(self) -> RunResult:
        """Play the rolls. An interruption or timeout ends in a degraded result, not in an exception.

        Raises UsageError when nothing could be played, EvidenceError when the record can't be kept.
        """
        task = asyncio.current_task()
        assert task is not None
        timer = asyncio.get_running_loop().call_later(self.plan.timeout_s, self._time_out, task)
        try:
            first = await self._roll(1)
            if wants_turning(first, self.plan.rolls):
                await self._roll(2, first.screen.turned)
            elif needs_second_roll(first, self.plan.rolls):
                await self._roll(2, first.screen)
        except asyncio.CancelledError:
            task.uncancel()
            self._stopped = True
        finally:
            timer.cancel()
        return self.result()

    def _time_out(self, task: asyncio.Task[RunResult]) -> None:
        self.stop.reason = "timeout"
        task.cancel()

    async def _roll(self, number: int, screen: Screen | None = None) -> Roll:
        plan = self.plan.for_roll(number)
        spent = _sum_cost([roll.cost for roll in self.rolls])
        sink = self.table.open_sink(number)
        tester = self.table.seat_tester(number, plan.seed, spent, sink.reply)
        self.tester = tester.info
        try:
            async with self.table.open_game(plan.seed, screen) as opened:
                game = opened.game
                self.chromium = game.chromium or self.chromium
                journal = Journal(number, sink, self.watcher, lambda: game.clock.now_ms)
                runner = RollRunner(
                    plan,
                    game=game,
                    tester=tester,
                    sink=sink,
                    journal=journal,
                    say=self.table.say,
                    canary_chance=_canary_chance(plan.seed),
                    experiments=self._experiments(plan, game.screen) if game.clock.name == "frames" else None,
                )
                try:
                    return await runner.play(opened.fault)
                finally:
                    if runner.roll is not None:
                        self.rolls.append(self._with_reason(runner.roll))
        finally:
            await tester.close()

    def _experiments(self, plan: RollPlan, screen: Screen) -> Experiments:
        def fresh(*, sound: bool = False) -> AbstractAsyncContextManager[OpenedGame]:
            return self.table.open_game(plan.seed, screen, sound=sound)

        return Experiments(fresh, plan.settle_ms, plan.reaction_ms)

    def _with_reason(self, roll: Roll) -> Roll:
        if roll.degraded_reason == "interrupted" and self.stop.reason != "interrupted":
            return roll.model_copy(update={"degraded_reason": self.stop.reason})
        return roll

    def result(self) -> RunResult:
        """The result of what was played so far."""
        rolls = tuple(self.rolls)
        combined = combine(rolls)
        reason = combined.degraded_reason
        verdict, kind = combined.verdict, combined.kind
        if self._stopped:
            verdict, kind, reason = Verdict.DEGRADED, None, self.stop.reason
        last = rolls[-1] if rolls else None
        told = [roll for roll in rolls if roll.verdict is verdict] or list(rolls)
        return RunResult(
            gid=self.plan.gid,
            verdict=verdict,
            kind=kind,
            degraded_reason=reason,
            phenomena=tuple(p for roll in told for p in roll.phenomena),
            speculation=tuple(dict.fromkeys(s for roll in told for s in roll.speculation)),
            attribution=told[-1].attribution if told and verdict is not Verdict.PASS else None,
            first_play=last.first_play if last else FirstPlay(),
            rolls=rolls,
            usage=sum((roll.usage for roll in rolls), Usage()),
            cost=_sum_cost([roll.cost for roll in rolls]),
            tester=self.tester,
            versions=Versions(playtest=__version__, chromium=self.chromium, python=platform.python_version()),
            started_at=self._started_at,
            duration_ms=round((time.monotonic() - self._started) * 1000, 1),
            game_time_ms=round(sum(roll.game_time_ms for roll in rolls), 1),
            held_ms=round(sum(roll.held_ms for roll in rolls), 1),
            experiment_ms=round(sum(roll.experiment_ms for roll in rolls), 1),
            speed=min((roll.speed for roll in rolls if roll.speed is not None), default=None),
            evidence=EvidencePaths(report="report.html", rolls=tuple(f"roll-{roll.number}" for roll in rolls)),
            floor=last.floor if last else None,
        )


def _canary_chance(seed: int) -> random.Random:
    """A stream of its own: the codes must not be guessable from the game's own seeded numbers."""
    return random.Random(f"canary {seed}")


def _sum_cost(costs: list[Cost]) -> Cost:
    return functools.reduce(Cost.plus, costs) if costs else Cost()
