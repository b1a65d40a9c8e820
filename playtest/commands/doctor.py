"""`playtest doctor`: what works on this machine, and what to type for what doesn't."""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Literal, NamedTuple, TextIO, TypeAlias

from pydantic import Field
from rich.console import Console
from rich.table import Table
from rich.text import Text

from playtest import __version__
from playtest.browser.find import BrowserBinary, find_browser
from playtest.browser.glyphs import NEEDED
from playtest.browser.install import FONTS_HINT, install_browser, install_fonts
from playtest.browser.selftest import Finding, SelfTest, self_test
from playtest.commands.arguments import Commands, add_json, loaded
from playtest.errors import UsageError
from playtest.protocol.base import Document
from playtest.protocol.exit_codes import ExitCode
from playtest.wiring import probe_endpoint

State: TypeAlias = Literal["ok", "warning", "failed", "info"]
Probe: TypeAlias = Callable[[], Awaitable[tuple[bool, str]]]
Examine: TypeAlias = Callable[[BrowserBinary], Awaitable[SelfTest]]

_STYLES = {"ok": "green", "warning": "yellow", "failed": "bold red", "info": "dim"}
_PROBE_DEADLINE_S = 15.0


class Endpoint(NamedTuple):
    """The model's endpoint: whether there is a key for it, and how to ask whether it answers."""

    key_present: bool
    base_url: str
    probe: Probe


class Check(Document):
    """One line of the doctor's report."""

    name: str
    state: State
    detail: str
    hint: str = ""


class BrowserInfo(Document):
    """The browser that games would be played with."""

    path: str
    kind: str
    version: str
    source: str = Field(description="setting, PATH or playwright.")


class DoctorReport(Document):
    """What `playtest doctor --json` prints."""

    schema_: Literal["playtest-doctor/1"] = Field(default="playtest-doctor/1", alias="schema")
    ok: bool = Field(description="Whether a game can be played here with at least one clock.")
    browser: BrowserInfo | None
    clocks: tuple[str, ...] = Field(description="Clocks that work here, best first.")
    checks: tuple[Check, ...]


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("doctor", help="say what works on this machine")
    parser.add_argument("--install", action="store_true", help="install a browser where there is none")
    add_json(parser)
    parser.set_defaults(command=_from_options)


def _from_options(options: argparse.Namespace) -> int:
    settings = loaded(options).settings
    return doctor(
        chromium=settings.chromium,
        api_key_present=settings.api_key is not None,
        base_url=settings.base_url,
        probe=lambda: probe_endpoint(settings),
        as_json=options.json,
        install=options.install,
    )


def doctor(
    *,
    chromium: str | None,
    api_key_present: bool,
    base_url: str,
    probe: Probe,
    as_json: bool,
    install: bool,
    examine: Examine = self_test,
    out: TextIO | None = None,
) -> int:
    """Print what works here. 0 when a game can be played with at least one clock, else 2.

    A missing key or endpoint is a warning: the explorer needs neither. `probe` asks the endpoint and
    says whether it answered, and how; it isn't called without a key.
    """
    endpoint = Endpoint(api_key_present, base_url, probe)
    report = asyncio.run(_report(chromium, endpoint, install, examine))
    out = out or sys.stdout
    if as_json:
        out.write(json.dumps(report.to_json(), ensure_ascii=False, indent=2) + "\n")
    else:
        _print(report, Console(file=out, highlight=False, soft_wrap=not out.isatty()))
    return ExitCode.PASS if report.ok else ExitCode.USAGE


async def _report(chromium: str | None, endpoint: Endpoint, install: bool, examine: Examine) -> DoctorReport:
    checks = [
        Check(name="python", state="ok", detail=f"{platform.python_version()} on {platform.platform()}"),
        Check(name="playtest", state="ok", detail=__version__),
        Check(name="playwright", state="ok", detail=version("playwright")),
    ]
    binary: BrowserBinary | None = None
    found: SelfTest | None = None
    clocks: tuple[str, ...] = ()
    try:
        binary = await asyncio.to_thread(install_browser if install else find_browser, chromium)
    except UsageError as error:
        checks.append(Check(name="browser", state="failed", detail=error.message, hint=error.hint))
    if binary is not None:
        found = await examine(binary)
        if install and found.missing_glyphs:
            found = await _with_fonts(binary, found, checks, examine)
        clocks = tuple(name for name, finding in found.clocks.items() if finding.works)
        checks += _browser_checks(binary, found)
    checks += [_key(endpoint.key_present), await _endpoint(endpoint)]
    return DoctorReport(
        ok=bool(clocks),
        browser=_browser_info(binary, found),
        clocks=clocks,
        checks=tuple(checks),
    )


