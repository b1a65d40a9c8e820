"""`playtest floor`: does a page come up, run and show something? Four gates that need no contract."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

from pydantic import ConfigDict, TypeAdapter, ValidationError
from rich.console import Console

from playtest.commands.arguments import Commands, add_json, add_settings, loaded
from playtest.config import Settings
from playtest.errors import UsageError
from playtest.evidence import GateEvidence
from playtest.files import dump_json
from playtest.games import find_game, gid_of
from playtest.gating import FLOOR, FLOOR_FILE, Stop, check_floor, prepare_check
from playtest.protocol.exit_codes import ExitCode
from playtest.protocol.gate_results import FloorResult
from playtest.protocol.gates import Gate
from playtest.protocol.play_spec import PagePath
from playtest.texts import sanitize


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("floor", help="does a page come up, run and show something? no contract needed")
    add_game(parser)
    parser.add_argument("--ready", metavar="PATH", help="what turns true once the page is ready: app.ready, isReady()")
    add_settings(parser, "--seed", "--clock", "--evidence", "--timeout")
    add_json(parser)
    parser.set_defaults(command=_from_options)


def add_game(parser: argparse.ArgumentParser) -> None:
    """A game by its place, by its id, or by both."""
    parser.add_argument("--game", help="a page, a folder or an http(s) URL; default <games_root>/<gid>/index.html")
    parser.add_argument("--gid", help="the game's id; default the name of its folder")


def _from_options(options: argparse.Namespace) -> int:
    return floor(options.game, options.gid, loaded(options).settings, ready=options.ready, as_json=options.json)


def floor(where: str | None, gid: str | None, settings: Settings, *, ready: str | None, as_json: bool) -> int:
    """0 where the floor is green, 1 where it is red. Raises UsageError before anything started."""
    if where is None and gid is None:
        raise UsageError("no game was given", "give --game PATH, or --gid for one under games_root")
    if ready is not None:
        check_path(ready)
    game = find_game(gid or gid_of(where or ""), where, settings.games_root)
    check = prepare_check(game, settings)
    evidence = GateEvidence(settings.evidence, game.gid, FLOOR)

    async def watch() -> FloorResult:
        stop = Stop()
        stop_on_signals()
        return await check_floor(check, evidence, stop, ready)

    evidence.open()
    try:
        result = asyncio.run(watch())
        path = evidence.write(FLOOR_FILE, result)
    finally:
        evidence.close()
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    for name, gate in result.floor.gates.items():
        console.print(gate_line(name, gate))
    console.print(f"floor  {'green' if result.floor.passed else 'RED'}{_undecided(result.degraded_reason)}")
    console.print(f"record {sanitize(str(path), 4000)}")
    if as_json:
        sys.stdout.write(dump_json(result.to_json(), indent=2) + "\n")
    return exit_code(result.floor.passed, result.degraded_reason)


def check_path(path: str) -> None:
    """Raises UsageError for what is no path into a page."""
    try:
        TypeAdapter(PagePath, config=ConfigDict(regex_engine="python-re")).validate_python(path)
    except ValidationError as error:
        raise UsageError(
            f"--ready {path!r} is no path", "names, indices, calls: app.ready, app.scenes[0].isUp()"
        ) from error


def exit_code(passed: bool, degraded_reason: str | None) -> int:
    """What a caller may conclude from a check."""
    if degraded_reason is not None:
        return ExitCode.INTERRUPTED if degraded_reason == "interrupted" else ExitCode.DEGRADED
    return ExitCode.PASS if passed else ExitCode.FAIL


def gate_line(name: str, gate: Gate) -> str:
    """One gate for a terminal."""
    word = {"skipped": "skip", "advisory": "ok" if gate.passed else "advisory"}.get(gate.weight)
    return f"{name:<11} {word or ('ok' if gate.passed else 'RED'):<8} {sanitize(gate.detail, 300)}"


def stop_on_signals() -> None:
    """End the check in order on Ctrl-C and SIGTERM: its evidence is closed and its browser ended."""
    task = asyncio.current_task()
    assert task is not None, "checks run in a task"
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)


def _undecided(reason: str | None) -> str:
    return f" (undecided: {sanitize(reason, 40)})" if reason is not None else ""
