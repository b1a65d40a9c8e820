"""How soon a game can be played and answers, against pages whose truth is known."""

import pytest

from tests.play import GAMES, play, script, tap, verdict

FRAME_MS = 1000 / 60
BY_STEP = {"action": {"type": "wait", "ms": 3000}}


async def first_play(tmp_path, query, before=(), **flags):
    """The record of a roll that waits, taps the button, and gives up."""
    replies = [*before, BY_STEP, {"action": tap(195, 440, "Start")}, {"verdict": verdict("degraded")}]
    page = GAMES / "first-play" / "index.html"
    folder = tmp_path / "game"
    folder.mkdir()
    # The page's truth is in its own text: a local game has no query.
    text = page.read_text("utf-8").replace("new URLSearchParams(location.search)", f"new URLSearchParams({query!r})")
    (folder / "index.html").write_text(text, "utf-8")
    played = await play(folder, tmp_path, tester=script(tmp_path, replies), film_first_play=True, rolls=1, **flags)
    return played.result.rolls[0].first_play


@pytest.mark.parametrize(
    ("event", "play_ms", "answer_ms", "more"),
    [
        pytest.param("pointerdown", 1234, 0, "", marks=pytest.mark.slow),
        pytest.param("click", 300, 77, "&spin=1", marks=pytest.mark.slow),
        pytest.param("pointerdown", 900, 40, "&looks=1", marks=pytest.mark.slow),
        pytest.param("click", 1234, 0, "", marks=pytest.mark.slow),
        pytest.param("pointerdown", 300, 77, "&spin=1", marks=pytest.mark.slow),
        pytest.param("click", 2500, 130, "", marks=pytest.mark.slow),
        pytest.param("pointerdown", 2500, 130, "", marks=pytest.mark.slow),
        pytest.param("click", 900, 40, "&looks=1", marks=pytest.mark.slow),
    ],
)
async def test_the_film_is_exact_to_a_frame(tmp_path, event, play_ms, answer_ms, more):
    found = await first_play(tmp_path, f"play={play_ms}&answer={answer_ms}&event={event}{more}")
    assert found.playable_at_ms == pytest.approx(play_ms, abs=FRAME_MS), found.how
    assert found.first_feedback_ms == pytest.approx(answer_ms, abs=FRAME_MS), found.how
    assert found.meets["playableAtMs"] == (play_ms <= 2000)
    assert found.meets["firstFeedbackMs"] == (answer_ms <= 100)


@pytest.mark.slow
async def test_taps_on_the_loading_card_do_not_make_it_playable(tmp_path):
    early = [{"action": tap(195, 440, "Start")}, {"action": tap(195, 300)}]
    found = await first_play(tmp_path, "play=2200&answer=50&event=click", early)
    assert found.playable_at_ms == pytest.approx(2200, abs=FRAME_MS), found.how


@pytest.mark.slow  # its figures are the machine's
@pytest.mark.parametrize("more", ["", "&spin=1"])
@pytest.mark.parametrize(("event", "play_ms", "answer_ms"), [("pointerdown", 900, 30), ("click", 1400, 150)])
async def test_where_nothing_is_held_the_film_is_close(tmp_path, event, play_ms, answer_ms, more):
    found = await first_play(tmp_path, f"play={play_ms}&answer={answer_ms}&event={event}{more}", clock="realtime")
    assert found.playable_at_ms == pytest.approx(play_ms, abs=50), found.how
    assert found.first_feedback_ms == pytest.approx(answer_ms, abs=50), found.how
