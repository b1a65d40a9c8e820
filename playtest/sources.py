"""The content hash of a game's sources: what a PlaySpec is bound to.

Names and contents of all files that the game's folder serves decide; times, modes, and where the folder lies do not.
Left out is what isn't the game: its brief, PlaySpecs, evidence of ours, version control, editors' files.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from playtest.errors import UsageError
from playtest.protocol.play_spec import PlaySpec
from playtest.protocol.validation import SourceDigest, SpecCheck
from playtest.texts import whole

VERSION = b"playtest-sources/1\n"
SPEC_NAME = "play-spec.json"
NOT_THE_GAME = frozenset(
    {"brief.md", ".git", ".hg", ".svn", ".idea", ".vscode", ".DS_Store", "Thumbs.db", "__pycache__"}
)
EVIDENCE = frozenset({"evidence/playtest", "evidence/history", "evidence/floor", "evidence/gates"})


def is_spec_name(name: str) -> bool:
    """Whether a file of that name is a PlaySpec, and no source: `play-spec.json`, `easy.play-spec.json`."""
    return name == SPEC_NAME or name.endswith(f".{SPEC_NAME}")


class _Source(NamedTuple):
    name: str
    content: str  # sha256, hexadecimal


def digest_of(folder: Path) -> SourceDigest:
    """The hash of all sources in a folder, and each file's own. Raises UsageError where there are none to read."""
    root = folder.resolve()
    try:
        sources = sorted(_sources(root), key=lambda source: _bytes(source.name))
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder} can't be read: {error.strerror}", "check its permissions"
        ) from error
    if not sources:
        raise UsageError(f"there is no game in {folder}", "give the folder of its sources, or its page")
    total = hashlib.sha256(VERSION)
    for source in sources:
        name = _bytes(source.name)
        total.update(b"%d:%b%b" % (len(name), name, bytes.fromhex(source.content)))
    return SourceDigest(
        folder=whole(str(folder)),
        source_hash=f"sha256:{total.hexdigest()}",
        files={whole(source.name): f"sha256:{source.content}" for source in sources},
    )


def check_spec(spec: PlaySpec, sources: SourceDigest) -> SpecCheck:
    """Whether the spec was made of these sources; and if it kept each file's hash, which ones are others now."""
    recorded = spec.derived_from
    fresh = recorded.source_hash == sources.source_hash
    before, after = recorded.files, sources.files
    if fresh or before is None:
        return SpecCheck(game_id=spec.game_id, fresh=fresh, recorded=recorded.source_hash, actual=sources.source_hash)
    return SpecCheck(
        game_id=spec.game_id,
        fresh=False,
        recorded=recorded.source_hash,
        actual=sources.source_hash,
        changed=tuple(sorted(name for name in before.keys() & after.keys() if before[name] != after[name])),
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
    )


def _sources(root: Path) -> Iterator[_Source]:
    """Every file below the root. A link counts as what it leads to, as long as that lies below the root too."""
    for folder, folders, files in os.walk(root, onerror=_raise):
        place = Path(folder)
        for name in list(folders):
            path = place / name
            if name in NOT_THE_GAME or path.relative_to(root).as_posix() in EVIDENCE:
                folders.remove(name)
            elif path.is_symlink() and _inside(root, path):  # its files are read where they are
                to = path.resolve().relative_to(root).as_posix()
                yield _Source(f"{_name(root, path)}/", hashlib.sha256(_bytes(to)).hexdigest())
        for name in files:
            path = place / name
            if name in NOT_THE_GAME or is_spec_name(name):
                continue
            if _inside(root, path) and path.is_file():
                with path.open("rb") as file:
                    yield _Source(_name(root, path), hashlib.file_digest(file, "sha256").hexdigest())


def _inside(root: Path, path: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


def _name(root: Path, path: Path) -> str:
    """The path from the root. Accented letters are composed: some systems keep them in parts."""
    return unicodedata.normalize("NFC", path.relative_to(root).as_posix())


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _raise(error: OSError) -> NoReturn:
    raise error
