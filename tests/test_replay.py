"""A recorded roll played again: the same game or not, and on another build: is the fault gone?"""

import asyncio
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from playtest.cli import main
from tests.endpoint import StrictEndpoint
from tests.play import EXAM, GAMES, Brain, play, play_with, script, tap, verdict

BOARD = [tap(45, 258, "花砖"), tap(165, 378, "花砖"), tap(285, 498, "花砖")]
BROKEN = "hitTile(p.x, p.y, BOARD_X)"
REPAIRED = "hitTile(p.x, p.y, BOARD_X, BOARD_Y)"
START_BUTTON = "{ x: 75, y: 500, w: 240, h: 68, label: '开始'"


def replayed(folder, *more):
    """Exit code and `replay.json` of one replay, and the folder that it lies in."""
    before = set(folder.glob("replays/*"))
    code = main(["replay", str(folder), *map(str, more)])
    (target,) = set(folder.glob("replays/*")) - before
    return code, json.loads((target / "replay.json").read_text("utf-8")), target


def pixels(path):
    """The strongest channel of each pixel."""
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB")).max(2)


def changed_copy(game, target, old, new):
    """A copy of a game with one text of its source replaced."""
    shutil.copytree(game, target)
    page = target / "index.html"
    source = page.read_text("utf-8")
    assert source.count(old) == 1
    page.write_text(source.replace(old, new), "utf-8")
    return target


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A roll on the counting button, and the game's own copy that it was played on."""
    folder = tmp_path_factory.mktemp("good")
    game = folder / "game"
    shutil.copytree(GAMES / "buttons", game)
    done = {"verdict": verdict("pass")}
    replies = [
        {"action": tap(195, 600)},
        {"action": tap(195, 600)},
        {"action": {"type": "wait", "ms": 200}},
        done,
        done,
    ]
    played = asyncio.run(play(game, folder, tester=script(folder, replies), rolls=1))
    assert played.result.verdict == "pass"
    return played.folder / "roll-1", game


@pytest.fixture(scope="module")
def dead_board(tmp_path_factory):
    """A roll on the puzzle whose tiles don't answer, claimed broken at steps 3 to 5."""
    folder = tmp_path_factory.mktemp("dead-board")
    claims = [
        {"step": step, "x": a["x"], "y": a["y"], "what": "tapped a tile; nothing changed"}
        for step, a in enumerate(BOARD, 3)
    ]
    start = [{"action": tap(195, 534, "开始")}, {"action": {"type": "wait", "ms": 1500}}]
    replies = [*start, *({"action": a} for a in BOARD), {"verdict": verdict("fail", phenomena=claims)}]
    played = asyncio.run(play(EXAM / "puzzle-r3", folder, "花砖连消", tester=script(folder, replies), rolls=1))
    assert played.result.verdict == "fail"
    return played.folder / "roll-1"


# -- the same game? -----------------------------------------------------------------------------------------------


def test_a_roll_on_the_same_game_agrees_at_every_step(good, capsys):
    code, result, target = replayed(good[0])
    assert code == 0
    assert [(step["step"], step["pixels"], step["texts"]) for step in result["steps"]] == [
        (number, True, True) for number in (1, 2, 3, 4)
    ]
    assert result["divergence"] is None
    assert result["schema"] == "playtest-replay/1"
    assert [file.name for file in target.iterdir()] == ["replay.json"]
    assert capsys.readouterr().err.count("agrees") == 4


def test_a_changed_game_is_told_at_the_first_step_that_differs_with_pictures(good, tmp_path, capsys):
    roll, game = good
    page = game / "index.html"
    source = page.read_text("utf-8")
    page.write_text(source.replace("score += 5", "score += 4"), "utf-8")
    try:
        code, result, target = replayed(roll)
    finally:
        page.write_text(source, "utf-8")
    told = result["divergence"]
    assert (code, told["step"]) == (1, 2)
    assert told["texts"] == ["Score 5 -> ∅", "∅ -> Score 4"]
    difference = pixels(target / told["difference"])
    assert difference.shape == (844, 390)
    assert difference.any()
    assert not difference[150:550].any(), "only the score and the button's colour differ"
    for kind in ("recorded", "replayed"):
        with Image.open(target / told[kind]) as picture:
            assert picture.size == (390, 844)
    assert f"first difference at step 2: {target / told['difference']}" in capsys.readouterr().err


