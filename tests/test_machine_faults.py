"""Faults of the machine: full and locked disks, killed processes, small shared memory, clocks that jump."""

from __future__ import annotations

import functools
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from playtest.policy.combine import needs_second_roll
from playtest.protocol.gates import Floor, Gate
from playtest.protocol.result import Roll
from playtest.protocol.transcript import transcript_line
from tests.play import GAMES, play, script, tap, verdict
from tests.test_cli import call, only_document, start

QUICK = {"PLAYTEST_FILM_FIRST_PLAY": "0", "PLAYTEST_SETTLE_MS": "100"}


@pytest.fixture
def brief(tmp_path):
    path = tmp_path / "brief.md"
    path.write_text("A game. Each tap reaches a level.", "utf-8")
    return path


@functools.cache
def namespace() -> list[str] | None:
    """The words before a command that give it mounts of its own, or None where that is not allowed."""
    for words in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
        try:
            if (
                subprocess.run(
                    [*words, "mount", "-t", "tmpfs", "t", "/mnt"], capture_output=True, check=False
                ).returncode
                == 0
            ):
                return words
        except OSError:
            return None
    return None


def mounted(mount: str, *command: object, then: str = "true", **environment: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command behind mounts of its own. Skips where there can be none."""
    words = namespace()
    if words is None:
        pytest.skip("mounts are not allowed here")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PLAYTEST_", "MINIMAX_"))}
    done = subprocess.run(
        [*words, "sh", "-c", f'{mount} && "$@"; code=$?; {then}; exit $code', "sh", *map(str, command)],
        env={**clean, **QUICK, "PYTHONPATH": str(Path(__file__).parent.parent), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def command(brief: Path, evidence: Path, tester: str, game: str = "levels") -> list[object]:
    return [
        sys.executable, "-m", "playtest", "run", "--gid", "g1", "--brief", brief, "--game", GAMES / game,
        "--evidence", evidence, "--tester", tester, "--json",
    ]  # fmt: skip


def taps(tmp_path: Path, count: int = 12) -> str:
    return script(tmp_path, [{"action": tap(100 + 20 * number, 600)} for number in range(count)])


def lines_of(folder: Path) -> list:
    text = (folder / "roll-1" / "transcript.jsonl").read_text("utf-8")
    assert text.endswith("\n"), "whole lines only"
    return [transcript_line.validate_python(json.loads(line)) for line in text.splitlines()]


@pytest.mark.parametrize(
    "size", ["200k", *[pytest.param(f"{size}k", marks=pytest.mark.slow) for size in (90, 130, 170, 230, 280)]]
)
def test_a_disk_that_fills_up_is_told_and_what_was_saved_is_whole(tmp_path, brief, size):
    place, saved = tmp_path / "disk", tmp_path / "saved"
    place.mkdir()
    saved.mkdir()
    code, out, err = mounted(
        f"mount -t tmpfs -o size={size} t {place}", *command(brief, place, taps(tmp_path)), then=f"cp -a {place}/. {saved}",
    )  # fmt: skip
    assert code == 3, err
    error = only_document(out)["error"]
    assert "No space left on device" in error["message"]
    assert str(place) in error["message"]
    assert f"what was saved until then is in {place}/playtest" in error["hint"]
    assert "Traceback" not in err
    folder = saved / "playtest"
    lines = lines_of(folder)
    assert lines[0].type == "start"
    steps = [line for line in lines if line.type == "step" and line.effect]
    assert steps, "what was played before is there"
    for step in steps:
        assert (folder / step.picture).read_bytes().endswith(b"IEND\xaeB`\x82")
        assert (folder / step.ruled_picture).stat().st_size > 10_000
    if lines[-1].type == "end":
        assert (lines[-1].verdict, lines[-1].degraded_reason) == ("degraded", "evidence")
    for name in ("playtest.json", "roll-1/roll.json"):
        if (folder / name).exists():
            assert json.loads((folder / name).read_text("utf-8"))["degradedReason"] == "evidence"


def test_a_folder_that_can_only_be_read_is_exit_2_before_anything_starts(tmp_path, brief):
    place = tmp_path / "evidence"
    place.mkdir()
    marker, fake = tmp_path / "browser-was-started", tmp_path / "chromium"
    fake.write_text(f"#!/bin/sh\n[ $1 = --version ] && echo Chromium 150.0.0.0 || touch {marker}\n")
    fake.chmod(0o755)
    code, out, err = mounted(
        f"mount --bind {place} {place} && mount -o remount,bind,ro {place}",
        *command(brief, place, taps(tmp_path)),
        PLAYTEST_CHROMIUM=str(fake),
    )
    assert code == 2, err
    error = only_document(out)["error"]
    assert "can't be written" in error["message"]
    assert "--evidence" in error["hint"]
    assert not marker.exists()


def test_small_shared_memory_is_enough(tmp_path, brief):
    """Chromium is told to leave /dev/shm alone, so it never matters how small that is, nor even that it is full.

    What it shares lies among the passing files instead, which need little room.
    """
    place = tmp_path / "tmp"
    place.mkdir()
    tester = script(tmp_path, [{"action": tap(195, 400)}, {"verdict": verdict("degraded")}])
    code, out, err = mounted(
        "mount -t tmpfs -o size=64m t /dev/shm && head -c 64M /dev/zero > /dev/shm/full"
        f" && mount -t tmpfs -o size=128m t {place}",
        *command(brief, tmp_path / "evidence", tester, "chance-webgl"),
        TMPDIR=str(place),
    )
    assert code == 4, err
    roll = only_document(out)["rolls"][0]
    assert (roll["degradedReason"], roll["steps"], roll["faults"]) == ("undecided", 2, [])
    assert roll["floor"]["pass"], roll["floor"]


# -- killed processes ----------------------------------------------------------------------------------------------

# Holds a roll where it is: the game's clock runs for as long as the test needs.
LONG_WAIT = {"action": {"type": "wait", "ms": 10_000}}


@pytest.fixture
def running(tmp_path, brief):
    """Starts a run whose tester taps twice and then waits; ended by the test, or after it."""
    started: list[subprocess.Popen] = []

    def begin() -> subprocess.Popen:
        tester = script(tmp_path, [{"action": tap(195, 600)}, {"action": tap(195, 500)}, *[LONG_WAIT] * 10])
        arguments = command(brief, tmp_path / "evidence", tester)[3:]
        started.append(start(*arguments, cwd=tmp_path, **QUICK))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def until(process: subprocess.Popen, what: Callable[[], object]) -> Any:
    """What the condition gives, once it gives something. The run must still be there."""
    while not (found := what()):
        assert process.poll() is None, process.communicate()
        os.sched_yield()
    return found


def transcript(evidence: Path) -> list[str]:
    path = evidence / "playtest" / "roll-1" / "transcript.jsonl"
    return path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []


def browser_of(process: subprocess.Popen) -> list[psutil.Process]:
    """Chromium's processes below a run, its driver's left out."""
    below = psutil.Process(process.pid).children(recursive=True)
    return [one for one in below if "chrom" in one.name()]


@pytest.mark.parametrize("lines", [*(pytest.param(lines, marks=pytest.mark.slow) for lines in (0, 1)), 3])
def test_a_killed_run_leaves_no_browser_whole_lines_and_its_folder_to_the_next(running, tmp_path, brief, lines):
    evidence, process = tmp_path / "evidence", running()
    until(process, lambda: len(transcript(evidence)) >= lines and browser_of(process))
    below = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(below, timeout=30)
    assert not alive, "its browser and driver end with it"
    left = transcript(evidence)
    assert all(line.endswith("\n") and json.loads(line) for line in left)
    assert len(left) >= lines
    tester = script(tmp_path, [{"action": tap(195, 600)}, *[{"verdict": verdict("degraded")}] * 2])
    code, out, err = call(*command(brief, evidence, tester)[3:], cwd=tmp_path, **QUICK)
    assert code == 4, err
    assert only_document(out)["rolls"][0]["steps"] == 2
    assert [transcript_of(kept) for kept in evidence.glob("history/*")] == ([left] if left else [])


def transcript_of(folder: Path) -> list[str]:
    path = folder / "roll-1" / "transcript.jsonl"
    return path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []


def test_two_runs_on_one_folder_are_one_too_many_and_the_first_plays_on(running, tmp_path, brief):
    evidence, process = tmp_path / "evidence", running()
    until(process, lambda: transcript(evidence))
    code, out, _ = call(*command(brief, evidence, taps(tmp_path))[3:], cwd=tmp_path, **QUICK)
    assert code == 2
    assert "another run" in only_document(out)["error"]["message"]
    assert process.poll() is None
    assert not (evidence / "history").exists()


def test_a_browser_that_is_killed_from_outside_is_the_machines_fault(running, tmp_path):
    evidence, process = tmp_path / "evidence", running()
    until(process, lambda: len(transcript(evidence)) >= 3)
    for one in browser_of(process):
        with suppress(psutil.NoSuchProcess):
            one.kill()
    out, err = process.communicate(timeout=120)
    result = only_document(out)
    assert process.returncode == 4, err
    assert (result["verdict"], result["attribution"]) == ("degraded", "harness")
    assert "Traceback" not in err


async def test_a_clock_that_jumps_changes_nothing(tmp_path, monkeypatch):
    """Somebody sets the machine's clock while a game is played, back and forth by days."""
    told = time.time
    jumps = itertools.cycle((0, 86_400, -86_400, 3_600 * 24 * 400))
    monkeypatch.setattr(time, "time", lambda: told() + next(jumps))
    tester = script(tmp_path, [{"action": tap(195, 600)}, *[{"verdict": verdict("degraded")}] * 2])
    played = await play(GAMES / "levels", tmp_path, tester=tester, rolls=1)
    assert (played.result.verdict, played.result.degraded_reason) == ("degraded", "undecided")
    assert 0 < played.result.duration_ms < 120_000
    assert played.result.rolls[0].wall_time_ms < 120_000
    assert played.of("step")[0].effect.changed


@pytest.mark.parametrize(
    ("steps", "faults", "again"), [(3, ("crash",), True), (3, ("hang",), True), (1, ("crash",), False), (3, (), False)]
)
def test_a_page_that_died_in_play_is_tried_once_more_before_it_is_the_games_doing(steps, faults, again):
    gates = {"C_frame": Gate(passed=False, detail="the page ended")}
    roll = Roll(
        number=1, seed=1, clock="frames", verdict="fail", kind="broken", steps=steps, budget=14, distinct_taps=1,
        effective_inputs=1, faults=faults, floor=Floor(passed=False, gates=gates),
    )  # fmt: skip
    assert needs_second_roll(roll, 2) is again
    assert not needs_second_roll(roll, 1)
