"""A finger's and a keyboard's events reach the page as a phone would send them, in game time."""

from itertools import pairwise

import pytest

from playtest.browser.clock import FRAME_MS
from playtest.protocol.actions import DoubleTap, Drag, Key, LongPress, Swipe, Tap, Type, Wait
from tests.browser_helper import CLOCKS, HELD_CLOCKS, js, kinds, playing

ONE_TAP = ["pointerdown", "touchstart", "pointerup", "touchend", "mousedown", "mouseup", "click"]


def times(events: list[dict], kind: str) -> list[float]:
    return [event["t"] for event in events if event["kind"] == kind]


def slack(clock: str) -> float:
    return 400 if clock == "realtime" else 2 * FRAME_MS


@pytest.mark.parametrize("clock", CLOCKS)
async def test_taps_presses_and_buttons_of_every_kind(clock):
    async with playing("touchpad", clock) as game:
        assert await js(game, "bootTouch"), "a game that chooses touch or mouse at boot must see touch"
        await js(game, "take()")
        await game.perform(Tap(x=201, y=603))
        events = await js(game, "take()")
        assert [e["kind"] for e in events if not e["kind"].endswith("move")] == ONE_TAP
        assert {(round(e["x"]), round(e["y"])) for e in events} == {(201, 603)}
        assert {e["type"] for e in events if e["kind"].startswith("pointer")} == {"touch"}
        assert all(e["trusted"] for e in events)
        held = times(events, "touchend")[0] - times(events, "touchstart")[0]
        assert held == pytest.approx(4 * FRAME_MS, abs=slack(clock))

        await game.perform(DoubleTap(x=100, y=700))
        events = await js(game, "take()")
        assert [e["kind"] for e in events if e["kind"] in ("click", "dblclick")] == ["click", "click", "dblclick"]
        first, second = times(events, "touchstart")
        if clock != "realtime":
            assert second - first < 300

        await game.perform(LongPress(x=100, y=700, ms=700))
        events = await js(game, "take()")
        held = times(events, "touchend")[0] - times(events, "touchstart")[0]
        assert held == pytest.approx(700, abs=slack(clock))

        for row in (40, 120, 200):
            await game.perform(Tap(x=195, y=row))
        lit = "['touch', 'mouse', 'pointer'].map(id => document.getElementById(id).className)"
        assert await js(game, lit) == ["row on"] * 3


@pytest.mark.parametrize("clock", CLOCKS)
async def test_strokes_have_their_geometry_and_duration(clock):
    async with playing("touchpad", clock) as game:
        await js(game, "take()")
        await game.perform(Swipe(x1=80, y1=600, x2=300, y2=640, ms=240))
        events = await js(game, "take()")
        assert await js(game, "board2048") == ["right"]
        moves = [e for e in events if e["kind"] == "touchmove"]
        assert len(moves) >= (5 if clock == "realtime" else 12)
        assert all(b["x"] >= a["x"] and b["y"] >= a["y"] for a, b in pairwise(moves))
        for x, y in ((e["x"], e["y"]) for e in moves):
            assert y == pytest.approx(600 + (x - 80) * 40 / 220, abs=1)
        assert (round(moves[-1]["x"]), round(moves[-1]["y"])) == (300, 640)
        took = times(events, "touchend")[0] - times(events, "touchstart")[0]
        assert took == pytest.approx(240, abs=slack(clock))
        assert "click" not in [e["kind"] for e in events]
        assert (await game.facts())["pointercancel"] == 0

        await game.perform(Drag(x1=300, y1=500, x2=90, y2=700, ms=300))
        events = await js(game, "take()")
        start, moved, end = times(events, "touchstart")[0], times(events, "touchmove")[0], times(events, "touchend")[0]
        assert moved - start >= 150 - FRAME_MS
        assert end - start == pytest.approx(450, abs=slack(clock))
        if clock != "realtime":
            stamps = [e["stamp"] for e in events if e["kind"] == "pointermove"]
            assert all(e["stamp"] == pytest.approx(e["t"], abs=0.2) for e in events), "timeStamp is game time too"
            assert stamps == sorted(stamps)


@pytest.mark.parametrize("clock", HELD_CLOCKS)
async def test_a_swipe_that_the_page_takes_for_panning_is_counted(clock):
    async with playing("touchpad", clock, page="index.html?pan") as game:
        await game.perform(Swipe(x1=195, y1=700, x2=195, y2=500))
        assert (await game.facts())["pointercancel"] == 1
        events = await js(game, "take()")
        assert "pointerup" not in [e["kind"] for e in events]
        await game.perform(Wait(ms=4000))  # a tap on a page that still glides only stops it
        await js(game, "take()")
        await game.perform(Tap(x=195, y=600))
        assert [k for k in await js(game, "kindsOf()") if k in ONE_TAP] == ONE_TAP, "the next tap is whole"


@pytest.mark.parametrize("clock", CLOCKS)
async def test_keys_and_text(clock):
    async with playing("touchpad", clock) as game:
        for key, code, key_code, ms in (
            ("ArrowLeft", "ArrowLeft", 37, 120),
            ("a", "KeyA", 65, 80),
            ("Space", "Space", 32, 80),
            ("Enter", "Enter", 13, 500),
        ):
            await js(game, "take()")
            await game.perform(Key(key=key, ms=ms))
            events = [e for e in await js(game, "take()") if e["kind"] in ("keydown", "keyup")]
            assert [(e["kind"], e["code"], e["keyCode"], e["repeat"]) for e in events] == [
                ("keydown", code, key_code, False),
                ("keyup", code, key_code, False),
            ]
            assert events[0]["key"] == (" " if key == "Space" else key)
            assert events[1]["t"] - events[0]["t"] == pytest.approx(ms, abs=slack(clock))
        await game.perform(Tap(x=195, y=360))
        await game.perform(Key(key="ArrowUp"))
        assert await js(game, "[document.activeElement.id, boardKeys]") == ["board", ["ArrowUp"]]
        await game.perform(Tap(x=195, y=280))
        await game.perform(Type(text="Bob 小猫!"))
        assert await js(game, "document.getElementById('name').value") == "Bob 小猫!"


@pytest.mark.parametrize("clock", CLOCKS)
async def test_keys_by_other_names_and_keys_that_there_are_not(clock):
    async with playing("touchpad", clock) as game:
        for name, code in ((" ", "Space"), ("Spacebar", "Space"), ("Up", "ArrowUp"), ("left", "ArrowLeft"),
                           ("ESC", "Escape"), ("W", "KeyW"), ("KeyW", "KeyW"), ("return", "Enter")):  # fmt: skip
            await js(game, "take()")
            await game.perform(Key(key=name))
            assert [e["code"] for e in await js(game, "take()") if e["kind"] == "keydown"] == [code], name
        assert kinds(game) == []
        await game.perform(Key(key="the big red one"))
        assert kinds(game) == ["no_such_key"], "told, and no reason to end a roll"
        await js(game, "take()")
        await game.perform(Tap(x=195, y=600))
        assert [k for k in await js(game, "kindsOf()") if k in ONE_TAP] == ONE_TAP
