"""What pages do to those who watch them: each is named, none hangs us, and the game goes on where it can."""

import asyncio
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil
import pytest
from playwright.async_api import Error as PlaywrightError

from playtest.browser import launch as launch_module
from playtest.browser.events import MAX_DIALOGS
from playtest.browser.launch import leftover_profiles
from playtest.browser.opening import opened
from playtest.browser.server import Gate, Origin
from playtest.browser.session import GameSession
from playtest.errors import BrowserFault, UsageError
from playtest.protocol.actions import Key, Swipe, Tap, Wait
from tests.browser_helper import CLOCKS, HELD_CLOCKS, browser, js, kinds, options_for, playing, playing_url

TAP = Tap(x=195, y=400)


async def on_tap(game: GameSession, code: str) -> None:
    await js(game, f"void (window.onTap = () => {{ {code} }})")


async def goes_on(game: GameSession) -> None:
    before = await js(game, "frames_")
    await game.perform(Wait(ms=300))
    assert await js(game, "frames_") > before
    assert await game.frames_advance()
    assert await game.picture()
    assert game.alive


@asynccontextmanager
async def nothing_is_left(tmp_path, monkeypatch):
    """No process and no profile of ours is there afterwards that wasn't before."""
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(profiles))
    processes = {p.pid for p in psutil.Process().children(recursive=True)}
    yield
    assert leftover_profiles() == []
    left = [p for p in psutil.Process().children(recursive=True) if p.pid not in processes]
    gone, alive = psutil.wait_procs(left, timeout=5)
    assert not alive, [p.cmdline()[:2] for p in alive]


@pytest.mark.parametrize("clock", CLOCKS)
async def test_dialogs_are_answered_and_told_and_an_endless_one_ends(clock):
    async with playing("taps", clock) as game:
        await on_tap(game, "alert('hello'); answers.push(confirm('sure?'), prompt('name?'))")
        await game.perform(TAP)
        await game.perform(Wait(ms=200))
        assert await js(game, "answers") == [True, "Player"]
        told = game.drain_faults()
        assert [f.message for f in told] == ["alert: hello", "confirm: sure?", "prompt: name?"]
        assert [f.detail["dialog"] for f in told] == ["alert", "confirm", "prompt"]
        await goes_on(game)
        await on_tap(game, "let n = 0; while (confirm('again?')) n++; answers.push(n)")
        await game.perform(TAP)
        await game.perform(Wait(ms=200))
        assert (await js(game, "answers"))[-1] <= MAX_DIALOGS
        assert len(kinds(game)) <= MAX_DIALOGS
        await goes_on(game)


async def test_a_dialog_while_the_page_boots():
    async with playing("taps", page="alert.html") as game:
        assert kinds(game) == ["dialog", "dialog"]
        assert await js(game, "name_") == "Player"
        assert [text.text for text in await game.texts()] == ["after"]


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("code", ["for (;;);", "for (;;) alert('no way out');"], ids=["loop", "alerts"])
async def test_an_endless_loop_is_a_hang_in_time_and_is_ended(clock, code):
    async with playing("taps", clock, hang_s=2) as game:
        await on_tap(game, code)
        started = time.monotonic()
        with pytest.raises(BrowserFault) as caught:
            await game.perform(TAP)
            await game.perform(Wait(ms=100))
            await game.picture()
        assert caught.value.kind == "hang"
        assert time.monotonic() - started < 8
        assert await game.revive()
        await on_tap(game, "answers.push('fine')")
        await goes_on(game)
        await game.perform(TAP)
        await game.perform(Wait(ms=100))
        assert await js(game, "answers") == ["fine"], "the finger was lifted, the next tap is whole"


