"""Whole rolls by the real runner on one open page: what differs between them is only what the model answers."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from playtest.browser.session import GameSession
from playtest.endpoint import Endpoint
from playtest.evidence import RollEvidence
from playtest.journal import Journal
from playtest.metering import Tariff
from playtest.presets import MINIMAX_M3, Preset
from playtest.pricing import MINIMAX_M3 as PRICE
from playtest.prompts import Messages
from playtest.protocol.result import Roll
from playtest.protocol.transcript import TranscriptLine, transcript_line
from playtest.runner import RollPlan, RollRunner
from playtest.testers.vision import VisionTester
from playtest.vision_client import VisionClient
from tests.browser_helper import playing
from tests.endpoint import KEY, Answer, Request, StrictEndpoint
from tests.play import norm, tap, verdict
from tests.sight import read_canary

MAX_ATTEMPTS = 3
TAPS = 2
# A roll's requests: two taps and a verdict.
STEPS = TAPS + 1


class Patience:
    """Pauses that pass at once, and a clock that they move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@dataclass
class Shared:
    """What one roll on the shared page left."""

    roll: Roll
    endpoint: StrictEndpoint
    patience: Patience
    folder: Path
    lines: list[TranscriptLine] = field(default_factory=list)

    def names(self, kind: str) -> list[str]:
        """The names of all refusals, warnings or faults."""
        return [getattr(line, kind) for line in self.lines if line.type == kind]

    @property
    def outcome(self) -> str:
        """`pass`, a fail's kind, or the reason why it is degraded."""
        return str(self.roll.degraded_reason or self.roll.kind or self.roll.verdict)


def sound(request: Request) -> dict[str, Any]:
    """A model that is well: it taps at two places, then says pass."""
    step = request.step or 1
    move = {"action": norm(tap(100 * step, 200 * step))} if step <= TAPS else {"verdict": verdict("pass")}
    code = read_canary(request.picture) if request.picture else "????"
    return {"code": code, "seen": "a level", "reason": "to go on", **move}


Said = Callable[[Request], "str | dict[str, Any] | Answer"]


def says(*odd: str | dict[str, Any] | Answer | Said, at: int, then: Said = sound) -> Said:
    """A model that gives these replies to its requests from step `at` on, the last for ever if it is an Ellipsis."""
    asked = 0

    def brain(request: Request) -> str | dict[str, Any] | Answer:
        nonlocal asked
        if (request.step or 1) < at or asked >= len(odd):
            return then(request)
        item = odd[asked]
        asked += 1
        if callable(item):
            item = item(request)
        if isinstance(item, dict):
            item = {"code": read_canary(request.picture) if request.picture else "????", "seen": "it", **item}
        return item

    return brain


@asynccontextmanager
async def table(page: str = "levels") -> AsyncIterator[Callable[..., Any]]:
    """One page, open for many rolls."""
    async with playing(page) as game:

        async def roll(folder: Path, brain: Said, *queue: Any, preset: Preset = MINIMAX_M3, **plan: Any) -> Shared:
            with StrictEndpoint(brain) as endpoint:
                endpoint.then(*queue)
                return await _roll(game, endpoint, folder, preset, plan)

        yield roll


async def _roll(
    game: GameSession, endpoint: StrictEndpoint, folder: Path, preset: Preset, plan: dict[str, Any]
) -> Shared:
    patience = Patience()
    client = VisionClient(
        Endpoint(
            base_url=endpoint.base_url,
            api_key=SecretStr(KEY),
            model=endpoint.model,
            preset=preset,
            tariff=Tariff(price=PRICE, currency="USD", max_cost=1.0),
            max_attempts=MAX_ATTEMPTS,
        ),
        transport=endpoint.transport(),
        sleep=patience.sleep,
        clock=patience,
        jitter=lambda: 1.0,
    )
    sink = RollEvidence(folder, 1)
    tester = VisionTester(
        client, "Each tap reaches a level.", preset=preset, on_raw=lambda step, a: sink.reply(step, a.text, a.usage)
    )
    runner = RollRunner(
        RollPlan(
            **{
                "gid": "levels", "number": 1, "seed": 1, "url": "http://127.0.0.1/", "game": "levels",
                "locale": "en-US", "start_date": "2026-01-01T00:00:00+00:00", "steps": 8, "max_steps": 8,
                "settle_ms": 100, "film": False, **plan,
            }
        ),
        game=game,
        tester=tester,
        sink=sink,
        journal=Journal(1, sink, lambda *_: None, lambda: game.clock.now_ms),
        say=Messages("en").say,
        canary_chance=random.Random(1),
    )  # fmt: skip
    try:
        played = await runner.play()
    finally:
        await tester.close()
    written = (folder / "roll-1" / "transcript.jsonl").read_text("utf-8").splitlines()
    lines = [transcript_line.validate_python(json.loads(line)) for line in written]
    return Shared(played, endpoint, patience, folder / "roll-1", lines)
