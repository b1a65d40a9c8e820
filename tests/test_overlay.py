"""Ruler, strip and canary: readable on any ground, and never in the way of a coordinate."""

import io
import random

import numpy as np
import pytest
from PIL import Image

from playtest.overlay import CANARY_LETTERS, StripText, encode, marks, new_canary, rule
from playtest.protocol.coordinates import STRIP_HEIGHT, CoordinateSpace

STRIP = StripText(3, 14, "tap (195, 612): changed", "K7X4")


def ground(value: int) -> np.ndarray:
    return np.full((844, 390, 3), value, dtype=np.uint8)


@pytest.mark.parametrize("space", CoordinateSpace)
def test_the_picture_is_as_wide_as_the_game_and_a_strip_higher(space):
    picture = rule(ground(0), space, STRIP)
    assert picture.size == (390, 844 + STRIP_HEIGHT)
    with Image.open(io.BytesIO(encode(picture))) as sent:
        assert sent.format == "WEBP"
        assert sent.size == picture.size


@pytest.mark.parametrize("value", [0, 128, 255])
def test_lines_are_seen_on_any_ground_and_leave_most_of_it_alone(value):
    ruled = np.asarray(rule(ground(value), CoordinateSpace.CSS, STRIP))[:844]
    differs = np.abs(ruled.astype(int) - value).max(axis=2) > 60
    assert differs[:, 100].sum() > 60
    assert differs[200, :].sum() > 30
    assert differs[:, 150].sum() > 20
    assert differs.mean() < 0.05


def test_the_game_below_the_ruler_is_not_touched():
    game = np.random.default_rng(3).integers(0, 255, (844, 390, 3), dtype=np.uint8)
    before = game.copy()
    ruled = np.asarray(rule(game, CoordinateSpace.CSS, STRIP))[:844]
    assert (game == before).all()
    same = (ruled == game).all(axis=2)
    assert same.mean() > 0.95
    assert same[120:140, 120:140].all(), "between the lines"


def test_marks_stand_where_their_numbers_say():
    across = {number: at for at, number, _ in marks(390, 390, CoordinateSpace.CSS)}
    assert across == {n: n for n in range(0, 390, 50)}
    down = {number: at for at, number, _ in marks(844, 872, CoordinateSpace.NORM1000)}
    assert down[500] == 436
    assert max(down) == 950, "the strip's own part has no marks"
    assert all(at < 844 for at in down.values())
    assert {number for _, number, major in marks(844, 872, CoordinateSpace.NORM1000) if major} == set(
        range(0, 1000, 100)
    )


def test_the_strip_says_step_tap_and_canary():
    one, other = (
        np.asarray(rule(ground(9), CoordinateSpace.CSS, s))[844:] for s in (STRIP, StripText(4, 14, "", "P3MW"))
    )
    assert (one != other).any(axis=2)[:, 300:].sum() > 50, "another canary"
    assert (one != other).any(axis=2)[:, 88:280].sum() > 50, "another tap"
    yellow = (one[..., 0] > 200) & (one[..., 1] > 180) & (one[..., 2] < 90)
    assert yellow[:, 300:].sum() > 80
    assert yellow[:, :280].sum() == 0


def test_other_screens_have_their_own_ruler():
    assert rule(np.zeros((390, 844, 3), np.uint8), CoordinateSpace.CSS, STRIP).size == (844, 390 + STRIP_HEIGHT)
    assert rule(np.zeros((90, 70, 3), np.uint8), CoordinateSpace.NORM1000, STRIP).size == (70, 90 + STRIP_HEIGHT)


def test_the_longest_tap_does_not_reach_the_canary():
    long = StripText(120, 120, "DOUBLE TAP 1000,1000: NO CHANGE", "K7X4")
    one = np.asarray(rule(ground(9), CoordinateSpace.CSS, long))[844:, 310:]
    assert (one == np.asarray(rule(ground(9), CoordinateSpace.CSS, STRIP))[844:, 310:]).all()


def test_canaries_have_no_look_alikes_and_follow_the_seed():
    codes = [new_canary(random.Random(7)) for _ in range(2)]
    assert codes[0] == codes[1]
    many = {new_canary(random.Random(seed)) for seed in range(300)}
    assert len(many) > 290
    assert not set("0O1IL2Z5S8B") & set(CANARY_LETTERS)
    assert all(len(code) == 4 and set(code) <= set(CANARY_LETTERS) for code in many)
