"""A recorded roll as a script of its own: it plays the same game without us, and no recorded text can break out."""

import ast
import json
import os
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from playtest.browser.find import find_browser
from playtest.cli import main
from playtest.config import Settings
from playtest.exporting import literal, script_of
from playtest.recordings import read_recording
from tests.play import EXAM, play, script, tap, verdict

HOSTILE = "'\"\\ \"\"\" ''' \n\r\t\x0b\x0c\x1c\x85\u2028\u2029\u202e\ufeff {{ 7 * 7 }} # fmt: off\n__import__('os')"
SCORE = """<!doctype html><meta charset="utf-8"><title>score</title>
<style>body{margin:0;touch-action:none;font:24px sans-serif}button{position:absolute;left:115px;top:560px;
width:160px;height:80px}</style><div id="s">Score 0</div><button>Serve</button><script>
let score = 0;
document.querySelector('button').addEventListener('pointerdown', () => {
  score += 1 + Math.floor(Math.random() * 1000); s.textContent = 'Score ' + score;
});
</script>"""
# Says in an error what it was given: the script passes only where all of that is what the record has.
TELLTALE = """<!doctype html><meta charset="utf-8"><style>body{margin:0;height:844px;touch-action:none}</style>
<input style="position:absolute;top:700px"><script>
const told = [Math.floor(Math.random() * 1e6), crypto.getRandomValues(new Uint8Array(1))[0], new Date().toISOString()];
const zero = performance.now(), at = () => Math.round(performance.now() - zero);
let moves = 0;
for (const type of ['touchstart', 'touchend', 'keydown', 'keyup'])
  addEventListener(type, (e) => {
    const touch = e.changedTouches && e.changedTouches[0];
    told.push(type.slice(-3) + at() + (touch ? '@' + Math.round(touch.clientX) : e.key) + (moves ? 'm' + moves : ''));
    moves = 0;
  });
addEventListener('touchmove', () => { moves++; });
setTimeout(() => { throw new Error(told.join()); }, 10900);
</script>"""


def page(folder, html):
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(html, "utf-8")
    return folder


