"""The nine gates on real browsers: the floor, a driven game, and the same game without inputs next to it."""

from __future__ import annotations

from dataclasses import dataclass

from playtest.drivers.families import play, start
from playtest.drivers.follow import follow
from playtest.drivers.seat import Seat
from playtest.errors import BrowserFault
from playtest.evidence import GateEvidence
from playtest.floor import FloorWatch
from playtest.fresh import FreshGames, fresh_games
from playtest.gates.conditions import MISSING, differing
from playtest.gates.floor import floor_of
from playtest.gates.observed import export_fault, judge_driven, judge_undriven, latching
from playtest.gates.timeline import Control, Follow, Moment, Observed
from playtest.gating import Account, Check, Stop, limited, told_of, visit_floor
from playtest.pictures import changed_tiles, decode
from playtest.ports import Game
from playtest.protocol.feedback import NO_DRIVER
from playtest.protocol.gate_results import GatesResult
from playtest.protocol.gates import Gate, GateName
from playtest.protocol.play_spec import PlaySpec

GATES = "gates"
GATES_FILE = "gates.json"
# The control is compared for so much game time after the start: what inputs do shows sooner.
CONTROL_MS = 30_000.0


@dataclass(slots=True)
class Drive:
    """One check by a driver, and what it gathers."""

    check: Check
    spec: PlaySpec
    games: FreshGames
    watch: FloorWatch
    account: Account
    evidence: GateEvidence

    async def observe(self) -> Observed:
        """Play, and look at what needs another game of the same seed."""
        seat = await self._played()
        played = seat.played
        played_well = played.started is not None and not played.died
        control = await self._control(played.moments[played.started or 0 :]) if played_well and played.inputs else None
        follows, problem = await self._follow() if played_well else ((), "the game was not played")
        moved = await self._screen_follows(seat) if played.constant else False
        return Observed(played, control, moved, follows, problem)

    async def _played(self) -> Seat:
        async with self.games.open(self.check.seed) as (game, fault):
            seat = Seat(game, self.spec, self.evidence.picture, self._tell)
            try:
                if fault is not None:
                    raise fault
                if await start(seat):
                    await play(seat)
            except BrowserFault as gone:
                seat.played.died = f"{gone.kind}: {gone.message}"
                self.watch.died(gone.kind, gone.message)
            finally:
                self._took(game)
        return seat

    async def _control(self, moments: list[Moment]) -> Control | None:
        """The same start, then nothing: where the states at equal times differ, the inputs did it."""
        async with self.games.open(self.check.seed) as (game, fault):
            seat = Seat(game, self.spec, lambda name, png: "", lambda moment: None)  # noqa: ARG005
            try:
                if fault is not None or not await start(seat):
                    return None
                return await self._compare(seat, moments)
            except BrowserFault:
                return None
            finally:
                self.account.took(game)

    async def _compare(self, seat: Seat, moments: list[Moment]) -> Control:
        compared = 0
        for moment in moments[1:]:
            if moment.game_ms > moments[0].game_ms + CONTROL_MS:
                break
            await seat.pause(moment.game_ms - seat.game.clock.now_ms)
            reading = await seat.game.read(self.spec.observables.state)
            state = MISSING if reading.problem is not None else reading.value
            compared += 1
            paths = differing(state, moment.state)
            if paths:
                return Control(compared, tuple(paths), moment.what)
        return Control(compared)

    async def _follow(self) -> tuple[tuple[Follow, ...], str]:
        check = self.spec.control_check
        if check is None:
            return (), ""
        async with self.games.open(self.check.seed) as (game, fault):
            seat = Seat(game, self.spec, lambda name, png: "", lambda moment: None)  # noqa: ARG005
            try:
                if fault is not None or not await start(seat):
                    return (), f"the game did not start: {seat.played.stuck or fault}"
                return await follow(seat, check)
            except BrowserFault as gone:
                return (), f"the page ended: {gone.kind}: {gone.message}"
            finally:
                self.account.took(game)

    async def _screen_follows(self, seat: Seat) -> bool:
        """Whether the last picture is another than that of the game left alone since it was loaded."""
        if seat.last_picture is None:
            return False
        png, at_ms = seat.last_picture
        async with self.games.open(self.check.seed) as (game, fault):
            try:
                if fault is not None:
                    return False
                alone = decode(await game.picture_at(at_ms), game.clock.now_ms)
            except BrowserFault:
                return False
            finally:
                self.account.took(game)
        return bool(changed_tiles(decode(png, at_ms), alone).any())

    def _took(self, game: Game) -> None:
        faults = game.drain_faults()
        for fault in faults:
            self.watch.fault(fault)
        self.account.faults.extend(faults)
        self.evidence.log(game.drain_log())
        self.account.took(game)

    def _tell(self, moment: Moment) -> None:
        told = {"type": "moment", "gameMs": moment.game_ms, "what": moment.what}
        state = {"problem": moment.problem} if moment.state is MISSING else {"state": moment.state}
        self.evidence.line({**told, **state, "picture": moment.picture or None})


async def check_gates(
    check: Check, spec: PlaySpec | None, spec_path: str | None, evidence: GateEvidence, stop: Stop
) -> GatesResult:
    """The nine gates of a game; without a spec it isn't driven. An interruption ends in a degraded result.

    Raises UsageError when the game can't be reached, EvidenceError when the record can't be kept.
    """
    account, watch = Account(), FloorWatch(check.settings.boot_s * 1000)
    seen: Observed | None = None
    ready = spec.start_ritual.ready if spec is not None and spec.start_ritual is not None else None
    async with limited(check.settings, stop) as why, fresh_games(check.machine, check.game) as games:
        await visit_floor(check, games, watch, account, evidence, ready=ready)
        if spec is not None and watch.undecided is None:
            seen = await Drive(check, spec, games, watch, account, evidence).observe()
    reason = why() or watch.undecided
    if reason is None and spec is not None and account.clock == "realtime":
        reason = "clock"  # what an input does can't be told from what the game does by itself
    observed = judge_driven(spec, seen) if spec is not None and seen is not None else judge_undriven()
    gates: dict[GateName, Gate] = {**watch.gates(), **observed}
    driven = spec is not None and seen is not None
    return GatesResult(
        floor=floor_of(gates),
        passed=all(gate.passed or gate.weight == "advisory" for gate in gates.values()),
        degraded_reason=reason,
        driven=driven,
        driver_type=spec.driver_type if driven and spec is not None else NO_DRIVER,
        spec=spec_path,
        source_hash=spec.derived_from.source_hash if spec is not None else None,
        gates=gates,
        export_fault=export_fault(seen) if seen is not None else None,
        end=seen.played.end if seen is not None else None,
        latch=latching(spec, seen.played) if spec is not None and seen is not None else None,
        inputs=seen.played.inputs if seen is not None else 0,
        **told_of(check, account),
    )