@pytest.mark.parametrize("clock", CLOCKS)
async def test_a_long_task_is_slow_and_no_hang(clock):
    async with playing("taps", clock, hang_s=4) as game:
        await on_tap(game, "const end = Date.now; let n = 0; for (let i = 0; i < 4e8; i++) n += i; answers.push(n > 0)")
        await game.perform(TAP)
        await game.perform(Wait(ms=100))
        assert await js(game, "answers") == [True]
        await goes_on(game)


@pytest.mark.parametrize("clock", CLOCKS)
async def test_a_crash_is_told_and_every_later_call_fails_at_once(clock, tmp_path, monkeypatch):
    async with nothing_is_left(tmp_path, monkeypatch):
        async with playing("taps", clock) as game:
            crash = asyncio.ensure_future(game._channel._session.send("Page.crash"))
            calls = [
                lambda: game.perform(TAP), lambda: game.perform(Key(key="a")), lambda: game.perform(Wait(ms=100)), game.picture,
                lambda: game.clock.advance(100), lambda: game.perform(Swipe(x1=1, y1=1, x2=99, y2=99)),
                lambda: game.show_echo(TAP), game.texts, game.facts,
            ]  # fmt: skip
            with pytest.raises(BrowserFault) as caught:
                await game.clock.advance(1000)
                await game.picture()
            assert caught.value.kind == "crash"
            assert not game.alive
            started = time.monotonic()
            for call in calls:
                with pytest.raises(BrowserFault):
                    await call()
            assert not await game.frames_advance()
            assert not await game.revive()
            assert time.monotonic() - started < 3
            assert kinds(game) == ["crash"]
            crash.cancel()
            await asyncio.gather(crash, return_exceptions=True)


@pytest.mark.parametrize("clock", HELD_CLOCKS)
async def test_a_window_that_the_game_opens_is_closed_and_named(clock):
    async with playing("taps", clock) as game:
        for code in (
            "window.open('other.html')",
            "const a = document.createElement('a'); a.href = 'other.html'; a.target = '_blank'; a.rel = 'noopener';"
            " a.addEventListener('click', (e) => e.stopPropagation());"
            " a.onclick = (e) => e.stopPropagation(); document.body.append(a); a.click(); a.remove()",
        ):
            await on_tap(game, code)
            await game.perform(TAP)
            told = []
            while not told:  # the browser tells of a window when it has made it
                await game.perform(Wait(ms=100))
                told = game.drain_faults()
            assert [f.kind for f in told] == ["popup"]
            assert "other.html" in told[0].message
            assert len(game._browser.context.pages) <= 2
            assert await js(game, "[document.visibilityState, visibility.includes('hidden')]") == ["visible", False]
            await goes_on(game)


@pytest.mark.parametrize("clock", HELD_CLOCKS)
async def test_leaving_the_game_is_named_and_moving_within_it_is_not(clock):
    async with playing("taps", clock) as game:
        for code in (
            "location.hash = 'level-2'", "history.pushState({}, '', '/taps/level/3')", "history.replaceState({}, '', '/index.html')",
            "location.search = '?again'", "location.reload()",
        ):  # fmt: skip
            await on_tap(game, code)
            await game.perform(TAP)
            await game.perform(Wait(ms=600))
            assert kinds(game) == [], code
            await goes_on(game)
        await on_tap(game, "location.href = 'other.html'")
        await game.perform(TAP)
        await game.perform(Wait(ms=600))
        told = game.drain_faults()
        assert [f.kind for f in told] == ["left_game"]
        assert told[0].detail["url"].endswith("/other.html")
        assert await game.picture()


async def test_a_download_is_cancelled_and_named(tmp_path):
    async with playing("taps") as game:
        await on_tap(
            game,
            "const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['save']));"
            " a.download = 'my-save.json'; a.click()",
        )
        await game.perform(TAP)
        await game.perform(Wait(ms=500))
        told = game.drain_faults()
        assert [f.kind for f in told] == ["download"]
        assert "my-save.json" in told[0].message
        await goes_on(game)


