"""The step loop's eight points, each played for real: pages in Chromium, a strict endpoint, a brain that looks."""

import time

import numpy as np
import pytest
from PIL import Image

from playtest.protocol.coordinates import PICTURE_HEIGHT
from tests.endpoint import StrictEndpoint
from tests.play import GAMES, Brain, play, play_with, script, tap, verdict
from tests.sight import find_ring, has_grid, read_canary

NOWHERE = [tap(40, 200), tap(340, 300), tap(60, 760)]


async def test_picture_carries_ruler_strip_and_canary(tmp_path):
    brain = Brain(tap(195, 600), verdict("pass"))
    with StrictEndpoint(brain) as endpoint:
        played = await play_with(endpoint, GAMES / "buttons", tmp_path)
    assert played.result.verdict == "pass"
    assert not endpoint.rejections
    for picture in brain.pictures:
        assert picture.size == (390, PICTURE_HEIGHT)
        assert has_grid(picture, 39)  # a line at every 100 of 1000 across
    codes = [line.canary for line in played.of("step")]
    assert [read_canary(picture) for picture in brain.pictures] == codes
    assert len(set(codes)) == len(codes)
    said_by_us = [text for request in endpoint.requests for role, text in request.messages if role != "assistant"]
    assert not any(code in text for code in codes for text in said_by_us)


async def test_evidence_keeps_clean_and_ruled_pictures(tmp_path):
    with StrictEndpoint(Brain(tap(195, 600), verdict("pass"))) as endpoint:
        played = await play_with(endpoint, GAMES / "buttons", tmp_path)
    step = played.of("step")[1]
    clean, ruled = Image.open(played.folder / step.picture), Image.open(played.folder / step.ruled_picture)
    assert clean.size == (390, 844)
    assert ruled.size == (390, PICTURE_HEIGHT)
    assert not has_grid(clean.convert("RGB"), 39)
    assert find_ring(clean) is None
    assert find_ring(ruled) is not None


async def test_ring_where_the_tap_landed_and_gone_by_the_picture_after(tmp_path):
    brain = Brain(tap(120, 333), {"type": "wait", "ms": 100}, {"type": "wait", "ms": 100}, verdict("degraded"))
    with StrictEndpoint(brain) as endpoint:
        await play_with(endpoint, GAMES / "buttons", tmp_path)
    before, after, later, _ = brain.pictures
    assert find_ring(before) is None
    ring = find_ring(after)
    assert ring is not None
    assert np.hypot(ring[0] - 120, ring[1] - 333) < 2
    assert find_ring(later) is None


async def test_norm1000_is_converted_with_the_strip_included(tmp_path):
    with StrictEndpoint(Brain({"action": {"type": "tap", "x": 500, "y": 688}}, verdict("pass"))) as endpoint:
        played = await play_with(endpoint, GAMES / "buttons", tmp_path)
    action = played.of("step")[0].action
    assert (action.x, action.y) == pytest.approx((195, 599.9), abs=0.1)
    assert played.of("step")[0].wire == {"x": 500, "y": 688}
    assert played.of("step")[0].effect.texts == ("Score 0 -> Score 5",)


@pytest.mark.parametrize(("spot", "warning"), [((40, 200), "repeat_no_effect"), ((195, 600), "repeat_with_effect")])
async def test_second_tap_on_a_spot_is_answered_with_a_warning(tmp_path, spot, warning):
    brain = Brain(tap(*spot), tap(spot[0] + 8, spot[1] - 8), verdict("degraded"))
    with StrictEndpoint(brain) as endpoint:
        played = await play_with(endpoint, GAMES / "buttons", tmp_path)
    assert played.names("warning") == [warning]
    message = played.of("warning")[0].message
    assert message in brain.texts[2]
    assert message not in brain.texts[1]


async def test_taps_on_other_spots_bring_no_warning(tmp_path):
    tester = script(tmp_path, [{"action": a} for a in NOWHERE] + [{"verdict": verdict("degraded")}])
    played = await play(GAMES / "buttons", tmp_path, tester=tester)
    assert played.names("warning") == []


