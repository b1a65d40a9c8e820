"""`playtest gates`: the nine gates of a game, driven as its PlaySpec says."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from rich.console import Console

from playtest.commands.arguments import Commands, add_json, add_settings, loaded
from playtest.commands.floor import add_game, exit_code, gate_line, stop_on_signals
from playtest.config import Settings
from playtest.documents import read_play_spec
from playtest.driving import GATES, GATES_FILE, check_gates
from playtest.errors import UsageError
from playtest.evidence import GateEvidence
from playtest.files import dump_json
from playtest.games import Game, find_game, gid_of
from playtest.gating import Stop, prepare_check
from playtest.protocol.gate_results import GatesResult
from playtest.protocol.play_spec import PlaySpec
from playtest.sources import check_spec, digest_of
from playtest.texts import sanitize


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("gates", help="drive a game as its PlaySpec says, and judge nine gates")
    add_game(parser)
    parser.add_argument("--spec", type=Path, help="the PlaySpec; without one the game is not driven")
    add_settings(parser, "--seed", "--clock", "--evidence", "--timeout")
    add_json(parser)
    parser.set_defaults(command=_from_options)


def _from_options(options: argparse.Namespace) -> int:
    return gates(options.game, options.gid, options.spec, loaded(options).settings, as_json=options.json)


def gates(where: str | None, gid: str | None, spec_path: Path | None, settings: Settings, *, as_json: bool) -> int:
    """0 where the gates pass, 1 where not. Raises UsageError before anything started, also for a stale spec."""
    if where is None and gid is None:
        raise UsageError("no game was given", "give --game PATH, or --gid for one under games_root")
    game = find_game(gid or gid_of(where or ""), where, settings.games_root)
    spec = fresh_spec(spec_path, game) if spec_path is not None else None
    check = prepare_check(game, settings)
    evidence = GateEvidence(settings.evidence, game.gid, GATES)

    async def drive() -> GatesResult:
        stop_on_signals()
        return await check_gates(check, spec, None if spec_path is None else str(spec_path), evidence, Stop())

    evidence.open()
    try:
        result = asyncio.run(drive())
        path = evidence.write(GATES_FILE, result)
    finally:
        evidence.close()
    _tell(result, str(path))
    if as_json:
        sys.stdout.write(dump_json(result.to_json(), indent=2) + "\n")
    return exit_code(result.passed, result.degraded_reason)


def fresh_spec(path: Path, game: Game) -> PlaySpec:
    """The PlaySpec in a file, made of the game's sources as they are. Raises UsageError, also for a stale one."""
    spec = read_play_spec(path)
    if game.file is None:
        raise UsageError(f"{game.url} has no sources here that {path} could be held against", "give the game's folder")
    if not check_spec(spec, digest_of(game.file.parent)).fresh:
        raise UsageError(
            f"{path} is stale: it was not made of the sources of {game.gid} as they are",
            f"make it anew (`playtest spec check {path} --game {game.file.parent}` says what changed)",
        )
    return spec


def _tell(result: GatesResult, path: str) -> None:
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    for name, gate in result.gates.items():
        console.print(gate_line(name, gate))
    if result.export_fault is not None:
        console.print(f"{result.export_fault.kind:<13} {sanitize(result.export_fault.detail, 300)}")
    undecided = f" (undecided: {sanitize(result.degraded_reason, 40)})" if result.degraded_reason else ""
    played = f"driven by {result.driver_type}, {result.inputs} inputs, end {result.end or 'none'}"
    console.print(
        f"gates  {'pass' if result.passed else 'FAIL'}{undecided}: {played if result.driven else 'not driven'}"
    )
    console.print(f"floor  {'green' if result.floor.passed else 'RED'}")
    console.print(f"record {sanitize(path, 4000)}")
