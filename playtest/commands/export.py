"""`playtest export`: a recorded roll as a Playwright script of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from playtest.commands.arguments import Commands, loaded
from playtest.config import Settings
from playtest.errors import UsageError
from playtest.exporting import script_of
from playtest.files import write_atomically
from playtest.protocol.exit_codes import ExitCode
from playtest.recordings import read_recording
from playtest.texts import sanitize


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("export", help="write a recorded roll as a Playwright test that needs no playtest")
    parser.add_argument("roll", type=Path, help="the folder of one roll, evidence/playtest/roll-1 for example")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the script; default ROLL/test_roll_N.py")
    parser.set_defaults(command=lambda options: export(options.roll, options.out, loaded(options).settings))


def export(folder: Path, out: Path | None, settings: Settings) -> int:
    """Write the script, `test_roll_N.py` in the roll's folder unless told otherwise, and say how to run it.

    Raises UsageError when there is nothing to export or nowhere to write.
    """
    recording = read_recording(folder)
    if not any(line.action is not None for line in recording.steps):
        raise UsageError(f"the roll in {folder} has no action to play again", "give another roll's folder")
    target = out or folder / f"test_roll_{recording.start.roll}.py"
    if target.is_dir() or not target.parent.is_dir():
        raise UsageError(f"the script can't be written to {target}", "give a file in a folder that exists with --out")
    write_atomically(target, script_of(recording, settings))
    told = sanitize(str(target), 1000)
    sys.stderr.write(f"script  {told}\n  run it: python -m pytest {told}\n")
    return ExitCode.PASS