async def test_early_fail_is_refused_once(tmp_path):
    brain = Brain(tap(40, 200), verdict("fail"), verdict("fail"))
    with StrictEndpoint(brain) as endpoint:
        played = await play_with(endpoint, GAMES / "still", tmp_path, rolls=1)
    assert played.names("refusal") == ["early_fail_refused"]
    assert played.of("refusal")[0].message in brain.texts[2]
    assert played.result.verdict == "fail"


async def test_fail_after_three_places_is_taken(tmp_path):
    with StrictEndpoint(Brain(*NOWHERE, verdict("fail"))) as endpoint:
        played = await play_with(endpoint, GAMES / "still", tmp_path, rolls=1)
    assert played.names("refusal") == []
    assert (played.result.verdict, played.result.kind) == ("fail", "broken")
    phenomenon = played.result.phenomena[0]
    assert (phenomenon.step, phenomenon.x, phenomenon.y) == (1, 195, 436)
    assert (played.folder / phenomenon.picture).is_file()


@pytest.mark.parametrize("game", ["still", "drifting", "win-text"])
async def test_pass_without_any_effect_is_refused_then_degraded(tmp_path, game):
    brain = Brain(*NOWHERE, verdict("pass"), verdict("pass"))
    with StrictEndpoint(brain) as endpoint:
        played = await play_with(endpoint, GAMES / game, tmp_path)
    assert played.names("refusal") == ["unsupported_pass_refused"]
    assert (played.result.verdict, played.result.degraded_reason) == ("degraded", "unsupported_pass")


async def test_budget_grows_from_14_to_24_with_progress(tmp_path):
    with StrictEndpoint(Brain(tap(195, 600))) as endpoint:
        played = await play_with(endpoint, GAMES / "levels", tmp_path)
    assert (played.result.verdict, played.result.degraded_reason) == ("degraded", "budget")
    assert played.result.rolls[0].steps == 24
    assert [line.budget for line in played.of("budget")][:5] == [16, 18, 20, 22, 24]
    control = played.result.rolls[0].control
    assert control is not None, "a roll without a verdict has its control too"
    assert control.same < control.steps


@pytest.mark.parametrize("game", ["still", pytest.param("drifting", marks=pytest.mark.slow)])
async def test_budget_stays_14_without_progress(tmp_path, game):
    with StrictEndpoint(Brain(tap(195, 600), tap(60, 200))) as endpoint:
        played = await play_with(endpoint, GAMES / game, tmp_path)
    assert played.result.rolls[0].steps == 14
    assert played.result.degraded_reason == "budget"


async def test_fail_is_confirmed_by_a_fresh_second_roll(tmp_path):
    with StrictEndpoint(Brain(*NOWHERE, verdict("fail"), *NOWHERE, verdict("fail"))) as endpoint:
        played = await play_with(endpoint, GAMES / "fresh", tmp_path)
    first, second = played.result.rolls
    assert played.result.verdict == "fail"
    assert (first.number, second.number) == (1, 2)
    assert first.seed != second.seed
    texts = [played.of("step", roll)[0].texts for roll in (1, 2)]
    assert texts[0][0] == texts[1][0] == "visits 1"
    assert texts[0][1] != texts[1][1]
    assert texts[0][2] == texts[1][2] == "date 2026-01-15T02:00:00"
    assert {p.roll for p in played.result.phenomena} == {1, 2}


async def test_pass_at_the_second_roll_passes(tmp_path):
    brain = Brain(*NOWHERE, verdict("fail"), tap(195, 600), verdict("pass"))
    with StrictEndpoint(brain) as endpoint:
        played = await play_with(endpoint, GAMES / "buttons", tmp_path)
    assert [roll.verdict for roll in played.result.rolls] == ["fail", "pass"]
    assert played.result.verdict == "pass"


@pytest.mark.slow  # test_determinism.py has a quicker one
async def test_same_seed_gives_the_same_game(tmp_path):
    tester = script(tmp_path, [{"action": a} for a in NOWHERE] + [{"verdict": verdict("degraded")}])
    runs = [await play(GAMES / "fresh", tmp_path, tester=tester, seed=seed) for seed in (11, 11, 12)]
    hashes = [[line.picture_hash for line in run.of("step")] for run in runs]
    assert hashes[0] == hashes[1]
    assert hashes[0] != hashes[2]


