"""`playtest replay`: play a recorded roll again, or check a repaired build against it."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console

from playtest.commands.arguments import Commands, add_json, loaded
from playtest.config import Settings
from playtest.errors import UsageError
from playtest.files import dump_json, write_atomically, write_bytes
from playtest.pictures import Picture, Pixels, decode
from playtest.protocol.exit_codes import ExitCode
from playtest.protocol.replay import Checked, Divergence, Fate, ReplayResult, StepCheck
from playtest.recordings import Recording, read_recording
from playtest.replaying import Replayed
from playtest.texts import sanitize
from playtest.wiring import replay_recording


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("replay", help="play a recorded roll again; with --game: is the fault gone?")
    parser.add_argument("roll", type=Path, help="the folder of one roll, evidence/playtest/roll-1 for example")
    parser.add_argument("--game", help="another build of the game: the same inputs are made on it")
    add_json(parser)
    parser.set_defaults(
        command=lambda options: replay(options.roll, options.game, loaded(options).settings, options.json)
    )


def replay(folder: Path, game: str | None, settings: Settings, as_json: bool) -> int:
    """Without `game`: 0 when every step agrees, 1 at a divergence. With it: 0 gone, 1 still there, 4 not reached.

    Raises UsageError when there is nothing to replay.
    """
    recording = read_recording(folder)
    if not recording.steps:
        raise UsageError(f"the roll in {folder} has no step to play again", "give another roll's folder")
    started = time.monotonic()
    done, checked = asyncio.run(replay_recording(recording, game, settings))
    target = folder / "replays" / datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target.mkdir(parents=True)
    spoilt = recording.spoilt()
    checks = tuple(
        check.model_copy(update={"pixels": check.pixels and check.step not in spoilt}) for check in done.checks
    )
    result = ReplayResult(
        roll=str(folder),
        game=game or recording.start.game,
        clock=recording.start.clock,
        ended_early=done.ended_early,
        steps=checks,
        divergence=None if game else _divergence(recording, done, checks, spoilt, target),
        phenomena=tuple(checked),
        game_time_ms=round(done.game_ms, 1),
        wall_time_ms=round((time.monotonic() - started) * 1000, 1),
    )
    write_atomically(target / "replay.json", dump_json(result.to_json(), indent=2) + "\n")
    _print(result, target)
    if as_json:
        sys.stdout.write(dump_json(result.to_json(), indent=2) + "\n")
    return exit_code(result, fix_check=game is not None)


def exit_code(result: ReplayResult, *, fix_check: bool) -> int:
    """What a caller may conclude."""
    if not fix_check:
        agree = result.divergence is None and result.ended_early is None
        return ExitCode.PASS if agree else ExitCode.FAIL
    fates = {checked.fate for checked in result.phenomena}
    if Fate.STILL_THERE in fates:
        return ExitCode.FAIL
    return ExitCode.PASS if fates == {Fate.GONE} else ExitCode.DEGRADED


def _divergence(
    recording: Recording, done: Replayed, checks: Sequence[StepCheck], spoilt: Mapping[int, str], target: Path
) -> Divergence | None:
    """The first step that differs, with both pictures and what differs between them."""
    check = next((check for check in checks if not (check.pixels and check.texts)), None)
    if check is None:
        return None
    line = next(line for line in recording.steps if line.step == check.step)
    seen = done.before[check.step]
    recorded, replayed, difference = (f"{check.step:04d}.{kind}.png" for kind in ("recorded", "replayed", "difference"))
    write_bytes(target / replayed, seen.picture.png)
    kept = _kept(recording, check.step)
    if kept is not None:
        write_bytes(target / recorded, kept.png)
        _draw_difference(kept.pixels, seen.picture.pixels, target / difference)
    texts = tuple(text.text for text in seen.texts)
    return Divergence(
        step=check.step,
        recorded=recorded if kept else None,
        replayed=replayed,
        difference=difference if kept else None,
        spoilt=spoilt.get(check.step, ""),
        texts=_apart(line.texts, texts),
    )


def _kept(recording: Recording, step: int) -> Picture | None:
    """The step's recorded picture, where it can be read."""
    try:
        return decode(recording.pictures()[step], 0.0)
    except (KeyError, OSError):
        return None


def _draw_difference(recorded: Pixels, replayed: Pixels, path: Path) -> None:
    """What differs, bright on black; where the sizes differ, what only one of them has is white."""
    height, width = (max(a, b) for a, b in zip(recorded.shape[:2], replayed.shape[:2], strict=True))
    a, b = (np.full((height, width, 3), fill, dtype=np.uint8) for fill in (0, 255))
    for whole, part in ((a, recorded), (b, replayed)):
        whole[: part.shape[0], : part.shape[1]] = part
    apart = np.maximum(a, b) - np.minimum(a, b)
    Image.fromarray(np.where(apart > 0, np.maximum(apart, 96), 0).astype(np.uint8)).save(path)


def _apart(recorded: Sequence[str], replayed: Sequence[str]) -> tuple[str, ...]:
    gone = [f"{text[:80]} -> ∅" for text in recorded if text not in replayed]
    came = [f"∅ -> {text[:80]}" for text in replayed if text not in recorded]
    return tuple((gone + came)[:20])


def _print(result: ReplayResult, target: Path) -> None:
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    for check in result.steps:
        words = {(True, True): "agrees", (False, True): "pixels differ", (True, False): "texts differ"}
        console.print(f"step {check.step}  {words.get((check.pixels, check.texts), 'pixels and texts differ')}")
    for checked in result.phenomena:
        console.print(_line(checked))
    if result.ended_early:
        console.print(f"ended early: {sanitize(result.ended_early, 300)}")
    if (apart := result.divergence) is not None:
        where = apart.spoilt or str(target / (apart.difference or apart.replayed))
        console.print(f"first difference at step {apart.step}: {where}")
    speed = result.game_time_ms / max(1.0, result.wall_time_ms)
    console.print(
        f"{result.game_time_ms / 1000:.1f} s of game time in {result.wall_time_ms / 1000:.1f} s ({speed:.1f}x)"
    )
    console.print(f"record  {target / 'replay.json'}")


def _line(checked: Checked) -> str:
    what = sanitize(checked.phenomenon.what, 160)
    return f"{checked.fate.value.upper():<12} step {checked.phenomenon.step}: {what} ({sanitize(checked.why, 200)})"
