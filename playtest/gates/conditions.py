"""What a PlaySpec asks of a game's state: its paths, its conditions, and its assertions about before and after.

Values are compared as JSON has them: true is not 1, and a value that isn't there answers no condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from pydantic import JsonValue

from playtest.protocol.play_spec import Altered, Assertion, Condition, Equal, Member, Moved, Ordered

_STEP = re.compile(r"\[(\d+)\]|\.?([^.()\[\]\s]+)")
MAX_TOLD = 60


class _Missing:
    """What stands where a state has nothing."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = _Missing  # the class itself stands for it: one of a kind, and known to type checkers
Value: TypeAlias = JsonValue | type[_Missing]


class Judged(NamedTuple):
    """An assertion, and what it was judged by."""

    assertion: Assertion
    before: Value
    after: Value
    passed: bool

    @property
    def told(self) -> str:
        """`score increased by 7: 0 -> 3`."""
        wanted = getattr(self.assertion, "value", getattr(self.assertion, "by", None))
        rule = f"{self.assertion.path} {self.assertion.op}" + ("" if wanted is None else f" {short(wanted)}")
        return f"{rule}: {short(self.before)} -> {short(self.after)}"


def at(state: Value, path: str) -> Value:
    """What is found at a path inside a state; MISSING where there is nothing."""
    found = state
    for match in _STEP.finditer(path):
        index, name = match.groups()
        if index is not None:
            if not isinstance(found, list) or int(index) >= len(found):
                return MISSING
            found = found[int(index)]
        else:
            if not isinstance(found, dict) or name not in found:
                return MISSING
            found = found[name]
    return found


def number(value: Value) -> float | None:
    """The value as a number; None for anything else. True and false are no numbers."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def same(a: Value, b: Value) -> bool:
    """Whether two values are equal as JSON has it: 1 and 1.0 are, 1 and true are not."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def holds(condition: Condition, state: Value) -> bool:
    """Whether a state says what is asked. Nothing at the path answers no condition, not even `ne` or `not_in`."""
    value = at(state, condition.path)
    if value is MISSING:
        return False
    if isinstance(condition, Ordered):
        return _ordered(condition, number(value))
    if isinstance(condition, Equal):
        return same(value, condition.value) == (condition.op == "eq")
    return any(same(value, one) for one in condition.value) == (condition.op == "in")


def judge(assertion: Assertion, before: Value, after: Value) -> Judged:
    """An assertion about the state before and after playing."""
    was, now = at(before, assertion.path), at(after, assertion.path)
    if isinstance(assertion, Ordered | Equal | Member):
        passed = holds(assertion, after)
    elif isinstance(assertion, Moved):
        passed = _moved(assertion, number(was), number(now))
    else:
        passed = _altered(assertion, was, now)
    return Judged(assertion, was, now, passed)


def leaves(value: Value, path: str = "") -> Iterator[tuple[str, Value]]:
    """Every plain value inside a state with its path; an empty list or object is one as well."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")
    else:
        yield path, value


def differing(a: Value, b: Value) -> list[str]:
    """The paths at which two states differ."""
    first, second = dict(leaves(a)), dict(leaves(b))
    paths = [*first, *(path for path in second if path not in first)]
    return [path for path in paths if not same(first.get(path, MISSING), second.get(path, MISSING))]


def short(value: object) -> str:
    """A value for one line of text."""
    text = repr(value) if isinstance(value, str) else "nothing" if value is MISSING else str(value)
    return text if len(text) <= MAX_TOLD else f"{text[: MAX_TOLD - 3]}..."


def _ordered(condition: Ordered, value: float | None) -> bool:
    if value is None:
        return False
    return {
        "gt": value > condition.value,
        "gte": value >= condition.value,
        "lt": value < condition.value,
        "lte": value <= condition.value,
    }[condition.op]


def _moved(assertion: Moved, was: float | None, now: float | None) -> bool:
    if was is None or now is None:
        return False
    by = now - was if assertion.op == "increased" else was - now
    return by > 0 if assertion.by is None else by >= assertion.by


def _altered(assertion: Altered, was: Value, now: Value) -> bool:
    if was is MISSING and now is MISSING:
        return False
    return same(was, now) != (assertion.op == "changed")
