"""Held means held; advancing means by as much as was asked for, in every clock a page can read."""

import asyncio
import time
from contextlib import suppress

import psutil
import pytest

from playtest.browser.clock import FRAME_MS
from playtest.protocol.actions import DoubleTap, Drag, Key, LongPress, Swipe, Tap, Type, Wait
from tests.browser_helper import CLOCKS, HELD_CLOCKS, START_MS, hash_of, js, playing


def chromium_processes() -> list[psutil.Process]:
    """Every descendant of this process that is a Chromium."""
    return [p for p in psutil.Process().children(recursive=True) if "chrom" in p.name() or "headless" in p.name()]


def cpu_seconds(processes: list[psutil.Process]) -> dict[int, float]:
    """Seconds of CPU by process; without those that ended: Chromium ends its helpers when it pleases."""
    spent = {}
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            spent[process.pid] = sum(process.cpu_times()[:2])
    return spent


@pytest.mark.parametrize("clock", HELD_CLOCKS)
async def test_a_held_game_stands_still_and_costs_nothing(clock):
    async with playing("bird", clock) as game:
        await game.clock.advance(500)
        await game.clock.hold()
        before, picture, now = await js(game, "state()"), await game.picture(), game.clock.now_ms
        seen = await js(game, "state()")
        assert before["frames"] > 10
        assert before["ticks"] > 10
        assert before["cloud"] > 10
        processes = chromium_processes()
        assert len(processes) >= 2
        before_s = cpu_seconds(processes)
        await asyncio.sleep(2)  # real time is what is under test: the tester is thinking
        after_s = cpu_seconds(processes)
        assert len(after_s) >= 2
        spent = sum(seconds - before_s[pid] for pid, seconds in after_s.items())
        assert await js(game, "state()") == seen
        assert game.clock.now_ms == now
        assert spent < 0.04, f"{spent / 2:.1%} of a core while held"
        again = await game.picture()
        moved = (await js(game, "state()"))["frames"] - seen["frames"]
        assert moved <= (1 if clock == "frames" else 0)
        if clock == "js":
            assert hash_of(again) == hash_of(picture)


async def test_300_frames_are_five_seconds_in_every_clock_of_the_page():
    async with playing("timing") as game:
        before, now = await js(game, "read()"), game.clock.now_ms
        await js(game, "begin()")
        await game.clock.advance(5000)
        after = await js(game, "read()")
        log = await js(game, "log")
        assert game.clock.now_ms - now == pytest.approx(5000, abs=1)
        assert after["raf"] - before["raf"] == 300
        assert after["last"] - before["last"] == pytest.approx(5000, abs=FRAME_MS)
        assert after["now"] - before["now"] == pytest.approx(5000, abs=FRAME_MS)
        assert after["date"] - before["date"] == pytest.approx(5000, abs=FRAME_MS)
        assert after["ticks"] - before["ticks"] in (49, 50, 51)
        gaps = {round(b - a, 1) for a, b in zip(log["raf"], log["raf"][1:], strict=False)}
        assert gaps <= {16.6, 16.7}, "not one frame more or less"
        assert log["timeout"] == pytest.approx(777, abs=2)
        assert log["transition"] == pytest.approx(400, abs=2 * FRAME_MS)
        assert log["animation"] == pytest.approx(1200, abs=2 * FRAME_MS)
        assert log["waapi"] == pytest.approx(300, abs=2 * FRAME_MS)
        assert after["left"] == 200


async def test_the_page_clock_agrees_in_milliseconds():
    async with playing("timing", "js") as game:
        before, now = await js(game, "read()"), game.clock.now_ms
        await js(game, "begin()")
        await game.clock.advance(5000)
        after = await js(game, "read()")
        log = await js(game, "log")
        assert game.clock.now_ms - now == 5000
        assert after["now"] - before["now"] == pytest.approx(5000, abs=1)
        assert after["date"] - before["date"] == pytest.approx(5000, abs=1)
        assert after["ticks"] - before["ticks"] in (49, 50, 51)
        assert 290 <= after["raf"] - before["raf"] <= 320
        assert log["timeout"] == pytest.approx(777, abs=2)
        # Under this clock a CSS animation begins with the machine's next frame, so its end is only known roughly.
        assert 300 <= log["transition"] <= 800
        assert 1100 <= log["animation"] <= 1600
        assert 200 <= log["waapi"] <= 700
        assert after["left"] == 200


@pytest.mark.parametrize("clock", CLOCKS)
async def test_the_page_starts_at_the_starting_date_and_zero(clock):
    async with playing("timing", clock) as game:
        seen = await js(game, "read()")
        slack = 10_000 if clock == "realtime" else 500
        assert START_MS <= seen["date"] <= START_MS + slack
        assert 0 <= seen["now"] <= slack
        assert await game.frames_advance()


ACTIONS = (
    Wait(ms=400),
    Tap(x=195, y=400),
    DoubleTap(x=100, y=120),
    LongPress(x=300, y=200, ms=500),
    Swipe(x1=60, y1=200, x2=330, y2=220, ms=250),
    Drag(x1=300, y1=500, x2=80, y2=420, ms=200),
    Key(key="ArrowLeft", ms=100),
    Tap(x=60, y=320),
    Type(text="hi 猫"),
)


async def recording(page: str, clock: str, seed: int, actions=ACTIONS) -> dict:
    async with playing(page, clock, seed=seed) as game:
        pictures = []
        for action in actions:
            await game.perform(action)
            pictures.append(hash_of(await game.picture()))
        inner = [await frame.evaluate("window.chance") for frame in game._page.frames[1:]]
        return {
            "log": await js(game, "log"),
            "chance": await js(game, "window.chance"),
            "inner": inner,
            "pictures": pictures,
            "now": game.clock.now_ms,
        }


@pytest.mark.parametrize(("page", "clock"), [("chance", "frames"), ("chance-webgl", "frames"), ("chance", "js")])
async def test_two_fresh_browsers_play_the_same_game(page, clock):
    first, second = await recording(page, clock, 7), await recording(page, clock, 7)
    assert first == second
    assert len(set(first["pictures"])) == len(ACTIONS), "the page moves, so every picture differs"
    assert first["log"]


@pytest.mark.parametrize("page", ["chance", "chance-webgl"])
async def test_another_seed_is_another_game(page):
    first, second = await recording(page, "frames", 7, ACTIONS[:1]), await recording(page, "frames", 8, ACTIONS[:1])
    assert first["pictures"] != second["pictures"]
    assert page == "chance-webgl" or first["inner"] != second["inner"]


async def test_a_machine_that_stands_still_under_a_touch_costs_no_frame(monkeypatch):
    async with playing("taps") as game:
        before, drawn, frame = game.clock.now_ms, asyncio.Event(), game.clock.frame

        async def then_tell(**how):
            await frame(**how)
            drawn.set()

        async def answered_late():
            await drawn.wait()
            await game._channel.send("Target.getTargetInfo")
            time.sleep(2)  # noqa: ASYNC251 - the whole machine stands still: nobody listens meanwhile
            await game._channel.send("Target.getTargetInfo")

        monkeypatch.setattr(game.clock, "frame", then_tell)
        await game.clock.deliver(answered_late())
        assert game.clock.now_ms - before == pytest.approx(FRAME_MS)
