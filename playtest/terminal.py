"""What a person at a terminal sees of a run: a line for each step, and a summary at the end. All of it on stderr.

Texts of the game and the tester are stripped of whatever a terminal would obey, and never read as markup.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from playtest.protocol.actions import describe
from playtest.protocol.result import RunResult
from playtest.protocol.transcript import (
    BudgetLine,
    Effect,
    EndLine,
    FaultLine,
    RefusalLine,
    StartLine,
    StepLine,
    TranscriptLine,
    VerdictLine,
    WarningLine,
)
from playtest.protocol.usage import Cost
from playtest.protocol.verdict import Verdict
from playtest.texts import duration, sanitize, share

_STYLES = {Verdict.PASS: "bold green", Verdict.FAIL: "bold red", Verdict.DEGRADED: "bold magenta"}
_MOST_PHENOMENA = 5
_LONG_THOUGHT_MS = 1000


class _Part(NamedTuple):
    text: str
    style: str = ""


class TerminalView:
    """Prints a run as it goes on. Plain text, and one line per event, when stderr is no terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, markup=False, highlight=False, emoji=False)
        self._roll = 0
        self._utf = self._console.encoding.lower().startswith("utf")

    def on_line(self, line: TranscriptLine) -> None:
        """Show one line of the transcript."""
        if isinstance(line, StartLine):
            self._roll = line.roll
        self._print(_Part(f"roll {self._roll}", "bold"), _Part("  "), *_parts(line))

    def on_result(self, result: RunResult, result_path: Path) -> None:
        """Show what the run came to, and where the evidence is."""
        rows = _summary(result)
        style = _STYLES[result.verdict]
        if self._console.is_terminal:
            table = Table.grid(padding=(0, 2))
            table.add_column(no_wrap=True)
            table.add_column(overflow="fold")
            for name, value in rows:
                table.add_row(Text(name, "dim"), Text(self._fit(value), style if name == "verdict" else ""))
            self._console.print(
                Panel(table, title=Text(self._fit(sanitize(result.gid, 60))), border_style=style, expand=False)
            )
        else:
            for name, value in rows:
                self._print(_Part(f"{name:<12}"), _Part(value))
        folder = result_path.parent
        report = folder / (result.evidence.report or "report.html")
        self._print(_Part(f"{'evidence':<12}"), _Part(sanitize(str(folder), 4000)), whole=True)
        self._print(_Part(f"{'report':<12}"), _Part(sanitize(str(report), 4000)), whole=True)

    def _print(self, *parts: _Part, whole: bool = False) -> None:
        text = Text()
        for part in parts:
            text.append(self._fit(part.text), part.style or None)
        if whole or not self._console.is_terminal:
            self._console.print(text, soft_wrap=True)
        else:
            self._console.print(text, no_wrap=True, overflow="ellipsis" if self._utf else "crop")

    def _fit(self, text: str) -> str:
        """The text in what the stream can carry: a terminal without UTF-8 gets escapes instead of an error."""
        encoding = self._console.encoding
        if not self._utf:
            text = text.replace("→", "->").replace("…", "...")
        return text.encode(encoding, "backslashreplace").decode(encoding)


def _parts(line: TranscriptLine) -> list[_Part]:
    if isinstance(line, StepLine):
        return _step(line)
    if isinstance(line, StartLine):
        start = f"start  seed {line.seed}  clock {sanitize(line.clock, 20)}  tester {sanitize(line.tester, 40)}"
        return [_Part(f"{start}  {sanitize(line.url, 200)}", "dim")]
    if isinstance(line, WarningLine):
        return [_Part("! warning", "yellow"), _Part(f"  {sanitize(line.warning, 40)}: {sanitize(line.message, 160)}")]
    if isinstance(line, RefusalLine):
        return [_Part("! refused", "yellow"), _Part(f"  {sanitize(line.refusal, 40)}: {sanitize(line.message, 160)}")]
    if isinstance(line, BudgetLine):
        return [_Part("+ budget", "cyan"), _Part(f"  {line.budget} steps: {sanitize(line.why, 120)}")]
    if isinstance(line, FaultLine):
        return [_Part("x fault", "red"), _Part(f"  {sanitize(line.fault, 40)}: {sanitize(line.message, 160)}")]
    if isinstance(line, VerdictLine):
        words = _outcome(line.claim.result, line.claim.kind, None)
        return [
            _Part("tester says"),
            _Part(f"  {words}", _STYLES[line.claim.result]),
            _Part(f"  {sanitize(line.claim.summary, 160)}"),
        ]
    return _end(line)


