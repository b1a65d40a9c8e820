"""Draws that nobody looks at are skipped, and no picture shows it."""

import pytest

from playtest.browser import session as session_module
from playtest.browser.session import GameSession
from playtest.protocol.actions import Key, Tap, Wait
from tests.browser_helper import colour_at, hash_of, js, playing

# Lies under the probe's own wrappers, so it counts what reaches the driver.
COUNT_REAL_DRAWS = """
(() => { for (const Context of [WebGLRenderingContext, WebGL2RenderingContext]) {
  const draw = Context.prototype.drawArrays;
  Context.prototype.drawArrays = function () { window.drawn = (window.drawn || 0) + 1; return draw.apply(this, arguments); };
} })();
"""
ACTIONS = (Wait(ms=400), Tap(x=100, y=100), Wait(ms=700), Key(key="a"))


@pytest.fixture(autouse=True)
def real_draws_are_counted(monkeypatch):
    script = session_module.init_script
    monkeypatch.setattr(session_module, "init_script", lambda *given: COUNT_REAL_DRAWS + script(*given))


async def _nothing(*_: object) -> None:
    return None


async def seen(page: str, query: str, blind: bool, monkeypatch, actions=ACTIONS) -> dict:
    with monkeypatch.context() as patch:
        if not blind:
            patch.setattr(GameSession, "_look_for_webgl", _nothing)
            frame = session_module.FrameClock.frame
            patch.setattr(
                session_module.FrameClock, "frame",
                lambda self, picture=False, show=False: frame(self, picture, show=True),
            )  # fmt: skip
        async with playing(page, page=f"index.html?{query}") as game:
            pictures = []
            for action in actions:
                await game.perform(action)
                if not blind:
                    await game.clock.frame()  # a blind session takes one frame more for a picture
                pictures.append(hash_of(await game.picture()))
            return {
                "pictures": pictures,
                "frames": await js(game, "window.frames"),
                "drawn": await js(game, "window.drawn || 0"),
                "seen": await js(game, "window.seen || []"),
                "last": colour_at(await game.picture(), 200, 400),
            }


async def test_blind_pictures_are_true_and_draws_are_saved(monkeypatch):
    blind, true = await seen("chance-webgl", "", True, monkeypatch), await seen("chance-webgl", "", False, monkeypatch)
    assert blind["pictures"] == true["pictures"]
    assert len(set(blind["pictures"])) == len(ACTIONS)
    assert true["drawn"] == true["frames"] == blind["frames"]
    assert blind["drawn"] < blind["frames"] / 2


@pytest.mark.parametrize("query", ["keep", "noclear", "read", "url"])
async def test_pages_that_need_their_old_pixels_are_drawn_truly(monkeypatch, query):
    blind, true = [await seen("chance-webgl", query, how, monkeypatch) for how in (True, False)]
    assert blind["pictures"] == true["pictures"]
    assert blind["seen"] == true["seen"], "what the page read back"
    assert query == "noclear" or blind["drawn"] == blind["frames"]


async def test_a_page_that_draws_only_when_something_happens_is_never_skipped(monkeypatch):
    async with playing("webgl-on-demand") as game:
        assert colour_at(await game.picture(), 200, 400) == (255, 0, 0)
        await game.perform(Tap(x=200, y=400))
        assert colour_at(await game.picture(), 200, 400) == (0, 255, 0)
        await game.perform(Key(key="a"))
        assert colour_at(await game.picture(), 200, 400) == (0, 255, 0)
        await game.perform(Wait(ms=900))
        assert colour_at(await game.picture(), 200, 400) == (0, 0, 255)


async def test_a_loop_that_stops_unseen_is_told_and_drawn_truly_from_then_on():
    async with playing("chance-webgl", page="index.html?stop") as game:
        await game.perform(Wait(ms=2500))
        await game.picture()
        assert any("stopped drawing" in note for note in game.notes)
        await js(game, "frames = 0, drawn = 0, requestAnimationFrame(frame)")
        await game.perform(Wait(ms=1000))
        assert await js(game, "drawn") == await js(game, "frames") >= 59
