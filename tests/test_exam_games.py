"""The exam's ten games: their solution traces prove the truths of exam.jsonl, and no page gives its own away.

A scripted tester says what its script says, whatever the game does. So besides the verdict each proof holds the trace
against what the run itself saw: texts on the screen, lines of the game's log, and inputs that changed nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from playtest.protocol.actions import Tap
from playtest.protocol.transcript import StepLine
from tests.browser_helper import js, playing
from tests.play import EXAM, Played, play

TRACES = EXAM.parent / "traces"
ROWS = {row["gid"]: row for row in map(json.loads, (EXAM.parent / "exam.jsonl").read_text("utf-8").splitlines())}
QUICK = ("puzzle-r2", "narrative-r1")  # the shortest bad one and the shortest good one
UNSETTLED = "sim-business-r4"
A_PERSONS_REACTION_MS = 500

# Words that would tell a reader of the page what to think of it.
TELLING = re.compile(
    r"\b(?:bugs?|broken|faults?|faulty|fixme|mutants?|fail\w*|pass(?:es|ed)?|dead|hollow|frozen|verdict|truth|good|bad|"
    r"exam|unfair|impossible|playtest\w*|tester|deliberate\w*|intentional\w*)\b|"
    r"答案|考题|考试|缺陷|失效|故障|坏|故意|漏洞|死板|未定|机器|无解|评判|测试",
    re.IGNORECASE,
)


async def replay(gid: str, tmp_path, game=None, **flags) -> Played:
    """The game's trace, once."""
    folder = tmp_path / f"{gid}-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    brief = (EXAM / gid / "brief.md").read_text("utf-8")
    tester = f"scripted:{TRACES / gid}.jsonl"
    return await play(game or EXAM / gid, folder, brief, tester=tester, seed=ROWS[gid]["seed"], rolls=1, **flags)


def shown(step: StepLine) -> str:
    return " | ".join(step.texts)


def logged(steps: list[StepLine]) -> str:
    return "\n".join(line for step in steps for line in step.log)


def ends_with(words: str) -> Callable[[list[StepLine]], None]:
    """The last screen says so, and none before it did."""

    def proof(steps: list[StepLine]) -> None:
        assert words in shown(steps[-1])
        assert not any(words in shown(step) for step in steps[:-1])

    return proof


def a_story_of_twelve_taps(steps: list[StepLine]) -> None:
    ends_with("归伞")(steps)
    assert 11 <= sum(isinstance(step.action, Tap) for step in steps) <= 13


def two_taps_serve(steps: list[StepLine]) -> None:
    ends_with("生意兴隆 · 通关")(steps)
    log = re.findall(r"\[(pick|serve|wrong)\]", logged(steps))
    assert log == ["pick", "serve"] * 10


def four_beats_in_more_than_fourteen_steps(steps: list[StepLine]) -> None:
    ends_with("出窑")(steps)
    assert len(steps) > 14
    assert [any(f"工序 {beat} / 4" in shown(step) for step in steps) for beat in (1, 2, 3, 4)] == [True] * 4


def three_gardens(steps: list[StepLine]) -> None:
    ends_with("三园皆通")(steps)
    assert re.findall(r"\[通\] 第 (\d) 园", logged(steps)) == ["1", "2", "3"]


def the_fight_takes_no_action(steps: list[StepLine]) -> None:
    at = next(number for number, step in enumerate(steps) if "沙蝎 14 / 14" in shown(step))
    fight = steps[at:]
    assert "残卷 2 / 3" in shown(fight[0])
    assert {"攻击", "防御", "道具", "绕行"} <= set(fight[0].texts)
    assert any("掷骰" in step.texts for step in steps[:at])
    assert all("掷骰" not in step.texts for step in fight)  # the button's own text; a sentence speaks of it
    assert len(fight) == 5
    assert not logged(fight[1:])  # what the four taps on the panel's actions left
    assert fight[-1].texts == fight[0].texts


def the_readout_has_no_unit(steps: list[StepLine]) -> None:
    readouts = [text for step in steps for text in step.texts if re.fullmatch(r"\d+undefined", text)]
    assert readouts == ["8undefined"] * 2 + ["7undefined"] * 2 + ["6undefined", "8undefined"]
    assert "[pour]" in logged(steps)


def the_board_swallows_taps(steps: list[StepLine]) -> None:
    assert "[tap] 开始" in logged(steps)  # the menu does answer
    assert len(steps[2:-1]) == 4
    assert not logged(steps[3:])
    assert all("步数 0" in shown(step) and "得分 0 / 300" in shown(step) for step in steps[1:])


def sold_out(steps: list[StepLine]) -> None:
    ends_with("卖完收车")(steps)
    assert "错过 0 / 3" in shown(steps[-1])


PROOFS: dict[str, Callable[[list[StepLine]], None]] = {
    "narrative-r1": a_story_of_twelve_taps,
    "sim-business-r1": ends_with("午市收工"),
    "sim-business-r2": two_taps_serve,
    "heritage-r4": four_beats_in_more_than_fourteen_steps,
    "puzzle-r1": three_gardens,
    "trpg-r1": ends_with("铜铃归驿"),
    "trpg-r3": the_fight_takes_no_action,
    "puzzle-r2": the_readout_has_no_unit,
    "puzzle-r3": the_board_swallows_taps,
    "sim-business-r4": sold_out,
}
# What mends a bad game.
MENDED = {
    "trpg-r3": ("  fight:ACTION_BOX", "  battle:ACTION_BOX"),
    "puzzle-r2": ("UNITS.step}", "UNITS.steps}"),
    "puzzle-r3": ("hitTile(p.x, p.y, BOARD_X)", "hitTile(p.x, p.y, BOARD_X, BOARD_Y)"),
}


