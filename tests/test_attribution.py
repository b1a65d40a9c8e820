"""Was it the game or the tester? Told by experiment: the same game up to the claimed step, then other touches."""

import pytest

from playtest.protocol.verdict import Attribution
from tests.endpoint import StrictEndpoint
from tests.play import EXAM, GAMES, Brain, play, play_with, script, tap, verdict

TEA, PUZZLE = EXAM / "sim-business-r2", EXAM / "puzzle-r3"


def claims(*taps):
    """A fail that cites each of the first taps."""
    cited = [
        {"step": step, "x": action["x"], "y": action["y"], "what": f"tapped {action['target']}; nothing changed"}
        for step, action in enumerate(taps, 1)
    ]
    return {"verdict": verdict("fail", phenomena=cited)}


@pytest.mark.slow
async def test_a_tester_that_misses_by_70_px_never_fails_a_good_game(tmp_path):
    misses = [tap(195, 675 + 70, "开始营业"), tap(40, 605, "开始营业"), tap(350, 605, "开始营业按钮")]
    replies = [*({"action": action} for action in misses), claims(*misses), claims(*misses)]
    played = await play(TEA, tmp_path, brief="茶摊：点茶，再点客人。", tester=script(tmp_path, replies))
    roll = played.result.rolls[0]
    assert (played.result.verdict, played.result.degraded_reason) == ("degraded", "refuted_fail")
    assert played.result.attribution == Attribution.TESTER
    assert "refuted_fail" in played.names("refusal")
    probes = [phenomenon.probe for phenomenon in roll.phenomena]
    assert {probe.result for probe in probes} == {"refuted"}
    assert abs(probes[0].offset[1] + 70) <= 2
    assert roll.aim is not None


@pytest.mark.slow
async def test_the_same_words_about_a_dead_board_stand(tmp_path):
    board = [tap(45, 258, "花砖"), tap(165, 378, "花砖"), tap(285, 498, "花砖")]
    shifted = {
        "verdict": verdict(
            "fail",
            phenomena=[
                {"step": step, "x": a["x"], "y": a["y"], "what": "tapped a tile; nothing changed"}
                for step, a in enumerate(board, 3)
            ],
        )
    }
    start = [{"action": tap(195, 534, "开始")}, {"action": {"type": "wait", "ms": 1500}}]
    replies = [*start, *({"action": action} for action in board), shifted]
    played = await play(PUZZLE, tmp_path, brief="花砖连消", tester=script(tmp_path, replies), rolls=1)
    assert (played.result.verdict, played.result.kind) == ("fail", "broken")
    assert played.result.attribution == Attribution.GAME
    assert {phenomenon.probe.result for phenomenon in played.result.phenomena} == {"confirmed"}


@pytest.mark.slow
async def test_pixels_answered_where_thousandths_are_declared_are_named(tmp_path):
    """The tester aims well, but gives css pixels: every tap lands far up and to the left."""

    def pixels(x, y, target):
        return {"action": {"type": "tap", "x": x, "y": y, "target": target}}

    brain = Brain(
        pixels(195, 675, "开始营业"), pixels(180, 690, "开始营业"), pixels(210, 660, "开始营业"),
        claims(*(tap(195, 675, "开始营业"), tap(180, 690, "开始营业"), tap(210, 660, "开始营业"))),
    )  # fmt: skip
    with StrictEndpoint(brain) as endpoint:
        played = await play_with(endpoint, TEA, tmp_path)
    assert (played.result.verdict, played.result.degraded_reason) == ("degraded", "refuted_fail")
    assert played.result.rolls[0].aim.meaning == (
        "wrong coordinate space: it answers in css pixels while norm1000 is declared"
    )


@pytest.mark.slow
async def test_told_of_its_miss_a_tester_plays_on_and_may_pass(tmp_path):
    misses = [tap(195, 700, "Serve"), tap(60, 560, "Serve"), tap(330, 640, "Serve")]
    brain = Brain(
        *misses, claims(*[{**a, "x": 500, "y": 800} for a in misses])["verdict"], tap(195, 600), verdict("pass")
    )
    with StrictEndpoint(brain) as endpoint:
        played = await play_with(endpoint, GAMES / "buttons", tmp_path)
    assert played.names("refusal") == ["refuted_fail"]
    assert played.of("refusal")[0].message in brain.texts[4]
    assert played.result.verdict == "pass"


async def test_another_button_that_answers_refutes_nothing(tmp_path):
    """The named button is dead; a live one stands beside it."""
    dead = [tap(100, 300, "Play"), tap(120, 310, "Play"), tap(80, 290, "Play")]
    replies = [*({"action": action} for action in dead), claims(*dead)]
    played = await play(GAMES / "one-dead-button", tmp_path, tester=script(tmp_path, replies), rolls=1)
    assert played.result.verdict == "fail"
    assert played.result.attribution == Attribution.GAME


async def test_a_fail_on_moving_ground_is_confirmed_against_no_input(tmp_path):
    taps = [tap(195, 600, "PLAY"), tap(150, 590, "PLAY"), tap(230, 610, "PLAY")]
    replies = [*({"action": action} for action in taps), claims(*taps)]
    played = await play(GAMES / "drifting", tmp_path, tester=script(tmp_path, replies), rolls=1)
    assert (played.result.verdict, played.result.attribution) == ("fail", Attribution.GAME)
    control = played.result.rolls[0].control
    assert control.steps == control.same == 3


async def test_control_tells_self_running_numbers(tmp_path):
    replies = [{"action": tap(195, 600)}, {"action": {"type": "wait", "ms": 1500}}, {"verdict": verdict("pass")}]
    played = await play(GAMES / "self-running", tmp_path, tester=script(tmp_path, [*replies, replies[-1]]))
    control = played.result.rolls[0].control
    assert any("Score" in words for words in control.self_progress)
    assert control.same < control.steps
