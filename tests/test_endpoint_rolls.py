"""Every fault of the endpoint at a random step of a whole roll: none crashes, none makes a verdict, all are charged."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
import pytest_asyncio

from playtest.pricing import MINIMAX_M3 as PRICE
from playtest.protocol.usage import Usage
from playtest.protocol.verdict import Verdict
from tests import endpoint_faults as faults
from tests.endpoint_faults import Fault
from tests.shared_rolls import MAX_ATTEMPTS, STEPS, Shared, sound, table

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def roll():
    async with table() as play:
        yield play


class Case(NamedTuple):
    """A fault, and what a roll comes to in which it goes on for ever. `tries` is how often it is then met."""

    fault: Fault
    reason: str
    tries: int = MAX_ATTEMPTS
    passes: bool = True
    """Whether the roll is as good as ever when the fault happens once only."""


ONE = {"tries": 1, "passes": False}
REPAIRS = {"tries": 6}  # three times a reply and its repair
CASES = {
    "connection refused": Case(faults.refused(), "unreachable"),
    "reset": Case(faults.reset(), "unreachable"),
    "reset mid-body": Case(faults.reset_mid_body(), "unreachable"),
    "30 s stall": Case(faults.stall(), "timeout"),
    "429": Case(faults.error(429), "rate_limited"),
    "429 with Retry-After": Case(faults.error(429, retry_after="7"), "rate_limited"),
    "529": Case(faults.error(529), "overloaded"),
    "500": Case(faults.error(500), "overloaded"),
    "500 with 1026": Case(faults.error(500, 1026), "content_refused", **ONE),
    "200 with 1002": Case(faults.base_resp(1002), "rate_limited"),
    "200 with 1008": Case(faults.base_resp(1008), "endpoint_balance", **ONE),
    "200 with 1013": Case(faults.base_resp(1013), "overloaded"),
    "200 with 2013": Case(faults.base_resp(2013), "endpoint_request", **ONE),
    "200 with 2049": Case(faults.base_resp(2049), "endpoint_auth", **ONE),
    "image input not supported": Case(faults.error(400, 2013, "image input not supported"), "image_channel", **ONE),
    "empty content for length": Case(faults.empty("length"), "empty_reply", tries=2),
    "empty content": Case(faults.empty("stop"), "empty_reply", tries=2),
    "cut response": Case(faults.cut_json(), "malformed_reply"),
    "a web page": Case(faults.raw("<html>login</html>", content_type="text/html"), "malformed_reply", **ONE),
    "no choices": Case(faults.raw('{"choices": []}'), "malformed_reply"),
    "cut JSON": Case(faults.cut_off(40), "unparseable", **REPAIRS),
    "two objects": Case(
        faults.rewritten(lambda text: text + '\n{"code": "AAAA", "verdict": {"result": "pass"}}'), "unparseable", **REPAIRS
    ),
    "an unclosed thought with a draft": Case(
        faults.rewritten(lambda text: f"<think>Perhaps {text} but then again I"), "empty_reply", tries=2
    ),
    "100 KB of prose": Case(
        faults.rewritten(lambda text: "The game is lovely, I pass it. " * 3300), "unparseable", **REPAIRS
    ),
    "a refusal": Case(
        faults.rewritten(lambda text: "I'm sorry, but I can't help with playing this game."), "unparseable", **REPAIRS
    ),
    "half characters": Case(faults.rewritten(lambda text: "\ud83d I pass \udc00 it"), "unparseable", **REPAIRS),
    "wrong canary": Case(faults.rewritten(lambda text: '{"code": "----", ' + text[text.index('"seen"') :]), "image_channel", tries=2),
    "says that it is blind": Case(
        faults.rewritten(lambda text: "I'm a text-based model, I cannot view images."), "image_channel", **ONE
    ),
    "confident fiction": Case(
        faults.rewritten(lambda text: '{"seen": "a blue robot on a bridge", ' + text[text.index('"reason"') :]), "image_channel", tries=2
    ),
    "picture dropped": Case(faults.blind(), "image_channel", tries=2),
    "no usage": Case(faults.without_usage(), "pass", tries=STEPS),
    "fences": Case(faults.fenced(), "pass", tries=STEPS),
    "prose around it": Case(faults.prose(), "pass", tries=STEPS),
    "an unclosed thought": Case(faults.thinking("I look at it", closed=False), "pass", tries=STEPS),
    "a thought": Case(faults.thinking('{"verdict": {"result": "fail"}}'), "pass", tries=STEPS),
}  # fmt: skip


def charged(shared: Shared, unpriced: bool) -> None:
    """Every request that was sent stands in the result, and each step's part of the bill adds up to the whole."""
    roll, endpoint = shared.roll, shared.endpoint
    steps = [line for line in shared.lines if line.type == "step"]
    assert roll.usage == sum((step.usage for step in steps), Usage())
    assert roll.usage.requests == len(endpoint.bodies) + endpoint.refused
    assert roll.cost.amount == pytest.approx(sum(step.cost.amount for step in steps), abs=1e-7)
    if not unpriced:
        dearest = roll.usage.model_copy(update={"cached_tokens": 0})
        assert PRICE.amount(roll.usage) * 0.999 <= roll.cost.amount <= PRICE.amount(dearest)
    assert roll.cost.priced != unpriced


