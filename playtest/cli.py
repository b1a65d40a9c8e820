"""The command line: parse, call one command, and turn whatever happens into an exit code."""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from playtest import __version__
from playtest.commands.config import config
from playtest.commands.doctor import doctor
from playtest.commands.export import export
from playtest.commands.replay import replay
from playtest.commands.run import run
from playtest.commands.schema import schema
from playtest.config import Loaded, load
from playtest.errors import EvidenceError, PlaytestError, UsageError
from playtest.files import dump_json
from playtest.protocol.exit_codes import ExitCode
from playtest.protocol.result import ErrorBody, ErrorDocument
from playtest.texts import sanitize
from playtest.wiring import RunRequest, probe_endpoint

RUN_SETTINGS = {
    "--tester": ("tester", str, "minimax | explorer | scripted:FILE"),
    "--model": ("model", str, "the model's id at the endpoint"),
    "--base-url": ("base_url", str, "the endpoint, without /chat/completions"),
    "--preset": ("preset", str, "how to ask the model, when not as its family"),
    "--seed": ("seed", int, "the first roll's seed"),
    "--steps": ("steps", int, "steps of a roll (14)"),
    "--max-steps": ("max_steps", int, "steps of a roll that makes progress (24)"),
    "--rolls": ("rolls", int, "2 confirms a fail by a second roll"),
    "--clock": ("clock", str, "auto | frames | js | realtime"),
    "--evidence": ("evidence", Path, "the evidence root"),
    "--timeout": ("timeout_s", float, "seconds of wall time for the whole run"),
    "--max-cost": ("max_cost", float, "the most that the run may cost, in the currency of the settings"),
}


class _Parser(argparse.ArgumentParser):
    """Raises instead of exiting, so that a wrong call gets the same treatment as any other error."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"see `{self.prog} --help`")


def main(argv: Sequence[str] | None = None) -> int:
    """The process's exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    try:
        options = _parser().parse_args(arguments)
        command: Callable[[argparse.Namespace], int] = options.command
        return int(command(options))
    except UsageError as error:
        return _tell(ExitCode.USAGE, error.message, error.hint, as_json)
    except (EvidenceError, PlaytestError) as error:
        return _tell(ExitCode.BUG, error.message, error.hint, as_json)
    except KeyboardInterrupt:
        return _tell(ExitCode.INTERRUPTED, "interrupted", "", as_json=False)
    except Exception as error:  # noqa: BLE001 - the one boundary: a bug of ours, told without a traceback
        message = f"a bug of playtest's own: {error!r}"
        return _tell(ExitCode.BUG, message, f"please report it with {_crash_log()}", as_json)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="playtest", description="Plays an HTML5 game by sight and says whether there is a game.")
    parser.add_argument("--version", action="version", version=f"playtest {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    played = commands.add_parser("run", help="play a game and return a verdict with evidence")
    played.add_argument("--gid", required=True, help="the game's id")
    played.add_argument("--brief", required=True, type=Path, help="the designer's text, a UTF-8 file")
    played.add_argument("--game", help="a page, a folder or an http(s) URL; default <games_root>/<gid>/index.html")
    for flag, (name, kind, words) in RUN_SETTINGS.items():
        played.add_argument(flag, dest=name, type=kind, help=words)
    played.add_argument("--json", action="store_true", help="print the result as one JSON document on stdout")
    played.set_defaults(command=_run)

    again = commands.add_parser("replay", help="play a recorded roll again; with --game: is the fault gone?")
    again.add_argument("roll", type=Path, help="the folder of one roll, evidence/playtest/roll-1 for example")
    again.add_argument("--game", help="another build of the game: the same inputs are made on it")
    again.add_argument("--json", action="store_true", help="print the result as one JSON document on stdout")
    again.set_defaults(
        command=lambda options: replay(options.roll, options.game, _load(options).settings, options.json)
    )

    written = commands.add_parser("export", help="write a recorded roll as a Playwright test that needs no playtest")
    written.add_argument("roll", type=Path, help="the folder of one roll, evidence/playtest/roll-1 for example")
    written.add_argument("--out", type=Path, metavar="FILE", help="the script; default ROLL/test_roll_N.py")
    written.set_defaults(command=lambda options: export(options.roll, options.out, _load(options).settings))

    checked = commands.add_parser("doctor", help="say what works on this machine")
    checked.add_argument("--install", action="store_true", help="install a browser where there is none")
    checked.add_argument("--json", action="store_true")
    checked.set_defaults(command=_doctor)

    shown = commands.add_parser("config", help="print the effective settings and where each came from")
    shown.add_argument("--json", action="store_true")
    shown.set_defaults(command=lambda options: config(_load(options), options.json))

    described = commands.add_parser("schema", help="print the protocol's JSON Schema")
    how = described.add_mutually_exclusive_group()
    how.add_argument("--write", action="store_true", help="write schemas/playtest-1.json")
    how.add_argument("--check", action="store_true", help="compare schemas/playtest-1.json with the models")
    described.set_defaults(command=lambda options: schema(options.write, options.check))
    return parser


def _run(options: argparse.Namespace) -> int:
    request = RunRequest(options.gid, options.brief, options.game)
    return run(request, _load(options).settings, options.json)


def _doctor(options: argparse.Namespace) -> int:
    settings = _load(options).settings
    return doctor(
        chromium=settings.chromium,
        api_key_present=settings.api_key is not None,
        base_url=settings.base_url,
        probe=lambda: probe_endpoint(settings),
        as_json=options.json,
        install=options.install,
    )


def _load(options: argparse.Namespace) -> Loaded:
    given: dict[str, Any] = {name: getattr(options, name, None) for name, _, _ in RUN_SETTINGS.values()}
    return load(given)


def _tell(code: ExitCode, message: str, hint: str, as_json: bool) -> int:
    message = sanitize(message, 2000)
    if as_json:
        document = ErrorDocument(error=ErrorBody(code=code, message=message, hint=hint))
        sys.stdout.write(dump_json(document.to_json()) + "\n")
    sys.stderr.write(f"playtest: {message}\n" + (f"  {hint}\n" if hint else ""))
    return int(code)


def _crash_log() -> str:
    with tempfile.NamedTemporaryFile("w", prefix="playtest-crash-", suffix=".log", delete=False) as file:
        file.write(f"playtest {__version__}, python {sys.version}\n\n{traceback.format_exc()}")
    return file.name