def test_a_record_with_another_pictures_hash_differs_there(good, tmp_path):
    shutil.copytree(good[0], tmp_path / "roll-1", ignore=shutil.ignore_patterns("replays"))
    path = tmp_path / "roll-1" / "transcript.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line in lines:
        if line["type"] == "step" and line["step"] == 3:
            line["pictureHash"] = "0" * 16
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    code, result, target = replayed(tmp_path / "roll-1")
    assert (code, result["divergence"]["step"], result["divergence"]["texts"]) == (1, 3, [])
    assert not pixels(target / result["divergence"]["difference"]).any()


def test_a_kept_picture_that_was_changed_or_spoilt_is_told(good, tmp_path, capsys):
    for number, (spoil, words) in enumerate(
        (
            (lambda path: Image.new("RGB", (390, 800)).save(path), "is not the one that was recorded"),
            (lambda path: path.write_bytes(b"no picture"), "can't be read"),
            (lambda path: path.unlink(), "is missing"),
        )
    ):
        roll = shutil.copytree(good[0], tmp_path / f"roll-{number}", ignore=shutil.ignore_patterns("replays"))
        spoil(roll / "shots" / "0002.png")
        (tmp_path / f"roll-{number}").rename(tmp_path / "roll-1")  # pictures are named by the roll's folder
        code, result, target = replayed(tmp_path / "roll-1")
        told = result["divergence"]
        assert (code, told["step"]) == (1, 2)
        assert words in told["spoilt"]
        assert words in capsys.readouterr().err
        named = [target / told[kind] for kind in ("recorded", "replayed", "difference") if told[kind]]
        assert len(named) == (3 if number == 0 else 1)
        for path in named:
            with Image.open(path) as picture:
                assert picture.size in {(390, 800), (390, 844)}
        shutil.rmtree(tmp_path / "roll-1")


