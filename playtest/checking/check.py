"""The whole check of a folder's sources: calls, red-line words, residue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from playtest.checking.scripts import Call
from playtest.checking.source_files import SourceFile, loaded_by_pages, source_file
from playtest.checking.words import red_words, residue
from playtest.protocol.source_check import EngineCalls, Mention, Place, SourceCheck
from playtest.texts import sanitize

_MOST_PLACES = 5
_LONGEST = 160
_AS_WHAT = {"code": "in code, but not called", "string": "in a text", "comment": "in a comment"}


def check_sources(
    folder: str,
    contents: Mapping[str, bytes],
    *,
    prefixes: Sequence[str],
    words: Sequence[str],
    strict: bool = False,
    notes: Sequence[str] = (),
) -> SourceCheck:
    """The check of files by their paths.

    Not ok: a prefix that is never called in code that a page loads; a red-line word anywhere; a retired contract that
    a text still teaches. Code that still keeps one is listed only, unless `strict`: it may serve for debugging.
    """
    files = {path: source_file(path, data) for path, data in contents.items()}
    loaded = loaded_by_pages(files)
    own = {path for path, file in files.items() if not file.is_foreign and path in loaded}
    if not any(files[path].scripts for path in own):  # all the code there is comes in one built file
        own = set(loaded)
    calls = tuple(_engine_calls(prefix, files, own) for prefix in prefixes)
    red = tuple(mention for file in files.values() for mention in red_words(file, words))
    left = tuple(mention for file in files.values() if not file.is_foreign for mention in residue(file))
    problems = tuple(_problems(calls, red, left, strict))
    return SourceCheck(
        ok=not problems,
        folder=folder,
        files=len(files),
        calls=calls,
        red_words=red,
        residue=left,
        problems=problems,
        notes=(*notes, *_notes(files, own, prefixes)),
    )


def _engine_calls(prefix: str, files: Mapping[str, SourceFile], own: set[str]) -> EngineCalls:
    found = [
        (path, call, name)
        for path in sorted(own)
        for script in files[path].scripts
        for call in script.calls()
        if (name := _begins(call, prefix)) is not None
    ]
    places = tuple(Place(file=path, line=call.line, text=sanitize(name, _LONGEST)) for path, call, name in found)
    not_calls = () if found else tuple(_elsewhere(prefix, files, own))
    return EngineCalls(prefix=prefix, calls=len(found), places=places[:_MOST_PLACES], not_calls=not_calls)


def _begins(call: Call, prefix: str) -> str | None:
    """The call's name that begins with the prefix, at whatever holds it: `this.ctx.audio.play` begins with `audio.`."""
    for name in sorted(call.names):
        starts = (0, *(dot.end() for dot in re.finditer(r"\.", name)))
        if any(name.startswith(prefix, start) for start in starts):
            return name
    return None


def _elsewhere(prefix: str, files: Mapping[str, SourceFile], own: set[str]) -> Iterator[Place]:
    """Where a prefix that is never called stands nevertheless, and as what."""
    found = (place for path in sorted(files) for place in _standing(prefix.encode(), files[path], path in own))
    yield from islice(found, _MOST_PLACES)


def _standing(prefix: bytes, file: SourceFile, is_own: bool) -> Iterator[Place]:
    for script in file.scripts:
        for match in re.finditer(re.escape(prefix), script.source):
            line = script.source.count(b"\n", 0, match.start())
            what = _AS_WHAT[script.where(match.start(), match.end())]
            if file.is_foreign:
                what = "in an engine's or library's own code"
            elif not is_own and what == _AS_WHAT["code"]:
                what = "in code that no page loads"
            text = script.source.split(b"\n")[line].decode("utf-8", "replace")
            yield Place(file=file.path, line=script.first_line + line, text=f"{what}: {sanitize(text, _LONGEST)}")


def _problems(
    calls: Sequence[EngineCalls], red: Sequence[Mention], left: Sequence[Mention], strict: bool
) -> Iterator[str]:
    for one in calls:
        if not one.calls:
            yield f"{one.prefix} is never called"
    for mention in red:
        yield f"{mention.file}:{mention.line}: the red-line word {mention.word}"
    for mention in left:
        if mention.sure and (strict or mention.where == "text"):
            yield f"{mention.file}:{mention.line}: {mention.word} of a retired contract"


def _notes(files: Mapping[str, SourceFile], own: set[str], prefixes: Sequence[str]) -> Iterator[str]:
    if not prefixes:
        yield "no call prefixes were listed: whether the game calls its engine was not checked"
    for path, file in sorted(files.items()):
        broken = next((line for line in (script.broken_at for script in file.scripts) if line is not None), None)
        if broken is not None and not file.is_foreign:
            yield f"{path}:{broken}: can't be parsed here; what comes after was read as far as it could be"
        if file.scripts and not file.is_foreign and path not in own:
            yield f"{path}: no page loads it; its calls don't count"
