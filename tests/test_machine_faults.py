"""Faults of the machine: full and locked disks, killed processes, small shared memory. Nothing is lost silently."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from playtest.protocol.transcript import transcript_line
from tests import endpoint_faults as faults
from tests.endpoint import KEY, StrictEndpoint
from tests.play import GAMES, Brain, script, tap, verdict
from tests.test_cli import only_document, start

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


def test_small_shared_memory_and_a_full_folder_for_passing_files_are_enough(tmp_path, brief):
    """Chromium is told to leave /dev/shm alone, so it never matters how small that is, nor even that it is full."""
    place = tmp_path / "tmp"
    place.mkdir()
    tester = script(tmp_path, [{"action": tap(195, 400)}, {"verdict": verdict("degraded")}])
    code, out, err = mounted(
        "mount -t tmpfs -o size=64m t /dev/shm && head -c 64M /dev/zero > /dev/shm/full"
        f" && mount -t tmpfs -o size=64k t {place}",
        *command(brief, tmp_path / "evidence", tester, "chance-webgl"),
        TMPDIR=str(place),
    )
    assert code == 4, err
    roll = only_document(out)["rolls"][0]
    assert (roll["degradedReason"], roll["steps"], roll["faults"]) == ("undecided", 2, [])
    assert roll["floor"]["pass"], roll["floor"]
