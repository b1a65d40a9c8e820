"""The tester's reply: one JSON object with exactly one of `action` and `verdict`."""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic import Field, ValidationError, field_validator, model_validator

from playtest.errors import ReplyRefused
from playtest.protocol.actions import ACTION_TYPES, Action
from playtest.protocol.base import Foreign
from playtest.protocol.coordinates import CoordinateSpace, Screen
from playtest.protocol.verdict import VerdictClaim


class Observed(Foreign):
    """What the tester read off the screen. Recorded, never trusted alone."""

    score: str | None = None
    level: str | None = None
    phase: str | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)[:200]


class Reply(Foreign):
    """One decision. `code` repeats the canary of the picture; `seen` says what is on the screen."""

    code: str | None = None
    seen: str = Field(default="", max_length=4000)
    observed: Observed = Observed()
    action: Action | None = None
    verdict: VerdictClaim | None = None
    reason: str = Field(default="", max_length=4000)

    @field_validator("code", mode="before")
    @classmethod
    def _code_as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) else value

    @model_validator(mode="after")
    def _exactly_one(self) -> Reply:
        if (self.action is None) == (self.verdict is None):
            both = "both" if self.action is not None else "neither"
            raise ValueError(f"a reply has exactly one of action and verdict; this one has {both}")
        return self


_ALIASES = {"click": "tap", "touch": "tap", "press": "tap", "doubletap": "double_tap", "longpress": "long_press"}


def _tolerate_action(action: Any) -> Any:
    """Forgive what is unambiguous in an action: names in capitals, `click`, `"195, 422"` in x."""
    if not isinstance(action, dict):
        return action
    action = {str(name).lower() if str(name).lower() in ("type", "x", "y") else name: v for name, v in action.items()}
    kind = str(action.get("type", "")).strip().lower().replace("-", "_")
    action["type"] = _ALIASES.get(kind.replace("_", ""), kind)
    x = action.get("x")
    if isinstance(x, str) and "y" not in action and x.count(",") == 1:
        action["x"], action["y"] = (part.strip() for part in x.split(","))
    if isinstance(x, list) and len(x) == 2 and "y" not in action:
        action["x"], action["y"] = x
    return action


def _tolerate_verdict(claim: Any) -> Any:
    """Forgive what says nothing else: nulls and empty kinds, one speculation that is no list, words in capitals."""
    if not isinstance(claim, dict):
        return claim
    claim = {name: value for name, value in claim.items() if value is not None and value != ""}
    for name in ("result", "kind"):
        if isinstance(claim.get(name), str):
            claim[name] = claim[name].strip().lower()
    if isinstance(claim.get("speculation"), str):
        claim["speculation"] = [claim["speculation"]]
    return claim


def _convert_claim(claim: VerdictClaim, screen: Screen, space: CoordinateSpace) -> VerdictClaim:
    """The claim with its places in CSS pixels; a place that is off the screen is left out, the words stay."""
    phenomena = []
    for item in claim.phenomena:
        place: tuple[float | None, float | None] = (None, None)
        if item.x is not None and item.y is not None:
            try:
                place = screen.from_wire(item.x, item.y, space)
            except ReplyRefused:
                place = (None, None)
        phenomena.append(item.model_copy(update={"x": place[0], "y": place[1]}))
    return claim.model_copy(update={"phenomena": tuple(phenomena)})


def parse_reply(data: Any, space: CoordinateSpace, screen: Screen | None = None) -> Reply:
    """A reply object with places in CSS pixels.

    Raises ReplyRefused with a message that tells the tester what to put right: both or neither of
    action and verdict, an unknown action, a place outside the picture or in no number.
    """
    screen = screen or Screen()
    if not isinstance(data, dict):
        raise ReplyRefused("the reply must be one JSON object with code, seen and either action or verdict")
    data = {name: value for name, value in data.items() if value is not None}
    data["action"] = _tolerate_action(data.get("action"))
    data["verdict"] = _tolerate_verdict(data.get("verdict"))
    action = data["action"]
    if isinstance(action, dict) and action.get("type") not in ACTION_TYPES:
        raise ReplyRefused(f"unknown action {action.get('type')!r}; there are: {', '.join(ACTION_TYPES)}")
    try:
        reply = Reply.model_validate(data)
    except ValidationError as error:
        raise ReplyRefused(_first_problem(error)) from error
    if reply.action is not None:
        return reply.model_copy(update={"action": screen.action_from_wire(reply.action, space)})
    assert reply.verdict is not None
    return reply.model_copy(update={"verdict": _convert_claim(reply.verdict, screen, space)})


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in problem["loc"] if part not in ACTION_TYPES)
    given = problem.get("input")
    shown = "" if isinstance(given, dict | list) or given is None else f" (given: {str(given)[:80]!r})"
    if isinstance(given, float) and not math.isfinite(given):
        shown = " (given: not a number)"
    return f"{where + ': ' if where else ''}{problem['msg'].removeprefix('Value error, ')}{shown}"