def test_nothing_to_replay_is_exit_2_with_a_hint(good, tmp_path, capsys):
    shutil.copytree(good[0], tmp_path / "roll-1", ignore=shutil.ignore_patterns("replays"))
    path = tmp_path / "roll-1" / "transcript.jsonl"
    path.write_text(path.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    for arguments, message in (
        ((tmp_path / "nowhere",), "there is no recorded roll"),
        ((tmp_path / "roll-1",), "no step to play again"),
        ((good[0], "--game", tmp_path / "gone"), "there is no file"),
    ):
        assert main(["replay", *map(str, arguments)]) == 2
        first, hint = capsys.readouterr().err.splitlines()
        assert message in first
        assert hint.strip()


# -- is the fault gone? -------------------------------------------------------------------------------------------


def fates(result):
    return [(checked["phenomenon"]["step"], checked["fate"]) for checked in result["phenomena"]]


SMALL = """<!doctype html><meta charset="utf-8"><style>body{margin:0;height:844px;touch-action:none;background:#fff;
font:30px sans-serif}#start,#go{position:absolute;left:95px;width:200px;height:100px;background:#28c}</style>
<div id="start" style="top:600px">Start</div><div id="go" style="top:300px" hidden>Go</div><p id="s"></p><script>
start.onpointerdown = () => { document.body.style.background = '#025'; go.hidden = false; start.remove(); };
go.onpointerdown = () => { ANSWER };
</script>"""
FAULTS = {"dead": "", "throws": "nothing.at(all)", "leaks": "s.textContent = 'Gold NaN'"}
ANSWERS = "s.textContent = 'Gold 5'"


def small(folder, answer):
    folder.mkdir()
    (folder / "index.html").write_text(SMALL.replace("ANSWER", answer), "utf-8")
    return folder


@pytest.fixture(scope="module", params=FAULTS)
def small_fault(request, tmp_path_factory):
    """A roll on a small game with one fault, which shows at step 2, and the game."""
    folder = tmp_path_factory.mktemp(request.param)
    game = small(folder / "game", FAULTS[request.param])
    done = {"verdict": verdict("degraded")}
    replies = [{"action": tap(195, 650)}, {"action": tap(195, 350)}, done, done]
    played = asyncio.run(play(game, folder, tester=script(folder, replies), rolls=1))
    path = played.folder / "roll-1" / "roll.json"
    roll = json.loads(path.read_text("utf-8"))
    fault = "uncaught" if request.param == "throws" else None
    roll["phenomena"] = [{"roll": 1, "step": 2, "x": 195, "y": 350, "what": "it is broken", "fault": fault}]
    path.write_text(json.dumps(roll), "utf-8")
    return played.folder / "roll-1", game


def test_a_small_fault_is_there_gone_or_not_reached(small_fault, tmp_path):
    roll, game = small_fault
    code, result, _ = replayed(roll, "--game", game)
    assert (code, fates(result)) == (1, [(2, "still there")])
    code, result, _ = replayed(roll, "--game", small(tmp_path / "repaired", ANSWERS))
    assert (code, fates(result)) == (0, [(2, "gone")])
    moved = changed_copy(tmp_path / "repaired", tmp_path / "moved", "top:600px", "top:100px")
    code, result, _ = replayed(roll, "--game", moved)
    assert (code, fates(result)) == (4, [(2, "not reached")])


def test_an_input_whose_screen_changed_by_itself_is_dead_where_an_experiment_showed_it(tmp_path):
    game = small(tmp_path / "game", "")
    page = game / "index.html"
    guest = "setTimeout(() => { s.textContent = 'A guest comes' }, 400); start.remove();"
    page.write_text(page.read_text("utf-8").replace("start.remove();", guest), "utf-8")
    claim = {"step": 2, "x": 195, "y": 350, "what": "tapped Go; nothing came of it"}
    replies = [{"action": tap(195, 650)}, {"action": tap(195, 350, "Go")}, {"action": tap(110, 390, "Go")}]
    replies += [{"verdict": verdict("fail", phenomena=[claim])}] * 2
    played = asyncio.run(play(game, tmp_path, tester=script(tmp_path, replies), rolls=1))
    assert played.of("step")[1].effect.changed, "a guest came after the tap"
    assert played.result.rolls[0].phenomena[0].probe.result == "confirmed"
    code, result, _ = replayed(played.folder / "roll-1", "--game", game)
    assert (code, fates(result)) == (1, [(2, "still there")])
    repaired = changed_copy(
        game, tmp_path / "repaired", "go.onpointerdown = () => {  }", "go.onpointerdown = () => go.remove()"
    )
    code, result, _ = replayed(played.folder / "roll-1", "--game", repaired)
    assert (code, fates(result)) == (0, [(2, "gone")])


def test_where_the_recorded_picture_is_spoilt_nothing_is_called_gone(small_fault, tmp_path):
    roll = shutil.copytree(small_fault[0], tmp_path / "roll-1", ignore=shutil.ignore_patterns("replays"))
    (roll / "shots" / "0002.png").write_bytes(b"no picture")
    code, result, _ = replayed(roll, "--game", small(tmp_path / "repaired", ANSWERS))
    assert (code, fates(result)) == (4, [(2, "not reached")])
    assert "can't be read" in result["phenomena"][0]["why"]


@pytest.mark.slow
def test_on_a_repaired_build_the_phenomena_are_gone(dead_board, tmp_path, capsys):
    repaired = changed_copy(EXAM / "puzzle-r3", tmp_path / "repaired", BROKEN, REPAIRED)
    code, result, _ = replayed(dead_board, "--game", repaired, "--json")
    assert code == 0
    assert fates(result) == [(3, "gone"), (4, "gone"), (5, "gone")]
    assert "(45, 258)" in result["phenomena"][0]["why"]
    printed = capsys.readouterr()
    assert json.loads(printed.out) == result
    assert printed.err.count("GONE") == 3


@pytest.mark.slow
def test_on_an_unrepaired_build_they_are_still_there(dead_board, tmp_path):
    same = shutil.copytree(EXAM / "puzzle-r3", tmp_path / "same")
    code, result, _ = replayed(dead_board, "--game", same)
    assert code == 1
    assert fates(result) == [(3, "still there"), (4, "still there"), (5, "still there")]


@pytest.mark.slow
def test_where_the_way_there_is_another_they_are_not_reached(dead_board, tmp_path):
    moved = changed_copy(EXAM / "puzzle-r3", tmp_path / "moved", START_BUTTON, START_BUTTON.replace("y: 500", "y: 760"))
    code, result, _ = replayed(dead_board, "--game", moved)
    assert code == 4
    assert fates(result) == [(3, "not reached"), (4, "not reached"), (5, "not reached")]
    assert "another one" in result["phenomena"][0]["why"]


def test_a_replay_asks_no_model_and_needs_no_key(tmp_path, monkeypatch):
    with StrictEndpoint(Brain(tap(195, 600), verdict("pass"), verdict("pass"))) as endpoint:
        played = asyncio.run(play_with(endpoint, GAMES / "buttons", tmp_path, rolls=1))
        asked = len(endpoint.requests)
        assert asked
        monkeypatch.setenv("PLAYTEST_TESTER", "minimax")
        monkeypatch.setenv("MINIMAX_BASE_URL", endpoint.base_url)
        code, result, _ = replayed(played.folder / "roll-1")
        assert (code, result["divergence"]) == (0, None)
        code, _, _ = replayed(played.folder / "roll-1", "--game", GAMES / "buttons")
        assert code == 4, "there is no phenomenon to look for"
        assert len(endpoint.requests) == asked