def _end(line: EndLine) -> list[_Part]:
    words = _outcome(line.verdict, line.kind, line.degraded_reason)
    return [_Part("end  "), _Part(words, _STYLES[line.verdict]), _Part(f"  {sanitize(line.message, 160)}")]


def _step(line: StepLine) -> list[_Part]:
    parts = [_Part(f"step {line.step}/{line.budget}  ")]
    parts.append(_Part(sanitize(describe(line.action), 100) if line.action else "looks"))
    if line.effect:
        parts += _effect(line.effect)
    if line.progress:
        parts.append(_Part("  progress", "green"))
    if line.thought_ms >= _LONG_THOUGHT_MS:
        parts.append(_Part(f"  (thought {duration(line.thought_ms)})", "dim"))
    return parts


def _effect(effect: Effect) -> list[_Part]:
    settle = (
        f"  {effect.settle_ms / 1000:.1f}s"
        if effect.settled
        else f"  still moving after {effect.settle_ms / 1000:.1f}s"
    )
    if not effect.changed:
        return [_Part("  → no change", "yellow"), _Part(settle, "dim")]
    texts = "; ".join(sanitize(text, 40) for text in effect.texts[:2])
    more = f"; +{len(effect.texts) - 2}" if len(effect.texts) > 2 else ""
    parts = [_Part(f"  → changed {share(effect.area)}", "green")]
    return [*parts, _Part(f" [{texts}{more}]" if texts else ""), _Part(settle, "dim")]


def _outcome(verdict: Verdict, kind: str | None, reason: str | None) -> str:
    why = kind or (sanitize(reason, 60) if reason else "")
    return f"{verdict.upper()}: {why}" if why else verdict.upper()


def _summary(result: RunResult) -> list[tuple[str, str]]:
    rows = [("verdict", _outcome(result.verdict, result.kind, result.degraded_reason))]
    if len(result.rolls) > 1:
        rolls = ", ".join(f"roll {roll.number} {roll.verdict}" for roll in result.rolls[:8])
        rows.append(("rolls", rolls))
    for number, item in enumerate(result.phenomena[:_MOST_PHENOMENA]):
        where = f" ({item.x:.0f}, {item.y:.0f})" if item.x is not None and item.y is not None else ""
        text = f"roll {item.roll} step {item.step}{where}: {sanitize(item.what, 160)}"
        rows.append(("" if number else "phenomena", text))
    if len(result.phenomena) > _MOST_PHENOMENA:
        rows.append(("", f"+{len(result.phenomena) - _MOST_PHENOMENA} more in the report"))
    first = result.first_play
    playable = "never" if first.playable_at_ms is None else f"after {duration(first.playable_at_ms)}"
    answered = "never" if first.first_feedback_ms is None else f"after {duration(first.first_feedback_ms)}"
    closed = "closed" if first.loop_closed else "not closed"
    rows.append(("first play", f"playable {playable}, answers input {answered}, loop {closed}"))
    steps = sum(roll.steps for roll in result.rolls)
    rows.append(("steps", f"{steps} in {duration(result.duration_ms)} ({duration(result.game_time_ms)} of game time)"))
    rows.append(("time", _time(result)))
    rows.append(("cost", _cost(result.cost, result.usage.requests)))
    return rows


def _time(result: RunResult) -> str:
    held, tried = duration(result.held_ms), duration(result.experiment_ms)
    speed = "" if result.speed is None else f", {result.speed:.1f}x while driven"
    ran_on = sum(roll.unheld_ms for roll in result.rolls)
    unheld = f", not held for {duration(ran_on)} of game time" if ran_on else ""
    return f"held {held} for the tester, {tried} for control, probes and film{speed}{unheld}"


def _cost(cost: Cost, requests: int) -> str:
    if not requests:
        return "none, no model was asked"
    asked = f"{requests} request{'' if requests == 1 else 's'}"
    if not cost.priced:
        return f"not priced, {asked}"
    lost = f", at most {cost.at_risk:.4f} more for answers that were lost" if cost.at_risk else ""
    return f"{sanitize(cost.currency, 8)} {cost.amount:.4f} for {asked}{lost}"
