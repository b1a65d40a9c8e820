"""The five observed gates over what was seen, each both ways; and the conditions that they are judged by."""

import pytest

from playtest.gates.conditions import MISSING, at, differing, holds, judge
from playtest.gates.observed import export_fault, judge_driven, judge_undriven, latching
from playtest.gates.timeline import Control, Follow, Moment, Observed, Played
from playtest.protocol.play_spec import Altered, Equal, Latch, Member, Moved, Ordered, PlaySpec

STATE = {"phase": "playing", "score": 3, "over": False, "tiles": [{"v": 2}, {"v": 4}], "player": {"x": 1.5}}
HASH = "sha256:" + "1" * 64


def spec(**changes):
    document = {
        "gameId": "g",
        "driver": {"type": "key-cycle", "keys": ["a"]},
        "observables": {"state": "view()", "phase": "phase", "win": {"path": "phase", "op": "eq", "value": "won"}},
        "progress": [{"path": "score", "op": "increased"}],
        "expectedEngineCallPrefixes": ["audio."],
        "controlCheck": {"body": "player.x", "control": {"by": "pointer"}},
        "derivedFrom": {"sourceHash": HASH},
    }
    document["observables"]["calls"] = "calls"
    made = PlaySpec.from_wire(document)
    return made.model_copy(update=changes)


def played(*states, calls=("audio.play",), **facts):
    moments = [Moment(100.0 * n, f"input {n}", {**STATE, **state}) for n, state in enumerate(states)]
    return Played("key-cycle", moments, started=0, inputs=len(states) - 1, calls=set(calls), **facts)


def good(**facts):
    how = {"end": "win", "stayed": True, "phase": "won", **facts}
    return Observed(
        played({"score": 0}, {"score": 1}, {"score": 2, "phase": "won"}, **how),
        Control(2, ("score",), "key a"),
        screen_follows=True,
        follows=(Follow("x 117", "x 120", True), Follow("x 273", "x 270", True)),
    )


def reds(gates):
    return {name for name, gate in gates.items() if not gate.passed}


def test_a_path_is_walked_and_what_is_not_there_is_missing():
    assert at(STATE, "tiles[1].v") == 4
    assert at(STATE, "player.x") == 1.5
    assert at(STATE, "tiles[2].v") is MISSING
    assert at(STATE, "score.x") is MISSING
    assert at(MISSING, "score") is MISSING
    assert differing(STATE, {**STATE, "tiles": [{"v": 2}]}) == ["tiles[1].v"]


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (Ordered(path="score", op="gt", value=2.0), True),
        (Ordered(path="score", op="gt", value=3.0), False),
        (Ordered(path="score", op="gte", value=3.0), True),
        (Ordered(path="score", op="lt", value=3.0), False),
        (Ordered(path="score", op="lte", value=3.0), True),
        (Ordered(path="over", op="lt", value=3.0), False),
        (Equal(path="phase", op="eq", value="playing"), True),
        (Equal(path="score", op="eq", value=3.0), True),
        (Equal(path="over", op="eq", value=0.0), False),
        (Equal(path="phase", op="ne", value="won"), True),
        (Equal(path="gone", op="ne", value="won"), False),
        (Member(path="phase", op="in", value=("won", "playing")), True),
        (Member(path="phase", op="not_in", value=("won", "playing")), False),
        (Member(path="gone", op="not_in", value=("won",)), False),
    ],
)
def test_conditions(condition, told):
    assert holds(condition, STATE) is told


@pytest.mark.parametrize(
    ("assertion", "after", "told"),
    [
        (Moved(path="score", op="increased"), {"score": 4}, True),
        (Moved(path="score", op="increased"), {"score": 3}, False),
        (Moved(path="score", op="increased", by=2.0), {"score": 4}, False),
        (Moved(path="score", op="decreased", by=2.0), {"score": 1}, True),
        (Moved(path="phase", op="increased"), {"phase": "won"}, False),
        (Altered(path="tiles", op="changed"), {"tiles": [{"v": 2}, {"v": 8}]}, True),
        (Altered(path="tiles", op="changed"), {}, False),
        (Altered(path="tiles", op="unchanged"), {}, True),
        (Altered(path="gone", op="unchanged"), {}, False),
        (Ordered(path="score", op="gte", value=5.0), {"score": 5}, True),
    ],
)
def test_assertions_compare_before_and_after(assertion, after, told):
    assert judge(assertion, STATE, {**STATE, **after}).passed is told


