"""`playtest doctor`: what it says, and when it says 2."""

import asyncio
import io
import json

import pytest

from playtest.browser.find import BrowserBinary, find_browser
from playtest.browser.glyphs import NEEDED, SAMPLES
from playtest.browser.selftest import Finding, SelfTest, missing_glyphs, self_test
from playtest.commands import doctor as module
from playtest.commands.doctor import doctor
from playtest.errors import UsageError

WORKS, FAILS = Finding(True, "works"), Finding(False, "does not")


def found(**changes) -> SelfTest:
    values = {
        "version": "156.0.1.2",
        "clocks": {"frames": WORKS, "js": WORKS, "realtime": WORKS},
        "webgl": WORKS,
        "glyphs": dict.fromkeys(SAMPLES, True),
        "sandbox": WORKS,
    }
    return SelfTest(**{**values, **changes})


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """A machine with a browser, of which nothing is started."""
    binary = BrowserBinary(tmp_path / "shell", "headless_shell", "PATH", "156.0.1.2")
    monkeypatch.setattr(module, "find_browser", lambda _setting: binary)
    monkeypatch.setattr(module, "install_browser", lambda _setting: binary)
    return binary


def call(*reports: SelfTest, as_json=True, key=True, install=False, probe=None):
    """The exit code and what was printed."""
    left = list(reports)

    async def examine(_binary):
        return left.pop(0)

    async def answers():
        return True, "answered in 120 ms"

    out = io.StringIO()
    code = doctor(
        chromium=None,
        api_key_present=key,
        base_url="https://models.example/v1",
        probe=probe or answers,
        as_json=as_json,
        install=install,
        examine=examine,
        out=out,
    )
    return code, json.loads(out.getvalue()) if as_json else out.getvalue()


def check(document, name):
    return next(item for item in document["checks"] if item["name"] == name)


def test_all_well(shell):
    code, document = call(found())
    assert code == 0
    assert document["ok"]
    assert document["clocks"] == ["frames", "js", "realtime"]
    assert document["browser"] == {
        "path": str(shell.path), "kind": "headless_shell", "version": "156.0.1.2", "source": "PATH",
    }  # fmt: skip
    assert {item["state"] for item in document["checks"]} == {"ok"}


def test_one_clock_is_enough(shell):
    code, document = call(found(clocks={"frames": FAILS, "js": FAILS, "realtime": WORKS}))
    assert code == 0
    assert document["clocks"] == ["realtime"]
    assert "only-shell" in check(document, "clock frames")["hint"]


def test_no_clock_is_2(shell):
    code, document = call(found(clocks={"frames": FAILS, "js": FAILS, "realtime": FAILS}))
    assert code == 2
    assert check(document, "browser")["state"] == "failed"


def test_no_browser_is_2_and_says_what_to_type(monkeypatch):
    def find(_setting):
        raise UsageError("no Chromium was found on this machine", "type this")

    monkeypatch.setattr(module, "find_browser", find)
    code, document = call()
    assert code == 2
    assert document["browser"] is None
    assert check(document, "browser")["hint"] == "type this"


def test_a_missing_key_is_a_warning_and_the_endpoint_is_not_asked(shell):
    async def probe():
        raise AssertionError("asked")

    code, document = call(found(), key=False, probe=probe)
    assert code == 0
    assert check(document, "API key")["state"] == "warning"
    assert check(document, "endpoint")["state"] == "info"


def test_an_endpoint_that_is_down_is_a_warning(shell):
    async def probe():
        return False, "connection refused"

    code, document = call(found(), probe=probe)
    assert code == 0
    assert check(document, "endpoint")["state"] == "warning"
    assert "connection refused" in check(document, "endpoint")["detail"]


def test_an_endpoint_that_never_answers_is_given_up(shell, monkeypatch):
    async def probe():
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(module, "_PROBE_DEADLINE_S", 0.01)
    _, document = call(found(), probe=probe)
    assert "no answer" in check(document, "endpoint")["detail"]


def test_missing_fonts_are_installed_when_asked_for(shell, monkeypatch):
    installed = []
    monkeypatch.setattr(module, "install_fonts", lambda: installed.append(True))
    boxes = {**dict.fromkeys(SAMPLES, True), "Chinese": False}
    _, document = call(found(glyphs=boxes), found(), install=True)
    assert installed
    assert check(document, "glyphs")["state"] == "ok"


def test_missing_fonts_are_named_with_what_to_type(shell):
    boxes = {**dict.fromkeys(SAMPLES, True), "Chinese": False, "emoji": False}
    code, document = call(found(glyphs=boxes))
    assert code == 0
    assert check(document, "glyphs")["state"] == "warning"
    assert "Chinese, emoji" in check(document, "glyphs")["detail"]
    assert "fonts-noto-cjk" in check(document, "glyphs")["hint"]


def test_off_a_terminal_it_is_plain_lines(shell):
    code, text = call(found(), as_json=False)
    assert code == 0
    assert "\x1b" not in text
    assert "clock frames    ok" in text
    assert text.splitlines()[-1] == "games can be played here with: frames, js, realtime"


async def test_a_real_browser_is_examined():
    binary = find_browser(None)
    report = await self_test(binary)
    assert report.version.startswith(binary.version.split(".")[0])
    assert report.clocks["js"].works, report.clocks
    assert report.clocks["realtime"].works, report.clocks
    assert report.clocks["frames"].works == (binary.kind == "headless_shell"), report.clocks
    assert report.webgl.works, report.webgl
    assert set(report.missing_glyphs) == set(await missing_glyphs(binary)) <= set(NEEDED)


async def test_a_browser_that_dies_at_once_is_a_finding(tmp_path):
    dead = tmp_path / "dead"
    dead.write_text("#!/bin/sh\nexit 1\n")
    dead.chmod(0o755)
    report = await self_test(BrowserBinary(dead, "headless_shell", "setting", "1.2.3"))
    assert not any(finding.works for finding in report.clocks.values())
    assert not report.webgl.works
    assert report.version == "1.2.3"
