"""The history that a tester's model sees: append-only text, and only the newest pictures.

Endpoints cache the longest prefix that two requests share. So nothing before the end ever changes, except that old
pictures are dropped, several at once: most requests then find the whole history of the last one in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from playtest.chat import Message, Part, Picture
from playtest.prompts import Messages
from playtest.reply_text import strip_thinking

REPLY_CHARS = 2000
SEEN_CHARS = 200


@dataclass(slots=True)
class _Shown:
    """A picture still in the history: where, at which step, and what the tester saw in it."""

    index: int
    step: int
    seen: str = ""


class Conversation:
    """One roll's messages. `history_pictures` are kept at least, twice as many less one at most."""

    def __init__(self, system: str, messages: Messages, history_pictures: int = 3) -> None:
        self._log = [Message("system", (system,))]
        self._messages = messages
        self._keep = max(1, history_pictures)
        self._shown: list[_Shown] = []

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages in order, the system message first."""
        return tuple(self._log)

    def ask(self, step: int, text: str, picture: Picture) -> None:
        """A new user message with what the runner says and the picture of the step."""
        caption = self._messages.say("picture", step=step)
        self._shown.append(_Shown(len(self._log), step))
        self._log.append(Message("user", (text, caption, picture) if text else (caption, picture)))
        if len(self._shown) > 1 and len(self._shown) >= 2 * self._keep:
            self._drop_pictures(len(self._shown) - self._keep)

    def answer(self, raw: str, seen: str = "") -> None:
        """The model's reply, bounded and without its thinking; `seen` will stand for the picture later."""
        said = strip_thinking(raw) or raw
        bounded = said if len(said) <= REPLY_CHARS else said[:REPLY_CHARS] + "…"
        self._log.append(Message("assistant", (bounded,)))
        if seen:
            self._shown[-1].seen = " ".join(seen.split())[:SEEN_CHARS]

    def ask_again(self, text: str) -> None:
        """A user message about the same picture."""
        self._log.append(Message("user", (text,)))

    def withdraw(self) -> None:
        """Take back a question that was never answered."""
        self._log.pop()
        self._shown = [shown for shown in self._shown if shown.index < len(self._log)]

    def _drop_pictures(self, count: int) -> None:
        for old in self._shown[:count]:
            message = self._log[old.index]
            self._log[old.index] = replace(message, parts=tuple(self._without(part, old) for part in message.parts))
        del self._shown[:count]

    def _without(self, part: Part, old: _Shown) -> str:
        if isinstance(part, str):
            return part
        if not old.seen:
            return self._messages.say("picture_dropped_unseen", step=old.step)
        return self._messages.say("picture_dropped", step=old.step, seen=old.seen)
