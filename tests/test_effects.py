"""What counts as an effect of an input, and what the game would have done anyway."""

import io

import numpy as np
import pytest
from PIL import Image

from playtest.effects import Ambient, Settling, measure
from playtest.pictures import decode
from playtest.ports import VisibleText
from playtest.text_changes import TextWatch, compare, numbers_in, pattern_of

LOOK_MS = 116


class Screen:
    """A game's screen in numpy: still things, and a box that moves by itself if it should."""

    def __init__(self, seed: int = 1) -> None:
        self.pixels = np.full((844, 390, 3), 30, dtype=np.uint8)
        self.ms = 0.0
        self.chance = np.random.default_rng(seed)

    def box(self, x, y, width=20, height=20, colour=(200, 200, 200)) -> None:
        self.pixels[y : y + height, x : x + width] = colour

    def look(self, after_ms: float = LOOK_MS, blinking=False, rain=0):
        self.ms += after_ms
        shown = self.pixels.copy()
        if blinking and round(self.ms / LOOK_MS) % 2:
            shown[100:140, 100:140] = 255
        for _ in range(rain):
            x, y = self.chance.integers(0, 380), self.chance.integers(0, 830)
            shown[y : y + 9, x : x + 4] = 220
        out = io.BytesIO()
        Image.fromarray(shown).save(out, "PNG", compress_level=0)
        return decode(out.getvalue(), self.ms)


def text(words: str, x: float = 20, y: float = 20) -> VisibleText:
    return VisibleText(words, (x - 10, y - 5, 20, 10), "dom")


def after_input(screen: Screen, ambient: Ambient, act, *, looks: int = 5, texts=None, watch=None, **motion):
    """One input's effect: `act` changes the screen, then it is watched."""
    before = screen.look(**motion)
    watching = Settling(before, ambient, 1500)
    act()
    started = screen.ms
    for _ in range(looks):
        if watching.add(screen.look(**motion)):
            break
    was, now = texts or ([], [])
    effect, changes = measure(watching, was, [now] * len(watching.pictures), watch or TextWatch(), started_ms=started)
    return effect, changes, watching


def known(screen: Screen, looks: int = 10, **motion) -> Ambient:
    ambient = Ambient()
    for _ in range(3):
        ambient.learn([screen.look(**motion) for _ in range(looks)])
    return ambient


def nothing() -> None: ...


def test_on_a_quiet_page_one_pixel_counts():
    screen = Screen()

    def one_pixel() -> None:
        screen.pixels[500, 200] = 255

    effect, _, _ = after_input(screen, known(screen), one_pixel)
    assert effect.changed
    assert effect.region == (200, 500, 10, 10)
    assert effect.settled
    assert effect.first_change_ms == pytest.approx(LOOK_MS)
    assert effect.ambient == 0


def test_on_a_quiet_page_nothing_is_nothing():
    screen = Screen()
    effect, changes, _ = after_input(screen, known(screen), nothing)
    assert (effect.changed, effect.area, effect.region, effect.first_change_ms, changes) == (False, 0, None, None, [])


@pytest.mark.parametrize("motion", [{"blinking": True}, {"rain": 40}], ids=["blinking", "rain"])
def test_motion_of_its_own_is_no_effect(motion):
    for seed in range(5):
        screen = Screen(seed)
        effect, _, _ = after_input(screen, known(screen, **motion), nothing, looks=12, **motion)
        assert not effect.changed, seed
        assert effect.ambient > 0


@pytest.mark.parametrize("motion", [{"blinking": True}, {"rain": 40}], ids=["blinking", "rain"])
def test_a_new_thing_on_a_moving_page_counts(motion):
    for seed in range(5):
        screen = Screen(seed)
        effect, _, _ = after_input(
            screen, known(screen, **motion), lambda screen=screen: screen.box(60, 500, 150, 150), **motion
        )
        assert effect.changed, seed


