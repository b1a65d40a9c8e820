"""`playtest validate`: every rule that is broken is named once, and what is no plain JSON is no document."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from playtest.cli import main
from playtest.contracts import MODELS, contract_rules
from playtest.documents import read_document
from playtest.errors import PlaytestError, UsageError
from playtest.protocol.play_spec import PlaySpec
from playtest.protocol.schema import SCHEMAS

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "contracts" / "samples"
GOOD = SAMPLES / "verdict-feedback" / "valid" / "01-stuck-in-playing.json"


@pytest.fixture
def samples(tmp_path, monkeypatch):
    """A copy of the samples that may be spoilt."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SAMPLES, tmp_path / "contracts" / "samples")
    return tmp_path / "contracts" / "samples"


def change(file, **fields):
    document = json.loads(file.read_text("utf-8")) | fields
    file.write_text(json.dumps({name: value for name, value in document.items() if value is not None}))


def suite(capsys):
    code = main(["validate", "--suite", "--json"])
    return code, json.loads(capsys.readouterr().out)


def problems(report):
    return [sample["problem"] for one in report["contracts"] for sample in one["samples"] if not sample["ok"]]


def test_the_suite_stands_and_counts(samples, capsys):
    code, report = suite(capsys)
    assert code == 0
    counts = {
        one["contract"]: (one["accepted"], one["valid"], one["stopped"], one["invalid"]) for one in report["contracts"]
    }
    assert counts == {"play-spec": (5, 5, 11, 11), "verdict-feedback": (3, 3, 8, 8)}
    assert main(["validate", "--suite"]) == 0
    assert "play-spec         5 of 5 valid accepted, 11 of 11 invalid stopped" in capsys.readouterr().out


def test_every_contract_has_samples_and_each_keyword_of_a_rule_has_one_that_it_stops():
    assert {folder.name for folder in SAMPLES.iterdir()} == set(MODELS)
    stopped_by = {
        json.loads(file.read_text("utf-8"))["_stoppedBy"].split(": ")[1].split()[0]
        for file in SAMPLES.glob("*/invalid/*.json")
    }
    assert {
        "required",
        "oneOf",
        "anyOf",
        "enum",
        "const",
        "pattern",
        "minItems",
        "type",
        "additionalProperties",
    } <= stopped_by


def test_an_invalid_sample_that_passes_fails_the_suite(samples, capsys):
    file = samples / "verdict-feedback" / "invalid" / "04-passed-with-feedback.json"
    change(file, passed=False)
    code, report = suite(capsys)
    assert code == 1
    assert problems(report) == ["passes, and should be stopped by $.passed: const"]


def test_an_invalid_sample_that_another_rule_stops_fails_the_suite(samples, capsys):
    file = samples / "verdict-feedback" / "invalid" / "04-passed-with-feedback.json"
    change(file, passed=False, failedGates=[])
    code, report = suite(capsys)
    assert code == 1
    assert problems(report) == ["is stopped by $.failedGates: minItems, and should be by $.passed: const alone"]


def test_an_invalid_sample_that_a_second_rule_stops_too_fails_the_suite(samples, capsys):
    change(samples / "play-spec" / "invalid" / "01-unbound.json", tier="rich")
    code, report = suite(capsys)
    assert code == 1
    assert "$: additionalProperties tier" in problems(report)[0]


@pytest.mark.parametrize("note", ["_reproduces", "_stoppedBy"])
def test_an_invalid_sample_says_what_it_shows(samples, capsys, note):
    change(samples / "play-spec" / "invalid" / "01-unbound.json", **{note: None})
    code, report = suite(capsys)
    assert code == 1
    assert note in problems(report)[0]


def test_a_refused_valid_sample_a_spoilt_one_and_none_at_all_fail_the_suite(samples, capsys):
    change(samples / "play-spec" / "valid" / "01-key-cycle.json", gameId="../up")
    (samples / "play-spec" / "valid" / "02-tap-targets.json").write_text("{")
    shutil.rmtree(samples / "verdict-feedback" / "invalid")
    code, report = suite(capsys)
    assert code == 1
    refused, spoilt, none = problems(report)
    assert "$.gameId: pattern" in refused
    assert "not JSON" in spoilt
    assert "has no sample" in none
    assert main(["validate", "--suite"]) == 1
    assert "3 of 5 valid accepted" in capsys.readouterr().out


def test_a_rule_that_gets_lost_fails_the_suite(samples, capsys, monkeypatch):
    """The suite guards the contracts: without a rule, its samples pass."""
    schema = SCHEMAS["verdict-feedback.schema.json"]()
    del schema["$defs"]["FeedbackItem"]["then"]
    monkeypatch.setitem(SCHEMAS, "verdict-feedback.schema.json", lambda: schema)
    monkeypatch.setattr("playtest.contracts._must_agree", lambda *_, **__: None)
    code, report = suite(capsys)
    assert code == 1
    assert problems(report) == ["passes, and should be stopped by $.items[0]: required phaseNow"]


def test_a_schema_and_a_model_that_disagree_are_a_bug_of_ours():
    rules = contract_rules("play-spec")
    loose = rules._replace(validator=jsonschema.Draft202012Validator({}))
    tight = rules._replace(validator=jsonschema.Draft202012Validator({"required": ["nothing"]}))
    spec = read_document(SAMPLES / "play-spec" / "valid" / "01-key-cycle.json")
    assert rules.violations(spec) == ()
    with pytest.raises(PlaytestError, match="refuses what its schema accepts"):
        loose.violations({})
    with pytest.raises(PlaytestError, match="accepts what its schema refuses"):
        tight.violations(spec)


