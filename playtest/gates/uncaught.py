"""Errors that nobody caught, and the short list of those that say nothing about a game."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

# What a browser reports as uncaught though no game is any the worse for it. Each is a whole message; nothing else is
# ever filtered. The first is the browser's own note on layout (ResizeObserver, CSSWG); the others are its answer to
# sound that is started before the player has touched the page, or stopped before it began (HTML, media `play()`).
HARMLESS = {
    "resize observer": re.compile(
        r"ResizeObserver loop (limit exceeded|completed with undelivered notifications\.?)", re.IGNORECASE
    ),
    "sound before the first touch": re.compile(
        r"(NotAllowedError: )?play\(\) failed because the user didn't interact with the document first\..*"
    ),
    "sound cut short": re.compile(r"(AbortError: )?The play\(\) request was interrupted by .*"),
}


@dataclass(frozen=True, slots=True)
class Uncaught:
    """One uncaught error: its message, and as far as the browser tells where it was thrown. Lines count from 1."""

    message: str
    game_ms: float = 0.0
    file: str = ""
    line: int = 0
    column: int = 0
    stack: str = ""
    rejection: bool = False

    @property
    def place(self) -> str:
        """`game.js:12:5`, or nothing where the browser tells no place."""
        return f"{self.file}:{self.line}:{self.column}" if self.file else ""

    @property
    def told(self) -> str:
        """The message, its kind and its place, in one line."""
        kind = "unhandled rejection: " if self.rejection else ""
        return f"{kind}{self.message}" + (f" at {self.place}" if self.place else "")

    @property
    def harmless(self) -> str | None:
        """The entry of HARMLESS that it is; None where it counts."""
        first = self.message.partition("\n")[0]
        return next((name for name, pattern in HARMLESS.items() if pattern.fullmatch(first)), None)


def told_once(errors: Sequence[Uncaught], most: int = 20) -> list[JsonValue]:
    """Each error once, in the order in which they came, with how often; the first `most`."""
    first: dict[tuple[str, str], Uncaught] = {}
    times: dict[tuple[str, str], int] = {}
    for error in errors:
        key = (error.message, error.place)
        first.setdefault(key, error)
        times[key] = times.get(key, 0) + 1
    return [
        {
            "message": error.message,
            "file": error.file or None,
            "line": error.line or None,
            "column": error.column or None,
            "stack": error.stack or None,
            "rejection": error.rejection,
            "gameMs": round(error.game_ms, 1),
            "times": times[key],
        }
        for key, error in list(first.items())[:most]
    ]
