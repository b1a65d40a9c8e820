"""The report: one page for people, made from an evidence folder, readable from disk without a network.

Texts of the game and the tester are data of strangers: every value that the template prints is escaped and has its
hidden characters named and its length bounded (`finalize`); pictures are linked only when they lie in the folder.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pydantic import BaseModel, ValidationError

from playtest.errors import EvidenceError
from playtest.files import write_atomically
from playtest.protocol.actions import describe
from playtest.protocol.coordinates import STRIP_HEIGHT, Screen
from playtest.protocol.result import Roll, RunResult
from playtest.protocol.transcript import StartLine, StepLine, TranscriptLine, transcript_line
from playtest.texts import Kept, duration, figure, reveal, share, spelled_out

REPORT_NAME = "report.html"
RESULT_NAME = "playtest.json"
_TEMPLATES = Path(__file__).parent / "templates"
_MOST_BYTES = 32_000_000
_MOST_ROLLS = 20
_DEFAULT_LIMIT = 400
_M = TypeVar("_M", bound=BaseModel)


class Picture(NamedTuple):
    """A picture's size in CSS px, and its address relative to the report if there is a file."""

    href: str | None
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class RollRecord:
    """What a roll left behind. `roll` is None when the run was killed before it was summed up."""

    number: int
    roll: Roll | None
    lines: Kept[TranscriptLine]
    unreadable: int
    console: Kept[dict[str, Any]]
    files: tuple[str, ...]

    @property
    def start(self) -> StartLine | None:
        """Its first line."""
        return next((line for line in self.lines if isinstance(line, StartLine)), None)

    @property
    def steps(self) -> list[StepLine]:
        """Its steps, as far as they are kept."""
        return [line for line in self.lines if isinstance(line, StepLine)]

    @property
    def by_step(self) -> dict[int, StepLine]:
        """Its steps by their number."""
        return {line.step: line for line in self.steps}


def write_report(evidence_dir: Path, result: RunResult | None = None) -> Path:
    """Write `report.html` into an `evidence/playtest/` folder and return its path.

    Without `result` the folder's own `playtest.json` is read. A run that was killed has a report too: it shows the
    whole lines that were written. Raises EvidenceError.
    """
    root = evidence_dir.resolve()
    if not root.is_dir():
        raise EvidenceError(f"there is no evidence folder {evidence_dir}", "give the folder that holds playtest.json")
    target = root / REPORT_NAME
    try:
        page = _render(root, result or _document(root / RESULT_NAME, RunResult))
    except OSError as error:
        raise EvidenceError(f"the evidence can't be read: {error}", "check the folder's permissions") from error
    write_atomically(target, page)
    return evidence_dir / REPORT_NAME


