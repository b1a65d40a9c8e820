"""The code inside an HTML page: its scripts, its handlers, and the files that it loads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

from playtest.checking.scripts import Grammar

_CODE_TYPES = {"", "module", "text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript"}
_FILES = {"src", "href", "data", "data-main"}


class Piece(NamedTuple):
    """A stretch of code in a page, and the line of the page that it begins in."""

    code: str
    first_line: int
    grammar: Grammar = "js"


@dataclass(slots=True)
class Page:
    """What a page has: its own code, and the files that it names."""

    code: list[Piece] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def read_page(text: str) -> Page:
    """The page's code: inline scripts and event handlers. What is commented out, and data in scripts, is none."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self._grammar: Grammar | None = None
        self._is_map = False
        self._first_line = 1
        self._script: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        line = self.getpos()[0]
        for name, value in values.items():
            if name.startswith("on") and value.strip():
                self.page.code.append(Piece(value, line))
            elif name in _FILES and value.strip():
                self.page.files.append(value.strip())
        if tag != "script":
            return
        kind = values.get("type", "").partition(";")[0].strip().lower()
        self._is_map = kind == "importmap"
        if kind in _CODE_TYPES or "typescript" in kind:
            typed = "typescript" in kind or values.get("lang") in ("ts", "tsx")
            self._grammar = "ts" if typed else "js"
        self._first_line = line + (self.get_starttag_text() or "").count("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)  # in HTML a slash at the end closes nothing
        if tag in self.CDATA_CONTENT_ELEMENTS:
            self.set_cdata_mode(tag)

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script" and self._is_map:
            self.page.files += re.findall(r':\s*"([^"]+)"', data)
        elif self.cdata_elem == "script" and self._grammar is not None:
            self._script.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._finish()

    def close(self) -> None:
        super().close()
        self._finish()

    def _finish(self) -> None:
        code = "".join(self._script)
        if code.strip() and self._grammar is not None:
            self.page.code.append(Piece(code, self._first_line, self._grammar))
        self._script, self._grammar = [], None
