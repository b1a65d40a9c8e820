"""VerdictFeedback: each rule of the contract both ways, a document that keeps it and one that breaks it."""

import copy
import json

import jsonschema
import pytest
from pydantic import ValidationError

from playtest.protocol.feedback import FeedbackItem, LatchResult, VerdictFeedback
from playtest.protocol.schema import feedback_schema

SCHEMA = jsonschema.Draft202012Validator(feedback_schema())
GONE = object()
LEAST = {
    "gameId": "g",
    "passed": False,
    "failedGates": ["A_boot"],
    "items": [{"gate": "A_boot", "driverType": "none"}],
}
STUCK = {"latch": {"pass": False}, "phaseNow": "playing"}
NO_TEXT = (None, 1, True, ["a"], {"a": "b"})
NO_OBJECT = (None, "a", [], 1)


def top(**fields):
    return _changed(copy.deepcopy(LEAST), fields)


def item(**fields):
    document = copy.deepcopy(LEAST)
    _changed(document["items"][0], fields)
    return document


def _changed(node, fields):
    for name, value in fields.items():
        if value is GONE:
            del node[name]
        else:
            node[name] = value
    return node


def _texts(make, name):
    """A field that holds a text: any text, also an empty one, and nothing else."""
    yield from ((make(**{name: text}), True) for text in ("a", "", " ", "卡在 playing", "a\nb"))
    yield from ((make(**{name: value}), False) for value in NO_TEXT)


def _objects(make, name, *, is_open):
    yield make(**{name: {}}), True
    yield make(**{name: {"anything": {"at": ["all", None]}}}), is_open
    yield from ((make(**{name: value}), False) for value in NO_OBJECT)


def _inside(field, name, make=item, **least):
    """A maker of documents with one field of an inner object."""
    return (lambda **fields: make(**{field: least | fields})), name


