"""What a game exports is read as it is, never evaluated, and never a way to break us."""

import pytest

from playtest.browser.exports import steps_of
from tests.browser_helper import CLOCKS, js, playing

PAGE = """<!doctype html><meta charset="utf-8"><body><script>
const game = { state: { score: 3, over: false, tiles: [{ v: 2 }, { v: 4 }], player: { x: 1.5, y: 2 } }, read() { return this.state; } };
let calls = ['audio.play', { name: 'scene.start' }];
class World { #n = 7; get lives() { return this.#n; } get broken() { throw new Error('no'); } }
var world = new World();
function view() { return { phase: 'menu', when: new Date(0), map: new Map([['a', 1]]), set: new Set([1, 2]),
  bytes: new Uint8Array([1, 2]), big: 10n, nan: NaN, fn() {}, none: undefined, node: document.body, later: Promise.resolve() }; }
const cycle = { name: 'c' }; cycle.self = cycle;
const deep = {}; for (let i = 0, d = deep; i < 30; i++) d = d.in = {};
const huge = { many: Array.from({ length: 50000 }, (_, i) => i), long: 'x'.repeat(5000) };
function bad() { throw new TypeError('not ready'); }
window['class'] = { level: 2 };
window.touched = 0;
</script>"""

READS = {
    "game.state.score": 3,
    "game.state.tiles[1].v": 4,
    "game.read().player": {"x": 1.5, "y": 2},
    "window.world.lives": 7,
    "class.level": 2,
    "calls": ["audio.play", {"name": "scene.start"}],
    "world": {"lives": 7, "broken": "[throws Error: no]"},
    "cycle": {"name": "c", "self": "[cycle]"},
    "view()": {
        "phase": "menu", "when": "1970-01-01T00:00:00.000Z", "map": {"a": 1}, "set": [1, 2], "bytes": [1, 2],
        "big": "10", "nan": "NaN", "node": "[BODY]", "later": "[Promise]",
    },
}  # fmt: skip
PROBLEMS = {
    "nothing": "nothing is undefined",
    "game.gone.score": "game.gone is undefined",
    "game.state()": "game.state is no function",
    "bad()": "bad() throws TypeError: not ready",
    "view": "view is a function",
}


@pytest.fixture
def page(tmp_path):
    (tmp_path / "index.html").write_text(PAGE, "utf-8")
    return tmp_path


@pytest.mark.parametrize("clock", CLOCKS)
async def test_values_are_read_as_they_are_whatever_holds_them(page, clock):
    async with playing(page, clock) as game:
        now = game.clock.now_ms
        for path, value in READS.items():
            assert await game.read(path) == (value, None), path
        assert clock == "realtime" or game.clock.now_ms == now


async def test_what_can_not_be_read_is_told_and_large_things_are_cut(page):
    async with playing(page) as game:
        for path, problem in PROBLEMS.items():
            if problem is not None:
                assert await game.read(path) == (None, problem)
        deep = (await game.read("deep")).value
        assert str(deep).count("in") <= 12
        huge = (await game.read("huge")).value
        assert (len(huge["many"]), len(huge["long"])) == (1000, 500)


async def test_a_page_that_lies_about_json_or_its_own_objects_breaks_nothing(tmp_path):
    lies = "<body><script>const s = { a: 1 }; JSON.stringify = () => 7; Object.keys = () => { throw 1 };</script>"
    (tmp_path / "index.html").write_text("<!doctype html>" + lies, "utf-8")
    async with playing(tmp_path) as game:
        assert (await game.read("s")).problem
        assert (await game.read("s.a")).problem


async def test_a_game_in_a_frame_is_read_and_its_policy_is_no_hindrance(tmp_path):
    policy = '<meta http-equiv="Content-Security-Policy" content="script-src \'unsafe-inline\'">'
    (tmp_path / "index.html").write_text(f"<!doctype html>{policy}<iframe src='in.html'></iframe>", "utf-8")
    (tmp_path / "in.html").write_text(f"<!doctype html>{policy}<script>const state = {{ n: 5 }};</script>", "utf-8")
    async with playing(tmp_path) as game:
        assert (await game.read("state.n")).value == 5


async def test_reading_calls_a_function_once_and_writes_nothing(page):
    async with playing(page) as game:
        await js(game, "() => { window.count = () => ++window.touched; }")
        assert (await game.read("count()")).value == 1
        assert await js(game, "window.touched") == 1
        assert not await js(game, "Object.keys(window).some(name => name.includes('FIRST'))")


def test_a_path_is_taken_apart_and_no_code_gets_through():
    assert steps_of("app.scenes[0].read().x") == ["app", "scenes", 0, "read", None, "x"]
    for path in ("", "a.b(1)", "()", "[0]", "a[x]", "a b"):
        with pytest.raises(ValueError, match="path"):
            steps_of(path)
