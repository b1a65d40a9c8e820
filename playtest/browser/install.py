"""Put a browser and fonts on a machine that has none: Playwright's own shell, else the system's package."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys

from playtest.browser.find import PLAYWRIGHT_INSTALL, BrowserBinary, find_browser, search
from playtest.browser.selftest import missing_glyphs
from playtest.errors import BrowserFault, UsageError

FONT_PACKAGES = ("fonts-noto-cjk", "fonts-noto-color-emoji")
_APT = "sudo apt-get update && sudo apt-get install"
FONTS_HINT = f"On Debian or Ubuntu: {_APT} {' '.join(FONT_PACKAGES)}"
BROWSER_HINT = f"""Type one of these, then the same command again:
  {PLAYWRIGHT_INSTALL}
  {PLAYWRIGHT_INSTALL} --with-deps   (where libraries are missing; asks for root)
  {_APT} chromium-headless-shell {" ".join(FONT_PACKAGES)}   (Debian, Ubuntu)
or set PLAYTEST_CHROMIUM to the path of a Chromium that you have."""
_DEADLINE_S = 900
_SHOWN_LINES = 15
_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def install_browser(setting: str | None = None) -> BrowserBinary:
    """The browser that is here, or one that is installed now.

    Playwright's shell is tried first, then apt where we are root. Raises UsageError with what every
    way said and what to type.
    """
    if setting:
        return find_browser(setting)
    found = search()
    problems: list[str] = []
    if found is None:
        problems += _run([sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"])
        found = search()
    if found is None and _may_use_apt():
        problems += _apt_install("chromium-headless-shell") or _apt_install(*FONT_PACKAGES)
        found = search()
    if found is None and _may_use_apt():  # older releases have the shell in no package of its own
        problems += _apt_install("chromium")
        found = search()
    if found is None:
        raise UsageError("\n".join(["no browser could be installed", *problems]), BROWSER_HINT)
    return found


def install_fonts() -> None:
    """Chinese, Japanese, Korean and emoji fonts from the system's packages.

    Raises UsageError with the words to type where we can't.
    """
    if not _may_use_apt():
        raise UsageError("fonts for Chinese, Japanese, Korean or emoji are missing", FONTS_HINT)
    problems = _apt_install(*FONT_PACKAGES)
    if problems:
        raise UsageError("\n".join(["fonts could not be installed", *problems]), FONTS_HINT)


def _may_use_apt() -> bool:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return is_root and shutil.which("apt-get") is not None


def _apt_install(*packages: str) -> list[str]:
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    return _run([*quiet, "update"]) or _run([*quiet, "install", "-y", "--no-install-recommends", *packages])


def _run(command: list[str]) -> list[str]:
    """Run a command quietly; the problem it had, with the end of what it said, or nothing."""
    sys.stderr.write(f"running: {' '.join(command)}\n")  # it may take minutes
    sys.stderr.flush()
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=_DEADLINE_S,
            check=False,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        return [f"`{' '.join(command)}` could not be started: {error}"]
    except subprocess.TimeoutExpired:
        return [f"`{' '.join(command)}` took over {_DEADLINE_S} s"]
    if done.returncode == 0:
        return []
    told = [f"    {line}" for line in _COLOURS.sub("", done.stdout).strip().splitlines()[-_SHOWN_LINES:]]
    return [f"`{' '.join(command)}` ended with {done.returncode}:", *told]


def main(argv: list[str]) -> int:
    """Set-up's own entry: `python -m playtest.browser.install [BROWSER]`. Missing fonts are no reason to stop."""
    try:
        browser = install_browser(argv[0] if argv else None)
        missing = asyncio.run(missing_glyphs(browser))
    except (UsageError, BrowserFault) as error:
        sys.stderr.write(f"set-up: {error.message}\n{error.hint or BROWSER_HINT}\n")
        return 2
    sys.stdout.write(f"set-up: browser {browser.version} at {browser.path}\n")
    if missing:
        try:
            install_fonts()
        except UsageError as error:
            sys.stderr.write(f"set-up: warning: {error.message} ({', '.join(missing)})\n{error.hint}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
