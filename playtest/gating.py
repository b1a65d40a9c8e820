"""The floor and the gates on real browsers and real evidence."""

from __future__ import annotations

import asyncio
import platform
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from playtest import __version__
from playtest.config import Settings
from playtest.evidence import GateEvidence
from playtest.floor import FloorVisit, FloorWatch
from playtest.fresh import LOCALES, FreshGames, Machine, fresh_games, machine_for
from playtest.games import Game
from playtest.ports import Game as OpenGame
from playtest.ports import PageFault
from playtest.protocol.gate_results import FloorResult
from playtest.protocol.result import Versions

FLOOR = "floor"
FLOOR_FILE = "floor.json"


@dataclass(frozen=True, slots=True)
class Check:
    """A game that is to be checked; nothing has reached outside yet."""

    settings: Settings
    game: Game
    machine: Machine
    seed: int


def prepare_check(game: Game, settings: Settings) -> Check:
    """Check all that can be checked before a browser starts. Raises UsageError."""
    locale = LOCALES["zh" if settings.language == "auto" else settings.language]
    seed = settings.seed if settings.seed is not None else secrets.randbits(32)
    return Check(settings, game, machine_for(settings, locale), seed)


@dataclass(slots=True)
class Stop:
    """Why a check is being cancelled; set before its task is."""

    reason: str = "interrupted"


@dataclass(slots=True)
class Account:
    """What every check tells of itself."""

    started: float = field(default_factory=time.monotonic)
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    chromium: str | None = None
    clock: str = ""
    game_time_ms: float = 0.0
    notes: list[str] = field(default_factory=list)
    faults: list[PageFault] = field(default_factory=list)

    def took(self, game: OpenGame) -> None:
        """One game is over."""
        self.chromium = game.chromium or self.chromium
        self.clock = game.clock.name
        self.game_time_ms += game.clock.now_ms
        self.notes.extend(note for note in game.notes if note not in self.notes)

    @property
    def duration_ms(self) -> float:
        """Wall time so far."""
        return round((time.monotonic() - self.started) * 1000, 1)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of the facts seen, in order, without repeats."""
        return tuple(dict.fromkeys(fault.kind for fault in self.faults))

    @property
    def blocked(self) -> tuple[str, ...]:
        """Hosts that the page asked for and did not get."""
        hosts = (str(fault.detail.get("host")) for fault in self.faults if fault.kind == "blocked_request")
        return tuple(dict.fromkeys(hosts))

    @property
    def versions(self) -> Versions:
        """What ran."""
        return Versions(playtest=__version__, chromium=self.chromium, python=platform.python_version())


@asynccontextmanager
async def limited(settings: Settings, stop: Stop) -> AsyncIterator[Callable[[], str | None]]:
    """Ends its body after `timeout_s`, or when the task is cancelled; the value tells afterwards why, if so."""
    task = asyncio.current_task()
    assert task is not None, "checks run in a task"
    ended: list[str] = []

    def time_out() -> None:
        stop.reason = "timeout"
        task.cancel()

    timer = asyncio.get_running_loop().call_later(settings.timeout_s, time_out)
    try:
        yield lambda: ended[0] if ended else None
    except asyncio.CancelledError:
        task.uncancel()
        ended.append(stop.reason)
    finally:
        timer.cancel()


async def check_floor(check: Check, evidence: GateEvidence, stop: Stop, ready: str | None = None) -> FloorResult:
    """The floor of a game. An interruption or timeout ends in a degraded result, not in an exception.

    Raises UsageError when the game can't be reached, EvidenceError when the record can't be kept.
    """
    account, watch = Account(), FloorWatch(check.settings.boot_s * 1000)
    async with limited(check.settings, stop) as why, fresh_games(check.machine, check.game) as games:
        await visit_floor(check, games, watch, account, evidence, ready=ready)
    return FloorResult(floor=watch.result(), degraded_reason=why() or watch.undecided, **told_of(check, account))


async def visit_floor(
    check: Check,
    games: FreshGames,
    watch: FloorWatch,
    account: Account,
    evidence: GateEvidence,
    *,
    ready: str | None,
) -> None:
    """One fresh game, watched but not played. Raises UsageError when it can't be reached."""
    async with games.open(check.seed) as (game, fault):
        visit = FloorVisit(game, watch, evidence.picture, ready)
        try:
            if await visit.boot(fault):
                await visit.stay()
        finally:
            evidence.log(game.drain_log())
            account.faults.extend(visit.faults)
            account.took(game)
    watch.showed("B_uncaught", "console.jsonl")


def told_of(check: Check, account: Account) -> dict[str, Any]:
    """The fields that every check's result has."""
    return {
        "gid": check.game.gid,
        "game": check.game.url or str(check.game.file),
        "seed": check.seed,
        "clock": account.clock or check.machine.clocks[0],
        "notes": tuple(account.notes),
        "faults": account.kinds,
        "blocked": account.blocked,
        "versions": account.versions,
        "started_at": account.started_at,
        "duration_ms": account.duration_ms,
        "game_time_ms": round(account.game_time_ms, 1),
    }
