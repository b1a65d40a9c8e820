"""The same seed and the same actions are the same game; another seed is another one."""

import pytest

from tests.play import EXAM, GAMES, play, script, tap, verdict

# One page of each make: canvas with timers, a world stepped by the frame, DOM with CSS motion, WebGL.
PAGES = {
    "tea-stall": (EXAM / "sim-business-r2", [tap(195, 600), tap(100, 700), tap(195, 300)]),
    "arcade": (GAMES / "drifting", [tap(195, 422), tap(195, 422)]),
    "dom": (GAMES / "chance", [tap(195, 400), tap(60, 320)]),
    "webgl": (GAMES / "chance-webgl", [tap(195, 400), tap(60, 320)]),
}


async def hashes(tmp_path, game, taps, seed):
    folder = tmp_path / f"{seed}-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    actions = [step for touch in taps for step in ({"action": touch}, {"action": {"type": "wait", "ms": 700}})]
    tester = script(folder, [*actions, {"verdict": verdict("degraded")}])
    played = await play(game, folder, tester=tester, seed=seed, rolls=1, clock="frames")
    return [line.picture_hash for line in played.of("step")], [line.texts for line in played.of("step")]


@pytest.mark.parametrize(
    "page", ["arcade", *(pytest.param(page, marks=pytest.mark.slow) for page in ("tea-stall", "dom", "webgl"))]
)
async def test_one_seed_is_one_game(tmp_path, page):
    game, taps = PAGES[page]
    first, again = [await hashes(tmp_path, game, taps, 7) for _ in range(2)]
    other = await hashes(tmp_path, game, taps, 8)
    assert first == again
    assert len(first[0]) == 2 * len(taps) + 1
    assert other[0] != first[0]
