"""A recorded roll as a plain Playwright script that anybody can run with pytest, without this package.

Texts of the game and the tester are data of strangers: into the script they come only as string literals and as
comments of escaped words (`literal`), so nothing in them can become code.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from playtest.browser.clock import FRAME_MS
from playtest.browser.console import MAX_TEXT
from playtest.browser.inputs import AFTER_TAP_MS, DOUBLE_TAP_GAP_MS, DRAG_PRESS_MS, MOVE_EVERY_MS, TAP_HOLD_MS
from playtest.browser.seeding import hold_script, probe_key
from playtest.config import Settings
from playtest.fresh import start_ms
from playtest.protocol.actions import (
    Action,
    DoubleTap,
    Drag,
    Key,
    LongPress,
    Pointed,
    Stroke,
    Type,
    Wait,
    describe,
)  # fmt: skip
from playtest.protocol.keys import key_name
from playtest.protocol.transcript import FaultLine, StepLine, transcript_line
from playtest.protocol.verdict import Phenomenon
from playtest.recordings import Recording

_PACKAGE = Path(__file__).parent
_WIDTH = 88  # of comments: lines of this length are good style nearly everywhere
_MOST_WORDS = 600
_TEXT_KEPT = 60  # characters of a text that a recorded change of it keeps
_NO_TEXT = "∅"
_UNKNOWN_KEY_MS = 100


class Pace(NamedTuple):
    """How long the parts of an input take under a clock, in ms of game time."""

    touch_ms: float
    hold_ms: float
    after_ms: float
    gap_ms: float


@dataclass(slots=True)
class ScriptStep:
    """One recorded step as lines of the script."""

    number: int
    what: str
    calls: list[str] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def script_of(recording: Recording, settings: Settings) -> str:
    """The script's text. Raises UsageError when the record's starting date is no date."""
    start, screen = recording.start, recording.start.screen
    steps = list(_steps(recording))
    told = {step.number for step in steps}
    phenomena = recording.roll.phenomena if recording.roll else ()
    key = probe_key(start.seed)
    began = {"seed": start.seed, "startDate": start_ms(start.start_date), "shiftDate": False}
    ended_s = math.ceil(max((_finite(line.game_ms) for line in recording.steps), default=0) / 1000)
    return _environment().get_template("script.py.j2").render(
        number=start.roll,
        game=start.game,
        start_date=start.start_date,
        width=screen.width,
        height=screen.height,
        locale=start.locale,
        timezone=settings.timezone,
        user_agent=settings.user_agent,
        deadline_s=60 + 10 * min(ended_s, 3600),
        pace=_pace(start.clock),
        move_every_ms=MOVE_EVERY_MS,
        known_errors=known_errors(recording.folder),
        error_chars=MAX_TEXT,
        steps=steps,
        notes=[_words(phenomenon) for phenomenon in phenomena if phenomenon.step not in told],
        key=key,
        seed_script=_seed_js().replace("__PARAMS__", json.dumps(began)).strip(),
        hold_script=hold_script(f"{key}t", key).strip(),
    )  # fmt: skip


def literal(text: str) -> str:
    """A Python string literal on one line, quoted as formatters like it; whatever can't be printed is escaped."""
    if text.count('"') > text.count("'"):
        return "'" + _escaped(text).replace("'", "\\'") + "'"
    return '"' + _escaped(text).replace('"', '\\"') + '"'


def _escaped(text: str) -> str:
    return "".join(c if c.isprintable() and c != "\\" else repr(c)[1:-1] for c in text)


def known_errors(folder: Path) -> tuple[str, ...]:
    """The uncaught errors of a recorded roll, each once; lines that can't be read are left out."""
    found: dict[str, None] = {}
    for text in (folder / "transcript.jsonl").read_bytes().splitlines():
        try:
            line = transcript_line.validate_json(text)
        except ValueError:
            continue
        if isinstance(line, FaultLine) and line.fault == "uncaught":
            found[line.message] = None
    return tuple(found)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_PACKAGE / "templates", encoding="utf-8"),
        autoescape=False,  # noqa: S701 - it writes Python: every value goes through `literal`
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(quoted=literal, note=_note, number=_number)
    return environment


def _seed_js() -> str:
    return (_PACKAGE / "browser" / "js" / "seed.js").read_text("utf-8")


