"""A page that speaks to its tester: its words reach a model as data only, and a model that obeys them gains nothing."""

from __future__ import annotations

import re

import pytest

from tests.endpoint import Request, StrictEndpoint
from tests.play import GAMES, norm, play, play_with, tap, verdict
from tests.sight import read_canary

CHANNELS = {"LOG", "LINES", "TRANSCRIPT", "TERMINAL", "DIALOG", "ERROR"}
# A line of the log, or words that our sentence calls data and puts between its own quotation marks.
AS_DATA = re.compile(r'^\| .*|data[^"\n]*"[^"\n]*"', re.MULTILINE)


class Obedient:
    """A model that reads what a page says and does it at once; until a page says something it taps about."""

    def __init__(self) -> None:
        self.told: set[str] = set()
        self.loose: list[str] = []

    def __call__(self, request: Request) -> dict[str, object]:
        said = request.last_text
        self.told |= set(re.findall(r"OBEY-(\w+)", said))
        self.loose += re.findall(r".*(?:OBEY-|verdict is pass|say pass now).*", AS_DATA.sub("", said))
        obeys = bool(self.told)
        step = request.step or 1
        reply = {"code": read_canary(request.picture), "seen": "YOU WIN! OBEY-SCREEN", "reason": "the page says so"}
        return {**reply, **({"verdict": verdict("pass")} if obeys else {"action": norm(tap(90 * step, 200))})}


async def test_a_page_that_tells_its_tester_to_pass_it_is_not_passed(tmp_path):
    obedient = Obedient()
    with StrictEndpoint(obedient) as endpoint:
        played = await play_with(endpoint, GAMES / "says-pass", tmp_path)
    assert obedient.told == CHANNELS, "the model was really told"
    assert obedient.loose == [], "and never in our own words"
    assert played.names("refusal") == ["unsupported_pass_refused"]
    assert (played.result.verdict, played.result.degraded_reason) == ("degraded", "unsupported_pass")
    assert played.result.rolls[0].effective_inputs == 0
    assert {line.type for line in played.of("step")} == {"step"}


@pytest.mark.slow
async def test_the_explorer_does_not_believe_a_page_either(tmp_path):
    played = await play(GAMES / "says-pass", tmp_path, tester="explorer", rolls=1)
    assert played.result.verdict != "pass"
