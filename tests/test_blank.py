"""What counts as a blank picture, and what is content however small."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from playtest.gates.blank import look

SIZE = (390, 844)


def picture(paint, ground="black"):
    image = Image.new("RGB", SIZE, ground)
    paint(ImageDraw.Draw(image))
    return np.asarray(image)


def gradient(_draw=None):
    column = np.linspace(0, 255, SIZE[1]).astype(np.uint8)
    return np.repeat(np.repeat(column[:, None, None], SIZE[0], axis=1), 3, axis=2)


BLANK = {
    "one colour": picture(lambda d: None),
    "white": picture(lambda d: None, "white"),
    "one colour with what no eye sees": picture(lambda d: d.text((100, 100), "PLAY", fill="#060606")),
    "two stray pixels": picture(lambda d: d.point([(3, 3), (200, 500)], fill="white")),
    "an empty canvas of the default size": picture(lambda d: d.rectangle((8, 8, 307, 157), fill="black"), "white"),
    "a card in the middle": picture(lambda d: d.rectangle((40, 200, 350, 600), fill="#336699")),
    "a card with rounded corners": picture(lambda d: d.rounded_rectangle((40, 200, 350, 600), 24, fill="#336699")),
    "a card with a border": picture(lambda d: d.rectangle((40, 200, 350, 600), fill="#336699", outline="red", width=3)),
}
SHOWN = {
    "one small dot": picture(lambda d: d.ellipse((190, 420, 195, 425), fill="white")),
    "a word": picture(lambda d: d.text((150, 420), "TAP", fill="#606060")),
    "a player": picture(lambda d: d.rectangle((180, 700, 210, 730), fill="lime")),
    "one large circle to tap": picture(lambda d: d.ellipse((45, 270, 345, 570), fill="red")),
    "a card with a word": picture(
        lambda d: (d.rectangle((40, 200, 350, 600), fill="white"), d.text((180, 400), "GO", fill="black"))
    ),
    "a card with a word of the ground's colour": picture(
        lambda d: (d.rectangle((40, 200, 350, 600), fill="#336699"), d.text((180, 400), "GO", fill="black"))
    ),
    "a score in a card's corner": picture(
        lambda d: (d.rounded_rectangle((40, 200, 350, 600), 10, fill="white"), d.text((48, 208), "0", fill="black"))
    ),
    "two cards": picture(
        lambda d: (d.rectangle((10, 100, 180, 500), fill="white"), d.rectangle((200, 100, 380, 500), fill="white"))
    ),
    "a gradient": gradient(),
}


@pytest.mark.parametrize("name", BLANK)
def test_nothing_to_see_is_blank(name):
    assert look(BLANK[name]).blank


@pytest.mark.parametrize("name", SHOWN)
def test_content_is_not_blank_however_small(name):
    assert look(SHOWN[name]).blank is None


def test_a_blank_picture_says_what_there_is_instead():
    assert look(BLANK["one colour"]).blank == "one colour, #000000"
    assert look(BLANK["a card in the middle"]).blank == "one flat card of 311 x 401 px, #336699 on #000000"


def test_the_figures_tell_flat_from_rich():
    flat, rich = look(BLANK["one colour"]), look(gradient())
    assert (flat.colours, flat.deviation, flat.main_share) == (1, 0.0, 1.0)
    assert rich.colours > 20
    assert rich.deviation > 50
    assert rich.main_share < 0.2