@pytest.mark.parametrize("clock", CLOCKS)
async def test_errors_of_the_pages_own_are_named_with_their_stack(clock):
    async with playing("taps", clock) as game:
        await js(
            game,
            """() => {
          window.seenErrors = [];
          addEventListener('error', (e) => seenErrors.push(e.message));
          window.inTimer = () => { throw new TypeError('in a timer'); };
          window.inFrame = () => { throw new RangeError('in a frame'); };
          window.inPromise = async () => { throw new Error('nobody caught it'); };
        }""",
        )
        await on_tap(
            game, "setTimeout(inTimer, 50); requestAnimationFrame(inFrame); inPromise(); throw new Error('in a tap')"
        )
        await game.perform(TAP)
        await game.perform(Wait(ms=300))
        told = {f.message: f for f in game.drain_faults()}
        assert set(told) == {
            "TypeError: in a timer",
            "RangeError: in a frame",
            "Error: nobody caught it",
            "Error: in a tap",
        }
        assert {f.kind for f in told.values()} == {"uncaught"}
        assert "inTimer" in told["TypeError: in a timer"].detail["stack"]
        assert "inFrame" in told["RangeError: in a frame"].detail["stack"]
        assert len(await js(game, "seenErrors")) == 3, "the page hears of its own errors as ever"
        await on_tap(game, "throw 'only a word'")
        await game.perform(TAP)
        await game.perform(Wait(ms=100))
        assert "only a word" in game.drain_faults()[0].message
        await goes_on(game)


async def test_a_flood_of_lines_is_bounded_and_hides_no_error():
    async with playing("taps") as game:
        before = psutil.Process().memory_info().rss
        await js(
            game,
            """() => {
          let n = 0;
          const flood = () => {
            for (let i = 0; i < 100; i++) console.log('line ' + n++, { deep: { er: [1, 2, 3] } }, 'x'.repeat(200));
            if (n < 6000) requestAnimationFrame(flood);
          };
          flood();
          console.log('y'.repeat(5e6));
          const round = {}; round.self = round; console.log(round, document.body);
          setTimeout(() => boss.attack(), 300);
          for (let i = 0; i < 1000; i++) console.warn('the same line');
          let e = 0;
          const throwing = setInterval(() => { if (++e > 400) clearInterval(throwing); throw new Error('random ' + e); }, 1);
        }""",
        )
        await game.perform(Wait(ms=1500))
        log, faults = game.drain_log(), game.drain_faults()
        assert len(log) <= 500
        assert len(faults) <= 201
        assert all(len(entry.text) <= 500 for entry in log)
        assert sum(entry.text == "the same line" for entry in log) <= 20
        assert any("boss is not defined" in fault.message for fault in faults)
        assert psutil.Process().memory_info().rss - before < 100e6
        await goes_on(game)


async def endless(reader, writer) -> None:
    """A server whose picture never comes."""
    path = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split(" ")[1]
    if path.startswith("/never"):
        await reader.read()
        writer.close()
        return
    body = (Path(__file__).parent / "games" / "taps" / "index.html").read_bytes()
    body += b"<img src=/never.png><script>fetch('/never.json')</script>"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    writer.close()


