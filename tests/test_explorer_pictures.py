"""The explorer finds things on pictures and tells an answer from a screen that moves by itself."""

import math

import numpy as np
import pytest
from PIL import Image, ImageDraw

from playtest.exploring.kinship import find_kin
from playtest.exploring.looks import difference, likeness, look_at
from playtest.exploring.objects import find_regions, is_blank
from playtest.exploring.response import Motion, Response, change_between
from playtest.exploring.scene import see
from playtest.ports import Point, VisibleText
from playtest.protocol.transcript import Effect

SIZE = (390, 844)
MOVING = Effect(changed=True, area=0.1, ambient=0.4)
STILL = Effect(changed=True, area=0.001, region=(100, 200, 40, 40))


def picture(*boxes, ground=(30, 60, 70)):
    """A picture with coloured boxes (x, y, w, h, colour)."""
    image = Image.new("RGB", SIZE, ground)
    draw = ImageDraw.Draw(image)
    for x, y, w, h, colour in boxes:
        draw.rectangle([x, y, x + w - 1, y + h - 1], fill=colour)
    return np.asarray(image)


def hits(regions, x, y, w, h):
    middle = (x + w / 2, y + h / 2)
    return [r for r in regions if math.dist(middle, (r.box[0] + r.box[2] / 2, r.box[1] + r.box[3] / 2)) < 8]


