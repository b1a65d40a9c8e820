"""What the runner tells a tester about its last action, places in the tester's own space."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from playtest.protocol.actions import Action, contact_point, describe
from playtest.protocol.coordinates import CoordinateSpace, Screen
from playtest.protocol.transcript import Effect

TEXTS_TOLD = 6
# A change of more than this is told without a place.
EVERYWHERE = 0.6

# Facts that go into the record but not into the tester's ear: they explain an ending, and would bias a look.
QUIET_FACTS = frozenset(
    {
        "audio_gate",
        "leaked_text",
        "missing_file",
        "missing_glyphs",
        "no_viewport_meta",
        "no_webgl",
        "slow_render",
        "unreachable_dependency",
    }
)


class Says(Protocol):
    """The runner's sentences to the tester, by id."""

    def __call__(self, message_id: str, /, **params: object) -> str:
        """The sentence with its parameters."""
        ...


class Done(NamedTuple):
    """An action and what came of it."""

    action: Action
    effect: Effect


class Briefing:
    """Words about actions and effects for one tester."""

    def __init__(self, say: Says, screen: Screen, space: CoordinateSpace) -> None:
        self._say = say
        self._screen = screen
        self._space = space

    def strip(self, last: Done | None) -> str:
        """The status strip's words: the last action, where, and whether anything changed."""
        if last is None:
            return "FIRST LOOK"
        point = contact_point(last.action)
        place = f" {','.join(map(str, self.place(*point)))}" if point else ""
        changed = "CHANGED" if last.effect.changed else "NO CHANGE"
        return f"{last.action.type.upper().replace('_', ' ')}{place}: {changed}"

    def result(self, last: Done | None) -> str:
        """What came of the last action."""
        if last is None:
            return self._say("action_result_none")
        action, effect = self._describe(last.action), last.effect
        if not effect.changed:
            if effect.ambient:
                return self._say("action_result_ambient", action=action, percent=_percent(effect.ambient))
            return self._say("action_result_unchanged", action=action)
        said = self._say(
            "action_result_changed", action=action, where=self._where(effect), percent=_percent(effect.area)
        )
        if effect.texts:
            said += " " + self._say("action_result_texts", texts="; ".join(effect.texts[:TEXTS_TOLD]))
        return said

    def place(self, x: float, y: float) -> tuple[int, int]:
        """A CSS point as the tester has it."""
        return self._screen.to_wire(x, y, self._space)

    def _describe(self, action: Action) -> str:
        shown = action
        for x_name, y_name in (("x", "y"), ("x1", "y1"), ("x2", "y2")):
            if hasattr(action, x_name):
                x, y = self.place(getattr(action, x_name), getattr(action, y_name))
                shown = shown.model_copy(update={x_name: x, y_name: y})
        return describe(shown)

    def _where(self, effect: Effect) -> str:
        if effect.region is None or effect.area > EVERYWHERE:
            return self._say("where_everywhere")
        x, y, width, height = effect.region
        x1, y1 = self.place(x, y)
        x2, y2 = self.place(min(x + width, self._screen.width), min(y + height, self._screen.height))
        return self._say("where_region", x1=x1, x2=x2, y1=y1, y2=y2)


def _percent(share: float) -> str:
    return f"{share * 100:.0f}" if share >= 0.01 else "<1"