def _steps(recording: Recording) -> Iterator[ScriptStep]:
    ended_ms = 0.0
    lines = recording.steps
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        if line.action is None:
            continue
        step = ScriptStep(line.step, describe(line.action))
        if line.effect is None:
            step.notes.append("Not made here: the page hung or died under it when it was recorded.")
        else:
            began_ms = max(ended_ms, _began_ms(line, line.action, recording.start.clock))
            step.calls.append(f"await game.until({_number(began_ms)})")
            if line is lines[0]:
                step.calls.append("await game.look(0)")
            step.calls.extend(_calls(line.action))
            step.calls.append(f"await game.until({_number(line.game_ms)})")
            step.texts.extend(_text_changes(line, following))
        step.calls.append(f"await game.look({line.step})")
        ended_ms = _finite(line.game_ms)
        phenomena = recording.roll.phenomena if recording.roll else ()
        step.notes.extend(_words(phenomenon) for phenomenon in phenomena if phenomenon.step == line.step)
        yield step


def _pace(clock: str) -> Pace:
    """`frames` hands a touch over with a frame; the others cut times to whole milliseconds."""
    times = (TAP_HOLD_MS, AFTER_TAP_MS, DOUBLE_TAP_GAP_MS)
    return Pace(FRAME_MS, *times) if clock == "frames" else Pace(0, *(round(ms) for ms in times))


def _began_ms(line: StepLine, action: Action, clock: str) -> float:
    """Game time at which a recorded input began: a step ends with the last look of the settle wait."""
    assert line.effect is not None, "the step was measured"
    first_look_ms = FRAME_MS if clock == "frames" else 0.0
    return _finite(line.game_ms) - _finite(line.effect.settle_ms) - first_look_ms - _length_ms(action, _pace(clock))


def _length_ms(action: Action, pace: Pace) -> float:
    """How long an input takes in game time, as browser/inputs.py makes it."""
    around_ms = 2 * pace.touch_ms + pace.after_ms
    if isinstance(action, Wait):
        return action.ms
    if isinstance(action, LongPress):
        return around_ms + action.ms
    if isinstance(action, DoubleTap):
        return 2 * (around_ms + pace.hold_ms) + pace.gap_ms
    if isinstance(action, Stroke):
        return around_ms + action.ms + (DRAG_PRESS_MS if isinstance(action, Drag) else 0)
    if isinstance(action, Key):
        return pace.after_ms + action.ms if key_name(action.key) else _UNKNOWN_KEY_MS
    return pace.after_ms * len(action.text) if isinstance(action, Type) else around_ms + pace.hold_ms


def _calls(action: Action) -> Sequence[str]:
    if isinstance(action, Pointed):
        place = f"{_number(action.x)}, {_number(action.y)}"
        hold = f", ms={action.ms}" if isinstance(action, LongPress) else ""
        return (f"await game.{'double_tap' if isinstance(action, DoubleTap) else 'tap'}({place}{hold})",)
    if isinstance(action, Stroke):
        start = f"({_number(action.x1)}, {_number(action.y1)})"
        end = f"({_number(action.x2)}, {_number(action.y2)})"
        press = f", press_ms={DRAG_PRESS_MS}" if isinstance(action, Drag) else ""
        return (f"await game.stroke({start}, {end}, ms={action.ms}{press})",)
    if isinstance(action, Key):
        name = key_name(action.key)
        if name is None:
            return ("# There is no key of that name; nothing was pressed.", f"await game.wait({_UNKNOWN_KEY_MS})")
        return (f"await game.key({literal(name)}, ms={action.ms})",)
    if isinstance(action, Type):
        return ("await game.type(", f"    {literal(action.text)},", ")")
    return (f"await game.wait({action.ms})",)


def _text_changes(line: StepLine, following: StepLine | None) -> Iterator[tuple[str, str]]:
    """The texts that moved with recorded progress, where the record has both whole: before and after the input."""
    if line.effect is None or following is None:
        return
    for told in line.progress:
        old, arrow, new = told.partition(" -> ")
        cut = max(len(old), len(new)) >= _TEXT_KEPT
        if told in line.effect.texts and arrow and not cut and _NO_TEXT not in (old, new):
            before, after = (" ".join(text.split()) for text in (old, new))
            if old in line.texts and new in following.texts and before and after:
                yield before, after


def _words(phenomenon: Phenomenon) -> str:
    place = "" if phenomenon.x is None or phenomenon.y is None else f" at ({phenomenon.x:.0f}, {phenomenon.y:.0f})"
    return f"The {phenomenon.source} saw at step {phenomenon.step}{place}: {_cut(phenomenon.what)}"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_WORDS else text[:_MOST_WORDS] + "…"


def _note(text: str) -> str:
    """A comment inside the test, on as many lines as it needs, none of which can be a switch of a tool's."""
    words = _escaped(" ".join(_cut(text).split()))
    return textwrap.fill(words, _WIDTH, initial_indent=" " * 8 + "# ", subsequent_indent=" " * 8 + "# | ")


def _number(value: float) -> str:
    return f"{round(_finite(value), 2):.12g}".replace("e+", "e")


def _finite(value: float) -> float:
    """A record may have been edited: a number that is none is nought."""
    return value if math.isfinite(value) else 0.0
