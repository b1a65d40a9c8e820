"""Words in sources: what is left of retired contracts, and words that must not be there at all."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from playtest.checking.source_files import SourceFile
from playtest.protocol.source_check import Mention
from playtest.texts import sanitize

Where: TypeAlias = Literal["code", "string", "comment", "text"]
# The state that a game reported of itself for a driver to read: the view, its list of what to tap, and what was taken.
RETIRED = ("_forensicsView", "occupied", "targets")
_RETIRED = re.compile(r"(?<![\w$])(?:_?forensicsView|occupied|targets)(?![\w$])")
_RETIRED_BYTES = re.compile(_RETIRED.pattern.encode())
# In prose `targets` is a word like any other; written as code it is the contract's.
_AS_CODE = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|'[^'\n]*'|[\w$\]]+\??\.\w+|\w+\s*[:\[=]")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_ESCAPE = re.compile(
    r"\\u\{([0-9a-fA-F]{1,6})\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|&#(\d{1,7});|&#[xX]([0-9a-fA-F]{1,6});"
)
_LONGEST = 160


class _Hit(NamedTuple):
    word: str
    line: int
    where: Where
    text: str


def residue(file: SourceFile) -> Iterator[Mention]:
    """Each place where a retired contract is still spoken of.

    `targets` and `occupied` are ordinary words too: one alone is listed, but isn't sure to be the contract's.
    """
    hits = [*_in_scripts(file), *_in_text(file)]
    words = {hit.word.lstrip("_") for hit in hits if hit.where != "comment"}
    together = "forensicsView" in words or {"occupied", "targets"} <= words
    for hit in sorted(hits, key=lambda hit: hit.line):
        sure = together or hit.word.endswith("forensicsView")
        yield Mention(file=file.path, line=hit.line, text=hit.text, word=hit.word, where=hit.where, sure=sure)


def _in_scripts(file: SourceFile) -> Iterator[_Hit]:
    for script in file.scripts:
        lines = script.source.split(b"\n")
        for match in _RETIRED_BYTES.finditer(script.source):
            line = script.source.count(b"\n", 0, match.start())
            text = lines[line].decode("utf-8", "replace")
            where = script.where(match.start(), match.end())
            yield _Hit(match[0].decode(), script.first_line + line, where, _shown(text))


def _in_text(file: SourceFile) -> Iterator[_Hit]:
    """Hits outside scripts. Of prose only what is written as code counts."""
    if file.is_code:
        return
    in_scripts = {script.first_line + line for script in file.scripts for line in range(script.source.count(b"\n") + 1)}
    fenced = False
    for number, line in enumerate(file.text.split("\n"), start=1):
        if _FENCE.match(line):
            fenced = not fenced
        if number in in_scripts or not _RETIRED.search(line):
            continue
        as_code = line if fenced else " ".join(_AS_CODE.findall(line))
        for word in dict.fromkeys(_RETIRED.findall(line)):
            if word.endswith("forensicsView") or word in _RETIRED.findall(as_code):
                yield _Hit(word, number, "text", _shown(line))


def red_words(file: SourceFile, words: Sequence[str]) -> Iterator[Mention]:
    """Each line where one of the words stands: in any width and case, also written in escapes."""
    patterns = [(word, re.compile(_pattern(word))) for word in words]
    for number, line in enumerate(file.text.split("\n"), start=1):
        plain = _plain(line)
        for word, pattern in patterns:
            if pattern.search(plain):
                where = _where(file, number, line, word)
                yield Mention(file=file.path, line=number, text=_shown(line), word=word, where=where)


def _where(file: SourceFile, number: int, line: str, word: str) -> Where:
    script = next((one for one in file.scripts if 0 <= number - one.first_line <= one.source.count(b"\n")), None)
    if script is None:
        return "text"
    found = re.search(re.escape(word), line, re.IGNORECASE)
    if found is None or not file.is_code:  # written in escapes; or a page, where a line's place in its script differs
        return "string"
    before = sum(len(one) + 1 for one in script.source.split(b"\n")[: number - 1])
    start = before + len(line[: found.start()].encode())
    return script.where(start, start + len(found[0].encode()))


def _pattern(word: str) -> str:
    """Whole words in alphabets that set words apart: `ass` is not in `class`."""
    plain = _plain(word)
    before = r"(?<![a-z0-9])" if re.match("[a-z0-9]", plain) else ""
    after = r"(?![a-z0-9])" if re.search("[a-z0-9]$", plain) else ""
    return before + re.escape(plain) + after


def _plain(text: str) -> str:
    text = _ESCAPE.sub(_character, text)
    return unicodedata.normalize("NFKC", text).casefold()


def _character(match: re.Match[str]) -> str:
    decimal = match[4]
    code = int(decimal) if decimal else int(match[1] or match[2] or match[3] or match[5], 16)
    return chr(code) if code <= 0x10FFFF else match[0]


def _shown(line: str) -> str:
    return sanitize(line, _LONGEST)
