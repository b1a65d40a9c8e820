"""Where a roll's time went, and what is said of an end that came while nothing was held."""

import time

import pytest

from playtest.policy.timekeeping import Timekeeping
from tests.endpoint import StrictEndpoint
from tests.play import GAMES, Brain, play_with, verdict


def test_thinking_while_the_game_stands_is_held_time():
    kept = Timekeeping()
    kept.thought(8000, 0.0)
    assert (kept.held_ms, kept.unheld_ms, kept.caveat) == (8000, 0, "")
    assert kept.speed(game_ms=3000, wall_ms=10_000, experiment_ms=500) == 2.0


def test_thinking_while_the_game_runs_on_is_said_so():
    kept = Timekeeping()
    kept.thought(8000, 8000.0)
    assert (kept.held_ms, kept.unheld_ms) == (0, 8000)
    assert "nothing was held" in kept.caveat
    assert "8.0 s" in kept.caveat
    assert kept.speed(game_ms=9000, wall_ms=9000, experiment_ms=0) == 1.0


def test_a_roll_that_was_never_driven_has_no_speed():
    assert Timekeeping().speed(game_ms=0, wall_ms=0, experiment_ms=0) is None


@pytest.mark.parametrize("clock", ["frames", "realtime"])
async def test_the_result_tells_held_from_unheld(tmp_path, clock):
    def think(request):
        time.sleep(0.5)  # what a model would take; no other thing is waited for
        return verdict("degraded")

    with StrictEndpoint(Brain(think)) as endpoint:
        played = await play_with(endpoint, GAMES / "buttons", tmp_path, clock=clock, rolls=1)
    roll = played.result.rolls[0]
    if clock == "frames":
        assert roll.held_ms >= 500
        assert roll.unheld_ms == 0
        assert "nothing was held" not in roll.summary
    else:
        assert roll.held_ms == 0
        assert roll.unheld_ms >= 500
        assert "nothing was held" in roll.summary
    assert played.result.held_ms == roll.held_ms
    assert roll.speed is not None
    assert roll.speed > 0
