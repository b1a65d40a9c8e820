"""The evidence folder: laid out by the protocol, never overwritten, one run at a time."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from playtest.errors import EvidenceError, UsageError
from playtest.files import LineFile, dump_json, write_atomically, write_bytes
from playtest.ports import LogEntry
from playtest.protocol.base import Document
from playtest.protocol.result import FirstPlay, Roll, RunResult
from playtest.protocol.transcript import TranscriptLine
from playtest.protocol.usage import Usage

FOLDER = "playtest"
RESULT = "playtest.json"
TIMELINE = "timeline.jsonl"
LOCK = ".playtest.lock"
MAX_CONSOLE_LINES = 5000


class EvidenceFolder:
    """`<root>/<name>/` for one record. An earlier one found there is moved to `<root>/history/` first."""

    def __init__(self, root: Path, gid: str, name: str) -> None:
        self.root = root
        self.folder = root / name
        self.gid = gid
        self._lock: int | None = None

    def open(self) -> None:
        """Take the folder. Raises UsageError where it can't be written or another run holds it."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.root / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self.folder.exists():
                self._archive()
            self.folder.mkdir()
        except BlockingIOError as error:
            self.close()
            raise UsageError(
                f"another run is writing to {self.root}", "wait for it to end, or give another folder with --evidence"
            ) from error
        except OSError as error:
            self.close()
            raise UsageError(
                f"the evidence folder {self.root} can't be written: {error.strerror or error}",
                "give a folder that can be written with --evidence",
            ) from error

    def close(self) -> None:
        """Let the folder go."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def write(self, name: str, document: Document) -> Path:
        """Write a document, atomically. Raises EvidenceError."""
        path = self.folder / name
        write_atomically(path, dump_json(document.to_json(), indent=2) + "\n")
        return path

    def _archive(self) -> None:
        gid, when = _describe(self.folder)
        gid += "" if self.folder.name == FOLDER else f"-{self.folder.name}"
        history = self.root / "history"
        history.mkdir(exist_ok=True)
        target = history / f"{when}-{gid}"
        for copy in range(2, 1000):
            if not target.exists():
                break
            target = history / f"{when}-{gid}.{copy}"
        self.folder.rename(target)


class RunEvidence(EvidenceFolder):
    """`<root>/playtest/` for one run."""

    def __init__(self, root: Path, gid: str) -> None:
        super().__init__(root, gid, FOLDER)

    def roll(self, number: int) -> RollEvidence:
        """The folder of one roll."""
        return RollEvidence(self.folder, number)

    def write_result(self, result: RunResult) -> Path:
        """Write `playtest.json`, atomically. Raises EvidenceError."""
        return self.write(RESULT, result)


class GateEvidence(EvidenceFolder):
    """`<root>/floor/` or `<root>/gates/`: pictures, console, and for a game that was driven its timeline."""

    _console: ConsoleFile
    _timeline: LineFile

    def open(self) -> None:
        """Take the folder. Raises UsageError where it can't be written or another run holds it."""
        super().open()
        (self.folder / "shots").mkdir()
        self._console = ConsoleFile(self.folder / "console.jsonl")
        self._timeline = LineFile(self.folder / TIMELINE)
        self._timeline.write({"type": "start", "gid": self.gid})

    def close(self) -> None:
        """Let the folder go."""
        self._console.close()
        self._timeline.close()
        super().close()

    def picture(self, name: str, png: bytes) -> str:
        """Keep a picture; its path relative to the record. Raises EvidenceError."""
        write_bytes(self.folder / "shots" / f"{name}.png", png)
        return f"shots/{name}.png"

    def log(self, entries: Sequence[LogEntry]) -> None:
        """Append console lines, up to a bound. Raises EvidenceError."""
        self._console.log(entries)

    def line(self, line: Mapping[str, object]) -> None:
        """Append one line of the timeline. Raises EvidenceError."""
        self._timeline.write(line)


class ConsoleFile:
    """`console.jsonl`: what a page logged, up to a bound."""

    def __init__(self, path: Path) -> None:
        self._file = LineFile(path)
        self._lines = 0

    def log(self, entries: Sequence[LogEntry]) -> None:
        """Append lines. Raises EvidenceError."""
        for entry in entries:
            self._lines += 1
            if self._lines <= MAX_CONSOLE_LINES:
                self._file.write(
                    {"level": entry.level, "text": entry.text, "gameMs": round(entry.game_ms, 1), "place": entry.place}
                )

    def close(self) -> None:
        """Close the file; nothing is pending."""
        self._file.close()


class RollEvidence:
    """`roll-N/`: transcript, console, pictures, and at the end the roll's own record."""

    def __init__(self, folder: Path, number: int) -> None:
        self._base = folder
        self._name = f"roll-{number}"
        self._folder = folder / self._name
        try:
            (self._folder / "shots").mkdir(parents=True)
        except OSError as error:
            raise EvidenceError(f"the folder {self._folder} can't be made: {error.strerror}") from error
        self._transcript = LineFile(self._folder / "transcript.jsonl")
        self._console = ConsoleFile(self._folder / "console.jsonl")
        self._replies: LineFile | None = None

    def line(self, line: TranscriptLine) -> None:
        """Append one transcript line. Raises EvidenceError."""
        self._transcript.write(line.to_json())

    def log(self, entries: Sequence[LogEntry]) -> None:
        """Append console lines, up to a bound. Raises EvidenceError."""
        self._console.log(entries)

    def reply(self, step: int, text: str, usage: Usage) -> None:
        """Append one of the model's answers as it came, to a file that only models have. Raises EvidenceError."""
        if self._replies is None:
            self._replies = LineFile(self._folder / "replies.jsonl")
        self._replies.write({"step": step, "text": text, "usage": usage.to_json()})

    def clean_picture(self, step: int, png: bytes) -> str:
        """Keep a clean picture; its path relative to the result file."""
        return self._picture(f"{step:04d}.png", png)

    def ruled_picture(self, step: int, attempt: int, webp: bytes) -> str:
        """Keep a picture as it was sent; its path relative to the result file."""
        again = f"-{attempt}" if attempt > 1 else ""
        return self._picture(f"{step:04d}{again}.grid.webp", webp)

    def _picture(self, name: str, data: bytes) -> str:
        write_bytes(self._folder / "shots" / name, data)
        return f"{self._name}/shots/{name}"

    def close(self, roll: Roll) -> None:
        """Write `roll.json` and `firstplay.json` and close the files. Raises EvidenceError."""
        self._write("firstplay.json", roll.first_play)
        self._write("roll.json", roll)
        self._transcript.close()
        self._console.close()
        if self._replies is not None:
            self._replies.close()

    def _write(self, name: str, document: Roll | FirstPlay) -> None:
        write_atomically(self._folder / name, dump_json(document.to_json(), indent=2) + "\n")


def _describe(folder: Path) -> tuple[str, str]:
    """The gid and the UTC time of an earlier run, as far as its files still tell."""
    start = _first_line(folder / "roll-1" / "transcript.jsonl") or _first_line(folder / TIMELINE)
    gid = re.sub(r"[^A-Za-z0-9._-]", "_", str(start.get("gid", "unknown")))[:128]
    made = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    return gid, made.strftime("%Y%m%dT%H%M%SZ")


def _first_line(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            value = json.loads(file.readline())
    except (OSError, ValueError):
        return {}  # a run that was killed before it wrote anything
    return value if isinstance(value, dict) else {}
