"""Puts the pieces together: the only place that knows every edge."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playtest.browser.server import origin_of
from playtest.config import DEFAULT_RUN_CAP, Settings
from playtest.endpoint import Endpoint
from playtest.errors import UsageError
from playtest.evidence import RunEvidence
from playtest.experiments import Experiments
from playtest.firstplay import Limits
from playtest.fresh import LOCALES, FreshGames, Machine, fresh_games, machine_for
from playtest.games import Game, find_game, read_brief
from playtest.journal import Watcher
from playtest.metering import Tariff
from playtest.ports import KeepReply, OpenedGame, RollSink, Tester
from playtest.presets import preset_for
from playtest.pricing import price_of
from playtest.prompts import Language, Messages, language_of
from playtest.protocol.coordinates import Screen
from playtest.protocol.replay import Checked
from playtest.protocol.usage import Cost
from playtest.recordings import Recording
from playtest.replaying import Replayed, fates, replay
from playtest.rolls import Run, RunPlan
from playtest.testers.explorer import ExplorerTester
from playtest.testers.scripted import ScriptedTester, read_script
from playtest.testers.vision import VisionTester
from playtest.vision_client import VisionClient

SeatTester = Callable[[int, Cost, KeepReply], Tester]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a caller asks for."""

    gid: str
    brief: Path
    game: str | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that was checked and can start: nothing of it has reached outside yet."""

    settings: Settings
    game: Game
    brief: str
    language: Language
    machine: Machine
    seat: SeatTester
    steps: int
    max_steps: int


def prepare(request: RunRequest, settings: Settings) -> Prepared:
    """Check all that can be checked before a browser starts. Raises UsageError."""
    brief = read_brief(request.brief)
    game = find_game(request.gid, request.game, settings.games_root)
    if game.url:
        origin_of(game.url)  # refused now, not once something runs
    language: Language = language_of(brief) if settings.language == "auto" else settings.language
    explores = settings.tester == "explorer"
    steps, max_steps = (
        (settings.explorer_steps, settings.explorer_max_steps) if explores else (settings.steps, settings.max_steps)
    )
    seat = _seat(settings, brief, language, steps, max_steps)
    machine = machine_for(settings, LOCALES[language])
    return Prepared(settings, game, brief, language, machine, seat, steps, max_steps)


@asynccontextmanager
async def run_on(prepared: Prepared, evidence: RunEvidence, watcher: Watcher) -> AsyncIterator[Run]:
    """A run that is ready to play, its gate open."""
    settings, game = prepared.settings, prepared.game
    seed = settings.seed if settings.seed is not None else secrets.randbits(32)
    async with fresh_games(prepared.machine, game) as games:
        table = RunTable(prepared, games, evidence)
        plan = RunPlan(
            gid=game.gid,
            seed=seed,
            rolls=settings.rolls,
            url=games.url,
            game=game.url or str(game.file),
            locale=LOCALES[prepared.language],
            start_date=settings.start_date,
            steps=prepared.steps,
            max_steps=prepared.max_steps,
            settle_ms=settings.settle_ms,
            reaction_ms=settings.reaction_ms,
            timeout_s=settings.timeout_s,
            limits=Limits(settings.playable_limit_ms, settings.feedback_limit_ms, settings.loop_limit_ms),
            film=settings.film_first_play,
            boot_ms=settings.boot_s * 1000,
        )
        yield Run(plan, table, watcher)


class RunTable:
    """`rolls.Table` on the real edges."""

    def __init__(self, prepared: Prepared, games: FreshGames, evidence: RunEvidence) -> None:
        self._prepared = prepared
        self._games = games
        self._evidence = evidence
        self.say = Messages(prepared.language).say

    def open_game(
        self, seed: int, screen: Screen | None = None, *, sound: bool = False
    ) -> AbstractAsyncContextManager[OpenedGame]:
        """A fresh game in a fresh browser, on its screen of choice unless one is given."""
        return self._games.open(
            seed, screen, may_turn=screen is None, sound=sound, film=self._prepared.settings.film_first_play
        )

    def seat_tester(self, number: int, seed: int, spent: Cost, keep: KeepReply) -> Tester:
        """A fresh tester for one roll."""
        return self._prepared.seat(seed, spent, keep)

    def open_sink(self, number: int) -> RollSink:
        """Where the roll's record goes."""
        return self._evidence.roll(number)


