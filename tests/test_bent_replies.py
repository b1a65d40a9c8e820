"""Replies as models bend them, each in a whole roll: what is plain is done, what is not is sent back with its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
import pytest_asyncio

from playtest.presets import MINIMAX_M3, PRESETS
from tests.endpoint import Answer, Request
from tests.play import verdict
from tests.shared_rolls import says, table
from tests.sight import read_canary

pytestmark = pytest.mark.asyncio(loop_scope="module")
SPACES = {"css": PRESETS["gpt"], "norm1000": MINIMAX_M3}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def roll():
    async with table("one-target") as play:
        yield play


def reply(request: Request, x: Any = 769, y: Any = 803, **fields: Any) -> str:
    """A tap on the target, which is at (300, 700) px."""
    action = {"type": "tap", "x": x, "y": y}
    return json.dumps({"code": read_canary(request.picture), "seen": "a square", "action": action, **fields})


def fence(request: Request) -> str:
    return f"```json\n{reply(request)}\n```"


def stray_thought(request: Request) -> str:
    return f'<think>Maybe {{"action": {{"type": "tap", "x": 1, "y": 1}}}}? No.</think>{reply(request)}'


def prose(request: Request) -> str:
    return f"Here is my move:\n{reply(request)}\nLet me know."


def single_quotes(request: Request) -> str:
    return reply(request).replace('"', "'").replace("}}", ",}}")


def capitals(request: Request) -> str:
    return reply(request).replace('"tap"', '"CLICK"')


def both_in_x(request: Request) -> str:
    return reply(request).replace('"x": 769, "y": 803', '"x": "769, 803"')


def half_character(request: Request) -> str:
    return reply(request).replace("a square", "a square \\ud83d")


TAKEN = (fence, stray_thought, prose, single_quotes, capitals, both_in_x, half_character)
SENT_BACK = {
    "cut off before its end": lambda request: reply(request)[:-9],
    "2 different JSON objects": lambda request: reply(request) + reply(request, 1, 1),
    "a list was sent": lambda request: f"[{reply(request)}, {reply(request, 1, 1)}]",
    "not a number": lambda request: reply(request).replace("769", "NaN"),
    "no JSON object": lambda request: "I pass this game. " * 6000,
    "refusal": lambda request: "I'm sorry, but I can't assist with that.",
    "stands twice": lambda request: reply(request).replace('"y"', '"x": 5, "y"'),
    "action.x": lambda request: reply(request, [1, 2, 3, 4]),
}


async def test_what_is_plain_is_done_at_once_and_at_its_place(roll, tmp_path):
    shared = await roll(tmp_path, says(*TAKEN, {"verdict": verdict("pass")}, at=1))
    steps = [line for line in shared.lines if line.type == "step" and line.action]
    assert len(steps) == shared.roll.effective_inputs == len(TAKEN)
    assert all((step.action.x, step.action.y) == pytest.approx((299.9, 700.2), abs=0.1) for step in steps)
    assert shared.outcome == "pass"
    assert shared.roll.usage.requests == len(TAKEN) + 1
    assert steps[-1].seen == "a square \\ud83d"


async def test_what_is_not_is_sent_back_with_its_reason_and_paid_for(roll, tmp_path):
    bent = [item for wrong in SENT_BACK.values() for item in (wrong, reply)]
    shared = await roll(tmp_path, says(*bent, {"verdict": verdict("pass")}, at=1), steps=9, max_steps=9)
    steps = [line for line in shared.lines if line.type == "step" and line.action]
    assert [(step.action.x, step.action.y) for step in steps] == [pytest.approx((299.9, 700.2), abs=0.1)] * len(
        SENT_BACK
    )
    assert [step.usage.requests for step in steps] == [2] * len(SENT_BACK)
    assert all(step.cost.amount > 0 for step in steps)
    repairs = [request.last_text for request in shared.endpoint.requests if "can't be used" in request.last_text]
    assert len(repairs) == len(SENT_BACK)
    for words, text in zip(SENT_BACK, repairs, strict=True):
        assert words in text or words == "refusal"
    assert "I'm sorry, but I can't assist" in repairs[5].replace('"', "'"), "the reply is quoted"
    said = [json.loads(line)["text"] for line in (shared.folder / "replies.jsonl").read_text("utf-8").splitlines()]
    assert len(said) == 2 * len(SENT_BACK) + 1
    assert len(said[8]) > 100_000, "as it came"


# What a model may take for a place, and what comes of it: a place in CSS px, or the reason why it is sent back.
PLACES = [
    ((300, 700), {"css": (300, 700), "norm1000": (117, 610.4)}),
    ((769, 829), {"css": "outside the picture", "norm1000": (299.9, 722.9)}),
    ((829, 769), {"css": "outside the picture", "norm1000": (323.3, 670.6)}),
    ((0.769, 0.829), {"css": "fractions", "norm1000": "fractions"}),
    ((600, 1400), {"css": "outside the picture", "norm1000": "outside the picture"}),
    (("300", "700"), {"css": (300, 700), "norm1000": (117, 610.4)}),
    ((391, 845), {"css": "outside the picture", "norm1000": (152.5, 736.8)}),
    ((-5, 20), {"css": "outside the picture", "norm1000": "outside the picture"}),
    ((None, 700), {"css": "action.x", "norm1000": "action.x"}),
    ((300, 850), {"css": "status strip", "norm1000": (117, 741.2)}),
]


@pytest.mark.parametrize("space", SPACES)
async def test_places_are_taken_in_the_declared_space_or_sent_back(roll, tmp_path, space):
    home = (300, 700) if space == "css" else (769, 803)
    plan: list[Any] = []
    for given, outcomes in PLACES:
        plan.append(lambda request, given=given: reply(request, *given))
        if isinstance(outcomes[space], str):
            plan.append(lambda request: reply(request, *home))
    brain = says(*plan, {"verdict": verdict("pass")}, at=1)
    shared = await roll(tmp_path, brain, preset=SPACES[space], steps=len(PLACES) + 1, max_steps=len(PLACES) + 1)
    steps = [line for line in shared.lines if line.type == "step" and line.action]
    repairs = [request.last_text for request in shared.endpoint.requests if "can't be used" in request.last_text]
    for (given, outcomes), step in zip(PLACES, steps, strict=True):
        place = (step.action.x, step.action.y)
        if isinstance(outcomes[space], str):
            assert outcomes[space] in repairs.pop(0), given
            assert place == pytest.approx((300, 700), abs=0.5)
        else:
            assert place == pytest.approx(outcomes[space], abs=0.1), given
        inside = abs(place[0] - 300) <= 30 and abs(place[1] - 700) <= 30
        assert step.effect.changed == inside, "what counts is where it landed"
    assert repairs == []


DEAD = [{"action": {"type": "tap", "x": x, "y": y}} for x, y in ((100, 200), (800, 300), (200, 600))]
CLAIMS = {
    "at step 0, in a form of its own": ([{"done": True, "verdict": "playable, smooth, score reached 1200"}], "unparseable", 6),
    "at step 0": ([{"verdict": verdict("pass", summary="score reached 1200")}], "unsupported_pass", 2),
    "after three taps into nothing": ([*DEAD, {"verdict": verdict("pass", summary="level 1 complete")}], "unsupported_pass", 5),
    "pass, having seen nothing": ([*DEAD, {"verdict": verdict("pass", sawScreens=False)}], "image_channel", 4),
    "a pass in a refusal's prose": ([*DEAD, Answer('As a tester I say {"result": "pass"} to it.')], "unparseable", 9),
    "a fail without a tap": ([{"verdict": verdict("fail", phenomena=[{"step": 9, "what": "frozen"}])}], "unsupported_fail", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
async def test_claims_without_evidence_come_to_nothing_and_are_told(roll, tmp_path, name):
    replies, outcome, requests = CLAIMS[name]
    shared = await roll(tmp_path, says(*replies, *replies[-1:] * 9, at=1))
    assert shared.outcome == outcome
    assert shared.roll.usage.requests == requests
    assert shared.roll.effective_inputs == 0
    assert shared.names("refusal") or outcome == "image_channel"
