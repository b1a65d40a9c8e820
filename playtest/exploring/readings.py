"""Numbers on the screen: what each counts, and which rose because of an input."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from playtest.ports import VisibleText


class Role(StrEnum):
    """What a number counts, by the words around it."""

    SCORE = "score"
    STAGE = "stage"
    TIME = "time"
    HARM = "harm"
    MOVES = "moves"
    OTHER = "other"


class Reading(NamedTuple):
    """One number on the screen. `goal` is the number after a slash."""

    key: str
    role: Role
    value: float
    goal: float | None
    text: str


class Rise(NamedTuple):
    """A number that moved with an input. Steps count from 1."""

    step: int
    key: str
    role: Role
    old: Reading
    new: Reading
    cause: str


_NUMBER = r"-?\d+(?:,\d{3})*(?:\.\d+)?"
_VALUE = re.compile(rf"({_NUMBER})(?:\s*[/／]\s*({_NUMBER}))?")
_HAN = {c: i + 1 for i, c in enumerate("一二三四五六七八九十")}
_STAGE = re.compile(
    rf"第\s*(?P<a>\d+|[{''.join(_HAN)}])\s*[关章回题波天幕轮层站局]|(?:关卡|回合|\blevel|\blv\.?|\bstage|\bwave|\bround|\bday|"
    r"\bchapter|\bquestion)\s*[:：#]?\s*(?P<b>\d+)",
    re.IGNORECASE,
)
_ROLES = {
    Role.TIME: (r"时间|倒计时|计时|剩余.{0,2}秒|耐心|\d\s*秒|\btime|\btimer|\bfps\b|\d+:\d{2}|\bseconds?\b|\d\s*s$"),
    Role.HARM: (
        r"生命|血量|命|流失|失误|错误|伤害|体力|❤|♥|\blives?\b|\bhp\b|\bhealth|\bmiss|\bdamage|\blost\b|\berrors?\b"
    ),
    Role.MOVES: (
        r"步数|步|次数|点击|尝试|音量|亮度|\bmoves?\b|\bsteps?\b|\btaps?\b|\bclicks?\b|\btries\b|\battempts?\b|"
        r"\bvolume\b"
    ),
    Role.SCORE: (
        r"得分|分数|积分|总分|金币|硬币|铜钱|收入|营业额|进度|完成|收集|配对|消除|连击|经验|星星|分$|分\b|¥|\$|🪙|⭐|"
        r"\bscore|\bpoints?\b|\bpts\b|\bcoins?\b|\bgold\b|\bcash\b|\bmoney\b|\bprogress|\bcollected|\bpairs?\b|"
        r"\bmatched|\bcombo|\bxp\b|\bstars?\b|\bkills?\b"
    ),
}
_RULES = tuple((role, re.compile(words, re.IGNORECASE)) for role, words in _ROLES.items())
MAX_BARE = 3
MAX_LENGTH = 28


def read_numbers(texts: Sequence[VisibleText]) -> dict[str, Reading]:
    """The numbers that stand in short texts, by a key that stays the same while the number moves."""
    found: dict[str, Reading] = {}
    bare: list[tuple[VisibleText, re.Match[str]]] = []
    for item in texts:
        text = item.text.strip()
        if len(text) > MAX_LENGTH or text[:1] in "+-−":
            continue
        if stage := _STAGE.search(text):
            digits = stage["a"] or stage["b"]
            value = float(_HAN.get(digits) or digits)
            key = "stage:" + _VALUE.sub("#", text.replace(digits, "#"))
            found[key] = Reading(key, Role.STAGE, value, None, text)
            continue
        values = list(_VALUE.finditer(text))
        if len(values) != 1:
            continue
        label = (text[: values[0].start()] + text[values[0].end() :]).strip(" :：·|")
        if label:
            _add(found, label, values[0], text)
        else:
            bare.append((item, values[0]))
    _add_bare(found, bare, texts)
    return found


def _add(found: dict[str, Reading], label: str, match: re.Match[str], text: str) -> None:
    value, goal = (float(part.replace(",", "")) if part else None for part in match.groups())
    assert value is not None
    role = next((role for role, words in _RULES if words.search(text) or words.search(label)), Role.OTHER)
    found[label] = Reading(label, role, value, goal, text)  # of two in the same words, the one drawn last


def _add_bare(
    found: dict[str, Reading], bare: Sequence[tuple[VisibleText, re.Match[str]]], texts: Sequence[VisibleText]
) -> None:
    """Numbers on their own take the words beside or above them; many without words are a board, not counters."""
    unnamed = []
    for item, match in bare:
        name = _neighbour(item, texts)
        if name is not None:
            _add(found, name, match, f"{name} {match[0]}")
        else:
            unnamed.append((item, match))
    if len(unnamed) > MAX_BARE:
        return
    for item, match in unnamed:
        place = "here" if item.centre is None else f"{item.centre.x // 60:.0f},{item.centre.y // 40:.0f}"
        _add(found, f"at {place}", match, item.text)


def _neighbour(item: VisibleText, texts: Sequence[VisibleText]) -> str | None:
    if item.box is None or item.centre is None:
        return None
    best: tuple[float, str] | None = None
    for other in texts:
        if other.box is None or other.centre is None or len(other.text) > 12 or any(c.isdigit() for c in other.text):
            continue
        left = item.box[0] - (other.box[0] + other.box[2])
        beside = abs(other.centre.y - item.centre.y) < 14 and -4 <= left < 70
        above = abs(other.centre.x - item.centre.x) < 50 and 0 < item.centre.y - other.centre.y < 46
        distance = math.dist(item.centre, other.centre)
        if (beside or above) and (best is None or distance < best[0]):
            best = (distance, other.text.strip(" :：·|"))
    return best[1] if best else None


@dataclass(slots=True)
class Counters:
    """The numbers of a roll: which rose with inputs, and which move by themselves."""

    rises: list[Rise] = field(default_factory=list)
    falls: list[Rise] = field(default_factory=list)
    idle: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    quiet: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def waited(self, before: dict[str, Reading], after: dict[str, Reading]) -> None:
        """Time passed without an input: what moves now moves by itself."""
        for key in before.keys() & after.keys():
            if before[key].value != after[key].value:
                self.idle[key] += 1
            else:
                self.quiet[key] += 1

    def acted(self, step: int, before: dict[str, Reading], after: dict[str, Reading], cause: str) -> list[Rise]:
        """An input was made. The rises that are counted for it; clocks and what runs by itself are not."""
        found = []
        for key in sorted(before.keys() & after.keys()):
            old, new = before[key], after[key]
            if old.value == new.value or new.role is Role.TIME or self.runs_by_itself(key):
                continue
            rise = Rise(step, key, new.role, old, new, cause)
            if new.value > old.value:
                found.append(rise)
            else:
                self.falls.append(rise)
        self.rises.extend(found)
        return found

    def runs_by_itself(self, key: str) -> bool:
        """Whether the number was seen to move without an input, and not just once after one."""
        return self.idle[key] >= 2 or (self.idle[key] == 1 and self.quiet[key] == 0)

    @property
    def any_rise(self) -> bool:
        """Whether an input ever made a number rise that doesn't move by itself."""
        return any(not self.runs_by_itself(rise.key) for rise in self.rises)

    def rises_of(self, role: Role) -> dict[str, list[Rise]]:
        """The input-made rises of the numbers with this role, by key, those that run by themselves left out."""
        out: dict[str, list[Rise]] = defaultdict(list)
        for rise in self.rises:
            if rise.role is role and not self.runs_by_itself(rise.key):
                out[rise.key].append(rise)
        return dict(out)
