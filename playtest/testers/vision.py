"""The tester that looks through a vision model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from playtest.blindness import TokenWatch, says_blind
from playtest.chat import ChatModel, Completion, Picture
from playtest.conversation import Conversation
from playtest.errors import ReplyRefused, TesterFault
from playtest.ports import Decision, View
from playtest.presets import Preset
from playtest.prompts import PROMPT_VERSION, Language, Messages, language_of, system_prompt
from playtest.protocol.coordinates import Screen
from playtest.protocol.reply import Reply, parse_reply
from playtest.protocol.result import TesterInfo
from playtest.protocol.usage import Cost, Usage
from playtest.reply_text import extract_json

OnRaw: TypeAlias = Callable[[int, Completion], None]
_PLACES = ("x", "y", "x1", "y1", "x2", "y2")


class _Read(NamedTuple):
    reply: Reply
    wire: dict[str, Any] | None


class VisionTester:
    """Plays one roll by asking a model what it sees (`ports.Tester`).

    `history_pictures` old pictures stay in the conversation, `on_raw` gets each answer with its step before it is
    read, `budget` and `max_budget` are told to the model. The brief's language is used where none is given.
    """

    reads_canary = True

    def __init__(
        self,
        model: ChatModel,
        brief: str,
        *,
        preset: Preset,
        language: Language | None = None,
        history_pictures: int = 3,
        on_raw: OnRaw | None = None,
        name: str = "minimax",
        budget: int = 14,
        max_budget: int = 24,
    ) -> None:
        self._model = model
        self._preset = preset
        self._messages = Messages(language or language_of(brief))
        # In the moment before old ones go, twice as many pictures are held as are kept.
        history = max(1, min(history_pictures, (preset.max_pictures + 1) // 2))
        self._system = partial(
            system_prompt,
            brief,
            preset.coordinate_space,
            self._messages.language,
            budget=budget,
            max_budget=max_budget,
        )
        self._begin = partial(Conversation, messages=self._messages, history_pictures=history)
        self._screen = Screen()
        self._conversation = self._begin(self._system(self._screen))
        self._watch = TokenWatch(preset)
        self._on_raw = on_raw
        self.info = TesterInfo(
            name=name,
            model=model.model,
            prompt_version=PROMPT_VERSION,
            coordinate_space=preset.coordinate_space.value,
        )

    @property
    def spent(self) -> tuple[Usage, Cost]:
        """All that the model has used so far, failed requests included."""
        return self._model.spent

    async def close(self) -> None:
        """Let go of the model's connections."""
        await self._model.close()

    async def decide(self, view: View) -> Decision:
        """One decision.

        A reply that can't be used is asked for once more, the problem quoted. Raises ReplyRefused when the second
        one can't be used either, TesterFault when the model can't go on; `image_channel` when it says it is blind.
        """
        if view.screen != self._screen:  # it asked to be turned; nothing was said before that
            self._screen = view.screen
            self._conversation = self._begin(self._system(self._screen))
        self._conversation.ask(view.step, self._text(view), self._picture(view))
        doubts: list[str] = []
        completion = await self._ask(view.step, doubts)
        try:
            read = self._read(completion.text)
        except ReplyRefused as refused:
            self._conversation.ask_again(self._messages.say("reply_refused", problem=refused.message))
            completion = await self._ask(view.step, doubts, self._more_room(completion))
            read = self._read(completion.text)
        return Decision(read.reply, completion.text, read.wire, (*doubts, *_doubts_in(read.reply)))

    async def _ask(self, step: int, doubts: list[str], room: int | None = None) -> Completion:
        messages = self._conversation.messages
        try:
            completion = await self._model.complete(messages, room)
        except (TesterFault, asyncio.CancelledError):
            # A later question must not stand behind one that was never answered.
            self._conversation.withdraw()
            raise
        if self._on_raw is not None:
            self._on_raw(step, completion)
        if doubt := self._watch.doubt(messages, completion.usage):
            doubts.append(doubt)
        return completion

    def _read(self, raw: str) -> _Read:
        """The reply in css pixels, kept in the conversation either way. Raises ReplyRefused or TesterFault."""
        seen = ""
        try:
            data = extract_json(raw)
            reply = parse_reply(data, self._preset.coordinate_space, self._screen)
            seen = reply.seen
        except ReplyRefused as refused:
            if words := says_blind(raw):
                raise TesterFault("image_channel", f"the model says that it sees no picture: {words!r}") from refused
            raise ReplyRefused(refused.message, raw) from refused
        finally:
            self._conversation.answer(raw, seen)
        action = data.get("action")
        places = {name: action[name] for name in _PLACES if name in action} if isinstance(action, dict) else {}
        return _Read(reply, places or None)

    def _text(self, view: View) -> str:
        """What the runner says, then the game's log as quoted data. The check code is in neither."""
        return "\n\n".join(filter(None, (*view.messages, self._messages.quote_log(view.log))))

    def _picture(self, view: View) -> Picture:
        if len(view.ruled) > self._preset.max_picture_bytes:
            raise TesterFault("image_channel", f"the picture has {len(view.ruled)} bytes, more than the endpoint takes")
        return Picture(view.ruled, view.screen.width, view.screen.picture_height)

    def _more_room(self, completion: Completion) -> int | None:
        cut = completion.finish_reason == "length"
        return 2 * self._preset.max_completion_tokens if cut else None


def _doubts_in(reply: Reply) -> list[str]:
    """What the reply itself says against its having seen the picture."""
    said = (reply.seen, reply.reason, reply.verdict.summary if reply.verdict else "")
    doubts = [f"the reply says {words!r}" for text in said if (words := says_blind(text))]
    if reply.verdict is not None and not reply.verdict.saw_screens:
        doubts.append("sawScreens is false")
    return doubts