TABLE = {
    "the least": [(top(), True), (item(), True)],
    "the whole is an object": [([], False), (None, False), ("feedback", False), (1, False), ({}, False)],
    "what must be there": [(top(**{name: GONE}), False) for name in LEAST],
    "schemaVersion is a text": [(top(schemaVersion=value), False) for value in NO_TEXT],
    "schemaVersion is not empty": [(top(schemaVersion="x"), True), (top(schemaVersion=""), False)],
    "gameId is not empty": [(top(gameId="x"), True), (top(gameId="../any text"), True), (top(gameId=""), False)],
    "gameId is a text": [(top(gameId=value), False) for value in NO_TEXT],
    "passed is false": [(top(passed=False), True), *((top(passed=v), False) for v in (True, 0, 0.0, None, "false", []))],
    "failedGates is a list": [(top(failedGates=v), False) for v in (None, "A_boot", {"A_boot": True}, 1)],
    "a gate failed": [(top(failedGates=["A_boot", "A_boot"]), True), (top(failedGates=[]), False)],
    "gate ids": [
        *((top(failedGates=[gate]), True) for gate in (
            "A_boot", "B_uncaught", "C_frame", "D_render", "E_live", "F_wiring", "G_input", "H_progress", "I_control",
            "A_anything", "richGame:tripleLink", "richGame:economy", "richGame:latch", "richGame:X",
            "finding:P0", "finding:P1", "finding:P2",
        )),
        *((top(failedGates=[gate]), False) for gate in (
            "", "J_more", "a_boot", "A_Boot", "A_", "A_boot2", "A-boot", " A_boot", "A_boot ", "xA_boot", "A_boot\nB",
            "richGame:", "richGame:a1", "richgame:latch", "finding:P3", "finding:P10", "finding:", "H", 1, None, True,
            ["A_boot"],
        )),
        (top(failedGates=["A_boot", "wrong"]), False),
        *((item(gate=gate), True) for gate in ("I_control", "richGame:economy", "finding:P2")),
        *((item(gate=gate), False) for gate in ("J_more", "finding:P3", "", None, 1)),
    ],
    "a failed gate needs no item, nor an item a failed gate": [(top(failedGates=["H_progress", "E_live"]), True)],
    "items is a list": [(top(items=v), False) for v in (None, "A_boot", LEAST["items"][0], 1)],
    "something is known": [(top(items=LEAST["items"] * 2), True), (top(items=[]), False)],
    "an item is an object": [(top(items=[v]), False) for v in NO_OBJECT] + [(top(items=[{}]), False)],
    "an item has gate and driver": [(item(gate=GONE), False), (item(driverType=GONE), False)],
    "driverType is not empty": [
        *((item(driverType=v), True) for v in ("key-cycle", "none", "input-sequence", "of my own")),
        *((item(driverType=v), False) for v in ("", *NO_TEXT)),
    ],
    "phaseNow is a text": _texts(item, "phaseNow"),
    "detail is a text": _texts(item, "detail"),
    "fixDirection is a text": _texts(item, "fixDirection"),
    "no other field in an item": [(item(tier="rich"), False), (item(_note="a"), False), (item(driver_type="none"), False)],
    "latch is an object": [(item(latch=v, phaseNow="p"), False) for v in (*NO_OBJECT, {})],
    "latch.pass is true or false": [
        (item(latch={"pass": True}), True),
        (item(**STUCK), True),
        *((item(latch={"pass": v}, phaseNow="p"), False) for v in (None, 0, 1, "false", [])),
        (item(latch={"advisory": True}, phaseNow="p"), False),
    ],
    "stuck somewhere": [
        (item(latch={"pass": False}), False),
        (item(latch={"pass": False, "after": "playing", "advisory": True}), False),
        (item(latch={"pass": False}, phaseNow=None), False),
        (item(latch={"pass": False}, phaseNow=""), True),
        (item(latch={"pass": True}, phaseNow="over"), True),
        (item(phaseNow="playing"), True),
        (top(items=[{"gate": "A_boot", "driverType": "none"}, {"gate": "H_progress", "driverType": "x", "latch": {"pass": False}}]), False),
        (top(items=[{"gate": "A_boot", "driverType": "none", "phaseNow": "p"}, {"gate": "H_progress", "driverType": "x", "latch": {"pass": False}}]), False),
    ],
    "latch.advisory": [
        *((item(latch={"pass": True, "advisory": v}), True) for v in (True, False)),
        *((item(latch={"pass": True, "advisory": v}), False) for v in (None, 0, "true")),
    ],
    "latch.reason": _texts(*_inside("latch", "reason", **{"pass": True})),
    "latch.after": _texts(*_inside("latch", "after", **{"pass": True})),
    "latch is open": [(item(latch={"pass": True, "dwellMs": 500, "_x": None, "pass_": 1}), True)],
    "an item's evidence is an open object": _objects(item, "evidence", is_open=True),
    "evidence.console": _texts(*_inside("evidence", "console")),
    "evidence.gameLog": _texts(*_inside("evidence", "gameLog")),
    "evidence.statePath": _texts(*_inside("evidence", "statePath")),
    "evidence.screenshots": [
        *((item(evidence={"screenshots": v}), True) for v in ([], ["a"], ["", "a"])),
        *((item(evidence={"screenshots": v}), False) for v in (None, "a", [1], ["a", None], {"0": "a"})),
    ],
    "evidence by other names": [(item(evidence={"game_log": 1, "state_path": None, "phaseNow": []}), True)],
    "suspectedSurface": [
        *((item(suspectedSurface=v), True) for v in ([], [{}], [{"file": "a.js", "symbol": "f", "why": ""}, {}])),
        *((item(suspectedSurface=v), False) for v in (None, {}, "a.js", ["a.js"], [None], [{"file": "a.js"}, {"line": 1}], [{"_note": 1}])),
    ],
    "surface.file": _texts(lambda **f: item(suspectedSurface=[f]), "file"),
    "surface.symbol": _texts(lambda **f: item(suspectedSurface=[f]), "symbol"),
    "surface.why": _texts(lambda **f: item(suspectedSurface=[f]), "why"),
    "an item's ext is an open object": _objects(item, "ext", is_open=True),
    "the whole's evidence is an open object": _objects(top, "evidence", is_open=True),
    "evidence.verdictPath": _texts(*_inside("evidence", "verdictPath", top)),
    "evidence.tracePath": _texts(*_inside("evidence", "tracePath", top)),
    "evidence.traceId": _texts(*_inside("evidence", "traceId", top)),
    "evidence.screenshotDir": _texts(*_inside("evidence", "screenshotDir", top)),
    "the whole's ext is an open object": _objects(top, "ext", is_open=True),
    "humanReadable is a text": _texts(top, "humanReadable"),
    "author's notes": [(top(**{name: value}), True) for name in ("_note", "_", "__source") for value in (None, 1, {}, [1])],
    "no other field": [(top(**{name: "x"}), False) for name in ("tier", "note_", "game_id", "failed_gates", "verdict", "")],
}  # fmt: skip
ROWS = [
    pytest.param(document, accepted, id=f"{rule}-{number}")
    for rule, rows in TABLE.items()
    for number, (document, accepted) in enumerate(rows)
]


def by_model(document):
    try:
        VerdictFeedback.from_wire(document)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(("document", "accepted"), ROWS)
def test_the_contract(document, accepted):
    assert by_model(document) is accepted
    assert SCHEMA.is_valid(document) is accepted


def test_every_field_of_the_contract_is_in_the_table_kept_and_broken():
    """A field that the schema gains, or a row that gets lost, is seen here."""
    seen = {True: "", False: ""}
    for row in ROWS:
        document, accepted = row.values
        seen[accepted] += json.dumps(document)
    schema = feedback_schema()
    fields = {name for part in (schema, *schema["$defs"].values()) for name in part["properties"]}
    assert [name for name in sorted(fields) if f'"{name}"' not in seen[True] or f'"{name}"' not in seen[False]] == []


def test_in_python_it_is_made_by_field_name_and_keeps_its_rules():
    item = FeedbackItem(gate="H_progress", driver_type="key-cycle", phase_now="playing", latch=LatchResult(pass_=False))
    made = VerdictFeedback(game_id="g", passed=False, failed_gates=("H_progress",), items=(item,), human_readable=None)
    assert made.to_json() == top(
        failedGates=["H_progress"],
        items=[{"gate": "H_progress", "driverType": "key-cycle", "phaseNow": "playing", "latch": {"pass": False}}],
    )
    with pytest.raises(ValidationError, match="where the game is stuck is unsaid"):
        FeedbackItem(gate="H_progress", driver_type="key-cycle", latch=LatchResult(pass_=False))
    with pytest.raises(ValidationError, match="a game that passed gets no feedback"):
        VerdictFeedback(game_id="g", passed=True, failed_gates=("H_progress",), items=(item,))
