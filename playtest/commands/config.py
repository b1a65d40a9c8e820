"""`playtest config`: the effective settings and where each came from."""

from __future__ import annotations

import json
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from playtest.commands.arguments import Commands, add_json, loaded
from playtest.config import Loaded, variable_of
from playtest.protocol.exit_codes import ExitCode


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("config", help="print the effective settings and where each came from")
    add_json(parser)
    parser.set_defaults(command=lambda options: config(loaded(options), options.json))


def config(effective: Loaded, as_json: bool) -> int:
    """Print a table, or one JSON document on stdout. Keys are masked."""
    values = effective.settings.model_dump(mode="json")  # a SecretStr dumps as asterisks
    if as_json:
        document = {name: {"value": value, "from": effective.origins[name]} for name, value in values.items()}
        sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        return ExitCode.PASS
    table = Table(box=None, pad_edge=False)
    for heading in ("setting", "value", "from", "variable"):
        table.add_column(heading, overflow="fold")
    for name, value in values.items():
        table.add_row(name, Text("" if value is None else str(value)), effective.origins[name], variable_of(name))
    Console().print(table)
    return ExitCode.PASS
