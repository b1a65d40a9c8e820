"""Where a driver sits: it reads the game's state, makes real inputs, and is told when the game is over."""

from __future__ import annotations

from collections.abc import Callable

from playtest.gates.conditions import MISSING, Value, at, holds, short
from playtest.gates.timeline import Moment, Played
from playtest.ports import CanvasBox, Game, Point
from playtest.protocol.actions import Action, DoubleTap, Drag, Key, LongPress, Swipe, Tap, Type, contact_point, describe
from playtest.protocol.play_spec import (
    Condition,
    DoubleTapInput,
    Input,
    KeyInput,
    LongPressInput,
    PlaySpec,
    StrokeInput,
    TapInput,
    TapTextInput,
    TypeInput,
    WaitInput,
)

# Game time between two looks while something is waited for, and between two pictures.
POLL_MS = 100.0
PICTURE_EVERY_MS = 2000.0
MAX_PICTURES = 40
MAX_MISSES = 100

Keep = Callable[[str, bytes], str]
Tell = Callable[[Moment], None]


class Seat:
    """One game that is being driven. Every method may raise BrowserFault."""

    def __init__(self, game: Game, spec: PlaySpec, keep: Keep, tell: Tell) -> None:
        self.game = game
        self.spec = spec
        self.played = Played(spec.driver_type)
        self._keep = keep
        self._tell = tell
        self._pictures = 0
        self._pictured_ms = -PICTURE_EVERY_MS
        self._since_ms = 0.0
        self.last_picture: tuple[bytes, float] | None = None
        """The newest picture as PNG, and its game time in ms."""

    @property
    def state(self) -> Value:
        """The state as last read."""
        return self.played.moments[-1].state

    @property
    def over(self) -> bool:
        """Whether an end was reached or the spec's limits are."""
        limits, now = self.spec.limits, self.game.clock.now_ms
        spent = self.played.inputs >= limits.inputs or now - self._since_ms >= limits.game_ms
        return self.played.end is not None or spent

    async def look(self, what: str, *, picture: bool = False) -> Moment:
        """Read the game, and take a picture when the last one is old."""
        reading = await self.game.read(self.spec.observables.state)
        state: Value = MISSING if reading.problem is not None else reading.value
        calls = await self._calls()
        self.played.calls.update(calls)
        shown = await self._picture(picture)
        moment = Moment(round(self.game.clock.now_ms, 3), what, state, reading.problem or "", calls, shown)
        self.played.moments.append(moment)
        self._note(state)
        self._tell(moment)
        return moment

    def begin(self) -> None:
        """The start ritual is through: the limits count from here."""
        self.played.started = len(self.played.moments) - 1
        self.played.inputs = 0
        self._since_ms = self.game.clock.now_ms

    async def act(self, action: Action) -> None:
        """Make an input and read the game. One off the screen is not made, but told."""
        place = contact_point(action)
        if place is not None and not self._on_screen(*place):
            self.miss(f"{describe(action)}: off the screen")
            return
        await self.game.perform(action)
        self.played.inputs += 1
        await self.look(describe(action))

    async def pause(self, ms: float) -> None:
        """Let game time pass."""
        if ms > 0:
            await self.game.clock.advance(ms)

    async def carry_out(self, given: Input) -> None:
        """Make one of a spec's inputs."""
        if isinstance(given, WaitInput):
            await self.pause(given.ms)
            await self.look(f"wait {given.ms} ms")
            return
        action = _action(given) if not isinstance(given, TapTextInput) else await self._tap_on(given.text)
        if action is not None:
            await self.act(action)

    async def until(self, condition: Condition, within_ms: float) -> bool:
        """Wait for the state to say something, in game time."""
        ends_ms = self.game.clock.now_ms + within_ms
        while not holds(condition, self.state):
            if self.game.clock.now_ms >= ends_ms:
                return False
            await self.pause(POLL_MS)
            await self.look(f"waiting for {condition.path}")
        return True

    def miss(self, why: str) -> None:
        """An input that could not be made."""
        if len(self.played.missed) < MAX_MISSES:
            self.played.missed.append(why)

    async def place(self, x: Value, y: Value, space: str) -> Point | None:
        """A place of the state's as one on the screen; None where it is none."""
        if not isinstance(x, int | float) or not isinstance(y, int | float):
            return None
        if space == "css":
            return Point(float(x), float(y))
        canvas = await self.canvas()
        return canvas.to_css(float(x), float(y)) if canvas is not None else None

    async def canvas(self) -> CanvasBox | None:
        """The game's canvas."""
        return (await self.game.vitals()).canvas

    def _on_screen(self, x: float, y: float) -> bool:
        return 0 <= x < self.game.screen.width and 0 <= y < self.game.screen.height

    async def _tap_on(self, text: str) -> Tap | None:
        seen = [one for one in await self.game.texts() if one.centre is not None]
        exact = [one for one in seen if one.text.strip() == text.strip()]
        found = exact or [one for one in seen if text.strip() in one.text]
        centre = found[0].centre if found else None
        if centre is None:
            self.miss(f"no text {text!r} on the screen; there is {short([one.text for one in seen])}")
            return None
        return Tap(x=round(centre.x, 1), y=round(centre.y, 1), target=text)

    async def _calls(self) -> tuple[str, ...]:
        path = self.spec.observables.calls
        if path is None:
            return ()
        told = (await self.game.read(path)).value
        items = told if isinstance(told, list) else []
        names = [item.get("name") if isinstance(item, dict) else item for item in items]
        return tuple(name for name in names if isinstance(name, str))

    async def _picture(self, wanted: bool) -> str:
        now = self.game.clock.now_ms
        if not wanted and (now - self._pictured_ms < PICTURE_EVERY_MS or self._pictures >= MAX_PICTURES):
            return ""
        self._pictured_ms = now
        self._pictures += 1
        png = await self.game.picture()
        self.last_picture = png, self.game.clock.now_ms
        return self._keep(f"{self._pictures:04d}", png)

    def _note(self, state: Value) -> None:
        ends = self.spec.observables
        phase = at(state, ends.phase) if ends.phase is not None else MISSING
        if phase is not MISSING:
            self.played.phase = short(phase) if not isinstance(phase, str) else phase
        if self.played.started is not None and self.played.end is None:
            if ends.win is not None and holds(ends.win, state):
                self.played.end = "win"
            elif ends.lose is not None and holds(ends.lose, state):
                self.played.end = "lose"


def _action(given: Input) -> Action | None:
    if isinstance(given, TapInput):
        return Tap(x=given.x, y=given.y)
    if isinstance(given, DoubleTapInput):
        return DoubleTap(x=given.x, y=given.y)
    if isinstance(given, LongPressInput):
        return LongPress(x=given.x, y=given.y, ms=given.ms)
    if isinstance(given, StrokeInput):
        make = Swipe if given.type == "swipe" else Drag
        return make(x1=given.x1, y1=given.y1, x2=given.x2, y2=given.y2, ms=given.ms)
    if isinstance(given, KeyInput):
        return Key(key=given.key, ms=given.ms)
    return Type(text=given.text) if isinstance(given, TypeInput) else None
