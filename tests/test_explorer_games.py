"""The explorer plays small pages of many kinds in a real browser and says only what it can know of each."""

import math

import pytest

from playtest.protocol.actions import contact_point
from playtest.testers.explorer import ExplorerTester
from tests.explore_harness import EXAM, GAMES, play

# What may be said of a page. A bad page never passes; where the truth can't be seen, "degraded" is the honest word.
QUICK = {
    "explorer-nan": {"fail broken"},
    "explorer-story": {"pass"},
    "explorer-clicker": {"pass"},
    "explorer-dead-still": {"fail broken"},
}
SLOW = {
    "explorer-quiz": {"pass"},
    "explorer-swipe": {"pass"},
    "explorer-memory": {"pass", "degraded"},
    "explorer-recipe": {"pass", "degraded"},
    "explorer-basket": {"pass", "degraded"},
    "explorer-snake": {"pass", "degraded"},
    "explorer-runner": {"pass", "degraded"},
    "explorer-lights": {"pass", "degraded", "fail hollow"},  # no text, no end: its truth can't be seen
    "explorer-flaky": {"pass", "degraded"},
    "explorer-sandbox": {"fail hollow"},
    "explorer-dead-motion": {"fail broken"},
    "explorer-countdown": {"fail broken"},
    "explorer-stuck-end": {"fail broken"},
    "explorer-back-only": {"degraded", "fail broken", "fail hollow"},
    "explorer-selfscore": {"degraded", "fail hollow"},
}


async def check(name, allowed, seed=1):
    played = await play(GAMES / name, ExplorerTester(seed), seed)
    assert played.verdict in allowed, played.claim
    return played


@pytest.mark.parametrize("name", QUICK)
async def test_a_small_page_gets_its_verdict(name):
    await check(name, QUICK[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
async def test_a_longer_page_gets_its_verdict(name):
    await check(name, SLOW[name])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
async def test_the_tea_stall_passes(seed):
    played = await play(EXAM / "sim-business-r2", ExplorerTester(seed), seed)
    assert played.verdict == "pass", played.claim
    assert played.claim is not None
    assert played.claim.loop_closed


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
async def test_the_puzzle_that_swallows_taps_is_broken(seed):
    played = await play(EXAM / "puzzle-r3", ExplorerTester(seed), seed)
    assert played.verdict == "fail broken", played.claim
    assert played.steps <= 40
    assert played.claim is not None
    for phenomenon in played.claim.phenomena:
        point = contact_point(played.actions[phenomenon.step - 1])
        if point is not None:
            assert phenomenon.x is not None
            assert phenomenon.y is not None
            assert math.dist(point, (phenomenon.x, phenomenon.y)) < 2
