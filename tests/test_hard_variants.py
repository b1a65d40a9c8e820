"""Pages of the hard kinds in their variants, each looked at through one game session."""

import asyncio

import pytest

from playtest.protocol.actions import Key, Tap, Wait
from tests.browser_helper import HELD_CLOCKS, colour_at, js, kinds, playing

HEAD = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
TAP = Tap(x=195, y=400)
GREEN, RED = (0, 128, 0), (255, 0, 0)


def page(tmp_path, html, **others):
    (tmp_path / "index.html").write_text(HEAD + html, "utf-8")
    for name, text in others.items():
        (tmp_path / name.replace("_", ".")).write_text(text, "utf-8")
    return tmp_path


async def test_a_plain_path_does_all_that_a_server_would(tmp_path):
    html = """<script type="importmap">{"imports": {"named": "./n.js"}}</script><body><script type="module">
    import {m} from './m.js'; import {n} from 'named';
    const level = (await (await fetch('level.json')).json()).level;
    const image = new Image(); image.src = 'dot.svg'; await image.decode();
    const pen = document.createElement('canvas').getContext('2d'); pen.drawImage(image, 0, 0);
    const pixel = pen.getImageData(1, 1, 1, 1).data[0];
    const worker = await new Promise(done => { new Worker('w.js').onmessage = e => done(e.data) });
    document.body.textContent = [m, n, level, pixel, worker].join(' ');
    </script>"""
    others = {
        "m_js": "export const m = 'module'",
        "n_js": "export const n = 'mapped'",
        "w_js": "postMessage('worker')",
        "level_json": '{"level": 3}',
        "dot_svg": '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><path fill="#f00" d="M0 0h4v4H0z"/></svg>',
    }
    async with playing(page(tmp_path, html, **others)) as game:
        await game.perform(Wait(ms=300))
        assert [text.text for text in await game.texts()] == ["module mapped 3 255 worker"]
        assert kinds(game) == []


NESTED = """<body><iframe srcdoc="<body><iframe srcdoc='<body><script>
window.digits = Math.random(); document.onkeydown = e => document.body.append(e.code);
onpointerdown = () => document.body.append(`touched`); console.log(`inner log`);
setTimeout(() => { throw new Error(`inner fault`) }, 200);</script>inner '></iframe>"></iframe>"""


@pytest.mark.parametrize("clock", HELD_CLOCKS)
async def test_a_game_in_frames_within_frames_is_seen_and_played(tmp_path, clock):
    digits = set()
    for _ in range(2):
        async with playing(page(tmp_path, NESTED), clock) as game:
            await game.perform(Tap(x=60, y=60))
            await game.perform(Key(key="ArrowLeft", ms=60))
            await game.perform(Wait(ms=300))
            assert "innertouchedArrowLeft" in "".join(text.text for text in await game.texts())
            assert any("inner log" in entry.text for entry in game.drain_log())
            told = game.drain_faults()
            assert [(f.kind, f.message) for f in told if f.kind == "uncaught"] == [("uncaught", "Error: inner fault")]
            digits.add(await js(game, "frames[0].frames[0].digits"))
    assert len(digits) == 1


async def test_files_that_are_not_there_are_named_and_the_browsers_own_wishes_are_not(tmp_path):
    html = "<body><img src='no.png'><script src='no.js'></script><script>fetch('level1.json')</script>Play"
    async with playing(page(tmp_path, html)) as game:
        await game.perform(Wait(ms=300))
        told = [f for f in game.drain_faults() if f.kind == "missing_file"]
        assert sorted(f.message.split()[0] for f in told) == ["/level1.json", "/no.js", "/no.png"]
        assert {f.detail["status"] for f in told} == {404}


@pytest.mark.parametrize(
    "lose",
    [
        "setTimeout(() => gl.getExtension('WEBGL_lose_context').loseContext(), 300)",
        "for (let i = 0; i < 20; i++) document.createElement('canvas').getContext('webgl')",
    ],
    ids=["taken", "too many"],
)
async def test_a_lost_context_is_named(tmp_path, lose):
    html = f"<body><canvas></canvas><script>const gl = document.querySelector('canvas').getContext('webgl'); {lose}</script>"
    async with playing(page(tmp_path, html)) as game:
        await game.perform(Wait(ms=800))
        assert kinds(game).count("webgl_lost") == 1


async def test_webgl_that_keeps_no_buffer_is_seen_as_a_person_sees_it(tmp_path):
    html = """<style>body { margin: 0 }</style><canvas width="390" height="844"></canvas><script>
    const gl = document.querySelector('canvas').getContext('webgl');
    gl.clearColor(1, 0, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT);</script>"""
    async with playing(page(tmp_path, html)) as game:
        assert colour_at(await game.picture(), 195, 400) == RED
        await game.perform(Wait(ms=500))
        assert colour_at(await game.picture(), 195, 400) == RED
        assert kinds(game) == []


