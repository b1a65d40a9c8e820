"""The command as people and pipelines call it: exit codes, one JSON document, clear errors, an orderly end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import psutil
import pytest

from tests import endpoint_faults as faults
from tests.endpoint import KEY, StrictEndpoint, closed_address
from tests.play import GAMES, Brain, script, tap, verdict

ROOT = Path(__file__).parent.parent
SCHEMA = json.loads((ROOT / "schemas" / "playtest-1.json").read_text("utf-8"))


def start(*arguments, cwd, **environment):
    """The command as a process of its own, with nothing of the surrounding settings."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PLAYTEST_", "MINIMAX_"))}
    return subprocess.Popen(
        [sys.executable, "-m", "playtest", *map(str, arguments)],
        cwd=cwd,
        env={**clean, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def call(*arguments, cwd, **environment):
    """Exit code, stdout and stderr."""
    process = start(*arguments, cwd=cwd, **environment)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture
def brief(tmp_path):
    path = tmp_path / "brief.md"
    path.write_text("A game. Tap the button to score.", "utf-8")
    return path


def run(tmp_path, brief, *more, game="buttons", tester="explorer", **environment):
    where = ("--game", GAMES / game) if game else ()
    arguments = ("run", "--gid", "g1", "--brief", brief, *where, "--tester", tester, "--json", *more)
    return call(*arguments, cwd=tmp_path, **{"PLAYTEST_FILM_FIRST_PLAY": "0", **environment})


def only_document(out):
    """The one document on stdout, valid against the published schema."""
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA)
    return document


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--game", "nowhere/index.html"), "no game g1"),
        (("--game", "ftp://example.invalid/x"), "not an http(s) URL"),
        (("--game", "http://[bad/"), "not a usable URL"),
        (("--tester", "oracle"), "no tester 'oracle'"),
        (("--tester", "scripted"), "needs a file"),
        (("--tester", "scripted:missing.jsonl"), "can't be read"),
        (("--tester", "minimax"), "needs an API key"),
        (("--steps", "0"), "steps"),
        (("--steps", "9", "--max-steps", "3"), "below steps"),
        (("--steps", "many"), "invalid int value"),
        (("--clock", "sundial"), "clock"),
        (("--rolls", "3"), "rolls"),
        (("--seed", "-1"), "seed"),
        (("--gid", "../etc"), "not a game id"),
        (("--brief", "missing.md"), "can't be read"),
        (("--bogus",), "unrecognized arguments"),
    ],
)
def test_bad_input_is_exit_2_with_one_clear_message(tmp_path, brief, more, message):
    marker = tmp_path / "browser-was-started"
    fake = tmp_path / "chromium"
    fake.write_text(f"#!/bin/sh\ntouch {marker}\n")
    fake.chmod(0o755)
    code, out, err = run(tmp_path, brief, *more, PLAYTEST_CHROMIUM=str(fake))
    assert code == 2
    error = only_document(out)["error"]
    assert error["code"] == 2
    assert message in error["message"]
    assert error["hint"]
    assert "Traceback" not in err
    assert not marker.exists()
    assert not (tmp_path / "evidence").exists()


def test_empty_brief_unknown_gid_and_bad_settings_file(tmp_path, brief):
    (tmp_path / "empty.md").write_text(" \n")
    assert "is empty" in run(tmp_path, tmp_path / "empty.md")[1]
    (tmp_path / "games" / "known").mkdir(parents=True)
    (tmp_path / "games" / "known" / "index.html").write_text("<p>hi")
    code, out, _ = run(tmp_path, brief, game=None)
    assert code == 2
    assert "known" in only_document(out)["error"]["hint"]
    (tmp_path / "playtest.toml").write_text("steps = 'a lot'\n")
    assert "playtest.toml" in only_document(run(tmp_path, brief)[1])["error"]["message"]
    (tmp_path / "playtest.toml").write_text("stepz = 3\n")
    assert "stepz" in only_document(run(tmp_path, brief)[1])["error"]["message"]
    (tmp_path / "playtest.toml").write_text("steps = = 3\n")
    assert run(tmp_path, brief)[0] == 2


def test_no_browser_is_exit_2(tmp_path, brief):
    code, out, _ = run(tmp_path, brief, PLAYTEST_CHROMIUM=str(tmp_path / "no-such-browser"))
    assert code == 2
    assert "no-such-browser" in only_document(out)["error"]["message"]


def test_a_page_that_can_not_be_reached_is_exit_2(tmp_path, brief):
    code, out, _ = run(tmp_path, brief, "--game", closed_address().removesuffix("/v1") + "/index.html", game=None)
    assert code == 2
    assert only_document(out)["error"]["hint"] == "check the address given with --game"