async def test_one_wrong_character_is_forgiven(tmp_path):
    def nearly(request):
        code = read_canary(request.picture)
        return {"code": ("3" if code[0] != "3" else "4") + code[1:], "action": {"type": "tap", "x": 500, "y": 688}}

    with StrictEndpoint(Brain(nearly, verdict("pass"))) as endpoint:
        played = await play_with(endpoint, GAMES / "buttons", tmp_path)
    assert played.names("refusal") == []
    assert played.result.verdict == "pass"


async def test_a_wrong_canary_is_told_and_twice_running_is_blindness(tmp_path):
    wrong = {"code": "----", "action": {"type": "tap", "x": 500, "y": 688}}
    with StrictEndpoint(Brain(wrong, tap(195, 600), verdict("pass"))) as endpoint:
        once = await play_with(endpoint, GAMES / "buttons", tmp_path)
    assert once.names("refusal") == ["wrong_canary"]
    assert once.result.verdict == "pass"
    with StrictEndpoint(Brain(wrong)) as endpoint:
        twice = await play_with(endpoint, GAMES / "buttons", tmp_path)
    assert (twice.result.verdict, twice.result.degraded_reason) == ("degraded", "image_channel")
    assert twice.result.usage.requests == 2


async def test_wrong_replies_are_refused_and_three_in_a_row_end_the_roll(tmp_path):
    both = {"action": {"type": "tap", "x": 500, "y": 500}, "verdict": verdict("pass")}
    outside = {"action": {"type": "tap", "x": 500, "y": 1200}}
    strip = {"action": {"type": "tap", "x": 500, "y": 990}}
    unknown = {"action": {"type": "dance"}}
    brain = Brain(both, outside, tap(195, 600), strip, unknown, outside, both, strip, unknown)
    with StrictEndpoint(brain) as endpoint:
        played = await play_with(endpoint, GAMES / "buttons", tmp_path)
    assert (played.result.verdict, played.result.degraded_reason) == ("degraded", "unparseable")
    assert played.result.usage.requests == brain.asked == 9
    reasons = " ".join(line.message for line in played.of("refusal"))
    assert "outside the picture" in reasons
    assert "dance" in reasons


async def test_cost_cap_ends_the_run_before_it_is_broken(tmp_path):
    with StrictEndpoint(Brain(tap(195, 600))) as endpoint:
        played = await play_with(endpoint, GAMES / "levels", tmp_path, max_cost=0.05)
    assert (played.result.verdict, played.result.degraded_reason) == ("degraded", "cost")
    assert 0 < played.result.cost.amount <= 0.05
    assert played.result.cost.priced
    assert sum(line.cost.amount for line in played.of("step")) == pytest.approx(played.result.cost.amount, abs=1e-6)


async def test_a_cited_step_that_never_happened_is_refused(tmp_path):
    claim = verdict("fail", phenomena=[{"step": 40, "what": "it froze"}])
    with StrictEndpoint(Brain(*NOWHERE, claim, claim)) as endpoint:
        played = await play_with(endpoint, GAMES / "still", tmp_path, rolls=1)
    assert played.names("refusal") == ["phenomenon_step_unknown"]
    assert (played.result.verdict, played.result.degraded_reason) == ("degraded", "unsupported_fail")


async def test_slow_thinking_costs_the_game_nothing(tmp_path):
    """While the tester thinks, a falling bird doesn't fall: it is alive at the first tap."""

    def slow(request):
        time.sleep(3)  # the brain's own slowness is what is tested
        return tap(195, 400)

    with StrictEndpoint(Brain(slow, verdict("degraded"))) as endpoint:
        played = await play_with(endpoint, GAMES / "flap", tmp_path, settle_ms=300)
    first = played.of("step")[0]
    assert "Flaps 0 -> Flaps 1" in first.effect.texts
    assert first.thought_ms >= 3000
    assert first.game_ms < 1500
