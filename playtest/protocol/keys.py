"""Names of keys: those that can be pressed, and what people and models call them besides."""

from __future__ import annotations

from string import ascii_lowercase, digits

_CODES = [
    "Escape",
    "Backquote",
    "Minus",
    "Equal",
    "Backslash",
    "Backspace",
    "Tab",
    "BracketLeft",
    "BracketRight",
    "CapsLock",
    "Semicolon",
    "Enter",
    "Comma",
    "Period",
    "Slash",
    "Space",
    "ShiftLeft",
    "ShiftRight",
    "ControlLeft",
    "ControlRight",
    "AltLeft",
    "AltRight",
    "AltGraph",
    "MetaLeft",
    "MetaRight",
    "ContextMenu",
    "PageUp",
    "PageDown",
    "Insert",
    "Delete",
    "Home",
    "End",
    "ArrowLeft",
    "ArrowUp",
    "ArrowRight",
    "ArrowDown",
    "NumpadDivide",
    "NumpadMultiply",
    "NumpadSubtract",
    "NumpadAdd",
    "NumpadDecimal",
    "NumpadEnter",
    "Shift",
    "Control",
    "Alt",
    "Meta",
    "Pause",
]
_NAMES = (
    *_CODES,
    *(f"F{number}" for number in range(1, 13)),
    *(f"Key{letter.upper()}" for letter in ascii_lowercase),
    *(f"Digit{digit}" for digit in digits),
    *(f"Numpad{digit}" for digit in digits),
)
KEY_NAMES = frozenset(_NAMES)
"""Every name of more than one character that a browser has for a key."""
_BY_LOWER = {name.lower(): name for name in _NAMES}
_ALIASES = {
    " ": "Space", "\n": "Enter", "\r": "Enter", "\t": "Tab",
    "spacebar": "Space", "space bar": "Space", "return": "Enter", "esc": "Escape", "del": "Delete", "ctrl": "Control",
    "option": "Alt", "cmd": "Meta", "command": "Meta", "win": "Meta", "pgup": "PageUp", "pgdn": "PageDown",
    "up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight",
    "arrow up": "ArrowUp", "arrow down": "ArrowDown", "arrow left": "ArrowLeft", "arrow right": "ArrowRight",
    "↑": "ArrowUp", "↓": "ArrowDown", "←": "ArrowLeft", "→": "ArrowRight",
    "空格": "Space", "空格键": "Space", "回车": "Enter", "回车键": "Enter",
}  # fmt: skip


def key_name(wanted: str) -> str | None:
    """The key that is meant, named as the browser names it; None where there is none of that name."""
    if wanted in _ALIASES:
        return _ALIASES[wanted]
    if len(wanted) == 1 and "!" <= wanted <= "~":
        return wanted
    plain = wanted.strip().lower().removesuffix(" key")
    if len(plain) == 1 and "!" <= plain <= "~":
        return plain
    return _ALIASES.get(plain) or _BY_LOWER.get(plain.replace("_", ""))