def test_a_run_prints_one_valid_document_and_writes_the_same(tmp_path, brief):
    tester = script(tmp_path, [{"action": tap(195, 600)}, {"verdict": verdict("pass")}])
    code, out, err = run(tmp_path, brief, tester=tester)
    assert code == 0
    document = only_document(out)
    assert document["verdict"] == "pass"
    folder = tmp_path / "evidence" / "playtest"
    assert json.loads((folder / "playtest.json").read_text("utf-8")) == document
    for name in (document["evidence"]["report"], *document["evidence"]["rolls"]):
        assert (folder / name).exists()
    names = {path.name for path in (folder / "roll-1").iterdir()}
    assert names == {"roll.json", "transcript.jsonl", "firstplay.json", "console.jsonl", "shots"}
    assert "step 1/14" in err
    assert "\x1b" not in err


def test_text_mode_prints_nothing_on_stdout(tmp_path, brief):
    tester = script(tmp_path, [{"verdict": verdict("degraded")}])
    code, out, err = call(
        "run", "--gid", "g1", "--brief", brief, "--game", GAMES / "still", "--tester", tester, cwd=tmp_path
    )
    assert (code, out) == (4, "")
    assert "DEGRADED" in err


ENDINGS = {
    "401": (faults.error(401, 1004), "endpoint_auth"),
    "balance": (faults.base_resp(1008), "endpoint_balance"),
    "malformed": (faults.raw("<html>nginx</html>"), "malformed_reply"),
    "refused": (faults.base_resp(2013), "endpoint_request"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_endpoint_that_can_not_be_used_is_degraded_with_evidence(tmp_path, brief, name):
    fault, reason = ENDINGS[name]
    with StrictEndpoint(Brain(tap(195, 600))).then(None, *[fault] * 20) as endpoint:
        code, out, err = run(
            tmp_path, brief, "--base-url", endpoint.base_url, tester="minimax", MINIMAX_API_KEY=KEY,
        )  # fmt: skip
    document = only_document(out)
    assert (code, document["verdict"], document["degradedReason"]) == (4, "degraded", reason)
    assert document["usage"]["requests"] >= 2
    folder = tmp_path / "evidence" / "playtest"
    lines = (folder / "roll-1" / "transcript.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[-1])["type"] == "end"
    written = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in data for data in written)
    assert KEY not in out + err


def test_endpoint_down_is_degraded_unreachable(tmp_path, brief):
    code, out, _ = run(
        tmp_path, brief, "--base-url", closed_address(), tester="minimax", MINIMAX_API_KEY=KEY,
        PLAYTEST_REQUEST_DEADLINE_S="2",
    )  # fmt: skip
    assert code == 4
    assert only_document(out)["degradedReason"] in ("unreachable", "timeout")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_closes_its_evidence_and_its_browser(tmp_path, brief, number):
    with StrictEndpoint(Brain(tap(195, 600))).then(None, faults.stall()) as endpoint:
        process = start(
            "run", "--gid", "g1", "--brief", brief, "--game", GAMES / "buttons", "--base-url", endpoint.base_url,
            "--json", cwd=tmp_path, MINIMAX_API_KEY=KEY,
        )  # fmt: skip
        assert process.stderr is not None
        while "step 1/" not in process.stderr.readline():
            assert process.poll() is None
        children = psutil.Process(process.pid).children(recursive=True)
        assert any("chrom" in child.name() for child in children)
        process.send_signal(number)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    document = only_document(out)
    assert (document["verdict"], document["degradedReason"]) == ("degraded", "interrupted")
    _, alive = psutil.wait_procs(children, timeout=15)
    assert alive == []
    transcript = (tmp_path / "evidence" / "playtest" / "roll-1" / "transcript.jsonl").read_text("utf-8").splitlines()
    assert json.loads(transcript[-1])["degradedReason"] == "interrupted"


def test_timeout_is_degraded(tmp_path, brief):
    with StrictEndpoint(Brain(tap(195, 600))).then(faults.stall()) as endpoint:
        code, out, _ = run(
            tmp_path, brief, "--base-url", endpoint.base_url, "--timeout", "6", tester="minimax", MINIMAX_API_KEY=KEY
        )
    assert (code, only_document(out)["degradedReason"]) == (4, "timeout")


def test_config_shows_origins_and_masks_keys(tmp_path):
    (tmp_path / "playtest.toml").write_text("steps = 9\n")
    code, out, _ = call("config", "--json", cwd=tmp_path, MINIMAX_API_KEY=KEY, PLAYTEST_ROLLS="1")
    shown = json.loads(out)
    assert code == 0
    assert KEY not in out
    assert shown["steps"] == {"value": 9, "from": str(tmp_path / "playtest.toml")}
    assert shown["rolls"] == {"value": 1, "from": "environment (PLAYTEST_ROLLS)"}
    assert shown["tester"] == {"value": "minimax", "from": "default"}
    assert shown["api_key"]["from"] == "environment (MINIMAX_API_KEY)"


def test_schema_check_sees_drift(tmp_path):
    assert call("schema", "--check", cwd=ROOT)[0] == 0
    assert call("schema", "--check", cwd=tmp_path)[0] == 2
    assert call("schema", "--write", cwd=tmp_path)[0] == 0
    assert call("schema", "--check", cwd=tmp_path)[0] == 0
    (tmp_path / "schemas" / "playtest-1.json").write_text("{}")
    assert call("schema", "--check", cwd=tmp_path)[0] == 1
