"""Texts on the screen: in the document, on canvases, at their places, and only those that can be seen."""

import time

import pytest
import pytest_asyncio

from playtest.ports import VisibleText
from tests.browser_helper import js, kinds, playing

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def canvas():
    async with playing("texts-canvas") as game:
        yield game


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def document():
    async with playing("texts-dom") as game:
        yield {text.text: text for text in await game.texts()}


async def drawn(game, code: str) -> list[VisibleText]:
    await js(game, f"() => {{ fresh(); {code} }}")
    return await game.texts()


async def only(game, code: str) -> VisibleText:
    found = await drawn(game, code)
    assert len(found) == 1, [text.text for text in found]
    return found[0]


# 'words' in 20 px monospace is 60 wide in one font and 60.2 in another: places are given as centres, to 4 px.
PLACES = {
    "left, alphabetic": ("plainPen.fillText('words', 100, 100)", (130, 94)),
    "stroked": ("plainPen.strokeText('words', 100, 100)", (130, 94)),
    "centred": ("plainPen.textAlign = 'center'; plainPen.fillText('words', 100, 100)", (100, 94)),
    "right": ("plainPen.textAlign = 'right'; plainPen.fillText('words', 100, 100)", (70, 94)),
    "end": ("plainPen.textAlign = 'end'; plainPen.fillText('words', 100, 100)", (70, 94)),
    "top": ("plainPen.textBaseline = 'top'; plainPen.fillText('words', 100, 100)", (130, 110)),
    "middle": ("plainPen.textBaseline = 'middle'; plainPen.fillText('words', 100, 100)", (130, 100)),
    "bottom": ("plainPen.textBaseline = 'bottom'; plainPen.fillText('words', 100, 100)", (130, 90)),
    "moved": ("plainPen.translate(50, 200); plainPen.fillText('words', 100, 100)", (180, 294)),
    "scaled": ("plainPen.scale(2, 2); plainPen.fillText('words', 50, 50)", (160, 88)),
    "turned": (
        "plainPen.translate(200, 200); plainPen.rotate(Math.PI / 2); plainPen.textAlign = 'center';"
        " plainPen.textBaseline = 'middle'; plainPen.fillText('words', 50, 0)",
        (200, 250),
    ),
    "squeezed": ("plainPen.fillText('words', 100, 100, 20)", (110, 94)),
    "canvas shown at half its size": ("halfPen.fillText('words', 200, 100)", (40 + 115, 420 + 47)),
    "retina canvas": ("halfPen.scale(2, 2); halfPen.fillText('words', 100, 50)", (40 + 130, 420 + 44)),
    "through save and restore": (
        "plainPen.save(); plainPen.translate(500, 0); plainPen.restore(); plainPen.fillText('words', 100, 100)",
        (130, 94),
    ),
    "over a double buffer": (
        "const b = document.createElement('canvas'); b.width = 390; b.height = 400; const p = b.getContext('2d');"
        " p.font = '20px monospace'; p.fillText('words', 100, 100); plainPen.drawImage(b, 0, 0)",
        (130, 94),
    ),
    "over a small buffer, enlarged": (
        "const b = new OffscreenCanvas(195, 200), p = b.getContext('2d'); p.font = '10px monospace';"
        " p.fillText('words', 50, 50); plainPen.drawImage(b, 0, 0, 390, 400)",
        (130, 94),
    ),
    "over a hidden buffer, a part of it": (
        "hiddenPen.fillText('words', 150, 50); plainPen.drawImage(hidden, 100, 0, 200, 100, 0, 200, 200, 100)",
        (80, 244),
    ),
}


@pytest.mark.parametrize(("code", "centre"), PLACES.values(), ids=PLACES)
async def test_a_text_drawn_on_a_canvas_is_where_it_is_seen(canvas, code, centre):
    text = await only(canvas, code)
    assert text.text == "words"
    assert text.source == "canvas"
    assert text.centre == (pytest.approx(centre[0], abs=4), pytest.approx(centre[1], abs=4))


GONE = {
    "cleared": "plainPen.clearRect(0, 0, 390, 400)",
    "cleared around its middle": "plainPen.clearRect(90, 70, 90, 50)",
    "painted over": "plainPen.fillRect(0, 0, 390, 400)",
    "painted over in a transform": "plainPen.scale(10, 10); plainPen.fillRect(0, 0, 39, 40)",
    "width set": "plain.width = 390",
    "height set": "plain.height = 400",
    "reset": "plainPen.reset()",
    "covered by a picture": "const b = document.createElement('canvas'); b.width = 390; b.height = 400;"
    " plainPen.drawImage(b, 0, 0)",
    "painted over by an opaque gradient": "const g = plainPen.createLinearGradient(0, 0, 0, 400);"
    " g.addColorStop(0, '#123'); g.addColorStop(1, 'rgb(9 9 9)'); plainPen.fillStyle = g;"
    " plainPen.fillRect(0, 0, 390, 400)",
}