def whole(shared: Shared) -> None:
    """The record is closed, and says how it ended."""
    assert shared.lines[-1].type == "end"
    assert (shared.folder / "roll.json").is_file()
    assert not shared.endpoint.rejections, "no fault leads to a request that the endpoint would refuse"


def loses_usage(case: Case) -> bool:
    return not case.fault.usage or any(CASES[name] is case for name in ("cut response", "no choices", "a web page"))


def queue(case: Case, step: int, times: int) -> list[Fault | None]:
    return [*[None] * (step - 1), *[case.fault] * times]


async def once(roll, folder, case: Case, step: int) -> None:
    shared = await roll(folder / "once", sound, *queue(case, step, 1))
    whole(shared)
    charged(shared, unpriced=loses_usage(case))
    assert shared.outcome == ("pass" if case.passes else case.reason)
    if case.fault.connection in ("reset", "reset_mid_body", "stall") or loses_usage(case):
        assert shared.roll.cost.at_risk > 0, "an answer that was lost may have been billed"
    else:
        assert shared.roll.cost.at_risk == 0


async def for_ever(roll, folder, case: Case, step: int) -> None:
    shared = await roll(folder / "ever", sound, *queue(case, step, 50))
    whole(shared)
    assert shared.outcome == case.reason
    assert (shared.roll.verdict is Verdict.PASS) == (case.reason == "pass")
    met = min(case.tries, STEPS - step + 1) if case.reason == "pass" else case.tries
    assert shared.roll.usage.requests == step - 1 + met
    charged(shared, unpriced=loses_usage(case))
    if case.reason != "pass":
        assert shared.roll.steps == step
        assert shared.roll.phenomena == ()
        assert shared.roll.attribution in ("harness", "tester"), "never the game's fault"


@pytest.mark.parametrize("name", CASES)
async def test_a_fault_at_a_random_step(roll, tmp_path, name):
    case = CASES[name]
    step = random.Random(name).randint(1, STEPS)
    if case.reason != "pass":
        await once(roll, tmp_path, case, step)
    if case.passes:
        await for_ever(roll, tmp_path, case, step)


@pytest.mark.slow
@pytest.mark.parametrize("step", range(1, STEPS + 1))
@pytest.mark.parametrize("name", CASES)
async def test_a_fault_at_each_step(roll, tmp_path, name, step):
    await once(roll, tmp_path, CASES[name], step)
    await for_ever(roll, tmp_path, CASES[name], step)
