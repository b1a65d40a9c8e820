"""PlaySpec: what each of its rules takes and refuses, by the model and by the schema alike."""

import copy

import jsonschema
import pytest
from pydantic import ValidationError

from playtest.protocol.keys import key_name
from playtest.protocol.play_spec import PlaySpec
from playtest.protocol.schema import play_spec_schema

SCHEMA = jsonschema.Draft202012Validator(play_spec_schema())
WIN = {"path": "phase", "op": "eq", "value": "won"}
LEAST = {
    "gameId": "g",
    "driver": {"type": "key-cycle", "keys": ["ArrowLeft"]},
    "observables": {"state": "game.state()", "win": WIN},
    "progress": [{"path": "score", "op": "increased"}],
    "derivedFrom": {"sourceHash": "sha256:" + "0" * 64},
}
KEYS = {"by": "keys", "less": "ArrowLeft", "more": "ArrowRight"}
PADDLE = {"type": "paddle-intercept", "paddle": "paddle", "ball": "balls[0]", "control": KEYS}
TARGETS = {"type": "tap-targets", "targets": "targets"}
ECONOMY = {"balance": "coins", "start": 20, "target": 100, "ruin": {"path": "lost", "op": "gte", "value": 3}}
FIRST = {"loopClosedWhen": {"path": "score", "op": "increased"}}


def spec(**fields):
    return copy.deepcopy(LEAST) | fields


def without(name, document=LEAST):
    return {key: value for key, value in document.items() if key != name}


def driver(base, **fields):
    return spec(driver=base | fields)


def inputs(*each):
    return without("driver") | {"inputs": list(each)}


def progress(op, *value, path="score"):
    return spec(progress=[{"path": path, "op": op} | ({"value": value[0]} if value else {})])


def state(path):
    return spec(observables={"state": path, "win": WIN})


