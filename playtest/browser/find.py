"""Find a Chromium: the caller's own, the headless shell, Playwright's shell, or the system's browser."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playtest.errors import UsageError

BrowserKind = Literal["headless_shell", "chromium"]

PLAYWRIGHT_INSTALL = f"{shlex.quote(sys.executable)} -m playwright install --only-shell chromium"
INSTALL_HINT = (
    f"Install one: `playtest doctor --install`, or `{PLAYWRIGHT_INSTALL}`, "
    "or on Debian as root `apt-get update && apt-get install chromium-headless-shell`. "
    "To use one of your own, set PLAYTEST_CHROMIUM to its path."
)

_SHELL_NAMES = ("chrome-headless-shell", "headless_shell", "chrome-headless-shell.exe", "headless_shell.exe")
_SYSTEM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_VERSION = re.compile(r"(?:chrom|headless)\D*(\d+(?:\.\d+)+)", re.IGNORECASE)
_VERSION_DEADLINE_S = 20
_PLAYWRIGHT_DEADLINE_S = 60


@dataclass(frozen=True, slots=True)
class BrowserBinary:
    """A browser that answered when asked for its version (on Windows, one that is there)."""

    path: Path
    kind: BrowserKind
    source: str
    version: str


def find_browser(setting: str | None = None) -> BrowserBinary:
    """The browser to play with.

    `setting` is the value of PLAYTEST_CHROMIUM: a path, or a name on PATH. When it is given nothing
    else is tried. Raises UsageError, with what to type, for a setting that is no browser and when
    there is no browser at all.
    """
    if setting:
        return _from_setting(setting)
    found = search()
    if found is None:
        raise UsageError("no Chromium was found on this machine", INSTALL_HINT)
    return found


def search() -> BrowserBinary | None:
    """The first browser that answers, without a setting; None when there is none."""
    for path, source in _candidates():
        version = _version(path)
        if version is not None:
            return BrowserBinary(path, _kind(path), source, version)
    return None


def _from_setting(setting: str) -> BrowserBinary:
    resolved = shutil.which(Path(setting).expanduser())
    if resolved is None:
        wrong = "is not an executable file" if Path(setting).expanduser().exists() else "does not exist"
        raise UsageError(
            f"the browser setting {setting!r} {wrong}",
            "Set PLAYTEST_CHROMIUM to the path of a Chromium, or unset it to let playtest search.",
        )
    path = Path(resolved)
    version = _version(path)
    if version is None:
        raise UsageError(
            f"the browser setting {setting!r} is no working Chromium: `{path} --version` names no version",
            f"Type `{path} --version` to see why, or unset PLAYTEST_CHROMIUM to let playtest search.",
        )
    return BrowserBinary(path, _kind(path), "setting", version)


def _candidates() -> Iterator[tuple[Path, str]]:
    """Where to look, best first. Playwright is only asked when the cheap look before it found nothing."""
    shell = shutil.which("chromium-headless-shell")
    if shell is not None:
        yield Path(shell), "PATH"
    for path in playwright_shells():
        yield path, "playwright"
    for name in _SYSTEM_NAMES:
        system = shutil.which(name)
        if system is not None:
            yield Path(system), "PATH"


def playwright_shells() -> list[Path]:
    """The headless shells that Playwright keeps: the one of its own version first, then newer before older.

    Playwright itself says where its cache is, so every platform and PLAYWRIGHT_BROWSERS_PATH are right.
    """
    command = [sys.executable, "-m", "playwright", "install", "--dry-run", "--only-shell", "chromium"]
    text = _output(command, _PLAYWRIGHT_DEADLINE_S)
    match = re.search(r"Install location:\s*(\S.*?chromium_headless_shell-\S+)", text or "")
    if match is None:
        return []
    own = Path(match[1])
    others = [folder for folder in own.parent.glob("chromium_headless_shell-*") if folder != own]
    others.sort(key=_revision, reverse=True)
    return [path for folder in (own, *others) for path in _shells_in(folder)]


def _revision(folder: Path) -> int:
    digits = folder.name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else -1


def _shells_in(folder: Path) -> list[Path]:
    return [path for name in _SHELL_NAMES for path in sorted(folder.glob(f"*/{name}")) if path.is_file()]


def _kind(path: Path) -> BrowserKind:
    names = f"{path.name} {path.resolve().name}".lower()
    return "headless_shell" if re.search(r"headless[-_]shell", names) else "chromium"


def _version(path: Path) -> str | None:
    """The version that the program tells, None when it isn't a browser that runs."""
    if sys.platform == "win32":  # there, a Chrome that is asked for its version opens a window instead
        return "" if path.suffix.lower() == ".exe" else None
    match = _VERSION.search(_output([str(path), "--version"], _VERSION_DEADLINE_S) or "")
    return match[1] if match else None


def _output(command: list[str], deadline_s: float) -> str | None:
    """What a command printed; None when it failed, took too long or could not be started."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=deadline_s,
            check=False,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
