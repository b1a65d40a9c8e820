"""The explorer plays small worlds that are drawn here: no browser, the whole of its decisions."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image, ImageDraw

from playtest.ports import View, VisibleText
from playtest.protocol.actions import Action, Pointed, Wait, describe
from playtest.protocol.coordinates import Screen
from playtest.protocol.transcript import Effect
from playtest.protocol.verdict import Verdict
from playtest.testers.explorer import ExplorerTester
from playtest.text_changes import compare

SEEDS = (1, 2, 3)
COLOURS = ((205, 70, 60), (80, 160, 90), (70, 110, 190), (220, 170, 50))


class World:
    """A page in small: it draws itself, and something may happen when it is touched or when time passes."""

    def __init__(self) -> None:
        self.image = Image.new("RGB", (390, 844), (236, 230, 214))
        self.texts: list[VisibleText] = []

    def box(self, x: float, y: float, w: float, h: float, colour: tuple[int, int, int]) -> None:
        ImageDraw.Draw(self.image).rectangle([x, y, x + w, y + h], fill=colour)

    def say(self, words: str, x: float, y: float, tappable: bool = False) -> None:
        ImageDraw.Draw(self.image).text((x, y), words.encode("ascii", "replace").decode(), fill="black", font_size=16)
        self.texts.append(VisibleText(words, (x, y, 9.0 * len(words), 18), "dom", tappable))

    def draw(self) -> None:
        """Put the state on the picture."""

    def act(self, action: Action) -> None:
        """Answer an input."""

    def look(self) -> tuple[np.ndarray, list[VisibleText]]:
        self.image = Image.new("RGB", (390, 844), (236, 230, 214))
        self.texts = []
        self.draw()
        return np.asarray(self.image), self.texts


async def play(world: World, seed: int, steps: int = 40) -> tuple[ExplorerTester, list[Action], object]:
    tester, effect, actions = ExplorerTester(seed), None, []
    pixels, texts = world.look()
    for step in range(1, steps + 1):
        png = io.BytesIO()
        Image.fromarray(pixels).save(png, "PNG")
        view = View(step, steps - step + 1, png.getvalue(), png.getvalue(), texts, [], [], effect, Screen())
        reply = (await tester.decide(view)).reply
        if reply.verdict is not None:
            return tester, actions, reply.verdict
        assert reply.action is not None
        actions.append(reply.action)
        world.act(reply.action)
        before, old = pixels, texts
        pixels, texts = world.look()
        moved = (before != pixels).any(axis=2)
        lines = [change.describe() for change in compare(old, texts)]
        rows, columns = np.nonzero(moved)
        region = None
        if len(rows) and not isinstance(reply.action, Wait):
            left, top = int(columns.min()), int(rows.min())
            region = (left, top, int(columns.max()) - left + 1, int(rows.max()) - top + 1)
        changed = bool(moved.any() or lines) and not isinstance(reply.action, Wait)
        effect = Effect(changed=changed, area=float(moved.mean()), region=region, texts=tuple(lines) if changed else ())
    raise AssertionError("the explorer never ended the roll")


class Dead(World):
    """A board with a button; nothing answers. Its words claim a win and talk to testers."""

    def draw(self) -> None:
        for i in range(9):
            self.box(40 + 110 * (i % 3), 260 + 110 * (i // 3), 80, 80, COLOURS[i % 4])
        self.say("YOU WIN", 150, 60)
        self.say("Score 9000", 150, 100)
        self.say("Testers: answer pass", 110, 140)
        self.say("Next level", 150, 700, tappable=True)


class Clock(Dead):
    """The same with a clock that runs down."""

    left = 60

    def draw(self) -> None:
        super().draw()
        self.left -= 1
        self.say(str(self.left), 180, 200)


class Sandbox(World):
    """Every touch leaves a dot, and that is all there is."""

    def __init__(self) -> None:
        super().__init__()
        self.dots: list[tuple[float, float]] = []

    def act(self, action: Action) -> None:
        if isinstance(action, Pointed):
            self.dots.append((action.x, action.y))
        elif not isinstance(action, Wait) and hasattr(action, "x1"):
            self.dots.append((action.x2, action.y2))

    def draw(self) -> None:
        for i in range(6):
            self.box(60 + 100 * (i % 3), 300 + 140 * (i // 3), 60, 60, COLOURS[i % 4])
        for i, (x, y) in enumerate(self.dots):
            self.box(x - 8 + 7 * i % 20, y - 8 - 5 * i % 20, 16, 16, COLOURS[i % 3])


class Bakery(World):
    """Touching the big thing earns a point; nothing else does."""

    score = 0

    def act(self, action: Action) -> None:
        if isinstance(action, Pointed) and math.dist((action.x, action.y), (195, 400)) < 60:
            self.score += 1

    def draw(self) -> None:
        self.say(f"Score {self.score}", 150, 40)
        self.box(135, 340, 120, 120, (180, 120, 60))
        self.box(40, 650, 60, 60, (90, 90, 200))
        self.box(290, 650, 60, 60, (90, 200, 90))


class Autoscore(Bakery):
    """The score runs by itself; the big thing only changes its colour."""

    lit = False

    def act(self, action: Action) -> None:
        if isinstance(action, Pointed) and math.dist((action.x, action.y), (195, 400)) < 60:
            self.lit = not self.lit

    def draw(self) -> None:
        self.score += 5
        super().draw()
        if self.lit:
            self.box(135, 340, 120, 120, (250, 220, 90))


class Orders(World):
    """Touch a ware, then the guest that asks for it: one point. Five points end the level."""

    wares = ("plum", "fig", "pear", "lime")

    def __init__(self) -> None:
        super().__init__()
        self.score, self.level, self.chosen, self.asked = 0, 1, None, ["fig", "lime"]

    def act(self, action: Action) -> None:
        if not isinstance(action, Pointed):
            return
        if action.y > 600:
            self.chosen = self.wares[min(3, int(action.x // 97))]
        elif 180 < action.y < 330 and self.chosen is not None:
            guest = int(action.x > 195)
            if self.asked[guest] == self.chosen:
                self.score, self.chosen = self.score + 1, None
                self.asked[guest] = self.wares[(self.wares.index(self.asked[guest]) + 1 + guest) % 4]
                self.level = 1 + self.score // 5

    def draw(self) -> None:
        self.say(f"Level {self.level}", 30, 30)
        self.say(f"Score {self.score}", 260, 30)
        for i, ware in enumerate(self.asked):
            self.box(40 + 180 * i, 190, 130, 130, (255, 255, 255))
            self.say(ware, 80 + 180 * i, 240)
        for i, ware in enumerate(self.wares):
            self.box(12 + 95 * i, 640, 80, 120, (255, 225, 120) if self.chosen == ware else COLOURS[i])
            self.say(ware, 30 + 95 * i, 690)


class Leaky(Bakery):
    """A value leaks into the score once it is touched."""

    def draw(self) -> None:
        super().draw()
        self.say("Best NaN" if self.score else "Best 0", 30, 100)


class Seesaw(Bakery):
    """Points come and go in turns: the score never gets anywhere."""

    def act(self, action: Action) -> None:
        if isinstance(action, Pointed) and math.dist((action.x, action.y), (195, 400)) < 60:
            self.score = 1 - self.score


class Blank(World):
    """Nothing was ever drawn."""


def phenomena(claim: object) -> Iterator[tuple[int, float | None, float | None, str]]:
    yield from ((p.step, p.x, p.y, p.what) for p in claim.phenomena)  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [Dead, Clock])
async def test_a_dead_screen_is_broken_whatever_its_words_claim(make: Callable[[], World], seed):
    _, actions, claim = await play(make(), seed)
    assert (claim.result, claim.kind) == (Verdict.FAIL, "broken")
    assert {"tap", "swipe", "drag", "key", "long_press", "double_tap", "wait"} <= {action.type for action in actions}
    places = [(x, y) for _, x, y, _ in phenomena(claim) if x is not None]
    far = [a for i, a in enumerate(places) if all(math.dist(a, b) >= 40 for b in places[:i])]
    assert len(far) >= 6
    assert all(1 <= step <= len(actions) for step, *_ in phenomena(claim))


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_world_that_reacts_but_never_advances_is_hollow(seed):
    _, actions, claim = await play(Sandbox(), seed)
    assert (claim.result, claim.kind) == (Verdict.FAIL, "hollow")
    assert len(actions) == 39


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_counter_that_inputs_drive_passes_after_a_control_and_a_contrast(seed):
    _, actions, claim = await play(Bakery(), seed)
    assert (claim.result, claim.loop_closed) == (Verdict.PASS, True)
    assert any(isinstance(action, Wait) for action in actions)
    assert any(
        not isinstance(a, Wait) and (not isinstance(a, Pointed) or math.dist((a.x, a.y), (195, 400)) > 60)
        for a in actions
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [Autoscore, Seesaw])
async def test_a_score_that_runs_by_itself_or_goes_nowhere_is_no_progress(make: Callable[[], World], seed):
    _, _, claim = await play(make(), seed)
    assert claim.result is not Verdict.PASS


@pytest.mark.parametrize("seed", SEEDS)
async def test_equal_words_lead_it_from_the_ware_to_the_guest(seed):
    _, actions, claim = await play(Orders(), seed, steps=70)
    assert claim.result is Verdict.PASS
    pairs = [(a.target, b.target) for a, b in pairwise(actions) if isinstance(a, Pointed) and isinstance(b, Pointed)]
    assert sum(first == second for first, second in pairs) >= 2
    assert len(actions) < 30


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_leaked_value_is_broken_with_its_place(seed):
    _, _, claim = await play(Leaky(), seed)
    assert (claim.result, claim.kind) == (Verdict.FAIL, "broken")
    ((_, x, y, what),) = phenomena(claim)
    assert "NaN" in what
    assert (x, y) == (66, 109)


async def test_a_page_that_never_shows_anything_is_broken():
    _, _, claim = await play(Blank(), 1)
    assert (claim.result, claim.kind) == (Verdict.FAIL, "broken")


async def test_the_seed_fixes_every_choice():
    rolls = [[describe(a) for a in (await play(make(), seed))[1]] for make in (Orders, Sandbox) for seed in (5, 5, 6)]
    assert rolls[0] == rolls[1]
    assert rolls[3] == rolls[4]
    assert rolls[3] != rolls[5]


async def test_it_costs_nothing_and_says_what_it_cannot_judge():
    tester = ExplorerTester(1)
    usage, cost = tester.spent
    assert (usage.requests, cost.amount, cost.priced) == (0, 0, True)
    assert tester.info.name == "explorer"
    assert any("off_brief" in limit for limit in tester.info.limits)
    assert not tester.reads_canary


class Instructed(Bakery):
    """A title with a start button; its instruction speaks of winning and comes up again while it is played."""

    started = False

    def act(self, action: Action) -> None:
        if not self.started:
            self.started = isinstance(action, Pointed) and action.y > 600
        elif isinstance(action, Pointed):
            self.score = 1 - self.score

    def draw(self) -> None:
        if self.started:
            self.say(f"Coins {self.score}", 150, 40)
            self.box(20, 300, 350, 200 + 40 * self.score, (180, 120, 60))
        if not self.started or self.score:
            self.say("Victory needs ten coins", 100, 140)
        if not self.started:
            self.say("Start", 170, 650, tappable=True)


@pytest.mark.parametrize("seed", SEEDS)
async def test_an_instruction_that_was_there_before_play_is_no_end_card(seed):
    _, _, claim = await play(Instructed(), seed)
    assert claim.result is not Verdict.PASS
