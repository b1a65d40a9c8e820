"""Where a tap that nothing answered is tried again: only on what it was aimed at."""

import math

import numpy as np
import pytest

from playtest.aiming import MAX_TRIES, REACH_PX, SAME_TAP, tries_for
from playtest.exploring.scene import see
from playtest.ports import VisibleText
from playtest.protocol.actions import Tap, contact_point

BUTTON = (100, 400, 180, 90)


def scene(*texts):
    """A dark screen with one bright button."""
    pixels = np.full((844, 390, 3), 20, dtype=np.uint8)
    x, y, width, height = BUTTON
    pixels[y : y + height, x : x + width] = (240, 200, 60)
    return see(0, pixels, [VisibleText(text, box, "dom", tappable=True) for text, box in texts])


def spots(tap, seen):
    return [contact_point(other.action) for other in tries_for(tap, seen)]


def test_the_label_that_the_tester_named_comes_first_wherever_it_stands():
    seen = scene(("Start", (20, 700, 80, 30)), ("Help", (300, 700, 60, 30)))
    assert spots(Tap(x=195, y=445, target="Start"), seen)[0] == pytest.approx((60, 715))


@pytest.mark.parametrize("spot", [(110, 410), (190, 445), (95, 395)])
def test_other_places_lie_on_the_thing_under_or_next_to_the_tap(spot):
    tried = tries_for(Tap(x=spot[0], y=spot[1]), scene())
    x, y, width, height = BUTTON
    moved = [contact_point(other.action) for other in tried if contact_point(other.action) != spot]
    assert moved
    assert all(x <= px <= x + width and y <= py <= y + height for px, py in moved)
    assert all(math.hypot(px - spot[0], py - spot[1]) <= REACH_PX + max(width, height) for px, py in moved)


def test_far_from_everything_only_the_spot_itself_is_tried():
    assert set(spots(Tap(x=40, y=100), scene())) == {(40, 100)}


def test_a_longer_hold_and_a_mouse_are_tried_and_no_more_than_the_limit():
    tried = tries_for(Tap(x=150, y=430), scene())
    assert len(tried) <= MAX_TRIES
    assert any(other.mouse for other in tried)
    assert any(other.words == SAME_TAP for other in tried)
    assert any("held longer" in other.words for other in tried)
    places = {contact_point(other.action) for other in tried}
    assert len(places) >= 4, "near and far places of the thing"