def run_script(path, tmp_path, **environment):
    """The script in a process where our package can't be imported."""
    (tmp_path / "without" / "playtest").mkdir(parents=True, exist_ok=True)
    (tmp_path / "without" / "playtest" / "__init__.py").write_text("raise ImportError('there is no playtest here')\n")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PLAYTEST_", "PYTEST_", "MINIMAX_"))}
    found = str(find_browser(os.environ.get("PLAYTEST_CHROMIUM")).path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path.name],
        cwd=path.parent,
        env={**clean, "PYTHONPATH": str(tmp_path / "without"), "CHROMIUM": found, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def ruff(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
async def test_the_script_of_a_played_roll_passes_and_fails_where_the_game_differs(tmp_path):
    game = page(tmp_path / "game", SCORE)
    replies = [{"action": tap(195, 600)}, {"action": {"type": "wait", "ms": 300}}, {"action": tap(195, 600, HOSTILE)}]
    done = {"verdict": verdict("pass")}
    played = await play(game, tmp_path, tester=script(tmp_path, [*replies, done, done]), rolls=1)
    scores = [text for text in played.of("step")[-1].texts if text.startswith("Score")]
    assert main(["export", str(played.folder / "roll-1")]) == 0
    path = played.folder / "roll-1" / "test_roll_1.py"
    assert literal(scores[0]) in path.read_text("utf-8")
    evidence = {file: file.read_bytes() for file in (path.parent / "shots").glob("*.*")}

    code, said = run_script(path, tmp_path)
    assert code == 0, said
    shots = sorted(file.name for file in (path.parent / "shots" / "test_roll_1").iterdir())
    assert shots == ["step-0000.png", "step-0001.png", "step-0002.png", "step-0003.png"]
    assert {file: file.read_bytes() for file in evidence} == evidence

    other = page(tmp_path / "unscored", SCORE.replace("Math.random()", "0"))
    code, said = run_script(path, tmp_path, PLAYTEST_GAME=str(other))
    assert code == 1
    assert "not on the screen: 'Score " in said
    throws = page(tmp_path / "throws", SCORE.replace("let score", "setTimeout(() => nothing.at(all), 400); let score"))
    code, said = run_script(path, tmp_path, PLAYTEST_GAME=str(throws / "index.html"))
    assert code == 1
    assert "ReferenceError: nothing is not defined" in said


@pytest.mark.slow
async def test_the_inputs_reach_the_page_as_they_did_when_recorded(tmp_path):
    game = page(tmp_path / "game", TELLTALE)
    stroke = {"x1": 60, "y1": 300, "x2": 300, "y2": 300, "ms": 250}
    actions = [
        tap(100, 200), {"type": "long_press", "x": 110, "y": 200, "ms": 700}, {"type": "double_tap", "x": 120, "y": 200},
        {"type": "swipe", **stroke}, {"type": "drag", **stroke}, {"type": "key", "key": "ArrowLeft", "ms": 90},
        tap(50, 710), {"type": "type", "text": "a'\""}, {"type": "wait", "ms": 10000},
    ]  # fmt: skip
    replies = [*({"action": action} for action in actions), {"verdict": verdict("degraded")}]
    played = await play(game, tmp_path, tester=script(tmp_path, replies), rolls=1, clock="js")
    (fault,) = [line for line in played.of("fault") if line.fault == "uncaught"]
    assert fault.message.count("art") == 7
    assert "ArrowLeft" in fault.message
    assert main(["export", str(played.folder / "roll-1"), "--out", str(tmp_path / "test_it.py")]) == 0
    text = (tmp_path / "test_it.py").read_text("utf-8")
    assert literal(fault.message) in text

    code, said = run_script(tmp_path / "test_it.py", tmp_path)
    assert code == 0, said
    (tmp_path / "test_it.py").write_text(text.replace("game.tap(100,", "game.tap(101,"), "utf-8")
    code, said = run_script(tmp_path / "test_it.py", tmp_path)
    assert code == 1
    assert "@101" in said


@pytest.mark.slow
async def test_a_canvas_game_under_the_frames_clock_is_met_at_its_moments(tmp_path):
    """The tea stall opens: a tap that came at another moment, or not at all, would leave another screen."""
    replies = [{"action": tap(195, 675, "开始营业")}, {"action": {"type": "wait", "ms": 300}}]
    done = {"verdict": verdict("degraded")}
    played = await play(EXAM / "sim-business-r2", tmp_path, tester=script(tmp_path, [*replies, done, done]), rolls=1)
    assert main(["export", str(played.folder / "roll-1"), "--out", str(tmp_path / "test_tea.py")]) == 0
    code, said = run_script(tmp_path / "test_tea.py", tmp_path)
    assert code == 0, said
    from playtest.pictures import decode, distance, signature

    recorded = (played.folder / "roll-1" / "shots" / "0003.png").read_bytes()
    shot = (tmp_path / "shots" / "test_tea" / "step-0002.png").read_bytes()
    before = (tmp_path / "shots" / "test_tea" / "step-0000.png").read_bytes()
    here, there, first = (signature(decode(png, 0.0).pixels) for png in (shot, recorded, before))
    assert distance(here, there) < 2 < distance(first, there)


# -- what is written ----------------------------------------------------------------------------------------------


def record(folder, words, *, clock="frames"):
    """A made-up roll with `words` wherever a game or a tester may put them."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp, short = {"wallMs": 1.0}, words[:40]
    start = {
        "type": "start", "step": 0, "gameMs": 50, **stamp, "gid": words, "roll": 1, "seed": 7, "clock": clock,
        "startDate": "2026-01-15T02:00:00+00:00", "game": words, "locale": words, "settleMs": 1500, "reactionMs": 0,
        "url": words, "tester": words, "budget": 14, "maxBudget": 24,
    }  # fmt: skip
    actions = [
        {"type": "tap", "x": 1e300, "y": -2.345678, "target": words}, {"type": "type", "text": words},
        {"type": "key", "key": words[:40]}, {"type": "key", "key": "'"},
    ]  # fmt: skip
    effect = {"changed": True, "area": 0.1, "settleMs": 200, "texts": [f"{short} -> {short}!"]}
    steps = [
        {
            "type": "step", "step": number, "gameMs": 1000 * number, **stamp, "action": action, "effect": effect,
            "texts": [short, f"{short}!"], "progress": effect["texts"],
        }
        for number, action in enumerate([*actions, None], 1)
    ]  # fmt: skip
    steps[1]["effect"] = {**effect, "settleMs": 1e9}
    fault = {"type": "fault", "step": 1, "gameMs": 3, **stamp, "fault": "uncaught", "message": words}
    lines = [json.dumps(line) for line in (start, *steps, fault)]
    (folder / "transcript.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


class Shape(ast.NodeTransformer):
    """Leaves every string out."""

    def visit_Constant(self, node):
        return ast.Constant("" if isinstance(node.value, str) else node.value)


def shape(text):
    return ast.dump(Shape().visit(ast.parse(text)))


def test_no_text_of_a_record_breaks_out_of_its_place(tmp_path):
    settings = Settings()
    tame = script_of(read_recording(record(tmp_path / "tame", "word")), settings)
    wild = script_of(read_recording(record(tmp_path / "wild", HOSTILE)), settings)
    assert shape(wild) == shape(tame)
    assert not [c for c in wild if not c.isprintable() and c != "\n"]
    compile(wild, "wild", "exec")


@pytest.mark.parametrize("words", ["word", HOSTILE, 'a "b"', "it's", "x " * 240, "茶" * 200])
def test_the_script_is_clean_by_ruff_at_both_usual_widths(tmp_path, words):
    path = tmp_path / "test_roll.py"
    path.write_text(script_of(read_recording(record(tmp_path / "roll", words)), Settings()), "utf-8")
    ruff("check", "--isolated", path)
    for width in (88, 120):
        ruff("format", "--isolated", "--check", "--diff", "--line-length", width, path)


@example("\ud800")
@given(st.text())
def test_a_literal_is_one_printable_line_and_the_same_text(text):
    written = literal(text)
    assert ast.literal_eval(written) == text
    assert written.isprintable()


def test_each_phenomenon_stands_at_its_step_with_its_place_and_words(tmp_path):
    from playtest.protocol.verdict import Phenomenon

    recording = read_recording(record(tmp_path / "roll", "word"))
    seen = [
        Phenomenon(roll=1, step=1, x=12, y=34, what="nothing\nchanged"),
        Phenomenon(roll=1, step=5, what="it ended"),
    ]
    roll = type("Roll", (), {"phenomena": tuple(seen)})()
    recording = type(recording)(recording.folder, recording.start, recording.steps, roll)
    text = script_of(recording, Settings())
    first, rest = text.split("# Step 2:", 1)
    assert "# The tester saw at step 1 at (12, 34): nothing changed" in first
    assert "# The tester saw at step 5: it ended" in rest


@pytest.mark.parametrize(
    ("lines", "more", "message"),
    [
        (None, (), "there is no recorded roll"),
        ("", (), "has no beginning"),
        ("{}\n{}\n", (), "line 1 can't be read"),
        ("start", (), "no action to play again"),
        ("all", ("--out", "nowhere/test_x.py"), "can't be written"),
        ("all", ("--out", "."), "can't be written"),
        ("date", (), "is no ISO 8601 instant"),
    ],
)
def test_bad_input_is_exit_2_with_a_hint(tmp_path, monkeypatch, capsys, *, lines, more, message):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "roll-1"
    if lines is not None:
        path = record(folder, "word") / "transcript.jsonl"
        whole = path.read_text("utf-8")
        made = {"start": whole.splitlines()[0] + "\n", "all": whole, "date": whole.replace("2026-01-15", "someday")}
        path.write_text(made.get(lines, lines), "utf-8")
    assert main(["export", str(folder), *more]) == 2
    first, hint = capsys.readouterr().err.splitlines()
    assert message in first
    assert hint.strip()
    assert not list(tmp_path.glob("**/test_*.py"))
