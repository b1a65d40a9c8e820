"""From the text that a model wrote to the one JSON object that it meant.

The rule throughout: what is unambiguous is forgiven, what could be read in two ways is refused and asked for again.
Asking again costs a fraction of a cent; acting on a misreading costs a wrong verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from json_repair import repair_json

from playtest.errors import ReplyRefused
from playtest.texts import spelled_out, whole

EXCERPT_CHARS = 160
RAW_CHARS = 20_000
# The longest reply with sense in it is some 8 KB; repairing more is only time spent on a model that ran away.
REPAIRABLE_CHARS = 50_000

_CLOSE = re.compile(r"</(?:mm:)?think(?:ing)?>", re.IGNORECASE)
# What can stand at the top level: thinking, or a brace followed by a key, quoted or bare.
_TOP = re.compile(r"</?(?:mm:)?think(?:ing)?>|\{(?=\s*(?:[\"'“}]|\w+\s*:))", re.IGNORECASE)
_INSIDE = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|[{}\"]", re.DOTALL)
_FENCE_BEFORE = re.compile(r"```[\w-]*\s*\Z")
_LIST_BEFORE = re.compile(r"\[\s*\Z")
_ENDING = re.compile(r"\s*(?:```)?\s*\Z")
_STRINGS = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'", re.DOTALL)
_NUMBER_VALUE = re.compile(r":\s*([-+]?\.?\d[^,}\]\n\"']*)")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*(?://.*)?")


class _Candidate(NamedTuple):
    """A top-level object in the text; `end` is None when it never closes."""

    start: int
    end: int | None


def strip_thinking(text: str) -> str:
    """The text without the model's thinking.

    Closed blocks go; a closing tag without an opening one ends thinking that began before the text. Behind an
    opening tag that is never closed all is thinking, except an object with which the text ends: a draft is followed
    by more thoughts, a final answer is followed by nothing. Tags inside JSON were on the game's screen and stay.
    """
    kept, at = "", 0
    while found := _TOP.search(text, at):
        start, mark = found.start(), found.group()
        if mark == "{" and (end := _closing_brace(text, start)) is not None:
            kept, at = kept + text[at:end], end
        elif mark == "{":
            # Cut off, or a draft in thinking that began before the text: then a closing tag follows.
            closes = list(_CLOSE.finditer(text, start))
            return strip_thinking(text[closes[-1].end() :]) if closes else (kept + text[at:]).strip()
        elif mark.startswith("</"):
            kept, at = "", found.end()
        elif close := _CLOSE.search(text, found.end()):
            kept, at = kept + text[at:start], close.end()
        else:
            return (kept + text[at:start] + _final_object(text, found.end())).strip()
    return (kept + text[at:]).strip()


def extract_json(text: str) -> dict[str, Any]:
    """The one JSON object in the text.

    Thinking and prose are put aside, objects in code fences come first, single quotes and trailing commas are
    repaired. Raises ReplyRefused, worded for the model, when there is none, when it was cut off, when it stands in
    a list, and when there are several that differ. Escaped lone surrogates are spelled out: no record can hold them.
    """
    strict = _strict(text.strip())
    if isinstance(strict, dict):
        return _spelled_out(strict)
    text = strip_thinking(text)
    candidates = list(_objects(text))
    if not candidates:
        _refuse("there is no JSON object in the reply", text)
    fenced = [found for found in candidates if _preceded(_FENCE_BEFORE, text, found.start)]
    candidates = fenced or candidates
    if any(found.end is None for found in candidates):
        _refuse("the JSON object was cut off before its end; send it again, whole and shorter", text)
    if any(_preceded(_LIST_BEFORE, text, found.start) for found in candidates):
        _refuse("a list was sent; send one object with one action, the next step comes after it", text)
    objects = [_parse(text[found.start : found.end]) for found in candidates]
    return _spelled_out(_the_one(objects, text))


def _spelled_out(found: dict[str, Any]) -> dict[str, Any]:
    return {whole(name): spelled_out(value) for name, value in found.items()}


def _the_one(objects: list[dict[str, Any]], text: str) -> dict[str, Any]:
    replies = [found for found in objects if ("action" in found) or ("verdict" in found)] or objects
    if any(other != replies[0] for other in replies[1:]):
        _refuse(f"there are {len(replies)} different JSON objects in the reply; send exactly one", text)
    return replies[0]


def _final_object(text: str, at: int) -> str:
    """The object with which the text ends, its code fence included, or nothing."""
    for start, end in _objects(text, at):
        if end is not None and _ENDING.match(text, end):
            fence = _FENCE_BEFORE.search(text, max(at, start - 20), start)
            return text[fence.start() if fence else start :]
    return ""


def _objects(text: str, at: int = 0) -> Iterator[_Candidate]:
    """The top-level objects in the text from `at` on."""
    while found := _TOP.search(text, at):
        at = found.end()
        if found.group() == "{":
            end = _closing_brace(text, found.start())
            yield _Candidate(found.start(), end)
            at = len(text) if end is None else end


def _closing_brace(text: str, start: int) -> int | None:
    """The index behind the brace that closes the one at `start`. Braces inside double-quoted strings don't count."""
    depth = 0
    for found in _INSIDE.finditer(text, start):
        if found.group() == "{":
            depth += 1
        elif found.group() == "}":
            depth -= 1
            if depth == 0:
                return found.end()
        elif found.group() == '"':
            return None
    return None


def _parse(candidate: str) -> dict[str, Any]:
    strict = _strict(candidate)
    if isinstance(strict, dict):
        return strict
    if len(candidate) > REPAIRABLE_CHARS:
        _refuse("the JSON object is not valid and far too long; send a short one", candidate)
    bare = _STRINGS.sub("''", candidate)
    for number in _NUMBER_VALUE.findall(bare):
        # A repair would keep the first digits and act on them.
        if not _NUMBER.fullmatch(number.strip()):
            _refuse(f"{number.strip()[:40]!r} is not a number", candidate)
    try:
        repaired = repair_json(candidate, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        repaired = None
    if not isinstance(repaired, dict) or not repaired:
        _refuse("the JSON object in the reply can't be read", candidate)
    return repaired


def _strict(text: str) -> Any:
    """The JSON value, or None where the text is not JSON. NaN passes here; the reply's model refuses it by name."""
    try:
        return json.loads(text, strict=False, object_pairs_hook=_without_contradiction)
    except (ValueError, RecursionError):
        return None


def _without_contradiction(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose repeated keys agree. Raises ReplyRefused: two actions under one name are two answers."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result and result[key] != value:
            _refuse(f"{key!r} stands twice in one object, with different values", json.dumps({key: value}))
        result[key] = value
    return result


def _preceded(pattern: re.Pattern[str], text: str, start: int) -> bool:
    return pattern.search(text[max(0, start - 20) : start]) is not None


def _refuse(problem: str, text: str) -> NoReturn:
    shown = " ".join(text[: 4 * EXCERPT_CHARS].split())[:EXCERPT_CHARS]
    raise ReplyRefused(
        f"{problem} (it reads: {shown!r})" if shown else f"{problem}; the reply was empty", text[:RAW_CHARS]
    )
