"""`playtest schema`: print, write or check the JSON Schemas of the contracts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from playtest.commands.arguments import Commands
from playtest.errors import UsageError
from playtest.files import write_atomically
from playtest.protocol.exit_codes import ExitCode
from playtest.protocol.schema import SCHEMAS

FOLDER = Path("schemas")
PROTOCOL = "playtest-1.json"


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("schema", help="print a contract's JSON Schema, or write and check them all")
    parser.add_argument("name", nargs="?", choices=sorted(SCHEMAS), default=PROTOCOL, help=f"default {PROTOCOL}")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--write", action="store_true", help="write schemas/*.json")
    how.add_argument("--check", action="store_true", help="compare schemas/*.json with the models")
    parser.set_defaults(command=lambda options: schema(options.name, options.write, options.check))


def schema(name: str, write: bool, check: bool) -> int:
    """Exit 0, or 1 when `check` finds a file out of date. Raises UsageError when one can't be read."""
    texts = {FOLDER / file: _text(file) for file in SCHEMAS}
    if write:
        FOLDER.mkdir(exist_ok=True)
        for file, text in texts.items():
            write_atomically(file, text)
            sys.stderr.write(f"wrote {file}\n")
    elif check:
        drifted = [str(file) for file, text in texts.items() if _kept(file) != text]
        if drifted:
            sys.stderr.write(f"{', '.join(drifted)} does not match the models; run `playtest schema --write`\n")
            return ExitCode.FAIL
        sys.stderr.write(f"{', '.join(map(str, texts))} match the models\n")
    else:
        sys.stdout.write(_text(name))
    return ExitCode.PASS


def _text(name: str) -> str:
    return json.dumps(SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n"


def _kept(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{file} can't be read: {error.strerror}", "run `playtest schema --write`") from error
