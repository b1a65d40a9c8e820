"""Real input events over CDP, spread over game time as a person's would be."""

from __future__ import annotations

import math

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from playtest.browser.cdp import Channel, fault_from
from playtest.browser.clock import FRAME_MS, FrameClock, Handled, StartedClock
from playtest.ports import Point
from playtest.protocol.actions import Action, DoubleTap, Drag, Key, LongPress, Stroke, Swipe, Tap, Type, Wait
from playtest.protocol.keys import key_name

TAP_HOLD_MS = 4 * FRAME_MS
AFTER_TAP_MS = 2 * FRAME_MS
DOUBLE_TAP_GAP_MS = 5 * FRAME_MS
DRAG_PRESS_MS = 150
MOVE_EVERY_MS = FRAME_MS


class Hand:
    """A finger and a keyboard. Events are dispatched one after another, each at a known game time."""

    def __init__(self, page: Page, channel: Channel, clock: StartedClock) -> None:
        self._page = page
        self._channel = channel
        self._clock = clock
        self._down = False

    async def perform(self, action: Action, mouse: bool = False) -> None:
        """Carry out one action. Raises BrowserFault when the page hangs or dies under it."""
        if mouse and isinstance(action, Tap):
            await self._click(action.x, action.y)
        elif mouse and isinstance(action, Swipe | Drag):
            await self._pull(action, DRAG_PRESS_MS if isinstance(action, Drag) else 0)
        elif isinstance(action, Tap):
            await self._tap(action.x, action.y, TAP_HOLD_MS)
        elif isinstance(action, DoubleTap):
            await self._tap(action.x, action.y, TAP_HOLD_MS)
            await self._clock.advance(DOUBLE_TAP_GAP_MS)
            await self._tap(action.x, action.y, TAP_HOLD_MS)
        elif isinstance(action, LongPress):
            await self._tap(action.x, action.y, action.ms)
        elif isinstance(action, Swipe | Drag):
            await self._stroke(action, DRAG_PRESS_MS if isinstance(action, Drag) else 0)
        elif isinstance(action, Key):
            await self._key(key_name(action.key) or action.key, action.ms)
        elif isinstance(action, Type):
            await self._type(action.text)
        elif isinstance(action, Wait):
            await self._clock.advance(action.ms)

    async def finger(self, point: Point | None) -> None:
        """Put the finger down, or move it, to a place; None lifts it. One frame. Raises BrowserFault."""
        if point is None:
            if self._down:
                await self._touch("touchEnd")
        else:
            await self._touch("touchMove" if self._down else "touchStart", point.x, point.y)
        self._down = point is not None

    async def hold_key(self, key: str, down: bool) -> None:
        """Press a key and keep it down, or let it go; no game time. Raises BrowserFault."""
        name = key_name(key) or key
        stroke = self._page.keyboard.down(name) if down else self._page.keyboard.up(name)
        try:
            await self._clock.deliver(stroke, Handled.AT_ONCE)
        except PlaywrightError as error:
            raise fault_from(error, f"the key {key}") from error

    async def _touch(self, kind: str, x: float = 0, y: float = 0) -> None:
        points = [] if kind == "touchEnd" else [{"x": x, "y": y, "id": 1, "radiusX": 8, "radiusY": 8, "force": 0.5}]
        event = self._channel.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        # A move is one frame long, handled or not: a finger doesn't wait for the page.
        await self._clock.deliver(event, Handled.LATER if kind == "touchMove" else Handled.BY_FRAME)

    async def _tap(self, x: float, y: float, hold_ms: float) -> None:
        await self._touch("touchStart", x, y)
        await self._clock.advance(hold_ms)
        await self._touch("touchEnd")
        await self._clock.advance(AFTER_TAP_MS)

    async def _click(self, x: float, y: float) -> None:
        await self._clock.deliver(self._page.mouse.move(x, y))
        await self._clock.deliver(self._page.mouse.down(), Handled.AT_ONCE)
        await self._clock.advance(TAP_HOLD_MS)
        await self._clock.deliver(self._page.mouse.up(), Handled.AT_ONCE)
        await self._clock.advance(AFTER_TAP_MS)

    async def _stroke(self, stroke: Stroke, press_ms: float) -> None:
        await self._touch("touchStart", stroke.x1, stroke.y1)
        if press_ms:
            await self._clock.advance(press_ms)
        moves = max(3, math.ceil(stroke.ms / MOVE_EVERY_MS))
        started_ms = self._clock.now_ms
        for i in range(1, moves + 1):
            due_ms = started_ms + stroke.ms * i / moves
            if i < moves and self._clock.now_ms > due_ms:
                continue  # only where time isn't held: the machine is slower than the finger
            x = stroke.x1 + (stroke.x2 - stroke.x1) * i / moves
            y = stroke.y1 + (stroke.y2 - stroke.y1) * i / moves
            await self._touch("touchMove", x, y)
            left_ms = due_ms - self._clock.now_ms
            if not isinstance(self._clock, FrameClock) and left_ms > 0:
                await self._clock.advance(left_ms)
        await self._touch("touchEnd")
        await self._clock.advance(AFTER_TAP_MS)

    async def _pull(self, stroke: Stroke, press_ms: float) -> None:
        """The same stroke by mouse, its button held."""
        await self._clock.deliver(self._page.mouse.move(stroke.x1, stroke.y1))
        await self._clock.deliver(self._page.mouse.down(), Handled.AT_ONCE)
        await self._clock.advance(max(press_ms, FRAME_MS))
        moves = max(3, math.ceil(stroke.ms / MOVE_EVERY_MS))
        for i in range(1, moves + 1):
            x = stroke.x1 + (stroke.x2 - stroke.x1) * i / moves
            y = stroke.y1 + (stroke.y2 - stroke.y1) * i / moves
            await self._clock.deliver(self._page.mouse.move(x, y), Handled.AT_ONCE)
            await self._clock.advance(stroke.ms / moves)
        await self._clock.deliver(self._page.mouse.up(), Handled.AT_ONCE)
        await self._clock.advance(AFTER_TAP_MS)

    async def _key(self, key: str, ms: float) -> None:
        await self._clock.deliver(self._page.keyboard.down(key), Handled.AT_ONCE)
        try:
            await self._clock.advance(ms)
        finally:
            await self._clock.deliver(self._page.keyboard.up(key), Handled.AT_ONCE)
        await self._clock.advance(AFTER_TAP_MS)

    async def _type(self, text: str) -> None:
        for letter in text:
            await self._clock.deliver(self._page.keyboard.type(letter), Handled.AT_ONCE)
            await self._clock.advance(AFTER_TAP_MS)
