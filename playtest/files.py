"""Writing files so that a reader never sees half of one, and a full disk is told and not swallowed."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from errno import ENOSPC
from pathlib import Path
from typing import Any, BinaryIO

from playtest.errors import EvidenceError


def dump_json(value: Any, indent: int | None = None) -> str:
    """JSON text that is always valid UTF-8: lone surrogates are escaped, NaN is refused."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") if _has_surrogates(text) else text


def _has_surrogates(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def write_bytes(path: Path, data: bytes) -> None:
    """Write a new file, whole or not at all. Raises EvidenceError."""
    try:
        path.write_bytes(data)
    except OSError as error:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def write_atomically(path: Path, text: str) -> None:
    """Write through a temporary file in the same folder, synced, then renamed. Raises EvidenceError."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


class LineFile:
    """A file of JSON lines, each flushed as it is written; a line that does not fit leaves nothing of itself."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file: BinaryIO = path.open("ab", buffering=0)
        except OSError as error:
            raise _unwritable(path, error) from error

    def write(self, value: Any) -> None:
        """Append one line. Raises EvidenceError."""
        data = dump_json(value).encode("utf-8") + b"\n"
        try:
            written = self._file.write(data)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        if written != len(data):
            with suppress(OSError):
                self._file.truncate(self._file.tell() - (written or 0))
            raise _unwritable(self.path, OSError(ENOSPC, os.strerror(ENOSPC)))

    def close(self) -> None:
        """Close the file; nothing is pending."""
        self._file.close()


def _unwritable(path: Path, error: OSError) -> EvidenceError:
    return EvidenceError(
        f"evidence could not be written to {path}: {error.strerror or error}",
        "check the disk's free space and the folder's permissions, or give another folder with --evidence",
    )
