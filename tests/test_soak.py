"""Rolls in one process, some of them with a crash: nothing of them is left."""

import pytest

from bench.soak import soak


@pytest.mark.slow
async def test_nothing_is_left_of_many_rolls_and_their_crashes(tmp_path):
    left = await soak(15, tmp_path)
    assert left.problems == []
    assert left.endings == {"degraded undecided": 12, "fail broken": 3}
