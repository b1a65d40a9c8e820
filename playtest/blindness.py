"""Signs that a model never got the picture, though it answers.

Gateways on the way strip pictures, and models then invent a screen. None of these signs is proof alone; the check
code in the picture is the stronger one. They are doubts for the runner to weigh.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from playtest.chat import Message, size_of
from playtest.presets import Preset
from playtest.protocol.usage import Usage

_BLIND = re.compile(
    r"""
    # "I can't see the picture", but not "I can't see the picture change" and not "... the button in the picture"
    (?: can(?:no|')?t | can\ not | unable\ to | not\ able\ to | don'?t | do\ not | couldn'?t ) \s+
        (?: (?:actually|directly) \s+ )?
        (?: see | view | access | process | receive | open | interpret | analy[sz]e ) \s+
        (?: (?:the|any|an|your|this|attached|provided) \s+ )*
        (?: image | picture | screenshot | photo ) s? \b (?! \s+ (?:chang|mov|updat|react|where) )
    | \bno \s+ (?:image|picture|screenshot)s? \s+ (?: (?:was|were|is|are|(?:has|have)\ been) \s+ )?
        (?: provided | attached | included | received | visible | available | present )
    | \b (?:a|an) \s+ (?:purely\s+)? text[- ](?:based|only) \s+ (?:\w+\s+){0,2} (?:model|assistant|ai) \b
    # the same in Chinese: not "the change of the picture", not "the button in the picture"
    | (?: (?:看不|没有?看|没有?收|未收)[到见] | (?:无法|不能|不支持)(?:看到|查看|访问|识别|接收|处理|输入)? )
        [^,，。;；]{0,4}? (?:图片|图像|截图|照片) (?! [中里上内的有变] | 发生 )
    | 文本 (?:语言)? 模型 [^。]{0,12} (?:无法|不能|看不)
    """,
    re.IGNORECASE | re.VERBOSE,
)


def says_blind(text: str) -> str | None:
    """The words, in English or Chinese, in which a model says that it sees no picture, or None."""
    found = _BLIND.search(text.replace("’", "'"))
    return found.group() if found else None


class TokenWatch:
    """Watches whether the prompt grows by a picture's tokens when a picture is added."""

    def __init__(self, preset: Preset) -> None:
        self._preset = preset
        self._pictures = 0
        self._least_text = 0
        self._prompt_tokens = 0

    def doubt(self, messages: Sequence[Message], usage: Usage) -> str | None:
        """What is suspicious about a request's prompt tokens, or None.

        Less than half a picture's tokens is suspicious. Text counts at the least that any tokenizer gives, so the
        doubt errs towards silence. Where the model's tokens per picture are unknown there is never a doubt.
        """
        size = size_of(messages)
        added = len(size.pictures) - self._pictures
        text = size.least_text_tokens - self._least_text
        rise = usage.prompt_tokens - self._prompt_tokens
        known = usage.prompt_tokens > 0 and bool(size.pictures)
        share = self._preset.tokens_per_picture(size.pictures[-1].width, size.pictures[-1].height) if known else 0
        self._pictures, self._least_text = len(size.pictures), size.least_text_tokens
        self._prompt_tokens = usage.prompt_tokens
        # Without a picture more than before (some were dropped, or this is a repair) a rise says nothing.
        if not share or added <= 0 or rise - text >= added * share / 2:
            return None
        return f"prompt tokens rose by {rise}, about {text} of them text; a picture takes about {share}"