@pytest.mark.parametrize("code", GONE.values(), ids=GONE)
async def test_an_erased_text_is_gone(canvas, code):
    assert await drawn(canvas, "plainPen.fillText('words', 100, 100);" + code) == []


STAYS = {
    "cleared elsewhere": "plainPen.clearRect(0, 200, 390, 200)",
    "tinted": "plainPen.fillStyle = 'rgba(0, 0, 0, 0.5)'; plainPen.fillRect(0, 0, 390, 400)",
    "faintly painted over": "plainPen.globalAlpha = 0.3; plainPen.fillRect(0, 0, 390, 400)",
    "under a vignette": "const g = plainPen.createRadialGradient(195, 200, 50, 195, 200, 300);"
    " g.addColorStop(0, 'rgba(0, 0, 0, 0)'); g.addColorStop(1, '#000'); plainPen.fillStyle = g;"
    " plainPen.fillRect(0, 0, 390, 400)",
    "beside a sprite": "const b = document.createElement('canvas'); b.width = b.height = 30; plainPen.drawImage(b, 0, 0)",
    "outlined": "plainPen.strokeText('words', 100, 100)",
    "drawn again": "plainPen.fillText('words', 100, 100)",
    "with its shadow below": "plainPen.fillText('words', 102, 102)",
}


@pytest.mark.parametrize("code", STAYS.values(), ids=STAYS)
async def test_a_text_that_is_still_seen_is_told_once(canvas, code):
    text = await only(canvas, "plainPen.fillText('words', 100, 100);" + code)
    assert text.text == "words"


async def test_a_number_that_changes_in_its_place_is_one_text(canvas):
    assert (
        await only(canvas, "for (let i = 0; i < 50; i++) plainPen.fillText('Score ' + i, 10, 30)")
    ).text == "Score 49"


async def test_texts_off_the_page_have_no_place_and_unseen_ones_are_left_out(canvas):
    engine = "window.b = document.createElement('canvas'); b.getContext('2d').fillText('for a texture', 5, 20);"
    text = await only(canvas, engine)
    assert (text.text, text.box, text.centre) == ("for a texture", None, None)
    await js(canvas, "b.width = 1")
    assert await drawn(canvas, "hiddenPen.fillText('on a hidden canvas', 5, 20)") == []
    assert await drawn(canvas, "plainPen.fillText('beside the canvas', 10, 900); halfPen.fillText('x', 700, 20)") == []
    assert (
        await drawn(canvas, "plainPen.fillText('   ', 10, 90); plainPen.globalAlpha = 0; plainPen.fillText('a', 9, 9)")
        == []
    )


async def test_texts_of_the_document_that_can_be_seen(document):
    shown = {"plain words", "Start game", "by its cursor", "by its handler", "a link", "typed in", "your name",
             "Hard mode", "in the shadow", "inside the frame", "svg words", "More"}  # fmt: skip
    assert set(document) == shown
    assert {text.source for text in document.values()} == {"dom"}


async def test_what_can_be_tapped_is_told(document):
    tappable = {name for name, text in document.items() if text.tappable}
    assert tappable == {
        "Start game",
        "by its cursor",
        "by its handler",
        "a link",
        "typed in",
        "your name",
        "Hard mode",
        "More",
    }


async def test_texts_of_the_document_have_their_places(document):
    x, y, width, height = document["plain words"].box
    assert (x, y) == (10, pytest.approx(10, abs=3))
    assert width == pytest.approx(11 * 9.6, abs=4)
    assert 10 < height < 30
    assert document["inside the frame"].box[:2] == (30 + 5 + 7, pytest.approx(400 + 5 + 9, abs=3))


@pytest.mark.parametrize("kind", ["plain", "builtins", "proxies"])
async def test_a_hostile_page_costs_a_bounded_answer_and_no_crash(kind):
    async with playing("hostile", page=f"index.html?{kind}", hang_s=20) as game:
        started = time.monotonic()
        texts = await game.texts()
        assert time.monotonic() - started < 10
        assert len(texts) <= 600
        assert all(len(text.text) <= 200 for text in texts)
        assert kind != "plain" or len(texts) >= 250
        for text in texts:
            assert text.box is None or all(isinstance(side, float | int) for side in text.box)
        assert isinstance(await game.facts(), dict)
        assert await game.picture()
        assert "crash" not in kinds(game)
