"""What a game needs and this machine or the closed network lacks: named, and never charged to the game."""

import pytest

from playtest.browser import launch, session
from tests.play import play, script, tap, verdict

HEAD = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
TAPS = [{"action": tap(195, y)} for y in (200, 400, 600)]
BROKEN = {
    "verdict": verdict(
        "fail", "broken", phenomena=[{"step": n, "x": 195, "y": 200 * n, "what": "no answer"} for n in (1, 2, 3)]
    )
}
COUNTER = "<button style='position:fixed;inset:0' onclick='this.textContent = 1 + +this.textContent'>0</button>"
DEAD = "<div style='position:fixed;inset:0'>Play</div>"


async def told_broken(tmp_path, html, **flags):
    """One roll of a tester that taps three times and says broken."""
    folder = tmp_path / "game"
    folder.mkdir()
    (folder / "index.html").write_text(HEAD + html, "utf-8")
    played = await play(folder, tmp_path, tester=script(tmp_path, [*TAPS, BROKEN]), rolls=1, **flags)
    return played.result


@pytest.mark.parametrize(
    ("html", "host"),
    [
        (
            '<body><script src="https://cdn.invalid/engine.js"></script><script>new Engine.Game()</script>',
            "cdn.invalid",
        ),
        ('<script type="module">import "https://cdn.invalid/engine.js"; start()</script><body>', "cdn.invalid"),
        ('<script src="http://127.0.0.2:81/engine.js"></script><body>', "127.0.0.2:81"),
    ],
    ids=["classic", "module", "in the head"],
)
async def test_a_game_that_shows_nothing_without_its_engine_ends_at_boot(tmp_path, html, host):
    result = await told_broken(tmp_path, html)
    assert (result.verdict, result.degraded_reason, result.attribution) == (
        "degraded",
        "unreachable_dependency",
        "harness",
    )
    assert result.rolls[0].steps == 0, "no tester is asked about a blank page"
    assert host in result.rolls[0].summary


@pytest.mark.parametrize("clock", ["frames", "realtime"])
async def test_a_loader_that_waits_for_another_host_is_not_called_broken(tmp_path, clock):
    waits = "<body>Loading 64 %<script>fetch('https://ads.invalid/init').then(() => start())</script>"
    result = await told_broken(tmp_path, waits, clock=clock)
    assert (result.verdict, result.degraded_reason) == ("degraded", "unreachable_dependency")
    assert "ads.invalid" in result.rolls[0].summary


async def test_a_library_that_is_missed_in_play_is_not_charged_to_the_game(tmp_path):
    needs = '<script src="https://cdn.invalid/sound.js"></script><body>' + COUNTER.replace(
        "'this", "'new Sound(); this"
    )
    result = await told_broken(tmp_path, needs)
    assert (result.verdict, result.degraded_reason) == ("degraded", "unreachable_dependency")


async def test_a_font_from_elsewhere_excuses_nothing(tmp_path):
    result = await told_broken(tmp_path, f'<link rel="stylesheet" href="https://fonts.invalid/css"><body>{DEAD}')
    assert (result.verdict, result.kind, result.attribution) == ("fail", "broken", "game")
    assert "blocked_request" in result.rolls[0].faults


@pytest.mark.parametrize(
    "html",
    [
        "<body><canvas></canvas><script>const gl = document.querySelector('canvas').getContext('webgl');"
        "if (gl) { gl.clearColor(1, 0, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT) }</script>",
        "<body>Menu<canvas></canvas><script>if (!document.querySelector('canvas').getContext('webgl2'))"
        " throw new Error('WebGL unsupported')</script>",
    ],
    ids=["silent", "throws"],
)
async def test_without_webgl_on_this_machine_the_game_is_not_judged(tmp_path, monkeypatch, html):
    monkeypatch.setattr(
        launch,
        "COMMON_FLAGS",
        (*launch.COMMON_FLAGS, "--disable-gpu", "--disable-software-rasterizer", "--use-gl=disabled"),
    )
    result = await told_broken(tmp_path, html)
    assert (result.verdict, result.degraded_reason, result.attribution) == ("degraded", "no_webgl", "harness")


async def test_a_canvas_that_has_another_context_says_nothing_of_webgl(tmp_path):
    both = "<canvas></canvas><script>const c = document.querySelector('canvas'); c.getContext('2d'); c.getContext('webgl')</script>"
    result = await told_broken(tmp_path, f"<body>{DEAD}{both}")
    assert (result.verdict, result.kind) == ("fail", "broken")


@pytest.mark.parametrize(
    ("html", "verdict_and_reason"),
    [
        (f"<b>开始</b>{COUNTER}", ("degraded", "missing_glyphs")),
        (DEAD.replace("Play", "开始"), ("fail", None)),
    ],
    ids=["answers", "dead"],
)
async def test_where_words_show_as_boxes_only_what_an_experiment_confirms_is_charged(
    tmp_path, monkeypatch, html, verdict_and_reason
):
    async def no_chinese(page, browser):
        return ["Chinese"]

    monkeypatch.setattr(session, "missing_here", no_chinese)
    result = await told_broken(tmp_path, f"<body>{html}")
    assert (result.verdict, result.degraded_reason) == verdict_and_reason
