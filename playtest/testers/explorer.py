"""The embedded tester: no model and no key. It plays from the picture and the visible texts alone."""

from __future__ import annotations

import random

from playtest.exploring.judge import Judge
from playtest.exploring.memory import Memory
from playtest.exploring.moves import Move
from playtest.exploring.plan import Planner
from playtest.exploring.readings import Role
from playtest.exploring.scene import Scene, see
from playtest.pictures import decode
from playtest.ports import Decision, View
from playtest.protocol.reply import Observed, Reply
from playtest.protocol.result import TesterInfo
from playtest.protocol.usage import Cost, Usage

LIMITS = (
    "does not read the brief: it never says off_brief",
    "calls broken only a dead screen, a leaked value or a page that never showed a game",
    "calls hollow only what never advanced a text, a screen or a log line in its whole budget",
    "passes only measured progress with a closed loop; says undecided of anything else",
)


class ExplorerTester:
    """Plays one roll. The seed fixes every choice that it makes."""

    reads_canary = False

    def __init__(self, seed: int) -> None:
        self.info = TesterInfo(name="explorer", limits=LIMITS)
        self._memory = Memory()
        self._judge = Judge()
        self._planner = Planner(random.Random(seed), self._memory, self._judge.loop)
        self._last: tuple[Move, Scene] | None = None

    @property
    def spent(self) -> tuple[Usage, Cost]:
        """Nothing: there is no model."""
        return Usage(), Cost(amount=0.0, priced=True)

    async def close(self) -> None:
        """Nothing to let go of."""

    async def decide(self, view: View) -> Decision:
        """Take in what the last move brought, then judge or move on."""
        scene = see(view.step, decode(view.clean, 0.0).pixels, view.texts)
        log = [str(line) for line in view.log]
        if self._last is None:
            self._memory.begin(scene, log)
        else:
            move, before = self._last
            outcome = self._memory.observe(move, before, scene, view.last_effect, log)
            self._judge.note(outcome, before, scene)
            self._last = None
        claim = self._judge.verdict(scene, self._memory, view.steps_left)
        if claim is not None:
            return Decision(
                Reply(seen=self._seen(scene), observed=_observed(scene), verdict=claim, reason=claim.summary)
            )
        ambient = view.last_effect.ambient if view.last_effect is not None else 0.0
        move = self._planner.next(scene, self._judge.wish(self._memory), ambient)
        self._last = (move, scene)
        return Decision(Reply(seen=self._seen(scene), observed=_observed(scene), action=move.action(), reason=move.why))

    def _seen(self, scene: Scene) -> str:
        words = ", ".join(f"'{text[:24]}'" for text in scene.words()[:8]) or "no text"
        return f"screen {self._memory.screen + 1}, {len(scene.things)} things; {words}"


def _observed(scene: Scene) -> Observed:
    """The first score and level on the screen, as they stand there."""
    found = {role: reading.text for reading in reversed(scene.numbers.values()) for role in (reading.role,)}
    return Observed(score=found.get(Role.SCORE), level=found.get(Role.STAGE))