def test_files_are_held_against_a_contract(samples, capsys):
    bad = samples / "play-spec" / "invalid" / "03-keys-missing.json"
    good = samples / "play-spec" / "valid" / "01-key-cycle.json"
    assert main(["validate", "play-spec", str(good)]) == 0
    assert capsys.readouterr().out == f"valid   {good}\n"
    assert main(["validate", "play-spec.schema.json", str(good), str(bad)]) == 1
    assert capsys.readouterr().out == f"valid   {good}\nINVALID {bad}\n  $.driver: 'keys' is a required property\n"
    assert main(["validate", "play-spec", str(good), str(bad), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [file["valid"] for file in report["files"]] == [True, False]
    assert report["files"][1]["violations"][0]["rule"] == "required keys"


def test_a_schema_may_be_a_file_ours_or_another_s(samples, tmp_path, capsys):
    assert main(["validate", str(ROOT / "schemas" / "verdict-feedback.schema.json"), str(GOOD)]) == 0
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"type": "object", "required": ["one", "two", "three"], "properties": {"two": {}}}))
    assert main(["validate", str(other), str(GOOD), "--json"]) == 1
    rules = [one["rule"] for one in json.loads(capsys.readouterr().out.partition("\n")[2])["files"][0]["violations"]]
    assert rules == ["required one", "required two", "required three"]


def test_a_result_of_a_run_can_be_held_against_the_protocol(tmp_path, capsys):
    error = tmp_path / "error.json"
    error.write_text(json.dumps({"error": {"code": 2, "message": "no", "hint": ""}}))
    assert main(["validate", "playtest-1", str(error)]) == 0
    error.write_text(json.dumps({"error": {"code": "2", "message": "no"}}))
    assert main(["validate", "playtest-1", str(error)]) == 1


WRONG_CALLS = {
    "nothing": (),
    "no document": ("play-spec",),
    "no such contract": ("play-specs", GOOD),
    "no such file": ("play-spec", "gone.json"),
    "a folder": ("play-spec", "."),
    "suite and documents": ("--suite", "play-spec", GOOD),
    "samples without suite": ("--samples", ".", "play-spec", GOOD),
    "no samples": ("--suite", "--samples", "gone"),
    "samples of no contract": ("--suite", "--samples", ROOT),
    "no schema file": ("./gone.json", GOOD),
}


@pytest.mark.parametrize("arguments", WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_a_wrong_call_is_told_before_anything_is_judged(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["validate", *map(str, arguments), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["hint"]


NO_SCHEMAS = {
    "no schema": {"type": "ring"},
    "a list": [],
    "a broken pattern": {"properties": {"gameId": {"pattern": "("}}},
    "elsewhere": {"$ref": "http://127.0.0.1:9/never-fetched.json"},
    "a broken reference": {"$ref": "#/$defs/gone"},
    "endless": {"$ref": "#"},
}


@pytest.mark.parametrize("schema", NO_SCHEMAS.values(), ids=NO_SCHEMAS)
def test_a_schema_that_cannot_be_followed_is_told(schema, tmp_path, capsys):
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(schema))
    assert main(["validate", str(file), str(GOOD), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["hint"]


NO_DOCUMENTS = {
    "empty": b"",
    "cut": b'{"a": ',
    "two documents": b"{} {}",
    "a name twice": b'{"passed": true, "passed": false}',
    "NaN": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "too large a number": b'{"a": 1e999}',
    "a number of 5000 digits": b"1" * 5000,
    "half a character": b'{"a": "\\ud83d"}',
    "half a character in a name": b'{"\\ud83d": 1}',
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "endlessly nested": b"[" * 100_000,
    "deeply nested": b"[" * 20_000 + b"]" * 20_000,
}


@pytest.mark.parametrize("data", NO_DOCUMENTS.values(), ids=NO_DOCUMENTS)
def test_what_two_readers_could_understand_differently_is_no_document(data, tmp_path):
    file = tmp_path / "document.json"
    file.write_bytes(data)
    with pytest.raises(UsageError) as told:
        read_document(file)
    assert str(file) in told.value.message
    assert told.value.hint


@pytest.mark.parametrize("text", ['\ufeff{"a": 1}', '{"a": 1}\n', '{"\\ud83d\\ude00": -0.0}', "[]", "null"])
def test_plain_json_is_read(text, tmp_path):
    file = tmp_path / "document.json"
    file.write_text(text, "utf-8")
    assert read_document(file) == json.loads(text.lstrip("\ufeff"))


def test_in_python_a_contract_is_made_by_field_name_and_none_is_absent():
    spec = PlaySpec.from_wire(json.loads((SAMPLES / "play-spec" / "valid" / "01-key-cycle.json").read_text("utf-8")))
    assert spec.model_extra["_note"].startswith("Sliding")
    assert spec.driver_type == "key-cycle"
    again = PlaySpec(
        game_id=spec.game_id,
        driver=spec.driver,
        observables=spec.observables,
        progress=spec.progress,
        economy=None,
        derived_from=spec.derived_from,
    )
    assert "economy" not in again.to_json()
    assert PlaySpec.from_wire(again.to_json()).to_json() == again.to_json()