def endpoint_for(settings: Settings, spent: Cost) -> Endpoint:
    """Where the model is asked and what a roll may still cost. Raises UsageError without a key."""
    if settings.api_key is None or not settings.api_key.get_secret_value():
        raise UsageError(
            "the tester `minimax` needs an API key and none is set",
            "set MINIMAX_API_KEY, or play without a model: --tester explorer",
        )
    price = price_of(settings.model)
    if price is None and settings.max_cost is not None:
        raise UsageError(
            f"no price is known for {settings.model}, so the cap of {settings.max_cost:g} {settings.currency} could"
            " not be kept",
            "leave max_cost out, or use a model whose price is known",
        )
    run_cap = settings.max_cost if settings.max_cost is not None else DEFAULT_RUN_CAP
    roll_cap = min(settings.max_cost_per_roll, max(0.0, run_cap - spent.at_most))
    rate = 1.0 if settings.currency == "USD" else settings.usd_rate
    return Endpoint(
        base_url=settings.base_url,
        api_key=settings.api_key,
        model=settings.model,
        preset=preset_for(settings.model, settings.preset),
        tariff=Tariff(price=price, currency=settings.currency, usd_rate=rate, max_cost=roll_cap if price else None),
        read_timeout_s=settings.read_timeout_s,
        total_deadline_s=settings.request_deadline_s,
        requests_per_minute=settings.requests_per_minute,
    )


async def replay_recording(
    recording: Recording, game: str | None, settings: Settings
) -> tuple[Replayed, list[Checked]]:
    """Play a recorded roll again; on another build when `game` is given, with what became of its phenomena.

    Raises UsageError when the game or the browser can't be found.
    """
    start = recording.start
    found = find_game(start.gid, game or start.game, settings.games_root)
    machine = machine_for(settings, start.locale, clock=start.clock, start=start.start_date)
    async with fresh_games(machine, found) as games:

        def fresh(*, sound: bool = False) -> AbstractAsyncContextManager[OpenedGame]:
            return games.open(start.seed, start.screen, sound=sound)

        async with fresh() as opening:
            if opening.fault is not None:
                done = Replayed(ended_early=opening.fault.message, faults={opening.fault.kind})
            else:
                done = await replay(opening.game, recording.steps, start.settle_ms, start.reaction_ms)
        if game is None or recording.roll is None:
            return done, []
        exact = Experiments(fresh, start.settle_ms, start.reaction_ms) if start.clock == "frames" else None
        return done, await fates(recording.roll.phenomena, recording.steps, done, recording.pictures(), exact)


async def probe_endpoint(settings: Settings) -> tuple[bool, str]:
    """Whether the model's endpoint answers, and how; nothing is paid for it."""
    client = VisionClient(endpoint_for(settings, Cost()))
    try:
        found = await client.probe()
    finally:
        await client.close()
    return found.reachable, found.message


def _seat(settings: Settings, brief: str, language: Language, steps: int, max_steps: int) -> SeatTester:
    """How a roll gets its tester; whatever is wrong with the choice is told now. Raises UsageError."""
    name, _, argument = settings.tester.partition(":")
    if name == "explorer" and not argument:
        return lambda seed, _spent, _keep: ExplorerTester(seed)
    if name == "scripted":
        if not argument:
            raise UsageError("the tester `scripted` needs a file", "write --tester scripted:FILE")
        replies = read_script(Path(argument))
        return lambda _seed, _spent, _keep: ScriptedTester(replies)
    if name == "minimax" and not argument:
        endpoint_for(settings, Cost())

        def seat(_seed: int, spent: Cost, keep: KeepReply) -> Tester:
            endpoint = endpoint_for(settings, spent)
            return VisionTester(
                VisionClient(endpoint),
                brief,
                preset=endpoint.preset,
                language=language,
                history_pictures=settings.history_pictures,
                on_raw=lambda step, answer: keep(step, answer.text, answer.usage),
                budget=steps,
                max_budget=max_steps,
            )

        return seat
    raise UsageError(f"no tester {settings.tester!r}", "there are: minimax, explorer, scripted:FILE")
