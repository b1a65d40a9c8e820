"""Facts about a page, each told once by its name, and none where the page does well."""

import pytest

from playtest.browser.console import Recorder
from playtest.browser.facts import MAX_RELOADS, PageFacts
from playtest.ports import VisibleText
from playtest.protocol.actions import Drag, Tap, Wait
from tests.browser_helper import CLOCKS, playing
from tests.play import play, script, tap, verdict

HEAD = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
GOOD = HEAD + "<style>html { height: 100%; touch-action: none }</style><button>Play</button>"
PAGES = {
    "pointer_cancelled": HEAD + '<body style="height:4000px">Drag me',
    "no_viewport_meta": "<!doctype html><body>Play",
    "needs_landscape": HEAD + "<body>Please rotate your device",
    "needs_gamepad": HEAD
    + "<body>Press A on your controller<script>setInterval(() => navigator.getGamepads(), 50)</script>",
    "leaked_text": HEAD + "<body>Score: undefined",
    "reload_loop": HEAD + "<body>Play<script>setTimeout(() => location.reload(), 100)</script>",
    "audio_gate": HEAD + "<body>Play<script>AudioContext.prototype.resume = AudioContext.prototype.resume;"
    "new AudioContext().resume().then(() => { document.body.textContent = 'Playing' })</script>",
}
# Sound is unlocked by the first touch, so its gate only shows before one.
ACTIONS = {"audio_gate": [], "reload_loop": [Wait(ms=3000)]}
TOUCHES = [Drag(x1=195, y1=700, x2=195, y2=200, ms=300), Tap(x=195, y=400), Wait(ms=500)]


async def told(tmp_path, html, actions, clock="frames"):
    (tmp_path / "index.html").write_text(html, "utf-8")
    async with playing(tmp_path, clock) as game:
        await game.texts()
        for action in actions:
            await game.perform(action)
            await game.texts()
        return [fault.kind for fault in game.drain_faults()]


@pytest.mark.parametrize("kind", PAGES)
async def test_each_fact_is_told_once_by_its_name(tmp_path, kind):
    found = await told(tmp_path, PAGES[kind], ACTIONS.get(kind, TOUCHES))
    assert found.count(kind) == 1, found


@pytest.mark.parametrize("clock", CLOCKS)
async def test_a_page_that_does_well_has_none(tmp_path, clock):
    assert await told(tmp_path, GOOD, TOUCHES, clock) == []


def told_by(act):
    recorder = Recorder(lambda: 0.0)
    facts = PageFacts(recorder)
    act(facts)
    return [fault.kind for fault in recorder.drain_faults()]


def test_reloads_that_answer_inputs_are_no_loop():
    def restarts(facts):
        for _ in range(3 * MAX_RELOADS):
            facts.touched()
            facts.reloaded()

    assert told_by(restarts) == []
    assert told_by(lambda facts: [facts.reloaded() for _ in range(2 * MAX_RELOADS)]) == ["reload_loop"]


def test_missing_fonts_are_told_only_of_scripts_that_the_page_shows():
    def read(texts):
        def act(facts):
            facts.missing_glyphs = ["Chinese", "emoji"]
            facts.read([VisibleText(text, None, "dom") for text in texts])

        return act

    assert told_by(read(["Play"])) == []
    assert told_by(read(["开始", "继续"])) == ["missing_glyphs"]


def test_a_page_that_draws_slowly_is_told_and_a_quick_one_is_not():
    assert told_by(lambda facts: facts.drew(100, 1.0)) == []
    assert told_by(lambda facts: facts.drew(100, 30.0)) == ["slow_render"]


async def test_a_fact_about_the_page_is_in_the_record_and_not_in_the_testers_ear(tmp_path):
    folder = tmp_path / "game"
    folder.mkdir()
    (folder / "index.html").write_text(PAGES["no_viewport_meta"], "utf-8")
    replies = [{"action": tap(195, 400)}, {"verdict": verdict("degraded")}]
    played = await play(folder, tmp_path, tester=script(tmp_path, replies), rolls=1)
    assert "no_viewport_meta" in played.result.rolls[0].faults
    assert "no_viewport_meta" in played.names("fault")
