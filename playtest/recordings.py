"""Reading a recorded roll back from its folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from playtest.errors import UsageError
from playtest.pictures import decode, picture_hash
from playtest.protocol.result import Roll
from playtest.protocol.transcript import StartLine, StepLine, TranscriptLine, transcript_line

HINT = "give the folder of one roll, evidence/playtest/roll-1 for example"


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded roll."""

    folder: Path
    start: StartLine
    steps: list[StepLine]
    roll: Roll | None

    def picture_path(self, step: StepLine) -> Path | None:
        """Where a step's clean picture is kept."""
        return self.folder.parent / step.picture if step.picture else None

    def pictures(self) -> dict[int, bytes]:
        """The clean pictures by step, as PNG; missing ones are left out."""
        paths = {step.step: self.picture_path(step) for step in self.steps}
        return {number: path.read_bytes() for number, path in paths.items() if path is not None and path.is_file()}

    def spoilt(self) -> dict[int, str]:
        """Steps whose kept picture is not the one that the transcript's hash speaks of, with what is wrong with it."""
        pictures = self.pictures()
        told = {step.step: _spoilt(pictures.get(step.step), step.picture_hash) for step in self.steps if step.picture}
        return {number: why for number, why in told.items() if why}


def _spoilt(png: bytes | None, recorded_hash: str | None) -> str:
    if png is None:
        return "the kept picture is missing"
    try:
        same = picture_hash(decode(png, 0.0).pixels) == recorded_hash
    except OSError:
        return "the kept picture can't be read"
    return "" if same else "the kept picture is not the one that was recorded"


def read_recording(folder: Path) -> Recording:
    """A roll's record; a last line that was cut by a kill is left out. Raises UsageError."""
    lines = _transcript(folder / "transcript.jsonl")
    start = next((line for line in lines if isinstance(line, StartLine)), None)
    if start is None:
        raise UsageError(f"the record in {folder} has no beginning", HINT)
    steps = [line for line in lines if isinstance(line, StepLine)]
    try:
        roll = Roll.model_validate_json((folder / "roll.json").read_text("utf-8"))
    except OSError:
        roll = None  # a run that was killed; its steps can be played again all the same
    except ValidationError as error:
        raise UsageError(
            f"{folder / 'roll.json'} is not a roll's record: {error.error_count()} errors", HINT
        ) from error
    return Recording(folder, start, steps, roll)


def _transcript(path: Path) -> list[TranscriptLine]:
    try:
        raw = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"there is no recorded roll: {path}: {error.strerror}", HINT) from error
    lines: list[TranscriptLine] = []
    for number, text in enumerate(raw, 1):
        if not text.strip():
            continue
        try:
            lines.append(transcript_line.validate_python(json.loads(text)))
        except ValueError as error:
            if number == len(raw):
                break  # the line that was being written when the run was killed
            raise UsageError(f"{path}, line {number} can't be read: {error}"[:500], HINT) from error
    return lines
