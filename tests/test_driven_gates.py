"""Games that are driven in a real browser: each driver to a win, and each observed gate red for its own reason."""

import json

import pytest

from playtest.cli import main
from tests.driven_games import DRIVERS, KEYS, written

FROZEN = KEYS.replace(
    "function view() { return { phase, score, next }; }",
    "const boot = { phase, score, next }; function view() { return boot; }",
)

SLOW_DRIVERS = [pytest.param(name, marks=pytest.mark.slow) for name in DRIVERS if name != "key-cycle"]


def gates(capsys, folder, spec=None):
    """The exit code and the record."""
    given = ["--spec", str(spec)] if spec is not None else []
    evidence = folder.parent / "evidence"
    code = main(["gates", "--game", str(folder), *given, "--seed", "3", "--evidence", str(evidence), "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else err


def reds(record):
    return {name for name, gate in record["gates"].items() if not gate["pass"]}


@pytest.mark.parametrize("family", ["key-cycle", *SLOW_DRIVERS])
def test_each_driver_wins_a_small_game_of_its_kind(capsys, tmp_path, family):
    page, playing = DRIVERS[family]
    code, record = gates(capsys, tmp_path / "game", written(tmp_path / "game", page, playing))
    assert reds(record) == set(), {name: record["gates"][name]["detail"] for name in reds(record)}
    assert (code, record["driverType"], record["end"], record["latch"]["pass"]) == (0, family, "win", True)
    assert record["gates"]["I_control"]["weight"] == ("hard" if family == "paddle-intercept" else "skipped")
    lines = [json.loads(line) for line in (tmp_path / "evidence/gates/timeline.jsonl").read_text("utf-8").splitlines()]
    assert next(line["what"] for line in lines if line.get("picture")) == "boot"
    assert lines[-1]["state"]["phase"] == "won"


# What is done to the game of keys, to its spec, and the gates that are red for it.
BROKEN = {
    "keys are not heard": (("addEventListener('keydown'", "addEventListener('nothing'"), {}, {"F_wiring", "G_input", "H_progress"}),
    "no engine is called": (("calls.push('audio.blip');", "calls.push('log');"), {}, {"F_wiring"}),
    "an end that does not stay": (("phase = 'won';", "{ phase = 'won'; setTimeout(() => phase = 'menu', 200); }"), {}, {"H_progress"}),
    "a score that never moves": (("score++;", "score = 0; hits = (window.hits ?? 0) + 1;"), {}, {"H_progress"}),
    "an error while playing": (("score++;", "score++; if (score === 2) setTimeout(() => null.x, 0);"), {}, {"B_uncaught"}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_each_gate_is_red_for_its_own_reason(capsys, tmp_path, kind):
    (old, new), changes, wanted = BROKEN[kind]
    assert old in KEYS
    playing = {**DRIVERS["key-cycle"][1], "limits": {"inputs": 12}}
    spec = written(tmp_path / "game", KEYS.replace(old, new), playing, **changes)
    code, record = gates(capsys, tmp_path / "game", spec)
    assert (code, reds(record)) == (1, wanted), {name: record["gates"][name]["detail"] for name in reds(record)}
    assert record["exportFault"] is None
    if "H_progress" in wanted:
        assert record["latch"]["phaseNow"] in ("playing", "menu")


@pytest.mark.slow
def test_a_body_that_does_not_follow_the_hand(capsys, tmp_path):
    page, playing = DRIVERS["paddle-intercept"]
    page = page.replace("e.clientX));", "195));")
    playing = {**playing, "limits": {"gameMs": 2000}}
    _, record = gates(capsys, tmp_path / "game", written(tmp_path / "game", page, playing))
    assert "I_control" in reds(record)
    assert "asked x 117, came x 195" in record["gates"]["I_control"]["detail"]


def test_a_frozen_export_is_told_and_leaves_the_floor_green(capsys, tmp_path):
    assert FROZEN != KEYS
    playing = {**DRIVERS["key-cycle"][1], "limits": {"inputs": 6}, "startRitual": None}
    playing["startRitual"] = {"inputs": [{"type": "tap", "x": 195, "y": 422}]}
    _, record = gates(capsys, tmp_path / "game", written(tmp_path / "game", FROZEN, playing))
    assert record["floor"]["pass"]
    assert reds(record) == {"E_live", "G_input", "H_progress"}
    assert record["exportFault"]["kind"] == "frozen_export"
    assert record["exportFault"]["paths"] == ["phase", "score", "next"]


def test_without_a_spec_nothing_is_driven_and_seven_gates_decide(capsys, tmp_path):
    page, playing = DRIVERS["key-cycle"]
    written(tmp_path / "game", page, playing)
    code, record = gates(capsys, tmp_path / "game")
    assert (code, record["driven"], record["driverType"], record["pass"]) == (0, False, "none", True)
    assert reds(record) == {"E_live", "H_progress"}


def test_a_stale_spec_is_refused_before_anything_starts(capsys, tmp_path):
    page, playing = DRIVERS["key-cycle"]
    spec = written(tmp_path / "game", page, playing)
    (tmp_path / "game" / "index.html").write_text(page + "<!-- newer -->", "utf-8")
    code, told = gates(capsys, tmp_path / "game", spec)
    assert code == 2
    assert not (tmp_path / "evidence").exists()


@pytest.mark.slow
def test_a_start_that_does_not_get_through_says_where(capsys, tmp_path):
    page, playing = DRIVERS["key-cycle"]
    ritual = {"inputs": [{"type": "tap_text", "text": "Begin"}]}
    _, record = gates(capsys, tmp_path / "game", written(tmp_path / "game", page, playing, startRitual=ritual))
    assert {"E_live", "G_input", "H_progress"} <= reds(record)
    assert "no text 'Begin' on the screen" in record["gates"]["G_input"]["detail"]
