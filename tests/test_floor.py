"""The floor on real pages, each gate both ways: a page that passes, and pages that fail for exactly that reason."""

import json

import pytest

from playtest.browser.opening import opened
from playtest.browser.server import Gate as Wall
from playtest.cli import main
from playtest.floor import FloorVisit, FloorWatch
from playtest.gates.floor import FloorFacts, floor_of, judge_floor
from playtest.gates.uncaught import Uncaught
from playtest.protocol.gates import ALL_GATES, FLOOR_GATES, Gate
from tests.browser_helper import options_for
from tests.play import EXAM, play, script, tap, verdict

HEAD = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><body style="margin:0">'
CANVAS = HEAD + "<canvas id=c width=390 height=844></canvas>"
LOOP = """const g = c.getContext('2d'); let n = 0;
function frame() { n++; paint(); requestAnimationFrame(frame); }"""
BALL = "function paint() { g.fillStyle = '#124'; g.fillRect(0, 0, 390, 844); g.fillStyle = 'gold'; g.fillRect(n % 390, 400, 30, 30); }"
BLACK = "function paint() { g.fillStyle = '#000'; g.fillRect(0, 0, 390, 844); }"
GAME = f"{CANVAS}<script>{LOOP}{BALL} frame();"

GREEN = {
    "a loop": GAME,
    "a still page that loads": HEAD + "<p>Loading...",
    "a black start screen with a small dot": CANVAS + f"<script>{LOOP}{BLACK} const black = paint;"
    "paint = () => { black(); g.fillStyle = '#fff'; g.fillRect(190, 420, 8, 8); }; frame();",
    "a canvas that only draws on inputs": CANVAS + "<script>const g = c.getContext('2d');"
    "g.fillText('2048', 180, 400); document.onkeydown = () => g.fillText('4096', 180, 500);",
    "a loop that rests and wakes on a tap": f"{CANVAS}<script>{LOOP}{BALL}"
    "frame = () => { n++; paint(); if (n % 20) requestAnimationFrame(frame); }; frame(); c.onpointerdown = frame;",
    "a page whose sound must wait for a touch": GAME + "const dom = (n, m) => Promise.reject(new DOMException(m, n));"
    "dom('NotAllowedError', \"play() failed because the user didn't interact with the document first. https://goo.gl/xX8pDD\");",
    "a start that is late but in time": CANVAS + f"<script>{LOOP}{BALL} setTimeout(frame, 3000);",
}
# The page, the gates that must be red, and words of the first red gate.
RED = {
    "a null pointer at boot": (
        HEAD + "<h1>Tea</h1><canvas></canvas><script>\nconst hud = document.getElementById('hud');\nhud.style.left = 0;</script>",
        {"A_boot", "B_uncaught"},
        "TypeError: Cannot read properties of null (reading 'style') at index.html:3:5",
    ),
    "a null pointer at boot with nothing to see": (
        CANVAS + "<script src=game.js></script>",
        {"A_boot", "B_uncaught", "D_render"},
        "TypeError: Cannot set properties of undefined (setting 'x') at game.js:2:16",
    ),
    "a syntax error": (
        CANVAS + "<script>\nconst a = ;\n</script>",
        {"A_boot", "B_uncaught", "D_render"},
        "SyntaxError: Unexpected token ';' at index.html:2:11",
    ),
    "nothing at all": (HEAD, {"A_boot", "D_render"}, "nothing was shown within 2 s"),
    "never ready": (GAME + "window.up = false;", {"A_boot"}, "did not say that it is ready within 2 s: up is False"),
    "an error later": (
        GAME + "\nsetTimeout(() => { throw new Error('late') }, 900);",
        {"B_uncaught"},
        "Error: late at index.html:3:26",
    ),
    "a rejection that nobody handles": (
        GAME + "\n(async () => { await 0; null.x; })();",
        {"B_uncaught"},
        "unhandled rejection: TypeError: Cannot read properties of null (reading 'x') at index.html:3:30",
    ),
    "an endless loop": (GAME + "setTimeout(() => { for (;;); }, 500);", {"C_frame"}, "the page ended by hang"),
    "a loop that stops": (
        GAME + "frame = () => { n++; paint(); if (n < 40) requestAnimationFrame(frame); };",
        {"C_frame"},
        "the loop stopped by itself after 39 frames, and 19 inputs did not wake it",
    ),
    "a black canvas": (f"{CANVAS}<script>{LOOP}{BLACK} frame();", {"D_render"}, "every picture was blank: one colour, #000000"),
    "a canvas that nobody draws on, on a page": (
        HEAD + "<canvas id=c></canvas><script>c.getContext('2d').fillRect(0, 0, 999, 999);",
        {"D_render"},
        "one flat card of 300 x 150 px, #000000 on #ffffff",
    ),
    "a picture that goes away": (
        GAME + "setTimeout(() => { paint = () => g.clearRect(0, 0, 390, 844); }, 800);",
        {"D_render"},
        "blank again since",
    ),
}  # fmt: skip