def test_every_thing_of_a_board_is_found_once():
    boxes = [(40 + 110 * (i % 3), 200 + 110 * (i // 3), 80, 80, (200, 60 + 15 * i, 40)) for i in range(9)]
    regions = find_regions(picture(*boxes))
    assert all(len(hits(regions, *box[:4])) == 1 for box in boxes)


def test_things_on_a_panel_are_found_beside_the_panel():
    regions = find_regions(
        picture((20, 300, 350, 300, (240, 230, 200)), (60, 340, 60, 60, "red"), (250, 480, 70, 70, "blue"))
    )
    assert hits(regions, 60, 340, 60, 60)
    assert hits(regions, 250, 480, 70, 70)


def test_a_gradient_is_a_background():
    rows = np.linspace(40, 200, SIZE[1]).astype(np.uint8)
    pixels = np.repeat(np.repeat(rows[:, None, None], SIZE[0], axis=1), 3, axis=2)
    assert find_regions(pixels) == []


def test_blank_is_one_flat_colour_only():
    assert is_blank(picture())
    assert not is_blank(picture((100, 100, 60, 60, "white")))


def test_a_text_on_a_button_names_the_button_and_its_letters_are_no_things():
    image = Image.fromarray(picture((95, 430, 200, 64, (200, 60, 60))))
    ImageDraw.Draw(image).text((150, 450), "PLAY GAME", fill="white", font_size=18)
    scene = see(1, np.asarray(image), [VisibleText("PLAY GAME", (150, 450, 96, 20), "canvas")])
    named = [thing for thing in scene.things if thing.words]
    assert [thing.words for thing in named] == [("PLAY GAME",)]
    assert named[0].box[2] > 180
    assert len(scene.things) == 1


def test_a_canvas_text_that_was_painted_over_is_not_seen():
    scene = see(1, picture((50, 90, 200, 60, "white")), [VisibleText("hidden", (80, 100, 60, 20), "canvas")])
    assert scene.texts == ()


def test_like_things_look_alike_whatever_their_size():
    red_on_white = picture((50, 50, 120, 120, "white"), (80, 80, 60, 60, "red"), ground=(255, 255, 255))
    pixels = picture(
        (50, 50, 60, 60, "white"), (65, 65, 30, 30, "red"), (200, 50, 60, 60, "white"), (215, 65, 30, 30, "blue")
    )
    big = look_at(red_on_white, (50, 50, 120, 120))
    same, other = look_at(pixels, (50, 50, 60, 60)), look_at(pixels, (200, 50, 60, 60))
    assert likeness(big, same) > 0.9
    assert likeness(big, same) > likeness(big, other)
    assert difference(same, other) > 10


def test_equal_words_make_kin():
    texts = [
        VisibleText(word, (x, y, 40, 20), "dom")
        for word, x, y in (("红茶", 40, 200), ("绿茶", 140, 200), ("红茶", 40, 600))
    ]
    kin = find_kin(see(1, picture(), texts))
    names = [thing.words[0] for thing in kin.things]
    pairs = {(names[i], names[j]) for i, others in kin.words.items() for j in others}
    assert pairs == {("红茶", "红茶")}


# -- an answer, or the screen's own motion ---------------------------------------------------------------------


def shimmer(step: int, *marks):
    """A board whose tiles glow in turns: every picture differs from the last in many places."""
    tiles = [
        (20 + 60 * c, 150 + 60 * r, 54, 54, (150 + 25 * ((c + r + step) % 4 == 0), 90, 60))
        for r in range(8)
        for c in range(6)
    ]
    return picture(*tiles, *marks)


def test_a_screen_that_glows_by_itself_answers_nobody():
    motion, answers = Motion(), []
    for step in range(12):
        change = change_between(shimmer(step), shimmer(step + 1))
        point = Point(47 + 60 * (step % 6), 177 + 60 * (step % 8))
        if step > 1:
            answers.append(motion.judge(change, (point,), MOVING))
        motion.note(change, (point,) if step > 1 else (), idle=step <= 1)
    assert Response.SURE not in answers
    assert answers.count(Response.MAYBE) <= 2


def test_what_changes_under_the_finger_on_a_glowing_screen_is_an_answer():
    motion = Motion()
    for step in range(4):
        motion.note(change_between(shimmer(step), shimmer(step + 1)), (), idle=True)
    change = change_between(shimmer(4), shimmer(5, (140, 330, 54, 54, (255, 255, 255))))
    assert motion.judge(change, (Point(167, 357),), MOVING) >= Response.MAYBE  # to be confirmed by doing it again
    assert motion.judge(change, (Point(47, 600),), MOVING) is Response.NONE


def test_on_a_still_screen_a_change_near_the_finger_is_an_answer_and_one_far_off_is_in_doubt():
    change = change_between(picture(), picture((110, 210, 20, 20, "white")))
    assert Motion().judge(change, (Point(120, 220),), STILL) is Response.SURE
    assert Motion().judge(change, (Point(300, 700),), STILL) is Response.MAYBE


def test_what_changes_in_waits_too_is_no_answer():
    motion = Motion()
    tick = change_between(picture(), picture((110, 210, 24, 24, "white")))
    motion.note(tick, (), idle=True)
    assert motion.judge(tick, (Point(300, 700),), STILL) is Response.NONE


@pytest.mark.parametrize("points", [(), (Point(200, 400),)])
def test_no_change_is_no_answer(points):
    same = change_between(picture(), picture())
    assert Motion().judge(same, points, Effect(changed=False, area=0)) is Response.NONE
    assert Motion().judge(same, points, Effect(changed=False, area=0, ambient=0.3)) is Response.NONE


def test_what_was_there_for_a_moment_only_or_looks_like_the_browsers_own_is_in_doubt():
    same, small = change_between(picture(), picture()), change_between(picture(), picture((110, 210, 30, 30, "white")))
    assert Motion().judge(same, (Point(120, 220),), STILL) is Response.MAYBE
    assert Motion().judge(small, (Point(120, 220),), STILL, plain_tap=False) is Response.MAYBE
    assert Motion().judge(small, (Point(120, 220),), STILL) is Response.SURE


def test_a_strong_change_in_many_places_of_a_moving_screen_is_an_answer():
    motion, drifting = Motion(), Effect(changed=False, area=0, ambient=0.6)
    for step in range(4):
        motion.note(change_between(shimmer(step), shimmer(step + 1)), (), idle=True)
    marks = [(140, y, 100, 100, (255, 255, 255)) for y in (200, 330, 460, 590)]
    change = change_between(shimmer(4), shimmer(5, *marks))
    assert motion.judge(change, (Point(190, 380),), drifting) is Response.MAYBE


def test_one_large_thing_is_no_background_only():
    assert hits(find_regions(picture((95, 190, 200, 200, (160, 50, 50)))), 95, 190, 200, 200)
