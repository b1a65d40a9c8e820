"""`playtest schema`: print, write or check the protocol's JSON Schema."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from playtest.commands.arguments import Commands
from playtest.errors import UsageError
from playtest.files import write_atomically
from playtest.protocol.exit_codes import ExitCode
from playtest.protocol.schema import protocol_schema

FILE = Path("schemas/playtest-1.json")


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("schema", help="print the protocol's JSON Schema")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--write", action="store_true", help="write schemas/playtest-1.json")
    how.add_argument("--check", action="store_true", help="compare schemas/playtest-1.json with the models")
    parser.set_defaults(command=lambda options: schema(options.write, options.check))


def schema(write: bool, check: bool) -> int:
    """Exit 0, or 1 when `check` finds the file out of date. Raises UsageError when it can't be read."""
    text = json.dumps(protocol_schema(), indent=2, ensure_ascii=False) + "\n"
    if write:
        FILE.parent.mkdir(exist_ok=True)
        write_atomically(FILE, text)
        sys.stderr.write(f"wrote {FILE}\n")
    elif check:
        try:
            kept = FILE.read_text("utf-8")
        except OSError as error:
            raise UsageError(f"{FILE} can't be read: {error.strerror}", "run `playtest schema --write`") from error
        if kept != text:
            sys.stderr.write(f"{FILE} does not match the models; run `playtest schema --write`\n")
            return ExitCode.FAIL
        sys.stderr.write(f"{FILE} matches the models\n")
    else:
        sys.stdout.write(text)
    return ExitCode.PASS
