"""Known faults in good games: each fits its source, and is proven live by the game's own solution."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from playtest.errors import UsageError
from playtest.exam.mutants import MUTANTS, FaultClass, Mutant, classes, plant, read_mutants
from tests.play import EXAM, play, script, verdict

MUTANT_LIST = read_mutants(EXAM.parent / MUTANTS)
TRUTHS = {row["gid"]: row for row in map(json.loads, (EXAM.parent / "exam.jsonl").read_text("utf-8").splitlines())}


def test_there_are_four_games_of_each_class_and_all_are_good_ones():
    by_class = classes(MUTANT_LIST)
    assert set(by_class) == set(get_args(FaultClass))
    for fault, mutants in by_class.items():
        games = {mutant.gid for mutant in mutants}
        assert len(games) == len(mutants) >= 4, fault
        assert {TRUTHS[gid]["truth"] for gid in games} == {"good"}
    assert len({mutant.mutant for mutant in MUTANT_LIST}) == len(MUTANT_LIST)


@pytest.mark.parametrize("mutant", MUTANT_LIST, ids=lambda mutant: mutant.mutant)
def test_each_differs_from_its_game_in_its_fault_alone(mutant, tmp_path):
    plant(mutant, EXAM, tmp_path / "it")
    page, good = [(folder / "index.html").read_text("utf-8") for folder in (tmp_path / "it", EXAM / mutant.gid)]
    briefs = [(folder / "brief.md").read_text("utf-8") for folder in (tmp_path / "it", EXAM / mutant.gid)]
    assert (page != good) is (mutant.brief_of is None)
    assert (briefs[0] != briefs[1]) is (mutant.brief_of is not None)
    assert mutant.fault not in page


def test_an_edit_that_does_not_fit_is_refused(tmp_path):
    mutant = Mutant(mutant="a.b", gid="puzzle-r1", fault="no_end", kinds=("broken",), edits=(("state.", "s."),))
    with pytest.raises(UsageError, match=r"stands \d+ times"):
        plant(mutant, EXAM, tmp_path / "it")
    (tmp_path / MUTANTS).write_text('{"mutant": "a.b", "gid": "x", "fault": "rust", "kinds": ["broken"]}\n', "utf-8")
    with pytest.raises(UsageError, match=r"mutants\.jsonl:1: fault"):
        read_mutants(tmp_path / MUTANTS)


_good: dict[str, list[str]] = {}


async def end_of(folder: Path, gid: str, tmp_path: Path) -> list[str]:
    """The words on the last screen that the game's solution leads to, and its look."""
    lines: list[dict[str, Any]] = [
        json.loads(line) for line in (EXAM.parent / "traces" / f"{gid}.jsonl").read_text("utf-8").splitlines()
    ]
    replies = [line for line in lines if "action" in line] + [{"verdict": verdict("degraded")}] * 2
    played = await play(folder, tmp_path, tester=script(tmp_path, replies), seed=TRUTHS[gid]["seed"], rolls=1)
    last = played.of("step")[-1]
    return [*last.texts, last.picture_hash]


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANT_LIST if mutant.edits], ids=lambda mutant: mutant.mutant)
async def test_the_games_solution_ends_elsewhere_on_it(mutant, tmp_path):
    if mutant.gid not in _good:
        (tmp_path / "good").mkdir()
        _good[mutant.gid] = await end_of(EXAM / mutant.gid, mutant.gid, tmp_path / "good")
    plant(mutant, EXAM, tmp_path / "game")
    (tmp_path / "run").mkdir()
    assert await end_of(tmp_path / "game", mutant.gid, tmp_path / "run") != _good[mutant.gid]
