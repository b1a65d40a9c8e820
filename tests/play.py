"""Playing real pages through the whole run, in this process, with any tester."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playtest.config import load
from playtest.evidence import RunEvidence
from playtest.protocol.result import RunResult
from playtest.protocol.transcript import TranscriptLine
from playtest.wiring import RunRequest, prepare, run_on
from tests.endpoint import KEY, Request, StrictEndpoint
from tests.sight import read_canary

GAMES = Path(__file__).parent / "games"
EXAM = Path(__file__).parent.parent / "exam" / "games"


@dataclass
class Played:
    """A run and its record."""

    result: RunResult
    lines: list[tuple[int, TranscriptLine]]
    folder: Path

    def of(self, kind: str, roll: int = 1) -> list[Any]:
        """The lines of one kind."""
        return [line for number, line in self.lines if number == roll and line.type == kind]

    def names(self, kind: str) -> list[str]:
        """The names of all refusals, warnings or faults."""
        return [getattr(line, kind) for _, line in self.lines if line.type == kind]


async def play(
    game: Path,
    tmp_path: Path,
    brief: str = "A little game. Tap to play.",
    watch: Callable[[TranscriptLine], None] | None = None,
    **flags: Any,
) -> Played:
    """One run to its end. `watch` sees each line of the transcript when it is written."""
    (tmp_path / "brief.md").write_text(brief, "utf-8")
    settings = load(
        {"evidence": tmp_path / "evidence", "seed": 7, "film_first_play": False, **flags}, {}, tmp_path
    ).settings
    prepared = prepare(RunRequest(game.name, tmp_path / "brief.md", str(game)), settings)
    evidence = RunEvidence(settings.evidence, game.name)
    lines: list[tuple[int, TranscriptLine]] = []

    def keep(roll: int, line: TranscriptLine) -> None:
        lines.append((roll, line))
        if watch is not None:
            watch(line)

    evidence.open()
    try:
        async with run_on(prepared, evidence, keep) as run:
            result = await run.play()
        evidence.write_result(result)
    finally:
        evidence.close()
    return Played(result, lines, evidence.folder)


async def play_with(endpoint: StrictEndpoint, game: Path, tmp_path: Path, **flags: Any) -> Played:
    """One run with the vision tester at a strict endpoint."""
    return await play(game, tmp_path, tester="minimax", base_url=endpoint.base_url, api_key=KEY, **flags)


def script(tmp_path: Path, replies: Iterable[dict[str, Any]]) -> str:
    """A scripted tester's name for these replies."""
    path = tmp_path / "script.jsonl"
    path.write_text("".join(json.dumps(reply) + "\n" for reply in replies), "utf-8")
    return f"scripted:{path}"


def tap(x: float, y: float, target: str = "") -> dict[str, Any]:
    """An action in css pixels."""
    return {"type": "tap", "x": x, "y": y, "target": target}


def norm(action: dict[str, Any]) -> dict[str, Any]:
    """The action with its places in thousandths of the picture, strip included."""
    spans = {"x": 390, "x1": 390, "x2": 390, "y": 872, "y1": 872, "y2": 872}
    return {name: round(value * 1000 / spans[name], 1) if name in spans else value for name, value in action.items()}


def verdict(result: str, kind: str | None = None, **fields: Any) -> dict[str, Any]:
    """A verdict; a fail gets one phenomenon unless it brings its own."""
    claim: dict[str, Any] = {"result": result, "sawScreens": True, "loopClosed": result == "pass", **fields}
    if result == "fail":
        claim.setdefault("kind", kind or "broken")
        claim.setdefault("phenomena", [{"step": 1, "x": 500, "y": 500, "what": "tapped it; nothing changed"}])
    return claim


class Brain:
    """Reads the canary off the picture, then does what the plan says for this request (the last entry repeats)."""

    def __init__(self, *plan: dict[str, Any] | Callable[[Request], dict[str, Any]]) -> None:
        self.plan = plan
        self.asked = 0
        self.pictures: list[Any] = []
        self.texts: list[str] = []

    def __call__(self, request: Request) -> dict[str, Any]:
        picture = request.picture
        assert picture is not None, "no picture came"
        self.pictures.append(picture)
        self.texts.append(request.last_text)
        item = self.plan[min(self.asked, len(self.plan) - 1)]
        self.asked += 1
        item = item(request) if callable(item) else item
        reply: dict[str, Any] = {"code": read_canary(picture), "seen": "a screen"}
        reply.update(item if "action" in item or "verdict" in item or "code" in item else _decided(item))
        return reply


def _decided(item: dict[str, Any]) -> dict[str, Any]:
    return {"verdict": item} if "result" in item else {"action": norm(item) if "x" in item or "x1" in item else item}
