"""Finding a game and its brief, and saying clearly when there is none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from playtest.errors import UsageError

GID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
MAX_BRIEF_BYTES = 200_000


class Game(NamedTuple):
    """A game: a folder and the page in it (URL-quoted), or the URL of a page elsewhere."""

    gid: str
    folder: Path | None = None
    page: str = ""
    url: str | None = None

    @property
    def file(self) -> Path | None:
        """The page's file, for a local game."""
        return self.folder / unquote(self.page) if self.folder is not None else None


def check_gid(gid: str) -> str:
    """The gid itself. Raises UsageError when it isn't one safe path segment."""
    if not GID.fullmatch(gid):
        raise UsageError(
            f"{gid!r} is not a game id", "a gid is letters, digits, dots, dashes, underscores; first a letter or digit"
        )
    return gid


def gid_of(where: str) -> str:
    """A gid for a game that was only given by its place: its folder's name, or its host's."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", where):
        name = urlsplit(where).hostname or ""
    else:
        path = Path(where).resolve()
        name = path.name if path.is_dir() else path.parent.name
    return re.sub(r"^[^A-Za-z0-9]+", "", re.sub(r"[^A-Za-z0-9._-]", "_", name))[:128] or "game"


def find_game(gid: str, where: str | None, games_root: Path) -> Game:
    """The game named by `where` (a page, a folder or an http(s) URL), else `<games_root>/<gid>`.

    Raises UsageError where there is nothing to play.
    """
    check_gid(gid)
    if where is not None and re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", where):
        if not where.startswith(("http://", "https://")):
            raise UsageError(f"not an http(s) URL: {where}", "give http://host[:port]/path or a local path")
        return Game(gid, url=where)
    path = Path(where) if where is not None else games_root / gid
    page = path / "index.html" if path.is_dir() else path
    if not page.is_file():
        hint = "check the path given with --game" if where else f"known here: {_known(games_root)}; or give --game"
        raise UsageError(f"no game {gid}: there is no file {page}", hint)
    try:
        with page.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise UsageError(f"the game {page} can't be read: {error.strerror}", "check its permissions") from error
    return Game(gid, folder=page.parent.resolve(), page=quote(page.name))


def read_brief(path: Path) -> str:
    """The brief's text. Raises UsageError when it is missing, empty, too long, or no text."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"the brief {path} can't be read: {error.strerror or error}", "check --brief") from error
    if len(data) > MAX_BRIEF_BYTES:
        raise UsageError(f"the brief {path} has {len(data)} bytes", f"keep it under {MAX_BRIEF_BYTES}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"the brief {path} is not UTF-8 text", "save it as UTF-8") from error
    if not text.strip():
        raise UsageError(f"the brief {path} is empty", "the brief is all that the tester knows of the game")
    return text


def _known(games_root: Path) -> str:
    if not games_root.is_dir():
        return f"none ({games_root} is no folder; set games_root)"
    found = sorted(page.parent.name for page in games_root.glob("*/index.html"))
    return ", ".join(found[:20]) or f"none under {games_root}"