def test_a_surge_where_something_moves_anyway_counts():
    screen = Screen()
    ambient = Ambient()
    for _ in range(3):
        looks = []
        for i in range(6):
            screen.box(150, 300, 20, 20, (30, 30, 30))
            screen.box(150, 300, 3, 1 + i % 2, (90, 90, 90))
            looks.append(screen.look())
        ambient.learn(looks)
    effect, _, _ = after_input(screen, ambient, lambda: screen.box(150, 300, 20, 20, (255, 255, 0)))
    assert effect.changed, "the whole tile lit up, where only a spark used to be"


def test_a_new_screen_forgets_what_moved_on_the_old_one():
    screen = Screen()
    ambient = known(screen, blinking=True)
    assert ambient.moves
    ambient.forget()
    assert not ambient.moves
    effect, _, _ = after_input(screen, ambient, lambda: screen.box(100, 100, 40, 40))
    assert effect.changed


def test_the_settle_wait_ends_when_it_is_still_and_at_the_latest_at_its_cap():
    screen = Screen()
    _, _, watching = after_input(screen, known(screen), nothing, looks=30)
    assert watching.settled
    assert watching.elapsed_ms < 400
    restless = Settling(screen.look(), Ambient(), 1500)
    count = 0
    while not restless.add(screen.look(rain=30)):
        count += 1
        assert count < 20
    assert not restless.settled
    assert 1500 <= restless.elapsed_ms <= 1500 + LOOK_MS
    calm = Settling(screen.look(), known(screen, blinking=True), 1500)
    while not calm.add(screen.look(blinking=True)):
        pass
    assert calm.settled, "what moves by itself is not waited for"


def test_a_counter_on_an_animated_page_counts_where_the_pixels_tell_nothing():
    screen = Screen()
    effect, changes, _ = after_input(
        screen, known(screen, blinking=True), nothing, texts=([text("得分 7")], [text("得分 14")]), blinking=True
    )
    assert effect.changed
    assert effect.texts == ("得分 7 -> 得分 14",)
    assert [(c.old, c.new) for c in changes] == [("得分 7", "得分 14")]


@pytest.mark.parametrize(
    ("old", "new"),
    [("倒计时 29", "倒计时 28"), ("Time: 41", "Time: 40"), ("00:59", "00:58"), ("剩余时间 9 秒", "剩余时间 8 秒"),
     ("FPS 60", "FPS 58"), ("3s", "2s")],
)  # fmt: skip
def test_a_countdown_is_no_effect(old, new):
    effect, changes, _ = after_input(Screen(), Ambient(), nothing, texts=([text(old)], [text(new)]))
    assert not effect.changed
    assert changes == []


def test_what_changed_by_itself_before_is_no_effect_later():
    watch = TextWatch()
    watch.learn([text("Ships passing: 3")], [text("Ships passing: 4")])
    effect, _, _ = after_input(
        Screen(), Ambient(), nothing, texts=([text("Ships passing: 4")], [text("Ships passing: 5")]), watch=watch
    )
    assert not effect.changed


def test_of_two_bare_numbers_the_one_that_runs_by_itself_is_known_by_its_place():
    watch = TextWatch()
    watch.learn([text("0", 60, 20), text("30", 300, 20)], [text("0", 60, 20), text("29", 300, 20)])
    before, after = [text("0", 60, 20), text("29", 300, 20)], [text("10", 62, 20), text("28", 300, 20)]
    assert [(c.old, c.new) for c in watch.caused(before, after)] == [("0", "10")]


def test_a_text_that_came_and_went_again_while_it_settled_counts():
    watch, before = TextWatch(), [text("Play")]
    changes = watch.caused_over(before, [[*before, text("+7")], before])
    assert [(c.old, c.new) for c in changes] == [(None, "+7")]


def test_texts_are_compared_by_their_words():
    changes = compare([text("HP 3"), text("HP 3"), text("Menu")], [text("HP 3"), text("HP 2"), text("Bag")])
    assert {(c.old, c.new) for c in changes} == {("HP 3", "HP 2"), ("Menu", None), (None, "Bag")}
    assert compare([text("a"), text("b")], [text("b"), text("a")]) == []
    assert pattern_of("Level 3, 1,200 coins") == pattern_of("Level 4, 950 coins")
    assert numbers_in("1,200 of -3.5, 1:05") == [1200, -3.5, 1, 5]
