"""Plays a page with a tester: the runner's loop in small, on its own observer and rules, without evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playtest.browser.find import find_browser
from playtest.browser.launch import LaunchOptions
from playtest.browser.server import Gate
from playtest.browser.session import GameOptions, GameSession
from playtest.observer import Observer
from playtest.policy.budget import Budget
from playtest.policy.progress import Progress
from playtest.policy.refusals import VerdictGuard, distinct_taps
from playtest.ports import Tester, View
from playtest.protocol.actions import Action, Wait, describe
from playtest.protocol.transcript import Effect
from playtest.protocol.verdict import VerdictClaim

GAMES = Path(__file__).parent / "games"
EXAM = Path(__file__).parent.parent / "exam" / "games"
AGENT = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 "
    "Mobile Safari/537.36"
)
START_MS = 1767225600000
SETTLE_MS = 1500


@dataclass
class Played:
    """What came of one roll. `claim` is None when the budget ran out first."""

    claim: VerdictClaim | None = None
    steps: int = 0
    actions: list[Action] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        if self.claim is None:
            return "out of budget"
        kind = f" {self.claim.kind.value}" if self.claim.kind else ""
        return self.claim.result.value + kind


async def play(
    folder: Path,
    tester: Tester,
    seed: int = 1,
    *,
    steps: int = 40,
    max_steps: int = 120,
    say: Callable[[str], None] = lambda line: None,
) -> Played:
    """One roll of the page in `folder`, under the frames clock."""
    async with Gate(folder) as gate:
        launch = LaunchOptions(find_browser(), "frames", gate.address, AGENT, "zh-CN", "Asia/Shanghai")
        game = GameSession(GameOptions(launch, gate.address + "/index.html", seed, START_MS), gate)
        try:
            await game.open()
            return await _loop(game, tester, Budget(steps, max_steps), say)
        finally:
            await game.close()
            await tester.close()


async def _loop(game: GameSession, tester: Tester, budget: Budget, say: Callable[[str], None]) -> Played:
    played, observer, progress, guard = Played(), Observer(game, SETTLE_MS), Progress(), VerdictGuard()
    await observer.start()
    log = game.drain_log()
    progress.start(observer.now.picture, log)
    effect, step = None, 0
    while budget.left(step) > 0:
        seen, lines = observer.now, [f"[{entry.level}] {entry.text}" for entry in log]
        view = View(
            step=step + 1, steps_left=budget.left(step), ruled=seen.picture.png, clean=seen.picture.png,
            texts=seen.texts, log=lines, messages=[], last_effect=effect, screen=game.screen,
        )  # fmt: skip
        reply = (await tester.decide(view)).reply
        step += 1
        log = []
        if reply.verdict is not None:
            supported = any(effect.changed for effect in played.effects)
            refusal = guard.judge(reply.verdict, distinct_taps(played.actions), supported, game.alive, step)
            if refusal is None:
                played.claim, played.steps = reply.verdict, step
                say(f"{step:3d} {played.verdict}: {reply.verdict.summary}")
                return played
            played.refusals.append(refusal)
            continue
        assert reply.action is not None
        outcome = await observer.act(reply.action)
        effect = outcome.effect
        log = game.drain_log()
        if isinstance(reply.action, Wait):
            progress.idle_log(log)
        elif progress.note(effect, outcome.changes, log, observer.now.picture):
            budget.grow()
        played.actions.append(reply.action)
        played.effects.append(effect)
        say(
            f"{step:3d}/{budget.allowed} {describe(reply.action)} | {reply.reason} | {effect.changed} {effect.area:.3f}"
            f" ambient {effect.ambient:.3f} {effect.settle_ms:.0f} ms {effect.texts} {[line.text for line in log]}"
        )
    played.steps = step
    return played