async def floor(folder, *, ready=None, boot_s=20.0, clock="frames", page="index.html"):
    """The gates of a page, its pictures, and the watch."""
    kept = {}
    watch = FloorWatch(boot_s * 1000)
    async with Wall(folder) as wall:
        url = f"{wall.address}/{page}"
        async with opened(wall, [clock], lambda c: options_for(wall, url, c, hang_s=1.0, boot_s=3.0)) as (game, fault):
            visit = FloorVisit(game, watch, lambda name, png: kept.setdefault(name, png) and f"{name}.png", ready)
            if await visit.boot(fault):
                await visit.stay()
    return watch.result()


def reds(result):
    return {name for name, gate in result.gates.items() if not gate.passed}


def write(tmp_path, html):
    ending = "</script>" if html.count("<script") > html.count("</script") else ""
    (tmp_path / "index.html").write_text(html + ending, "utf-8")
    (tmp_path / "game.js").write_text("const world = {};\nworld.player.x = 1;\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize("name", GREEN)
async def test_a_page_that_comes_up_runs_and_shows_something_is_green(tmp_path, name):
    result = await floor(write(tmp_path, GREEN[name]))
    assert result.passed, {name: gate.detail for name, gate in result.gates.items() if not gate.passed}


@pytest.mark.parametrize("name", RED)
async def test_a_page_fails_for_exactly_its_reason(tmp_path, name):
    html, gates, words = RED[name]
    ready = "up" if "ready" in name else None
    result = await floor(write(tmp_path, html), ready=ready, boot_s=2.0)
    red = {gate: found.detail for gate, found in result.gates.items() if not found.passed}
    assert set(red) == gates, red
    assert words in red[min(red)]
    assert not result.passed


@pytest.mark.parametrize("clock", ["js", "realtime"])
async def test_other_clocks_see_the_same(tmp_path, clock):
    stops = GAME + "frame = () => { n++; paint(); if (n < 40) requestAnimationFrame(frame); };"
    throws = GAME + "setTimeout(() => { throw new Error('late') }, 300);"
    for page, red in ((GAME, set()), (stops, {"C_frame"}), (throws, {"B_uncaught"})):
        result = await floor(write(tmp_path, page), clock=clock)
        assert reds(result) == red, (clock, red)
        if red == {"B_uncaught"}:
            assert "at index.html:2:" in result.gates["B_uncaught"].detail


async def test_what_is_measured_says_where_what_and_how_often(tmp_path):
    page = GAME + "\nsetInterval(() => { throw new TypeError('again') }, 200); new ResizeObserver(() => {});"
    gate = (await floor(write(tmp_path, page))).gates["B_uncaught"]
    (error,) = gate.measured["errors"]
    assert (error["message"], error["file"], error["line"], error["column"]) == (
        "TypeError: again", "index.html", 3, 27,
    )  # fmt: skip
    assert error["times"] == gate.measured["count"] > 5
    assert "at index.html" not in error["stack"]
    assert "index.html:3:27" in error["stack"]


def test_only_what_is_listed_is_filtered():
    facts = FloorWatch().facts
    sound = "NotAllowedError: play() failed because the user didn't interact with the document first. https://goo.gl/x"
    for message in (
        "ResizeObserver loop limit exceeded",
        sound,
        f"Error: {sound}",
        "Error: ResizeObserver loop of mine",
    ):
        facts.uncaught.append(Uncaught(message))
    gate = judge_floor(facts)["B_uncaught"]
    assert not gate.passed
    assert [error["message"] for error in gate.measured["errors"]] == [
        f"Error: {sound}",
        "Error: ResizeObserver loop of mine",
    ]
    assert gate.measured["ignored"] == {"resize observer": 1, "sound before the first touch": 1}


def test_a_document_that_is_never_read_to_its_end_is_no_boot():
    facts = FloorFacts(
        boot_ms=20_000, opened=True, shown_ms=60.0, advances=True, load_problem="the network fell silent"
    )
    gate = judge_floor(facts)["A_boot"]
    assert not gate.passed
    assert gate.detail == "the document was not loaded within 20 s: the network fell silent"
    facts.parsed = True  # a picture or an advertisement that never comes is another matter
    assert judge_floor(facts)["A_boot"].passed


def test_the_floor_is_a_projection_of_any_record_of_gates_and_fails_closed():
    good, bad = Gate(passed=True, detail="ok"), Gate(passed=False, detail="no")
    gates = dict.fromkeys(ALL_GATES, good)
    assert floor_of(gates).passed
    assert tuple(floor_of(gates).gates) == FLOOR_GATES
    for name in ALL_GATES:
        assert floor_of({**gates, name: bad}).passed is (name not in FLOOR_GATES), name
    for name in FLOOR_GATES:
        rest = {other: gate for other, gate in gates.items() if other != name}
        assert not floor_of(rest).passed
        assert floor_of(rest).gates[name].detail == "was not judged"


async def test_a_roll_has_the_same_floor(tmp_path):
    game = tmp_path / "game"
    game.mkdir()
    replies = [{"action": tap(195, 400)}, {"verdict": verdict("fail")}]
    html, gates, words = RED["a null pointer at boot with nothing to see"]
    played = await play(write(game, html), tmp_path, tester=script(tmp_path, replies))
    floor = played.result.floor
    assert reds(floor) == gates
    assert words in floor.gates["A_boot"].detail
    assert (played.folder / floor.gates["D_render"].evidence[0]).is_file()
    assert len(played.result.rolls) == 1, "a red floor needs no second opinion"


def cli(capsys, *arguments):
    code = main(["floor", *map(str, arguments), "--json"])
    told = capsys.readouterr()
    return code, json.loads(told.out), told.err


def test_the_command_prints_one_document_and_keeps_its_evidence(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, told, people = cli(capsys, "--game", EXAM / "sim-business-r2", "--seed", 3)
    assert (code, told["floor"]["pass"], told["gid"], told["seed"]) == (0, True, "sim-business-r2", 3)
    assert set(told["floor"]["gates"]) == set(FLOOR_GATES)
    assert "floor  green" in people
    folder = tmp_path / "evidence" / "floor"
    assert json.loads((folder / "floor.json").read_text("utf-8")) == told
    for gate in told["floor"]["gates"].values():
        assert all((folder / path).is_file() for path in gate["evidence"])
        assert gate["evidence"]
    game = tmp_path / "mine"
    game.mkdir()
    write(game, RED["a null pointer at boot"][0])
    code, told, people = cli(capsys, "--game", game)
    assert (code, told["gid"]) == (1, "mine")
    assert "RED" in people
    assert "index.html:3:5" in people
    (earlier,) = (tmp_path / "evidence" / "history").iterdir()
    assert earlier.name.endswith("-sim-business-r2-floor")
    assert (earlier / "floor.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no game was given"),
        (("--game", "nowhere"), "there is no file nowhere"),
        (("--game", EXAM / "sim-business-r2", "--ready", "alert('x')"), "is no path"),
        (("--game", "http://127.0.0.1:9/game"), "127.0.0.1"),
    ],
)
def test_what_can_not_be_checked_is_a_usage_error(tmp_path, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, told, _ = cli(capsys, *arguments)
    assert code == told["error"]["code"] == 2
    assert words in told["error"]["message"]