@pytest.mark.parametrize("clock", CLOCKS)
async def test_a_page_that_never_ends_loading_is_played(clock):
    server = await asyncio.start_server(endless, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        async with playing_url(
            f"http://127.0.0.1:{port}/", Origin("127.0.0.1", port), clock, boot_s=2, hang_s=4
        ) as game:
            assert kinds(game) == ["slow_load"]
            await on_tap(game, "answers.push('tapped')")
            await game.perform(TAP)
            await game.perform(Wait(ms=100))
            assert await js(game, "answers") == ["tapped"]
            await goes_on(game)


# -- opening and closing ---------------------------------------------------------------------------------------


async def test_nothing_is_left_after_a_game_that_was_killed_hung_or_never_opened(tmp_path, monkeypatch):
    async with nothing_is_left(tmp_path, monkeypatch):
        async with playing("taps", hang_s=1) as game:
            await on_tap(game, "for (;;);")
            with pytest.raises(BrowserFault):
                await game.perform(TAP)
        async with playing("taps", "js", hang_s=2) as game:
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    line = " ".join(process.cmdline())
                    if "--user-data-dir" in line and "--type" not in line:
                        process.kill()
            with pytest.raises(BrowserFault):
                await game.perform(Wait(ms=1000))
                await game.picture()
            assert not game.alive
        opening = asyncio.ensure_future(_open_and_close())
        await asyncio.sleep(0.7)  # amid the start, wherever that is on this machine
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening


@pytest.mark.parametrize("pause_s", [0.02, 0.1, 0.2, 0.3])  # at each of them nothing may be left, whatever was going on
def test_a_start_that_is_called_off_while_the_driver_starts_leaves_none(tmp_path, monkeypatch, pause_s):
    # In a loop of its own, as the tests' loop has its driver already.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, _call_off(tmp_path, monkeypatch, pause_s)).result()


async def _call_off(tmp_path, monkeypatch, pause_s: float) -> None:
    before = len(psutil.Process().children())
    async with nothing_is_left(tmp_path, monkeypatch):
        opening = asyncio.ensure_future(_open_and_close())
        while len(psutil.Process().children()) <= before:  # noqa: ASYNC110 - nobody tells of a new process
            await asyncio.sleep(0)
        await asyncio.sleep(pause_s)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening


async def _open_and_close() -> None:
    async with playing("taps") as game:
        await game.perform(Wait(ms=10_000))


async def test_a_browser_that_is_none_is_the_callers_to_put_right(tmp_path, monkeypatch):
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\necho 'no such display' >&2\nexit 7\n")
    fake.chmod(0o755)
    binary = type(browser())(path=fake, kind="headless_shell", source="here", version="1")
    async with nothing_is_left(tmp_path, monkeypatch), Gate(tmp_path) as gate:
        options = options_for(gate, gate.address)
        options = type(options)(
            launch=type(options.launch)(binary, "frames", gate.address, "UA", "zh-CN", "UTC"),
            url=gate.address,
            seed=1,
            start_date_ms=0,
        )
        game = GameSession(options, gate)
        try:
            with pytest.raises(UsageError) as caught:
                await game.open()
            assert str(fake) in caught.value.message
            assert "no such display" in caught.value.message, "the browser's own words"
            assert "doctor" in caught.value.hint
        finally:
            await game.close()


async def test_a_page_that_boots_under_no_held_clock_falls_back_and_says_so(tmp_path):
    (tmp_path / "index.html").write_text("<script>for (;;);</script>")
    async with Gate(tmp_path) as gate:

        def options(clock: str):
            return options_for(gate, f"{gate.address}/", clock, hang_s=1.5, boot_s=2)

        async with opened(gate, ("frames", "js", "realtime"), options) as (game, fault):
            assert fault is not None
            assert fault.kind == "hang"
            assert game.clock.name in ("js", "realtime")
            assert any("frames" in note for note in game.notes)


async def test_without_a_usable_sandbox_the_game_is_played_and_the_record_says_so(monkeypatch):
    launch = launch_module.Browser._launch
    asked = []

    async def refuse_the_sandbox(self, playwright, profile, *, sandbox):
        asked.append(sandbox)
        if sandbox:
            raise PlaywrightError("BrowserType.launch: Target closed\n[err] No usable sandbox! You probably need")
        return await launch(self, playwright, profile, sandbox=False)

    monkeypatch.setattr(launch_module.Browser, "_launch", refuse_the_sandbox)
    monkeypatch.setattr(launch_module, "running_as_root", lambda: False)
    async with playing("taps") as game:
        assert asked == [True, False]
        assert any("sandbox is off" in note for note in game.notes)
        await goes_on(game)
