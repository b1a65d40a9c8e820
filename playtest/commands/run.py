"""`playtest run`: play a game and say pass, fail or degraded."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from contextlib import suppress
from pathlib import Path

from playtest.commands.arguments import Commands, add_json, add_settings, loaded
from playtest.config import Settings
from playtest.errors import EvidenceError
from playtest.evidence import RunEvidence
from playtest.files import dump_json
from playtest.protocol.exit_codes import ExitCode
from playtest.protocol.result import RunResult
from playtest.protocol.verdict import Verdict
from playtest.report import write_report
from playtest.rolls import Run
from playtest.terminal import TerminalView
from playtest.wiring import RunRequest, prepare, run_on

EXIT_CODES = {Verdict.PASS: ExitCode.PASS, Verdict.FAIL: ExitCode.FAIL, Verdict.DEGRADED: ExitCode.DEGRADED}


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("run", help="play a game and return a verdict with evidence")
    parser.add_argument("--gid", required=True, help="the game's id")
    parser.add_argument("--brief", required=True, type=Path, help="the designer's text, a UTF-8 file")
    parser.add_argument("--game", help="a page, a folder or an http(s) URL; default <games_root>/<gid>/index.html")
    add_settings(parser)
    add_json(parser)
    parser.set_defaults(command=_from_options)


def _from_options(options: argparse.Namespace) -> int:
    request = RunRequest(options.gid, options.brief, options.game)
    return run(request, loaded(options).settings, options.json)


def run(request: RunRequest, settings: Settings, as_json: bool) -> int:
    """The exit code. Raises UsageError before anything started, EvidenceError when the record can't be kept."""
    prepared = prepare(request, settings)
    evidence = RunEvidence(settings.evidence, request.gid)
    view = TerminalView()

    async def play() -> RunResult:
        async with run_on(prepared, evidence, lambda _roll, line: view.on_line(line)) as run:
            _stop_on_signals(run)
            try:
                return await run.play()
            except EvidenceError:
                with suppress(EvidenceError):  # there may be room for what is smaller
                    evidence.write_result(run.result())
                    write_report(evidence.folder, run.result())
                raise

    evidence.open()
    try:
        result = asyncio.run(play())
        path = _write(evidence, result)
    except EvidenceError as error:
        raise EvidenceError(
            error.message, f"{error.hint}; what was saved until then is in {evidence.folder}"
        ) from error
    finally:
        evidence.close()
    view.on_result(result, path)
    if as_json:
        sys.stdout.write(dump_json(result.to_json(), indent=2) + "\n")
    interrupted = result.degraded_reason == "interrupted"
    return ExitCode.INTERRUPTED if interrupted else EXIT_CODES[result.verdict]


def _write(evidence: RunEvidence, result: RunResult) -> Path:
    """Write report and result, the result last and whatever came of the report: who waits for it finds the rest."""
    try:
        write_report(evidence.folder, result)
    finally:
        path = evidence.write_result(result)
    return path


def _stop_on_signals(run: Run) -> None:
    """End the run in order on Ctrl-C and SIGTERM: its evidence is closed and its browser ended."""
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    run.stop.reason = "interrupted"