async def _with_fonts(binary: BrowserBinary, found: SelfTest, checks: list[Check], examine: Examine) -> SelfTest:
    """The examination after fonts were installed; where they can't be, the first one stands."""
    try:
        await asyncio.to_thread(install_fonts)
    except UsageError as error:
        checks.append(Check(name="fonts", state="warning", detail=error.message, hint=error.hint))
        return found
    return await examine(binary)


def _browser_info(binary: BrowserBinary | None, found: SelfTest | None) -> BrowserInfo | None:
    if binary is None:
        return None
    seen = found.version if found else binary.version
    return BrowserInfo(path=str(binary.path), kind=binary.kind, version=seen, source=binary.source)


def _browser_checks(binary: BrowserBinary, found: SelfTest) -> list[Check]:
    where = {"setting": "the setting", "PATH": "found on PATH", "playwright": "Playwright's own"}[binary.source]
    plays = any(finding.works for finding in found.clocks.values())
    return [
        Check(
            name="browser",
            state="ok" if plays else "failed",
            detail=f"{binary.kind.replace('_', ' ')} {found.version} at {binary.path} ({where})",
            hint=""
            if plays
            else f"It does not start. Type `{binary.path} --headless --dump-dom about:blank` to see why.",
        ),
        *(_clock(name, finding) for name, finding in found.clocks.items()),
        _optional("WebGL", found.webgl, "Games drawn with WebGL can't be played here."),
        *_glyphs(found),
        _optional("sandbox", found.sandbox, "Play untrusted games as a plain user, where user namespaces are allowed."),
    ]


def _clock(name: str, finding: Finding) -> Check:
    state: State = "ok" if finding.works else "warning"
    hint = ""
    if name == "frames" and not finding.works:
        hint = "The js clock is used instead. For this one: playwright install --only-shell chromium"
    return Check(name=f"clock {name}", state=state, detail=finding.detail, hint=hint)


def _optional(name: str, finding: Finding, hint: str) -> Check:
    state: State = "ok" if finding.works else "warning"
    return Check(name=name, state=state, detail=finding.detail, hint="" if finding.works else hint)


def _glyphs(found: SelfTest) -> list[Check]:
    others = [name for name, seen in found.glyphs.items() if name not in NEEDED and not seen]
    shown = ", ".join(name for name, seen in found.glyphs.items() if seen) or "none"
    if found.missing_glyphs:
        detail = f"shown as boxes: {', '.join(found.missing_glyphs)}"
        return [Check(name="glyphs", state="warning", detail=detail, hint=FONTS_HINT)]
    also = f"; shown as boxes: {', '.join(others)}" if others else ""
    return [Check(name="glyphs", state="ok", detail=shown + also)]


def _key(present: bool) -> Check:
    if present:
        return Check(name="API key", state="ok", detail="set (never shown)")
    hint = "Set MINIMAX_API_KEY for the minimax tester; `--tester explorer` needs none."
    return Check(name="API key", state="warning", detail="not set", hint=hint)


async def _endpoint(endpoint: Endpoint) -> Check:
    if not endpoint.key_present:
        return Check(name="endpoint", state="info", detail=f"{endpoint.base_url} (not asked: no key)")
    try:
        async with asyncio.timeout(_PROBE_DEADLINE_S):
            reachable, detail = await endpoint.probe()
    except TimeoutError:
        reachable, detail = False, f"no answer within {_PROBE_DEADLINE_S:g} s"
    state: State = "ok" if reachable else "warning"
    hint = "" if reachable else "Check MINIMAX_BASE_URL, the key and the network; the explorer needs none of them."
    return Check(name="endpoint", state=state, detail=f"{endpoint.base_url}: {detail}", hint=hint)


def _print(report: DoctorReport, console: Console) -> None:
    if console.is_terminal:
        table = Table(box=None, pad_edge=False, show_header=False)
        for check in report.checks:
            told = Text(check.detail)
            if check.hint:
                told.append(f"\n{check.hint}", style="dim")
            table.add_row(check.name, Text(check.state, style=_STYLES[check.state]), told)
        console.print(table)
    else:
        for check in report.checks:
            console.print(Text(f"{check.name:<15} {check.state:<8} {check.detail}"))
            if check.hint:
                console.print(Text(f"{'':<15} {'':<8} {check.hint}"))
    clocks = ", ".join(report.clocks)
    console.print(Text(f"games can be played here with: {clocks}" if report.ok else "no game can be played here"))
