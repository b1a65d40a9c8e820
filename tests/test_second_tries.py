"""What the runner tries itself before it blames a game: the other orientation, sound allowed, the mouse."""

import pytest

from playtest.browser.opening import opened
from playtest.browser.server import Gate
from playtest.protocol.coordinates import Screen
from tests.browser_helper import js, options_for
from tests.play import play, script, tap, verdict

HEAD = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
OVERLAY = """<style>html, body { margin: 0; height: 100%; touch-action: none }
#over { position: fixed; inset: 0; background: #222; color: #fff } #over[hidden] { display: none }
#game { position: fixed; left: 500px; top: 150px; width: 200px; height: 100px; background: #4a4 }</style>
<div id="game">0</div><div id="over">请旋转手机，横屏游玩</div>
<script>
const asks = () => over.hidden = LANDSCAPE;
addEventListener('resize', asks); screen.orientation.addEventListener('change', asks); asks();
game.addEventListener('pointerdown', () => { game.textContent = 1 + +game.textContent });
</script>"""
SOURCES = {
    "size": "innerWidth > innerHeight",
    "orientation": "screen.orientation.type.startsWith('landscape')",
    "screen": "screen.width > screen.height",
    "media": "matchMedia('(orientation: landscape)').matches",
}
ON_THE_GAME = {"action": tap(600, 200)}


def written(tmp_path, html):
    folder = tmp_path / "game"
    folder.mkdir()
    (folder / "index.html").write_text(HEAD + html, "utf-8")
    return folder


async def rolled(tmp_path, html, *replies, **flags):
    return await play(written(tmp_path, html), tmp_path, tester=script(tmp_path, replies), **flags)


@pytest.mark.parametrize(("source", "clock"), [("size", "realtime"), *((source, "frames") for source in SOURCES)])
async def test_every_source_of_the_orientation_agrees_with_the_screen(tmp_path, source, clock):
    folder = written(tmp_path, OVERLAY.replace("LANDSCAPE", SOURCES[source]))
    async with Gate(folder) as gate:
        url = f"{gate.address}/index.html"
        async with opened(gate, (clock,), lambda clock: options_for(gate, url, clock), may_turn=True) as (
            game,
            fault,
        ):
            assert fault is None
            assert game.screen == Screen(width=844, height=390)
            assert await js(game, "over.hidden")
            told = [fault for fault in game.drain_faults() if fault.kind == "needs_landscape"]
            assert [("844x390" in fault.message) for fault in told] == [True]


async def test_a_game_that_asks_for_landscape_is_played_in_it(tmp_path):
    page = OVERLAY.replace("LANDSCAPE", SOURCES["size"])
    played = await rolled(tmp_path, page, *[ON_THE_GAME] * 3, {"verdict": verdict("pass")})
    roll = played.result.rolls[0]
    assert (played.result.verdict, roll.screen) == ("pass", Screen(width=844, height=390))
    assert "needs_landscape" in roll.faults
    assert roll.effective_inputs == 3
    assert roll.control is not None, "experiments are made on the same screen"
    assert roll.control.same < roll.control.steps


async def test_words_about_landscape_that_turning_does_not_change_leave_it_upright(tmp_path):
    page = "<body><button style='position:fixed;inset:0'>Rotate your device to aim</button>"
    played = await rolled(tmp_path, page, {"action": tap(195, 400)}, {"verdict": verdict("degraded")}, rolls=1)
    roll = played.result.rolls[0]
    assert roll.screen == Screen()
    assert any("turning it changes nothing" in note for note in roll.notes)


@pytest.mark.slow  # two rolls
async def test_a_game_that_asks_late_gets_landscape_in_the_second_roll(tmp_path):
    late = OVERLAY.replace("LANDSCAPE", SOURCES["size"] + " || !window.begun").replace(
        "asks();\n", "asks(); setTimeout(() => { window.begun = true; asks() }, 1500);\n", 1
    )
    replies = [{"action": tap(195, 100 * n)} for n in (2, 4, 6)] + [{"action": {"type": "wait", "ms": 2000}}]
    claim = verdict("fail", "broken", phenomena=[{"step": 4, "what": "an overlay covers the game"}])
    played = await rolled(tmp_path, late, *replies, {"verdict": claim})
    first, second = played.result.rolls
    assert (first.screen, second.screen) == (Screen(), Screen(width=844, height=390))


async def test_a_game_that_waits_for_its_sound_is_tried_with_sound(tmp_path):
    waits = """<body>Loading<script>const sound = new AudioContext();
    sound.resume().then(() => { document.body.style.background = '#383'; document.body.textContent = 'Menu' })</script>"""
    replies = [{"action": {"type": "wait", "ms": 500}}, {"verdict": verdict("degraded")}]
    played = await rolled(tmp_path, waits, *replies, rolls=1)
    assert "audio_gate" in played.result.rolls[0].faults
    told = [line.message for line in played.of("fault") if line.fault == "experiment"]
    assert len(told) == 1
    assert "waits for its sound" in told[0]


STOLEN = """<style>body { margin: 0; height: 3000px } #ball { position: fixed; left: 145px; top: 600px; width: 100px;
height: 100px; background: #c33 }</style><div id="ball"></div><script>
let from = null;
ball.onpointerdown = e => { from = e.clientY; ball.setPointerCapture(e.pointerId) };
ball.onpointermove = e => { if (from !== null) ball.style.top = 600 + e.clientY - from + 'px' };
ball.onpointercancel = () => { from = null; ball.style.top = '600px' };
ball.onpointerup = () => { if (from === null) return; from = null; document.body.style.background = '#3c3' };
</script>"""
QUICK_ONLY = """<style>html { touch-action: none; height: 100% }</style><body>Swipe up<script>
let at = 0, y = 0;
onpointerdown = e => { at = e.timeStamp; y = e.clientY };
onpointerup = e => { const dt = e.timeStamp - at, dy = y - e.clientY;
  if (dt < 300 && dy > 30 && dy / dt > 0.3) document.body.style.background = '#3c3' };
</script>"""


def strokes(ms):
    swipe = {"type": "swipe", "x1": 195, "y1": 640, "x2": 195, "y2": 300, "ms": ms}
    other = [{**swipe, "x1": x, "x2": x} for x in (165, 225)]
    claim = verdict("fail", "broken", phenomena=[{"step": 1, "x": 195, "y": 640, "what": "the swipe does nothing"}])
    return [*[{"action": action} for action in (swipe, *other)], {"verdict": claim}, {"verdict": claim}]


@pytest.mark.slow
async def test_a_drag_that_panning_takes_away_is_confirmed_and_works_by_mouse(tmp_path):
    played = await rolled(tmp_path, STOLEN, *strokes(200), rolls=1)
    probe = played.result.phenomena[0].probe
    assert (played.result.verdict, probe.result) == ("fail", "confirmed")
    assert "panning" in probe.why
    assert probe.answered_by.endswith("by mouse")
    assert "pointer_cancelled" in played.result.rolls[0].faults


@pytest.mark.slow
async def test_a_swipe_that_was_too_slow_is_the_testers(tmp_path):
    played = await rolled(tmp_path, QUICK_ONLY, *strokes(1000), rolls=1)
    assert (played.result.verdict, played.result.degraded_reason) == ("degraded", "refuted_fail")
    assert played.result.attribution == "tester"
