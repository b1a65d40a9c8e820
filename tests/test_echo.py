"""The ring is in the picture and nowhere else."""

import numpy as np
import pytest

from playtest.browser.echo import DIAMETER
from playtest.ports import Point
from playtest.protocol.actions import Wait
from tests.browser_helper import CLOCKS, js, pixels_of, playing


def ring_in(png: bytes) -> tuple[float, float, int] | None:
    """Centre and width of the yellow in a picture."""
    red, green, blue = (pixels_of(png)[..., i].astype(int) for i in range(3))
    rows, columns = np.nonzero((red > 240) & (green > 200) & (blue < 60))
    if not len(rows):
        return None
    left, right, top, bottom = columns.min(), columns.max() + 1, rows.min(), rows.max() + 1
    return float(left + right) / 2, float(top + bottom) / 2, int(right - left)


@pytest.mark.parametrize("clock", CLOCKS)
async def test_the_ring_is_seen_once_above_everything_and_by_nobody_in_the_page(clock):
    async with playing("echo", clock) as game:
        before = await js(game, "selfie()")
        assert ring_in(await game.picture()) is None
        await game.show_echo(Point(200, 300))
        assert ring_in(await game.picture()) == (pytest.approx(200, abs=1), pytest.approx(300, abs=1), DIAMETER)
        assert await js(game, "selfie()") == before
        await game.hide_echo()
        assert ring_in(await game.picture()) is None
        assert await js(game, "selfie()") == before

        await game.show_echo(Point(2, 840))  # at the edge it is cut, and nothing scrolls
        assert ring_in(await game.picture()) is not None
        await game.hide_echo()
        assert await js(game, "selfie()") == before


@pytest.mark.parametrize("clock", CLOCKS)
async def test_the_ring_survives_a_reload_and_lies_over_the_top_layer(clock):
    async with playing("echo", clock) as game:
        await game.show_echo(Point(100, 100))
        await game.picture()
        await game.hide_echo()
        await js(game, "setTimeout(() => location.reload(), 0)")
        await game.perform(Wait(ms=1000))
        await game.perform(Wait(ms=200))
        await game.show_echo(Point(120, 500))
        assert ring_in(await game.picture()) == (pytest.approx(120, abs=1), pytest.approx(500, abs=1), DIAMETER)
        await game.hide_echo()
        assert ring_in(await game.picture()) is None
        await js(game, "top.document.getElementById('modal').showModal()")
        await game.show_echo(Point(195, 422))
        assert ring_in(await game.picture()) == (pytest.approx(195, abs=1), pytest.approx(422, abs=1), DIAMETER)
        await game.hide_echo()
        assert ring_in(await game.picture()) is None
        await js(game, "document.getElementById('modal').style.transform = 'translate(20px, 30px)'")
        before = await js(game, "selfie()")
        await game.show_echo(Point(195, 422))
        assert ring_in(await game.picture()) == (pytest.approx(195, abs=1), pytest.approx(422, abs=1), DIAMETER)
        assert await js(game, "selfie()") == before
        await game.hide_echo()
