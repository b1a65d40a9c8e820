"""`playtest check`: a game's sources, without running them: fast, and before anything is played."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from playtest.checking.check import check_sources
from playtest.checking.source_files import READ
from playtest.commands.arguments import Commands, add_json, loaded
from playtest.config import Settings
from playtest.documents import read_play_spec
from playtest.errors import UsageError
from playtest.files import dump_json
from playtest.protocol.exit_codes import ExitCode
from playtest.protocol.source_check import Mention, SourceCheck
from playtest.sources import EVIDENCE, NOT_THE_GAME, SPEC_NAME
from playtest.texts import sanitize, whole

MAX_BYTES = 20_000_000
_MOST_LINES = 20


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("check", help="check a game's sources without running them")
    parser.add_argument("folder", type=Path, metavar="SOURCE_DIR", help="the game's folder, or one file")
    parser.add_argument("--calls", action="append", metavar="PREFIX", help="what engine calls begin with; repeatable")
    parser.add_argument("--spec", type=Path, metavar="FILE", help=f"the PlaySpec with the prefixes; else {SPEC_NAME}")
    parser.add_argument("--red-words", type=Path, metavar="FILE", help="red-line words, one a line")
    parser.add_argument("--strict", action="store_true", help="fail for retired contracts in code too")
    add_json(parser)
    parser.set_defaults(command=_from_options)


def _from_options(options: argparse.Namespace) -> int:
    settings = loaded(options).settings
    prefixes = _prefixes(options.calls, options.spec, options.folder, settings)
    return check(
        options.folder,
        prefixes,
        _words(options.red_words or settings.red_words),
        strict=options.strict,
        as_json=options.json,
    )


def check(folder: Path, prefixes: list[str], words: list[str], *, strict: bool, as_json: bool) -> int:
    """0 when nothing is wrong, else 1. Raises UsageError when there is nothing to check."""
    notes: list[str] = []
    contents = dict(_read(folder, notes))
    if not contents:
        raise UsageError(f"there are no sources in {folder}", f"files that are read: {' '.join(READ)}")
    report = check_sources(whole(str(folder)), contents, prefixes=prefixes, words=words, strict=strict, notes=notes)
    if as_json:
        sys.stdout.write(dump_json(report.to_json(), indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _told(report)))
    return ExitCode.PASS if report.ok else ExitCode.FAIL


def _prefixes(given: list[str] | None, spec: Path | None, folder: Path, settings: Settings) -> list[str]:
    """The prefixes of the flags, else of the spec, else of the settings."""
    if given is None:
        own = folder / SPEC_NAME
        file = spec or (own if own.is_file() else None)
        given = list(read_play_spec(file).expected_engine_call_prefixes or ()) if file else list(settings.engine_calls)
    if any(not prefix.strip() for prefix in given):
        raise UsageError("an empty prefix of calls: every name begins so", "give `audio.` for example")
    return list(dict.fromkeys(given))


def _words(file: Path | None) -> list[str]:
    """One word a line; empty lines and those that begin with # are none."""
    if file is None:
        return []
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        hint = "give a UTF-8 file, one word a line"
        raise UsageError(f"the red-line words {file} can't be read: {error}", hint) from error
    return list(dict.fromkeys(word for line in lines if (word := line.strip()) and not word.startswith("#")))


def _read(folder: Path, notes: list[str]) -> Iterator[tuple[str, bytes]]:
    """The files with code or text below the folder, by their paths from it."""
    if folder.is_file():
        yield whole(folder.name), folder.read_bytes()
        return
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", "give the folder of the game's sources")
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(
            name
            for name in folders
            if name not in NOT_THE_GAME
            and name != "node_modules"
            and (here / name).relative_to(folder).as_posix() not in EVIDENCE
        )
        for name in sorted(names):
            file = here / name
            if file.suffix.lower() not in READ or name in NOT_THE_GAME - {"brief.md"} or not file.is_file():
                continue
            path = whole(file.relative_to(folder).as_posix())
            try:
                if file.stat().st_size <= MAX_BYTES:
                    yield path, file.read_bytes()
                else:
                    notes.append(f"{path}: longer than {MAX_BYTES} bytes, was not read")
            except OSError as error:
                raise UsageError(f"{file} can't be read: {error.strerror}", "check its permissions") from error


def _told(report: SourceCheck) -> Iterator[str]:
    for one in report.calls:
        first = f", first at {one.places[0].file}:{one.places[0].line} {one.places[0].text}" if one.places else ""
        yield f"{'ok  ' if one.calls else 'FAIL'} calls {sanitize(one.prefix, 100)}: {one.calls}{first}"
        yield from (f"       {place.file}:{place.line} {place.text}" for place in one.not_calls)
    yield from _mentions("red-line words", report.red_words)
    yield from _mentions("residue of retired contracts", report.residue)
    yield from (f"note {sanitize(note, 500)}" for note in report.notes)
    sure = sum(mention.sure for mention in report.residue)
    counts = (
        f"{report.files} files, {len(report.red_words)} red-line words, {sure} of {len(report.residue)} residues sure"
    )
    yield f"{'ok  ' if report.ok else 'FAIL'} {sanitize(report.folder, 1000)}: {counts}"


def _mentions(title: str, mentions: tuple[Mention, ...]) -> Iterator[str]:
    if mentions:
        yield f"{title}:"
    for one in mentions[:_MOST_LINES]:
        doubt = "" if one.sure else ", perhaps"
        yield f"  {sanitize(one.file, 300)}:{one.line} {one.word} ({one.where}{doubt}): {one.text}"
    if len(mentions) > _MOST_LINES:
        yield f"  and {len(mentions) - _MOST_LINES} more; --json lists all"
