"""The command line: parse, call one command, and turn whatever happens into an exit code."""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn

from playtest import __version__
from playtest.commands import check, config, doctor, export, floor, gates, replay, run, schema, spec, validate
from playtest.errors import EvidenceError, PlaytestError, UsageError
from playtest.files import dump_json
from playtest.protocol.exit_codes import ExitCode
from playtest.protocol.result import ErrorBody, ErrorDocument
from playtest.texts import sanitize

COMMANDS = (run, floor, gates, replay, export, doctor, config, schema, validate, spec, check)


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

    for command in COMMANDS:
        command.register(commands)
    return parser


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
