"""The contracts as JSON Schema, generated from the models: `schemas/*.json`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

from playtest.protocol.exit_codes import EXIT_CODE_MEANINGS
from playtest.protocol.feedback import VerdictFeedback
from playtest.protocol.gate_results import FloorResult, GatesResult
from playtest.protocol.play_spec import PlaySpec
from playtest.protocol.reply import Reply
from playtest.protocol.result import SCHEMA, ErrorDocument, Roll, RunResult
from playtest.protocol.transcript import TranscriptLine

REF = "#/$defs/{model}"
TIMEOUTS = {
    "run": "timeout_s: the whole run, wall time; then degraded: timeout",
    "page": "hang_s: one answer of the page; then the fault hang",
    "boot": "boot_s: loading; then the page is played as it is",
    "settle": "settle_ms: game time for the screen to settle after an input",
    "request": "request_deadline_s: one request to the model with its retries; then degraded: timeout or unreachable",
}
LAYOUT = {
    "playtest/playtest.json": "the run's result, written atomically and last",
    "playtest/report.html": "the report for people; opens from disk, no network",
    "playtest/roll-N/roll.json": "the roll's own record",
    "playtest/roll-N/transcript.jsonl": "one line per event, flushed as it happens",
    "playtest/roll-N/firstplay.json": "how soon a person could play",
    "playtest/roll-N/console.jsonl": "what the page logged, bounded",
    "playtest/roll-N/shots/0001.png": "the clean picture of step 1",
    "playtest/roll-N/shots/0001.grid.webp": "the picture as it was sent, with ruler and strip",
    "floor/floor.json": "the floor of a page, with shots/ and console.jsonl beside it",
    "gates/gates.json": "the nine gates of a game, with timeline.jsonl, shots/ and console.jsonl beside it",
    "history/<UTC>-<gid>/": "earlier runs, moved here before a new one starts; of a floor <UTC>-<gid>-floor",
}


def protocol_schema() -> dict[str, Any]:
    """`playtest-1.json`. It validates a result and an error document; replies and transcript lines are in `$defs`."""
    _, ours = models_json_schema(
        [(document, "serialization") for document in (RunResult, Roll, FloorResult, GatesResult, ErrorDocument)],
        ref_template=REF,
    )
    definitions = dict(ours["$defs"])
    lines = TypeAdapter(TranscriptLine).json_schema(mode="serialization", ref_template=REF)
    definitions.update(lines.pop("$defs"))
    definitions["TranscriptLine"] = lines
    reply = Reply.model_json_schema(mode="validation", ref_template=REF)
    definitions.update({name: part for name, part in reply.pop("$defs").items() if name not in definitions})
    reply["oneOf"] = [_has("action", "verdict"), _has("verdict", "action")]
    definitions["Reply"] = reply
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "playtest-1.json",
        "title": SCHEMA,
        "description": "The playtest protocol: a result or an error document, and in $defs all it is made of.",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in ("RunResult", "FloorResult", "GatesResult", "ErrorDocument")],
        "$defs": dict(sorted(definitions.items())),
        "x-exitCodes": {str(int(code)): meaning for code, meaning in EXIT_CODE_MEANINGS.items()},
        "x-timeouts": TIMEOUTS,
        "x-evidence": LAYOUT,
    }


def _has(name: str, other: str) -> dict[str, Any]:
    """`name` is given and `other` is not (null counts as not given)."""
    given = {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
    return {**given, "not": {"required": [other], "properties": {other: {"not": {"type": "null"}}}}}


def play_spec_schema() -> dict[str, Any]:
    """`play-spec.schema.json`."""
    return PlaySpec.json_schema("play-spec.schema.json")


def feedback_schema() -> dict[str, Any]:
    """`verdict-feedback.schema.json`."""
    return VerdictFeedback.json_schema("verdict-feedback.schema.json")


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "playtest-1.json": protocol_schema,
    "play-spec.schema.json": play_spec_schema,
    "verdict-feedback.schema.json": feedback_schema,
}
"""Every schema by the name of its file."""
