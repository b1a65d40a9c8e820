"""`playtest spec`: the hash that binds a PlaySpec to its game's sources, and whether it still fits."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from playtest.commands.arguments import Commands, add_json, loaded
from playtest.config import Settings
from playtest.documents import read_play_spec
from playtest.errors import UsageError
from playtest.files import dump_json
from playtest.protocol.exit_codes import ExitCode
from playtest.protocol.validation import SpecCheck
from playtest.sources import SPEC_NAME, check_spec, digest_of, is_spec_name
from playtest.texts import sanitize

_GAME = "the game's folder or page, or its gid"


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("spec", help="bind a PlaySpec to its game's sources, and tell a stale one")
    kinds = parser.add_subparsers(required=True, metavar="hash | check")
    hashing = kinds.add_parser("hash", help="print the hash of a game's sources, for derivedFrom.sourceHash")
    hashing.add_argument("game", metavar="GAME", help=_GAME)
    add_json(hashing)
    hashing.set_defaults(command=lambda options: spec_hash(options.game, loaded(options).settings, options.json))
    checking = kinds.add_parser("check", help="say whether a PlaySpec was made of the sources as they are")
    checking.add_argument("spec", type=Path, metavar="SPEC", help="the PlaySpec")
    checking.add_argument("--game", help=f"{_GAME}; default the spec's own folder, or its gameId")
    add_json(checking)
    checking.set_defaults(
        command=lambda options: spec_check(options.spec, options.game, loaded(options).settings, options.json)
    )


def spec_hash(game: str, settings: Settings, as_json: bool) -> int:
    """Print the hash; with `as_json` each file's too. Raises UsageError when there is nothing to hash."""
    digest = digest_of(_folder(game, settings))
    sys.stdout.write(dump_json(digest.to_json(), indent=2) + "\n" if as_json else f"{digest.source_hash}\n")
    return ExitCode.PASS


def spec_check(file: Path, game: str | None, settings: Settings, as_json: bool) -> int:
    """0 when the spec fits the sources, 1 when it is stale. Raises UsageError when it is no spec, or has no game."""
    spec = read_play_spec(file)
    own = file.parent if (file.parent / "index.html").is_file() else None
    folder = own if game is None and own is not None else _folder(game or spec.game_id, settings)
    if file.resolve().is_relative_to(folder.resolve()) and not is_spec_name(file.name):
        raise UsageError(
            f"{file} lies among the sources that it is bound to",
            f"call it {SPEC_NAME}: that name is left out of the hash",
        )
    report = check_spec(spec, digest_of(folder))
    if as_json:
        sys.stdout.write(dump_json(report.to_json(), indent=2) + "\n")
    else:
        sys.stdout.write(_told(report, sanitize(str(file), 1000), sanitize(str(folder), 1000)))
    return ExitCode.PASS if report.fresh else ExitCode.FAIL


def _told(report: SpecCheck, file: str, folder: str) -> str:
    if report.fresh:
        return f"fits: {file} was made of the sources in {folder} as they are\n"
    lines = [
        f"STALE: {file} was not made of the sources in {folder} as they are; make it anew",
        f"  made of  {report.recorded}",
        f"  they are {report.actual}",
    ]
    for word, names in (("changed", report.changed), ("added", report.added), ("removed", report.removed)):
        lines += [f"  {word:8} {sanitize(name, 300)}" for name in names or ()]
    return "\n".join(lines) + "\n"


def _folder(game: str, settings: Settings) -> Path:
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", game):
        raise UsageError(f"{game} has no sources here", "give the folder of the game's sources with --game")
    path = Path(game)
    if not path.exists():
        path = settings.games_root / game
    if not path.exists():
        raise UsageError(f"there is no game {game}", f"give {_GAME} (games_root is {settings.games_root})")
    return path if path.is_dir() else path.parent
