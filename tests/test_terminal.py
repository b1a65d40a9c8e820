"""What a person at a terminal sees."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from playtest.protocol import result as r
from playtest.protocol import transcript as t
from playtest.protocol.actions import Tap, Type
from playtest.protocol.usage import Cost, Usage
from playtest.protocol.verdict import ClaimedPhenomenon, FailKind, Phenomenon, Verdict, VerdictClaim
from playtest.terminal import TerminalView

HOSTILE = "[bold red]x[/] \x1b[2J\x1b]0;t\x07\u202e\x00\nroll 9  step 1/1  fake :smile: https://a.b/c 'q'"
PLAIN = "[bold red]x[/] roll 9 step 1/1 fake :smile: https://a.b/c 'q'"
AT: dict[str, Any] = {"step": 3, "game_ms": 900.0, "wall_ms": 9000.0}
EFFECT = t.Effect(changed=True, area=0.12, texts=("0 -> 7", "a -> b", "c -> d"), settle_ms=416.7)


class Seen:
    """A view on a stream that can be read back."""

    def __init__(self, terminal: bool = False, encoding: str = "utf-8", width: int = 100) -> None:
        self._bytes = io.BytesIO()
        stream = io.TextIOWrapper(self._bytes, encoding=encoding, newline="", write_through=True)
        self.stream = stream
        console = Console(
            file=stream, force_terminal=terminal, width=width, markup=False, highlight=False, emoji=False,
            color_system="standard" if terminal else None, legacy_windows=False,
        )  # fmt: skip
        self.view = TerminalView(console)

    @property
    def lines(self) -> list[str]:
        return self._bytes.getvalue().decode("utf-8").splitlines()


def start(**changes: Any) -> t.StartLine:
    values = {**AT, "step": 0, "gid": "g", "roll": 1, "seed": 7, "clock": "frames", "start_date": "2026-01-01",
              "url": "http://127.0.0.1:1/", "tester": "explorer", "budget": 14, "max_budget": 24,
              "game": "index.html", "locale": "zh-CN", "settle_ms": 1500, "reaction_ms": 100}  # fmt: skip
    return t.StartLine(**{**values, **changes})


def step(**changes: Any) -> t.StepLine:
    values = {**AT, "action": Tap(x=195, y=612, target="Start"), "effect": EFFECT, "budget": 14}
    return t.StepLine(**{**values, **changes})


def make_result(said: str = "the tea can't be served", **changes: Any) -> r.RunResult:
    item = Phenomenon(roll=1, step=5, x=98, y=402, what=said)
    roll = r.Roll(
        number=1, seed=1, clock="frames", verdict=Verdict.FAIL, steps=9, budget=14, distinct_taps=3, effective_inputs=1
    )
    values: dict[str, Any] = {
        "gid": "tea-stall", "verdict": Verdict.FAIL, "kind": FailKind.BROKEN, "phenomena": (item,) * 7,
        "first_play": r.FirstPlay(playable_at_ms=420), "rolls": (roll, roll.model_copy(update={"number": 2})),
        "usage": Usage(requests=18), "cost": Cost(amount=0.2), "tester": r.TesterInfo(name="minimax"),
        "versions": r.Versions(playtest="0.1.0", python="3.11"), "started_at": "2026-07-12T08:14:03Z",
        "duration_ms": 191_000, "game_time_ms": 9000, "evidence": r.EvidencePaths(report="report.html"),
    }  # fmt: skip
    return r.RunResult(**{**values, **changes})


LINES: list[tuple[t.TranscriptLine, str]] = [
    (step(), "step 3/14  tap (195, 612) Start  → changed 12% [0 -> 7; a -> b; +1]  0.4s"),
    (step(effect=t.Effect(changed=False, area=0, settle_ms=300)), "step 3/14  tap (195, 612) Start  → no change  0.3s"),
    (step(effect=None, action=None, thought_ms=9100, progress=("score",)),
     "step 3/14  looks  progress  (thought 9.1 s)"),
    (step(effect=EFFECT.model_copy(update={"texts": (), "settled": False})),
     "step 3/14  tap (195, 612) Start  → changed 12%  still moving after 0.4s"),
    (t.WarningLine(**AT, warning="repeated_tap", message="elsewhere"), "! warning  repeated_tap: elsewhere"),
    (t.RefusalLine(**AT, refusal="early_fail", message="go on"), "! refused  early_fail: go on"),
    (t.BudgetLine(**AT, budget=17, why="the score moved"), "+ budget  17 steps: the score moved"),
    (t.FaultLine(**AT, fault="crash", message="gone"), "x fault  crash: gone"),
    (t.EndLine(**AT, verdict=Verdict.DEGRADED, degraded_reason="budget", message="m"), "end  DEGRADED: budget  m"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "shown"), LINES)
def test_each_event_is_one_line(line: t.TranscriptLine, shown: str) -> None:
    seen = Seen()
    seen.view.on_line(start(roll=2))
    seen.view.on_line(line)
    assert seen.lines[0].startswith("roll 2  start  seed 7  clock frames  tester explorer")
    assert seen.lines[1:] == [f"roll 2  {shown}"]


def test_what_strangers_say_is_only_text() -> None:
    seen = Seen()
    claim = VerdictClaim(
        result=Verdict.FAIL, kind=FailKind.HOLLOW, phenomena=(ClaimedPhenomenon(step=1, what="w"),), summary=HOSTILE
    )
    said: list[t.TranscriptLine] = [
        start(url=HOSTILE, tester=HOSTILE), step(action=Tap(x=1, y=2, target=HOSTILE)), step(action=Type(text=HOSTILE)),
        step(effect=t.Effect(changed=True, area=1, texts=(HOSTILE,))), t.VerdictLine(**AT, claim=claim),
        t.WarningLine(**AT, warning="w", message=HOSTILE), t.RefusalLine(**AT, refusal="r", message=HOSTILE),
        t.BudgetLine(**AT, budget=1, why=HOSTILE), t.FaultLine(**AT, fault=HOSTILE, message=HOSTILE),
        t.EndLine(**AT, verdict=Verdict.PASS, message=HOSTILE),
    ]  # fmt: skip
    for line in said:
        seen.view.on_line(line)
    assert len(seen.lines) == len(said)
    assert all(line.startswith("roll 1  ") for line in seen.lines)
    assert not set("\x1b\x00\x07\u202e") & set("".join(seen.lines))
    assert f"tester says  FAIL: hollow  {PLAIN}" in seen.lines[4]
    assert f"warning  w: {PLAIN}" in seen.lines[5]


def test_a_long_line_is_cut_at_a_terminals_edge_only() -> None:
    long = t.WarningLine(**AT, warning="w", message="茶" * 120)
    for terminal in (True, False):
        seen = Seen(terminal, width=60)
        seen.view.on_line(long)
        assert len(seen.lines) == 1
        assert ("…" in seen.lines[0]) == terminal
        assert ("\x1b[" in seen.lines[0]) == terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_the_summary_says_all(terminal: bool) -> None:
    seen = Seen(terminal)
    seen.view.on_result(make_result(HOSTILE), Path("/runs/evidence/playtest/playtest.json"))
    text = "\n".join(seen.lines)
    for words in (
        *(
            "FAIL: broken",
            "roll 1 fail, roll 2 fail",
            f"roll 1 step 5 (98, 402): {PLAIN}"[:60],
            "+2 more in the report",
        ),
        *("playable after 0.42 s, answers input never, loop not closed", "18 in 3 min 11 s (9.0 s of game time)"),
        *("CNY 0.2000 for 18 requests", "/runs/evidence/playtest/report.html"),
    ):
        assert words in text
    assert ("tea-stall" in text) == terminal
    assert ("\x1b[" in text) == terminal
    assert text.count("\x1b]") == 0


def test_a_long_path_is_never_broken() -> None:
    seen = Seen(terminal=True, width=40)
    folder = Path("/runs") / ("a" * 90)
    seen.view.on_result(make_result(), folder / "playtest.json")
    assert any(str(folder / "report.html") in line for line in seen.lines)


@pytest.mark.parametrize(("changes", "words"), [
    ({"usage": Usage()}, "none, no model was asked"),
    ({"cost": Cost(amount=0.2, at_risk=0.01)}, "CNY 0.2000 for 18 requests, at most 0.0100 more for answers that were lost"),
    ({"cost": Cost(priced=False), "usage": Usage(requests=1)}, "not priced, 1 request"),
    ({"verdict": Verdict.DEGRADED, "kind": None, "degraded_reason": "budget"}, "DEGRADED: budget"),
    ({"verdict": Verdict.PASS, "kind": None, "phenomena": ()}, "PASS"),
])  # fmt: skip
def test_cost_and_verdict_in_words(changes: dict[str, Any], words: str) -> None:
    seen = Seen()
    seen.view.on_result(make_result(**changes), Path("playtest.json"))
    assert any(line.endswith(words) for line in seen.lines)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "gbk"])
@pytest.mark.parametrize("terminal", [True, False])
def test_a_stream_without_utf_8_is_no_error(encoding: str, terminal: bool) -> None:
    seen = Seen(terminal, encoding, width=60)
    seen.view.on_line(step(action=Tap(x=1, y=2, target="茶🍵" * 60)))
    seen.view.on_result(make_result("茶🍵" * 200, gid="g"), Path("playtest.json"))


def test_it_prints_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    TerminalView().on_line(step())
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "roll 0  step 3/14  tap (195, 612) Start  → changed 12% [0 -> 7; a -> b; +1]  0.4s\n"