ACCEPTED = {
    "the least": spec(),
    "only lose": spec(observables={"state": "s", "lose": WIN}),
    "taps on all targets": driver(TARGETS),
    "a paddle by keys": driver(PADDLE),
    "a paddle by pointer": driver(PADDLE, control={"by": "pointer"}, axis="y", space="canvas"),
    "every input": inputs(
        {"type": "tap", "x": 0, "y": 0.5}, {"type": "tap_text", "text": "开始"}, {"type": "double_tap", "x": 1, "y": 1},
        {"type": "long_press", "x": 1, "y": 1}, {"type": "swipe", "x1": 1, "y1": 2, "x2": 3, "y2": 4},
        {"type": "drag", "x1": 1, "y1": 2, "x2": 3, "y2": 4, "ms": 900}, {"type": "key", "key": " "},
        {"type": "type", "text": "go"}, {"type": "wait", "ms": 500},
    ),
    **{f"operator {op}": progress(op, 3) for op in ("gt", "gte", "lt", "lte", "eq", "ne")},
    **{f"operator {op}": progress(op, ["a", 1, True]) for op in ("in", "not_in")},
    **{f"operator {op}": progress(op) for op in ("increased", "decreased", "changed", "unchanged")},
    "by how much": spec(progress=[{"path": "score", "op": "increased", "by": 7}]),
    **{f"path {path}": state(path) for path in ("state", "a.b().c[0].d()", "view()", "$game._x", "游戏.状态", "a-b", "a[12]")},
    **{f"key {key}": driver(LEAST["driver"], keys=[key]) for key in ("a", "A", " ", "Space", "ArrowUp", "KeyW", "~", "F12")},
    "a start ritual": spec(startRitual={"ready": "ready", "inputs": [{"type": "key", "key": "Enter"}], "startedWhen": WIN}),
    "an empty ritual": spec(startRitual={}),
    "sections": spec(economy=ECONOMY, controlCheck={"body": "p", "control": KEYS, "axis": "both"}, firstPlay=FIRST),
    "a latch": spec(latch={"dwellMs": 0, "advisory": True}),
    "whole as a float": spec(limits={"inputs": 5.0, "gameMs": 1e4}),
    "prefixes": spec(expectedEngineCallPrefixes=["audio."]),
    "notes and ext": spec(_note=None, _source={"a": 1}, ext={"tier": "anything goes here"}),
    "files": spec(derivedFrom=LEAST["derivedFrom"] | {"files": {"index.html": "sha256:" + "a" * 64}}),
}  # fmt: skip
REFUSED = {
    **{f"{name} missing": without(name) for name in LEAST},
    "inputs and driver": spec(inputs=[{"type": "wait", "ms": 1}]),
    "no inputs": inputs(),
    "no end": spec(observables={"state": "s"}),
    "no progress": spec(progress=[]),
    "keys missing": driver({"type": "key-cycle"}),
    "no keys": driver(LEAST["driver"], keys=[]),
    "targets missing": driver({"type": "tap-targets"}),
    "paddle missing": driver(without("paddle", PADDLE)),
    "ball missing": driver(without("ball", PADDLE)),
    "control missing": driver(without("control", PADDLE)),
    "half the keys": driver(PADDLE, control={"by": "keys", "less": "a"}),
    "another family's parameter": driver(LEAST["driver"], targets="targets"),
    **{f"driver {name}": driver({"type": name}) for name in ("auto", "", "Key-Cycle", "input-sequence", None, 1)},
    **{f"operator {op!r}": progress(op, 1) for op in ("equals", "==", ">", "isGreaterThan", "increase", "GT", "", None, 1)},
    "no operator": spec(progress=[{"path": "score", "value": 1}]),
    **{f"operator {op} without value": progress(op) for op in ("gt", "eq", "in")},
    **{f"operator {op} with value": progress(op, 1) for op in ("increased", "changed")},
    "order of a text": progress("gt", "1"),
    "order of a truth": progress("gte", True),
    "equal to a list": progress("eq", [1]),
    "equal to null": progress("eq", None),
    "one of none": progress("in", []),
    "one of a text": progress("in", "abc"),
    "by nothing": spec(progress=[{"path": "score", "op": "increased", "by": 0}]),
    "a change is no end": spec(observables={"state": "s", "win": {"path": "score", "op": "increased"}}),
    **{f"path {path!r}": state(path) for path in (
        "", " ", ".a", "a.", "a..b", "a b", "a(1)", "a()()", "a[b]", "a[-1]", "a[", "()", "a\n", "x" * 201, None, 1)},
    "a call inside the state": progress("increased", path="score()"),
    **{f"key {key!r}": driver(LEAST["driver"], keys=[key]) for key in ("", "left", "LeftArrow", "arrowup", "aa", "é", "a\n", 1, None)},
    **{f"hash {text!r}": spec(derivedFrom={"sourceHash": text}) for text in (
        "", "0" * 64, "sha256:" + "0" * 63, "sha256:" + "A" * 64, "sha256:" + "0" * 65, "sha256:" + "0" * 64 + "\n", "md5:" + "0" * 32, None)},
    **{f"game {gid!r}": spec(gameId=gid) for gid in ("", "../a", "a/b", "-a", ".a", "a" * 129, "a\n", None, 1)},
    "a tier": spec(tier="rich"),
    "a tier inside": spec(latch={"tier": "rich"}),
    "a note inside": spec(latch={"_note": "a"}),
    "a python name": without("gameId") | {"game_id": "g"},
    "a null": spec(economy=None),
    "a null inside": spec(latch={"dwellMs": None}),
    "a number as a text": spec(latch={"dwellMs": "500"}),
    "a half millisecond": spec(latch={"dwellMs": 0.5}),
    "time that runs back": spec(latch={"dwellMs": -1}),
    "1 for true": spec(latch={"advisory": 1}),
    "no prefixes": spec(expectedEngineCallPrefixes=[]),
    "an empty prefix: anything begins so": spec(expectedEngineCallPrefixes=[""]),
    "a place off every screen": inputs({"type": "tap", "x": -1, "y": 0}),
    "a tap without a place": inputs({"type": "tap"}),
    "a hold of no time": inputs({"type": "key", "key": "a", "ms": 0}),
    "an unknown input": inputs({"type": "click", "x": 1, "y": 1}),
    "ruin untold": spec(economy=without("ruin", ECONOMY)),
    "a loop without an end": spec(firstPlay={}),
    "no object": [],
}  # fmt: skip


def by_model(document):
    try:
        PlaySpec.from_wire(document)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("document", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(document):
    assert by_model(document)
    assert SCHEMA.is_valid(document)


@pytest.mark.parametrize("document", REFUSED.values(), ids=REFUSED)
def test_refused(document):
    assert not by_model(document)
    assert not SCHEMA.is_valid(document)


def test_every_key_that_a_spec_may_name_can_be_pressed():
    names = [
        *map(chr, range(0x20, 0x7F)),
        *(name for name in ("ArrowLeft", "Space", "KeyA", "NumpadEnter", "F1", "Pause")),
    ]
    assert all(by_model(driver(LEAST["driver"], keys=[name])) for name in names)
    assert all(key_name(name) for name in names)


def test_the_driver_s_name_is_what_feedback_tells():
    assert PlaySpec.from_wire(spec()).driver_type == "key-cycle"
    assert PlaySpec.from_wire(inputs({"type": "wait", "ms": 1})).driver_type == "input-sequence"
