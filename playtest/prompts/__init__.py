"""What is said to the tester: versioned texts in Chinese and English.

`v1/system.*.md` is the one system message, `v1/messages.*.toml` are the runner's sentences by id. A change of wording
that may change verdicts gets a new version and leaves the old one in place, so that exam results stay comparable.
"""

from __future__ import annotations

import re
import string
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import jinja2

from playtest.protocol.coordinates import STRIP_HEIGHT, CoordinateSpace, Screen

PROMPT_VERSION = "v1"
Language: TypeAlias = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")
LOG_LINES = 20
LOG_LINE_CHARS = 200
PARAM_CHARS = 3000
# Parameters that may hold a game's words, or a tester's own; the sentences put them into quotation marks.
STRANGERS = frozenset({"action", "given", "message", "problem", "seen", "texts", "what", "why"})
STRANGER_CHARS = 600

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_CONTROL_BUT_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]+")
# A stranger's quotation marks must not end ours.
_OTHER_MARKS = {0x22: "'", 0x300C: "『", 0x300D: "』"}


class PromptError(LookupError):
    """A text or one of its parameters is missing: a bug of ours, not of the tester."""


def language_of(brief: str) -> Language:
    """The brief's language: Chinese when it has more Han characters than Latin words, else English."""
    return "zh" if len(_HAN.findall(brief)) > len(_LATIN_WORD.findall(brief)) else "en"


def system_prompt(
    brief: str,
    space: CoordinateSpace,
    language: Language,
    screen: Screen | None = None,
    *,
    budget: int = 14,
    max_budget: int = 24,
) -> str:
    """The system message, brief included. The same arguments give the same bytes, so endpoints can cache it."""
    screen = screen or Screen()
    # The last unit that is still on the game: a tap on the strip is refused.
    last_y = screen.height - 1 if space is CoordinateSpace.CSS else screen.height * 1000 // screen.picture_height
    sample_x, sample_y = screen.to_wire(screen.width * 0.42, screen.height * 0.7, space)
    return _template(language).render(
        brief=_CONTROL_BUT_LINES.sub(" ", brief).strip(),
        space=space.value,
        width=screen.width,
        height=screen.height,
        picture_height=screen.picture_height,
        strip=STRIP_HEIGHT,
        game_bottom=last_y,
        sample_x=sample_x,
        sample_y=sample_y,
        budget=budget,
        max_budget=max_budget,
    )


class Messages:
    """The runner's sentences in one language."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self._texts = _texts(language)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all sentences."""
        return frozenset(self._texts)

    def placeholders(self, message_id: str) -> frozenset[str]:
        """The names of a sentence's parameters. Raises PromptError for an unknown id."""
        return frozenset(name for _, name, _, _ in string.Formatter().parse(self._text(message_id)) if name)

    def say(self, message_id: str, /, **params: object) -> str:
        """The sentence with its parameters. Raises PromptError for an unknown id or a missing parameter.

        Parameters may hold a game's words: each is kept to one bounded line and can't leave the quotation marks that
        it stands in, so that none can pass for words of ours.
        """
        missing = sorted(self.placeholders(message_id) - params.keys())
        if missing:
            raise PromptError(f"message {message_id!r} needs {', '.join(missing)}")
        return self._text(message_id).format(**{name: _parameter(name, value) for name, value in params.items()})

    def quote_log(self, lines: list[str]) -> str:
        """The newest lines of the game's log as quoted data, or an empty text when there are none.

        Each line is kept to one line and marked, so that no line of a game's can pass for ours.
        """
        if not lines:
            return ""
        shown = [f"| {_line(line, LOG_LINE_CHARS)}" for line in lines[-LOG_LINES:]]
        if len(lines) > LOG_LINES:
            shown.insert(0, self.say("log_quote_more", count=len(lines) - LOG_LINES))
        return "\n".join([self.say("log_quote", count=len(lines)), *shown])

    def _text(self, message_id: str) -> str:
        try:
            return self._texts[message_id]
        except KeyError:
            raise PromptError(f"no message {message_id!r} in {self.language}") from None


def _parameter(name: str, value: object) -> str:
    if name not in STRANGERS:
        return _line(value, PARAM_CHARS)
    return _line(value, STRANGER_CHARS).translate(_OTHER_MARKS)


def _line(value: object, most: int) -> str:
    text = str(value)[: 2 * most]
    return _CONTROL.sub(" ", text)[:most]


def _resource(name: str) -> str:
    return files(__package__).joinpath(PROMPT_VERSION, name).read_text(encoding="utf-8")


@cache
def _template(language: Language) -> jinja2.Template:
    # Plain text goes to a model, not to a browser: escaping would only disfigure the brief.
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, autoescape=False)  # noqa: S701
    return environment.from_string(_resource(f"system.{language}.md"))


@cache
def _texts(language: Language) -> dict[str, str]:
    texts: dict[str, Any] = tomllib.loads(_resource(f"messages.{language}.toml"))
    return {name: str(text) for name, text in texts.items()}
