"""The evidence folder: laid out by the protocol, nothing overwritten, one run at a time."""

import json
import re
import subprocess
import sys

import pytest

from playtest.errors import EvidenceError, UsageError
from playtest.evidence import MAX_CONSOLE_LINES, RunEvidence
from playtest.ports import LogEntry
from playtest.protocol.result import Roll
from playtest.protocol.transcript import EndLine, WarningLine
from playtest.protocol.verdict import Verdict


def roll(number: int = 1) -> Roll:
    return Roll(
        number=number,
        seed=1,
        clock="frames",
        verdict=Verdict.PASS,
        steps=3,
        budget=14,
        distinct_taps=1,
        effective_inputs=1,
    )


def run(root, gid: str = "tea-1") -> RunEvidence:
    evidence = RunEvidence(root, gid)
    evidence.open()
    return evidence


def lines_of(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def start(sink, gid: str) -> None:
    """A start line by its wire name only: other fields are the protocol's own matter."""
    sink._transcript.write({"type": "start", "gid": gid})


def test_the_layout_is_the_protocols(tmp_path):
    evidence = run(tmp_path / "deep" / "evidence")
    sink = evidence.roll(1)
    start(sink, "tea-1")
    assert sink.clean_picture(1, b"png") == "roll-1/shots/0001.png"
    assert sink.ruled_picture(1, 1, b"webp") == "roll-1/shots/0001.grid.webp"
    assert sink.ruled_picture(1, 2, b"webp") == "roll-1/shots/0001-2.grid.webp"
    sink.log([LogEntry("log", "hello", 12.34, "a.js:1")])
    sink.close(roll())
    evidence.close()
    found = {str(p.relative_to(evidence.folder)) for p in evidence.folder.rglob("*") if p.is_file()}
    assert found == {
        "roll-1/transcript.jsonl", "roll-1/console.jsonl", "roll-1/roll.json", "roll-1/firstplay.json",
        "roll-1/shots/0001.png", "roll-1/shots/0001.grid.webp", "roll-1/shots/0001-2.grid.webp",
    }  # fmt: skip
    assert lines_of(evidence.folder / "roll-1" / "console.jsonl")[0]["text"] == "hello"
    assert json.loads((evidence.folder / "roll-1" / "roll.json").read_text())["verdict"] == "pass"


def test_an_earlier_run_moves_to_history_and_none_is_lost(tmp_path):
    for i in range(3):  # three runs within a second
        evidence = run(tmp_path)
        sink = evidence.roll(1)
        start(sink, f"game-{i}" if i else "same")
        sink.close(roll())
        evidence.close()
    evidence = run(tmp_path)
    sink = evidence.roll(1)
    start(sink, "same")
    sink.close(roll())
    evidence.close()
    run(tmp_path).close()
    kept = sorted(p.name for p in (tmp_path / "history").iterdir())
    assert len(kept) == 4
    assert all(re.fullmatch(r"\d{8}T\d{6}Z-(same|game-[12])(\.\d+)?", name) for name in kept), kept
    gids = sorted(lines_of(p / "roll-1" / "transcript.jsonl")[0]["gid"] for p in (tmp_path / "history").iterdir())
    assert gids == ["game-1", "game-2", "same", "same"]
    assert list((tmp_path / "playtest").iterdir()) == []


@pytest.mark.parametrize(
    "left", [b"", b"not json\n", b'{"gid": "../../etc"}\n', b'{"gid": 7}\n', b"[1]\n", b"\xff\xfe\n"]
)
def test_what_a_killed_run_left_is_kept_whatever_it_is(tmp_path, left):
    folder = tmp_path / "playtest" / "roll-1"
    folder.mkdir(parents=True)
    (folder / "transcript.jsonl").write_bytes(left)
    run(tmp_path).close()
    (kept,) = (tmp_path / "history").iterdir()
    assert (kept / "roll-1" / "transcript.jsonl").read_bytes() == left
    assert kept.parent == tmp_path / "history"


def test_two_runs_at_once_are_one_too_many(tmp_path):
    first = run(tmp_path)
    with pytest.raises(UsageError) as caught:
        run(tmp_path)
    assert "another run" in caught.value.message
    assert "--evidence" in caught.value.hint
    assert first.folder.is_dir(), "the first one's folder stays where it is"
    first.close()
    run(tmp_path).close()


def test_the_lock_of_a_killed_run_is_gone_with_it(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from playtest.evidence import RunEvidence;"
        f"e = RunEvidence(Path({str(tmp_path)!r}), 'x'); e.open(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    run(tmp_path).close()


@pytest.mark.parametrize("where", ["file/evidence", "/proc/evidence", "file"])
def test_a_folder_that_cannot_be_written_is_the_callers_to_put_right(tmp_path, where):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as caught:
        run(tmp_path / where)
    assert "can't be written" in caught.value.message
    assert "--evidence" in caught.value.hint


def test_odd_texts_stay_whole_lines_of_valid_json(tmp_path):
    evidence = run(tmp_path)
    sink = evidence.roll(1)
    for odd in ("\0", "half \ud83d", "x" * 1_000_000, "two\nlines", "猫"):
        sink.line(WarningLine(step=1, game_ms=0, wall_ms=0, warning="odd", message=odd))
        sink.log([LogEntry("log", odd, 1.0)])
    sink.line(EndLine(step=1, game_ms=0, wall_ms=0, verdict=Verdict.PASS))
    lines = lines_of(evidence.folder / "roll-1" / "transcript.jsonl")
    assert [line["type"] for line in lines] == ["warning"] * 5 + ["end"]
    assert lines[2]["message"] == "x" * 1_000_000
    assert len(lines_of(evidence.folder / "roll-1" / "console.jsonl")) == 5
    sink.close(roll())
    evidence.close()


def test_the_console_is_bounded(tmp_path):
    evidence = run(tmp_path)
    sink = evidence.roll(1)
    sink.log([LogEntry("log", f"line {i}", 1.0) for i in range(MAX_CONSOLE_LINES + 500)])
    assert len(lines_of(evidence.folder / "roll-1" / "console.jsonl")) == MAX_CONSOLE_LINES
    sink.close(roll())
    evidence.close()


def test_a_roll_is_never_written_over_another(tmp_path):
    evidence = run(tmp_path)
    first = evidence.roll(1)
    with pytest.raises(EvidenceError):
        evidence.roll(1)
    second = evidence.roll(2)
    for sink in (first, second):
        sink.close(roll())
    evidence.close()
