"""Values that leaked into a visible text: `undefined`, `NaN`, `[object Object]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from playtest.ports import VisibleText

_TOKEN = re.compile(r"(?<![A-Za-z_])(?:undefined|NaN|\[object [A-Z][A-Za-z]*\])(?![A-Za-z_])")
# A Latin word beside the token, a blank between: prose about the word, not a value in a label.
_WORD_BEFORE = re.compile(r"[A-Za-z]{2,}['\"`“”‘’]?\s+['\"`“”‘’]?$")
_WORD_AFTER = re.compile(r"^['\"`“”‘’]?\s+[A-Za-z]{2,}")
_QUOTED = re.compile(r"['\"`“”‘’「『]$")
# Other words of the programming trade on the same screen: a quiz about the language.
_TRADE = re.compile(
    r"^(?:null|object|string|number|boolean|function|symbol|bigint|true|false|TypeError|ReferenceError)$|"
    r"\btypeof\b|JavaScript|console\.log|编程|代码"
)


def leaks(texts: Iterable[VisibleText]) -> list[tuple[VisibleText, str]]:
    """The texts that show a leaked value, each with the value. Case counts: `NaN` is one, `Nan` and `nan` are words."""
    texts = list(texts)
    if any(_TRADE.search(item.text.strip()) for item in texts):
        return []
    return [(item, found) for item in texts if (found := leaked(item.text)) is not None]


def leaked(text: str) -> str | None:
    """The leaked value in one text: alone, or glued to digits, CJK or punctuation; None in prose and longer words."""
    for match in _TOKEN.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        if _QUOTED.search(before) or _in_prose(before, after):
            continue
        return match[0]
    return None


def _in_prose(before: str, after: str) -> bool:
    """`is undefined in`: words on both sides, or the first word of a phrase; `Score undefined` is a leak."""
    if _WORD_AFTER.search(after):
        return not before.strip() or bool(_WORD_BEFORE.search(before))
    words_before = re.findall(r"[A-Za-z]+", before)
    return bool(_WORD_BEFORE.search(before)) and len(words_before) > 2