def prove(gid: str, played: Played) -> None:
    row = ROWS[gid]
    if row["verdict"] is not None:
        assert (played.result.verdict, played.result.kind) == (row["verdict"], row["kind"])
    if row["verdict"] == "fail":
        assert played.result.attribution == "game"
        assert {seen.probe.result for seen in played.result.phenomena if seen.probe} == {"confirmed"}
    PROOFS[gid](played.of("step"))
    console = (played.folder / "roll-1" / "console.jsonl").read_text("utf-8")
    assert not TELLING.findall(" ".join(json.loads(line)["text"] for line in console.splitlines()))


def test_ten_games_of_known_truth():
    folders = {path.name for path in EXAM.iterdir()}
    assert folders == set(ROWS) == set(PROOFS) == {path.stem for path in TRACES.iterdir()}
    assert len(ROWS) == 10
    truths = {gid: (row["truth"], row["verdict"], row["kind"]) for gid, row in ROWS.items()}
    assert {gid for gid, truth in truths.items() if truth == ("bad", "fail", "broken")} == set(MENDED)
    assert truths.pop(UNSETTLED) == ("unsettled", None, None)
    assert sum(truth == ("good", "pass", None) for truth in truths.values()) == 6
    assert all(row["why"] and row["source"] for row in ROWS.values())


@pytest.mark.parametrize("gid", ROWS)
def test_a_page_is_whole_and_says_nothing_of_its_truth(gid):
    page = (EXAM / gid / "index.html").read_text("utf-8")
    brief = (EXAM / gid / "brief.md").read_text("utf-8")
    assert 200 <= len(page.splitlines()) <= 400
    assert re.search(r'<html lang="zh', page)
    assert "console.log(" in page
    assert not re.search(r"""(?:src|href)=["'](?!data:)|https?://""", page)  # all that it needs is in the file
    assert re.fullmatch(r"(?:narrative|sim-business|heritage|puzzle|trpg)-r\d", gid)
    title = re.search(r"<title>(.+)</title>", page)
    assert title is not None
    assert brief.startswith(f"# {title[1]}\n")
    for text in (page, brief):
        assert not TELLING.findall(text)
        assert gid not in text


@pytest.mark.parametrize("word", ["// the bug: one argument is left out", "<!-- 坏 -->", "verdict = 'fail'", "故意"])
def test_a_page_that_told_would_be_caught(word):
    assert TELLING.search(word)


def test_canvas_dom_and_raw_webgl_all_occur():
    found = {}
    for gid in ROWS:
        page = (EXAM / gid / "index.html").read_text("utf-8")
        found[gid] = "webgl" if "'webgl'" in page else "canvas" if re.search(r"['\"]2d['\"]", page) else "dom"
        assert "three.js" not in page.lower()
    assert all(list(found.values()).count(make) >= 2 for make in ("canvas", "dom", "webgl")), found


@pytest.mark.parametrize("gid", QUICK)
async def test_a_trace_proves_its_truth(gid, tmp_path):
    prove(gid, await replay(gid, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("gid", ROWS)
async def test_every_truth_is_reproduced_twice_with_equal_hashes(gid, tmp_path):
    plays = [await replay(gid, tmp_path) for _ in range(2)]
    for played in plays:
        prove(gid, played)
    first, again = [[(step.picture_hash, step.texts, step.log) for step in played.of("step")] for played in plays]
    assert first == again


@pytest.mark.slow
@pytest.mark.parametrize("gid", MENDED)
async def test_a_fault_that_is_mended_is_not_proved(gid, tmp_path):
    page = (EXAM / gid / "index.html").read_text("utf-8")
    assert page.count(MENDED[gid][0]) == 1
    mended = tmp_path / "mended"
    mended.mkdir()
    (mended / "index.html").write_text(page.replace(*MENDED[gid]), "utf-8")
    played = await replay(gid, tmp_path, mended)
    assert played.result.attribution == "undetermined"
    assert not any(seen.probe and seen.probe.result == "confirmed" for seen in played.result.phenomena)
    with pytest.raises(AssertionError):
        PROOFS[gid](played.of("step"))


@pytest.mark.slow
async def test_a_person_can_not_serve_where_the_held_clock_can(tmp_path):
    played = await replay(UNSETTLED, tmp_path, reaction_ms=A_PERSONS_REACTION_MS)
    last = played.of("step")[-1]
    assert "列车开走了" in shown(last)
    assert "卖出 0 / 6" in shown(last)


async def test_the_noodle_shop_exports_what_it_knew_at_boot():
    actions = [json.loads(line).get("action") for line in (TRACES / "sim-business-r1.jsonl").read_text().splitlines()]
    async with playing(EXAM / "sim-business-r1", seed=ROWS["sim-business-r1"]["seed"]) as game:
        await game.clock.advance(500)
        export = "JSON.stringify(window._forensicsView())"
        at_boot = await js(game, export)
        for action in actions[:6]:
            if action["type"] == "tap":
                await game.perform(Tap(x=action["x"], y=action["y"]))
            await game.clock.advance(1000)
        assert "15" in await js(game, "document.querySelector('.bar').textContent")
        assert await js(game, export) == at_boot
        assert json.loads(at_boot)["score"] == 0