@pytest.mark.parametrize("clock", HELD_CLOCKS)
async def test_sound_keeps_the_games_time(tmp_path, clock):
    html = """<body>Tap<script>let sound, ended = 0;
    onpointerdown = () => { sound = new AudioContext(); sound.resume(); const tone = new OscillatorNode(sound);
      tone.connect(sound.destination); tone.start(sound.currentTime + 0.1); tone.stop(sound.currentTime + 0.2);
      tone.onended = () => ended++ };</script>"""
    times = set()
    for _ in range(2):
        async with playing(page(tmp_path, html), clock) as game:
            await game.perform(TAP)
            before = await js(game, "sound.currentTime")
            await asyncio.sleep(0.2)  # the sound card's own time runs on
            assert await js(game, "sound.currentTime") == before
            await game.perform(Wait(ms=1000))
            after = await js(game, "sound.currentTime")
            assert after - before == pytest.approx(1, abs=0.02)
            times.add((before, after))
    assert len(times) == 1


async def test_what_can_not_be_decoded_is_told(tmp_path):
    html = """<body>Loading<script>(async () => { const sound = new AudioContext();
    await Promise.all([sound.decodeAudioData(new ArrayBuffer(64))]); document.body.textContent = 'Menu' })()</script>"""
    async with playing(page(tmp_path, html)) as game:
        await game.perform(Wait(ms=300))
        assert [f.message.split(":")[0] for f in game.drain_faults()] == ["EncodingError"]


async def test_a_game_that_captures_the_mouse_is_named(tmp_path):
    html = "<style>html { touch-action: none }</style><body>Click to look around<script>onclick = () => document.body.requestPointerLock()</script>"
    async with playing(page(tmp_path, html)) as game:
        await game.perform(TAP)
        assert kinds(game).count("needs_mouse") == 1


async def test_dialogs_of_a_frame_are_answered(tmp_path):
    html = """<body><iframe srcdoc="<body><script>onpointerdown = () => { alert('inside');
    document.body.append('after') }</script>frame "></iframe>"""
    async with playing(page(tmp_path, html)) as game:
        await game.perform(Tap(x=60, y=60))
        await game.perform(Wait(ms=200))
        assert kinds(game) == ["dialog"]
        assert "after" in "".join(text.text for text in await game.texts())


BUTTONS = """<style>body { margin: 0; touch-action: none } div { height: 200px; background: #800 }</style>
<div id="a">touchstart</div><div id="b">mousedown</div><div id="c">pointerdown</div><div id="d">0</div><script>
const green = e => { e.currentTarget.style.background = 'green' };
a.addEventListener('touchstart', e => { e.preventDefault(); green(e) }, { passive: false });
b.onmousedown = green;
c.onpointerdown = e => { if (e.pointerType === 'touch') green(e) };
const count = () => { d.textContent = 1 + +d.textContent };
d.addEventListener('touchstart', count); d.addEventListener('mousedown', count);
document.title = [('ontouchstart' in window), navigator.maxTouchPoints > 0].join();
</script>"""


@pytest.mark.parametrize("clock", ["frames", "realtime"])
async def test_each_way_to_listen_is_reached_by_one_tap(tmp_path, clock):
    async with playing(page(tmp_path, BUTTONS), clock) as game:
        for y in (100, 300, 500, 700):
            await game.perform(Tap(x=195, y=y))
        await game.perform(Wait(ms=200))
        shown = await game.picture()
        assert [colour_at(shown, 380, y) for y in (100, 300, 500)] == [GREEN] * 3
        assert "2" in [text.text for text in await game.texts()], "a tap that counts twice is shown as it is"
        assert await js(game, "document.title") == "true,true"


WISHES = {
    "full screen": "document.documentElement.requestFullscreen().then(() => { if (document.fullscreenElement) done() })",
    "another size": "resizeTo(200, 200); moveTo(0, 0); done()",
    "idle time": "requestIdleCallback(done)",
    "time in a loop": "for (const at = Date.now(); Date.now() - at < 200;); done()",
    "finer time in a loop": "for (const at = performance.now(); performance.now() - at < 200;); done()",
    "time in a loop, by objects": "for (const at = new Date(); new Date() - at < 200;); done()",
    "a picture": "print(); done()",
    "its end": "close(); done()",
    "a file": "Object.assign(document.createElement('input'), { type: 'file' }).click(); done()",
    "a transition": "document.startViewTransition(done)",
    "a lock": "screen.orientation.lock('landscape').then(done, done)",
    "the microphone": "navigator.mediaDevices.getUserMedia({ audio: true }).catch(done)",
}


@pytest.mark.parametrize("clock", HELD_CLOCKS)
async def test_no_wish_of_a_page_stops_it(tmp_path, clock):
    """One page that asks for one thing after another, a tap each."""
    wishes = ", ".join(f"done => {{ {wish} }}" for wish in WISHES.values())
    html = f"""<style>html {{ touch-action: none }}</style><body><script>const had = [], wishes = [{wishes}];
    onpointerdown = () => {{ const at = wishes.length; const wish = wishes.shift(); wish(() => had.push(at)) }};</script>"""
    async with playing(page(tmp_path, html), clock, hang_s=20) as game:
        for name in WISHES:
            before = await js(game, "had.length")
            await game.perform(TAP)
            await game.perform(Wait(ms=300))
            assert await js(game, "had.length") == before + 1, name
            assert await game.frames_advance(), name
        assert [kind for kind in kinds(game) if kind != "uncaught"] == []
