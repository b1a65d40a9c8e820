"""Reading what a game exports: a path is walked from the window, never evaluated, and copied as plain JSON."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

from playwright.async_api import Page

from playtest.browser.cdp import Channel
from playtest.browser.console import whole
from playtest.errors import BrowserFault
from playtest.ports import Reading

MAX_MESSAGE = 300
_STEP = re.compile(r"(?P<call>\(\))|\[(?P<index>\d+)\]|\.?(?P<name>[^.()\[\]\s]+)")
# A name that is declared at the top of a script (`const game = ...`) is no property of the window.
_DECLARED = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_RESERVED = frozenset({
    "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else",
    "enum", "export", "extends", "false", "finally", "for", "function", "if", "implements", "import", "in",
    "instanceof", "interface", "let", "new", "null", "package", "private", "protected", "public", "return", "static",
    "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield", "arguments",
    "eval",
})  # fmt: skip
_READ = files("playtest.browser") / "js" / "read.js"


async def read(page: Page, channel: Channel, path: str) -> Reading:
    """The value at a path, of the first frame that has it; else the top frame's problem. Raises BrowserFault."""
    steps = steps_of(path)
    script = _script(steps[0])
    first: Reading | None = None
    for frame in page.frames:
        try:
            told = await channel.within(frame.evaluate(script, steps), f"reading {path}")
        except BrowserFault as fault:
            if fault.kind != "browser":
                raise
            told = {"problem": f"{path} can't be read now: {fault.message}"}
        reading = _reading_from(told)
        if reading.problem is None:
            return reading
        first = first or reading
    return first or Reading(problem="the page has no frame")


def steps_of(path: str) -> list[str | int | None]:
    """A path taken apart: names, indices, and None for a call. Raises ValueError for what is no path."""
    steps: list[str | int | None] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or (match["name"] is None and not steps):
            raise ValueError(f"no path: {path!r}")
        steps.append(match["name"] if match["name"] is not None else int(match["index"]) if match["index"] else None)
        at = match.end()
    if not steps:
        raise ValueError("an empty path")
    return steps


def _script(first: str | int | None) -> str:
    name = str(first)
    declared = _DECLARED.fullmatch(name) is not None and name not in _RESERVED
    script = _READ.read_text("utf-8").replace("__NAME__", json.dumps(name))
    return script.replace("__FIRST__", name if declared else "undefined")


def _reading_from(told: Any) -> Reading:
    if not isinstance(told, dict):
        return Reading(problem="the page did not answer")
    if told.get("problem") is not None:
        return Reading(problem=whole(str(told["problem"]), MAX_MESSAGE))
    try:
        return Reading(value=json.loads(told["json"]))
    except (KeyError, TypeError, ValueError) as error:
        return Reading(problem=whole(f"what it gives is no JSON: {error}", MAX_MESSAGE))
