"""What differs from one vision model to the next: a preset for each family.

Coordinate spaces follow what each family was trained to answer in. Asked for another space, small models miss by
tens of pixels, so the ruler on the picture is labelled in the preset's space as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from playtest.errors import UsageError
from playtest.protocol.coordinates import CoordinateSpace

Detail = Literal["low", "default", "high", "auto"]
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Patches:
    """Tokens of a picture that is cut into squares of `side` px, its sides rounded to whole squares."""

    side: int

    def __call__(self, width: int, height: int) -> int:
        """Tokens of a picture of this size in px."""
        return max(1, round(width / self.side)) * max(1, round(height / self.side))


def unknown_tokens(width: int, height: int) -> int:  # noqa: ARG001 - the signature of `tokens_per_picture`
    """Zero: how many tokens a picture takes is not known, so nothing may be concluded from it."""
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """How to ask a family of models. Every field is sent as it stands; None leaves it out of the request."""

    name: str
    coordinate_space: CoordinateSpace = CoordinateSpace.NORM1000
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    max_completion_tokens: int = 2048
    """Room for the longest reply: a verdict with some ten phenomena is under 1000 tokens."""
    thinking: Literal["adaptive", "disabled"] | None = None
    reasoning_split: bool | None = None
    image_detail: Detail | None = None
    temperature: float | None = 0.1
    tokens_per_picture: Callable[[int, int], int] = field(default=unknown_tokens)
    """Width and height in px to prompt tokens; a lower bound where the vendor counts in several ways, 0 if unknown."""
    max_pictures: int = 10
    max_picture_bytes: int = 5 * MEGABYTE

    def request_fields(self, max_completion_tokens: int | None = None) -> dict[str, Any]:
        """The request's fields beside `model` and `messages`. There is never a `response_format`."""
        fields: dict[str, Any] = {self.max_tokens_field: max_completion_tokens or self.max_completion_tokens}
        if self.temperature is not None:
            fields["temperature"] = self.temperature
        if self.thinking is not None:
            fields["thinking"] = {"type": self.thinking}
        if self.reasoning_split is not None:
            fields["reasoning_split"] = self.reasoning_split
        return fields


# 28 px squares: the vendor's formula. Thinking is off: a step needs a look, not an essay, and thinking is billed.
# The temperature is small but above 0, which older models of this vendor refused.
MINIMAX_M3 = Preset(
    name="minimax-m3",
    max_tokens_field="max_completion_tokens",
    thinking="disabled",
    reasoning_split=True,
    image_detail="default",
    tokens_per_picture=Patches(28),
)
QWEN_VL = Preset(name="qwen-vl", tokens_per_picture=Patches(32))
# Qwen2.5-VL is the odd one of its family: it was trained on the pixels of the picture.
QWEN25_VL = Preset(name="qwen2.5-vl", coordinate_space=CoordinateSpace.CSS, tokens_per_picture=Patches(28))
# GLM-V counts 0-999. Read as thousandths, its right edge is off by 0.4 px on a phone's screen: less than its own
# error, so it gets no space of its own.
GLM_V = Preset(name="glm-v", thinking="disabled", tokens_per_picture=Patches(28))
# Gemini's own boxes are [y, x]; the prompt asks every model for named x and y, x first.
GEMINI = Preset(name="gemini", tokens_per_picture=lambda _width, _height: 258)
# Newer GPT models refuse any temperature but their own.
GPT = Preset(
    name="gpt",
    coordinate_space=CoordinateSpace.CSS,
    max_tokens_field="max_completion_tokens",
    image_detail="high",
    temperature=None,
    tokens_per_picture=Patches(32),
)
CLAUDE = Preset(
    name="claude",
    coordinate_space=CoordinateSpace.CSS,
    tokens_per_picture=lambda width, height: round(width * height / 750),
)
# A model that nobody described. Thousandths, because most open vision models of this generation were trained on them
# and because one unit is finer than a pixel of the phone's width; only fields that every gateway knows. Whether it
# aims well in that space is for `playtest calibrate` to measure, and `preset` is a setting.
GENERIC = Preset(name="generic")

PRESETS = {preset.name: preset for preset in (MINIMAX_M3, QWEN_VL, QWEN25_VL, GLM_V, GEMINI, GPT, CLAUDE, GENERIC)}
_FAMILIES: tuple[tuple[re.Pattern[str], Preset], ...] = (
    (re.compile(r"minimax-m\d"), MINIMAX_M3),
    (re.compile(r"qwen-?2\.5-vl"), QWEN25_VL),
    (re.compile(r"qwen.*vl|qvq"), QWEN_VL),
    (re.compile(r"glm-[\d.]+v"), GLM_V),
    (re.compile(r"gemini"), GEMINI),
    (re.compile(r"gpt-|chatgpt|\bo[134]\b"), GPT),
    (re.compile(r"claude"), CLAUDE),
)


def preset_for(model: str, name: str | None = None) -> Preset:
    """The named preset, else the one of the model's family, else `generic`.

    Raises UsageError for a name that does not exist.
    """
    if name is not None:
        if name not in PRESETS:
            raise UsageError(f"unknown preset {name!r}", f"presets: {', '.join(PRESETS)}")
        return PRESETS[name]
    return next((preset for pattern, preset in _FAMILIES if pattern.search(model.lower())), GENERIC)
