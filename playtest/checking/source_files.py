"""A game's sources as the check sees them: code, pages, texts; and which code a page loads."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from playtest.checking.pages import read_page
from playtest.checking.scripts import Grammar, NamedFile, Script, parse_script

GRAMMARS: dict[str, Grammar] = {
    ".js": "js", ".mjs": "js", ".cjs": "js", ".jsx": "js",
    ".ts": "ts", ".mts": "ts", ".cts": "ts", ".tsx": "tsx",
}  # fmt: skip
PAGES = (".html", ".htm", ".xhtml", ".vue", ".svelte")
TEXTS = (".md", ".txt", ".prompt", ".yaml", ".yml", ".toml", ".json", ".j2", ".jinja", ".tmpl", ".py")
READ = (*GRAMMARS, *PAGES, *TEXTS)
"""The endings of the files that are read."""
# The engine's own files call the engine too; that shows nothing about the game.
FOREIGN_FOLDERS = frozenset({"node_modules", "vendor", "vendors", "third_party", "third-party"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: its path from the folder, its text, and the scripts in it. `named` are the files that a page names."""

    path: str
    text: str
    scripts: tuple[Script, ...] = ()
    named: tuple[str, ...] = ()

    @property
    def is_page(self) -> bool:
        """Whether a browser can open it."""
        return self.path.lower().endswith(PAGES)

    @property
    def is_code(self) -> bool:
        """Whether it is a script as a whole."""
        return posixpath.splitext(self.path.lower())[1] in GRAMMARS

    @property
    def is_foreign(self) -> bool:
        """Whether it comes from elsewhere: an engine, a library."""
        parts = self.path.lower().split("/")
        return not FOREIGN_FOLDERS.isdisjoint(parts[:-1]) or ".min." in parts[-1]


def source_file(path: str, data: bytes) -> SourceFile:
    """The file, its code parsed. Bytes that are no UTF-8 are replaced."""
    text = data.decode("utf-8-sig", "replace")
    ending = posixpath.splitext(path.lower())[1]
    if ending in GRAMMARS:
        return SourceFile(path, text, (parse_script(text.encode(), GRAMMARS[ending]),))
    if ending in PAGES:
        page = read_page(text)
        scripts = tuple(parse_script(piece.code.encode(), piece.grammar, piece.first_line) for piece in page.code)
        return SourceFile(path, text, scripts, tuple(page.files))
    return SourceFile(path, text)


def loaded_by_pages(files: Mapping[str, SourceFile]) -> set[str]:
    """The paths of the code that pages load, directly or through other code. All code, where there is no page.

    A text in loaded code that names a file counts as loading it: loaders of all kinds take such texts.
    """
    reached = {path for path, file in files.items() if file.is_page and not file.is_foreign}
    if not reached:
        return set(files)
    waiting = list(reached)
    while waiting:
        here = waiting.pop()
        for found in _named_by(files[here], files):
            if found not in reached:
                reached.add(found)
                waiting.append(found)
    return reached


def _named_by(file: SourceFile, files: Mapping[str, SourceFile]) -> Iterator[str]:
    for name in file.named:
        yield from _resolve(NamedFile(name, is_beginning=False), file.path, files)
    for script in file.scripts:
        for named in script.named_files():
            yield from _resolve(named, file.path, files)


def _resolve(named: NamedFile, source: str, files: Mapping[str, SourceFile]) -> Iterator[str]:
    """The files that a text may mean: from the file it stands in, or from the folder of the whole."""
    text = unquote(named.text.partition("?")[0].partition("#")[0])
    if not text or len(text) > 300 or "\n" in text or "://" in text:
        return
    for base in {posixpath.dirname(source), ""}:
        path = posixpath.normpath(posixpath.join(base, text.lstrip("/") if text.startswith("/") else text))
        if named.is_beginning:  # `./levels/${n}.js`: any file whose path begins so
            beginning = path + "/" if text.endswith("/") else path
            yield from (one for one in files if beginning.strip("./") and one.startswith(beginning))
            continue
        stem, ending = posixpath.splitext(path)
        tries = [path, *(path + more for more in GRAMMARS), *(f"{path}/index{more}" for more in GRAMMARS)]
        if ending in GRAMMARS:  # TypeScript names the file that it becomes
            tries += [stem + more for more in GRAMMARS]
        yield from (one for one in tries if one in files)