def _render(root: Path, result: RunResult | None) -> str:
    records = _records(root, result)
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        says=_says, ms=lambda ms: duration(ms).replace(" ", "\xa0"), share=share, figure=figure, describe=describe
    )
    environment.filters["as_json"] = lambda value: json.dumps(value, ensure_ascii=False, indent=1, default=str)
    environment.globals.update(
        picture=lambda number, named: _picture(root, number, named),
        pictures=lambda number, step: _pictures(root, number, step),
        known_steps={(record.number, line.step) for record in records for line in record.steps},
    )
    css, script = ((_TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    return environment.get_template("report.html.j2").render(
        result=result,
        gid=result.gid if result else next((x.start.gid for x in records if x.start), None),
        result_unreadable=result is None and (root / RESULT_NAME).exists(),
        records=records,
        css=Markup(css),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy="default-src 'none'; base-uri 'none'; form-action 'none'; img-src 'self' file: data:;"
        f" style-src {_digest(css)}; script-src {_digest(script)}",
    )


def _records(root: Path, result: RunResult | None) -> list[RollRecord]:
    rolls = {roll.number: roll for roll in result.rolls} if result else {}
    found = (re.fullmatch(r"roll-([1-9]\d{0,5})", path.name) for path in root.iterdir() if path.is_dir())
    numbers = sorted(rolls.keys() | {int(match[1]) for match in found if match})
    return [_record(root / f"roll-{number}", number, rolls.get(number)) for number in numbers[:_MOST_ROLLS]]


def _record(folder: Path, number: int, roll: Roll | None) -> RollRecord:
    unreadable = 0

    def lines() -> Iterator[TranscriptLine]:
        nonlocal unreadable
        for value in _json_lines(folder / "transcript.jsonl"):
            try:
                yield transcript_line.validate_python(value)
            except ValidationError:
                unreadable += 1

    kept = Kept.of(lines(), head=150, tail=50)
    entries = (value for value in _json_lines(folder / "console.jsonl") if isinstance(value, dict))
    names = ("roll.json", "transcript.jsonl", "console.jsonl", "firstplay.json")
    return RollRecord(
        number=number,
        roll=_document(folder / "roll.json", Roll) or roll,
        lines=kept,
        unreadable=unreadable,
        console=Kept.of(entries, head=60, tail=60),
        files=tuple(f"{folder.name}/{name}" for name in names if (folder / name).is_file()),
    )


def _json_lines(path: Path) -> Iterator[Any]:
    """Each line's value; None for a line that is cut, too long or no JSON. A missing file has no lines."""
    if not path.is_file():
        return
    with path.open("rb") as stream:
        while raw := stream.readline(_MOST_BYTES):
            too_long = False
            while len(raw) == _MOST_BYTES and not raw.endswith(b"\n"):
                too_long, raw = True, stream.readline(_MOST_BYTES)
            if too_long or raw.strip():
                yield None if too_long else _parse(raw)


def _document(path: Path, model: type[_M]) -> _M | None:
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return None
    try:
        return model.model_validate(_parse(path.read_bytes()))
    except ValidationError:
        return None


def _parse(raw: bytes) -> Any:
    try:
        return spelled_out(json.loads(raw.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


def _pictures(root: Path, number: int, step: StepLine) -> tuple[Picture, Picture]:
    """A step's clean picture and the one that was sent, which has the strip below the screen."""
    clean = _picture(root, number, step.picture)
    sent = _picture(root, number, step.ruled_picture)
    return clean, Picture(sent.href, clean.width, clean.height + STRIP_HEIGHT)


def _picture(root: Path, number: int, named: str | None) -> Picture:
    """The picture by its recorded name. One that is missing or outside the folder has no address."""
    screen = Screen()
    missing = Picture(None, screen.width, screen.height)
    if not named:
        return missing
    try:
        places = ((base / named).resolve() for base in (root / f"roll-{number}", root))
        found = next((path for path in places if path.is_relative_to(root) and path.is_file()), None)
        if found is None or found.suffix.lower() not in (".png", ".webp", ".jpg", ".jpeg"):
            return missing
        with found.open("rb") as stream:
            header = stream.read(24)
    except (OSError, ValueError):
        return missing
    size = (int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big"))
    if not header.startswith(b"\x89PNG") or not all(1 <= side <= 8192 for side in size):
        size = (missing.width, missing.height)
    return Picture(quote(found.relative_to(root).as_posix()), *size)


def _says(text: str, limit: int = _DEFAULT_LIMIT) -> Markup:
    """A stranger's text: apart from ours in the markup and in its direction."""
    shown, left_out = reveal(str(text), limit)
    cut = Markup(' <span class="cut">+{:,} characters left out</span>').format(left_out) if left_out else ""
    return Markup('<bdi class="says">{}</bdi>{}').format(shown, cut)


def _finalize(value: Any) -> Any:
    """The net under the template: no text of a stranger is printed raw, whatever the template forgot."""
    if isinstance(value, str) and not isinstance(value, Markup):
        shown, left_out = reveal(value, _DEFAULT_LIMIT)
        return f"{shown}… (+{left_out:,})" if left_out else shown
    return "" if value is None else value


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