def test_a_game_that_is_played_to_a_win_passes_all_five():
    gates = judge_driven(spec(), good())
    assert reds(gates) == set()
    assert {gate.weight for gate in gates.values()} == {"hard"}


def test_each_gate_is_red_for_its_own_reason():
    seen = good()
    dead = Observed(seen.played, Control(2), True, seen.follows)
    assert reds(judge_driven(spec(), dead)) == {"G_input"}
    silent = Observed(played({"score": 0}, {"score": 9, "phase": "won"}, calls=["log"], end="win", stayed=True),
                      seen.control, True, seen.follows)  # fmt: skip
    gates = judge_driven(spec(), silent)
    assert reds(gates) == {"F_wiring"}
    assert gates["F_wiring"].detail == "no call begins with audio.; 1 different calls: log"
    lost = Observed(seen.played, seen.control, True, (Follow("x 117", "x 195", False),))
    assert reds(judge_driven(spec(), lost)) == {"I_control"}
    stuck = Observed(
        played({"score": 0}, {"over": True, "score": 0}, phase="playing"), seen.control, True, seen.follows
    )
    gates = judge_driven(spec(), stuck)
    assert reds(gates) == {"H_progress"}
    assert "score increased: 0 -> 0" in gates["H_progress"].detail
    assert "never changed in any reading: score, phase" in gates["H_progress"].detail


def test_without_its_parts_in_the_spec_a_gate_has_nothing_to_judge():
    gates = judge_driven(spec(expected_engine_call_prefixes=None, control_check=None), good())
    assert {name for name, gate in gates.items() if gate.weight == "skipped"} == {"F_wiring", "I_control"}
    assert reds(gates) == set()


def test_an_undriven_game_is_advised_of_e_and_h_and_passes_the_rest():
    gates = judge_undriven()
    assert {name: gate.weight for name, gate in gates.items()} == {
        "E_live": "advisory", "F_wiring": "skipped", "G_input": "skipped", "H_progress": "advisory", "I_control": "skipped",
    }  # fmt: skip


def test_a_state_that_stands_still_while_the_screen_follows_is_the_exports_fault():
    frozen = Observed(played({}, {}, {}, phase="playing"), Control(2), screen_follows=True)
    fault = export_fault(frozen)
    assert fault is not None
    assert fault.kind == "frozen_export"
    assert "score" in fault.paths
    gates = judge_driven(spec(control_check=None), frozen)
    assert reds(gates) == {"E_live", "G_input", "H_progress"}
    assert all("the export is at fault, not the game" in gates[name].detail for name in reds(gates))


def test_a_dead_game_has_a_still_state_and_no_fault_in_its_export():
    dead = Observed(played({}, {}, {}, phase="playing"), Control(2), screen_follows=False)
    assert export_fault(dead) is None
    assert "the inputs do nothing to it" in judge_driven(spec(), dead)["G_input"].detail


def test_an_export_that_cannot_be_read_says_why():
    blind = Played("key-cycle", [Moment(0, "boot", problem="view is no function")], started=0, inputs=3)
    fault = export_fault(Observed(blind))
    assert fault is not None
    assert (fault.kind, fault.detail) == ("unreadable_export", "view is no function")


@pytest.mark.parametrize(
    ("latch", "facts", "told"),
    [
        (None, {"end": None}, None),
        (Latch(), {"end": None, "phase": "playing"}, (False, False, None, "playing")),
        (Latch(advisory=True), {"end": None, "phase": "playing"}, (False, True, None, "playing")),
        (Latch(advisory=True), {"end": "win", "stayed": False, "phase": "menu"}, (False, False, "menu", "menu")),
        (Latch(), {"end": "lose", "stayed": True, "phase": "lost"}, (True, False, "lost", None)),
        (None, {"end": "win", "stayed": False}, (False, False, "unknown", "unknown")),
    ],
)
def test_the_latch_says_where_the_game_is_stuck_whenever_it_fails(latch, facts, told):
    found = latching(spec(latch=latch), played({}, {}, **facts))
    assert (found and (found.passed, found.advisory, found.after, found.phase_now)) == told


def test_a_game_that_never_started_is_told_so_at_every_gate_that_needs_play():
    never = Played("key-cycle", [Moment(0, "boot", STATE)], stuck="game.ready was never true")
    gates = judge_driven(spec(), Observed(never))
    assert {"E_live", "G_input", "H_progress"} <= reds(gates)
    assert gates["G_input"].detail == "the game did not start: game.ready was never true"
