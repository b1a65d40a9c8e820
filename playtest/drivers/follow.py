"""Whether a body follows the player's hand: the hand goes to places, and the body is read."""

from __future__ import annotations

from playtest.drivers.families import along, steer
from playtest.drivers.seat import Seat
from playtest.gates.conditions import at
from playtest.gates.timeline import Follow
from playtest.protocol.play_spec import ControlCheck, KeyControl

# Shares of the screen that the hand goes to, and the game time in which the body must have come.
PLACES = (0.3, 0.7, 0.5)
PATIENCE_MS, LOOK_MS = 1000.0, 100.0
KEY_HOLD_MS = 400.0


async def follow(seat: Seat, check: ControlCheck) -> tuple[tuple[Follow, ...], str]:
    """What the body did, and why it could not be watched if it could not. Raises BrowserFault."""
    axes = ("x", "y") if check.axis == "both" else (check.axis,)
    found: list[Follow] = []
    for axis in axes:
        if await _where(seat, check, axis) is None:
            return tuple(found), f"{check.body} tells no place on {axis}: {at(seat.state, check.body)!r}"[:300]
        if isinstance(check.control, KeyControl):
            found += await _by_keys(seat, check, check.control, axis)
        else:
            found += await _by_finger(seat, check, axis)
    return tuple(found), ""


async def _where(seat: Seat, check: ControlCheck, axis: str) -> float | None:
    return await along(seat, at(seat.state, check.body), axis, check.space)


async def _by_finger(seat: Seat, check: ControlCheck, axis: str) -> list[Follow]:
    length = seat.game.screen.width if axis == "x" else seat.game.screen.height
    other = "y" if axis == "x" else "x"
    body = at(seat.state, check.body)
    across = getattr(check.control, "at", None)
    if across is None and isinstance(body, dict):
        across = await along(seat, body, other, check.space)
    found = []
    try:
        # The touch begins on the body: some are dragged from where they are.
        began = await _where(seat, check, axis)
        if began is not None:
            await steer(seat, axis, began, across)
        for share in PLACES:
            wanted = length * share
            await steer(seat, axis, wanted, across)
            came = await _come(seat, check, axis, wanted)
            near = came is not None and abs(came - wanted) <= check.tolerance
            found.append(Follow(f"{axis} {wanted:.0f}", _told(axis, came), near))
    finally:
        if seat.game.alive:
            await seat.game.finger(None)
    return found


async def _come(seat: Seat, check: ControlCheck, axis: str, wanted: float) -> float | None:
    """Where the body is once it has come, or after the patience."""
    waited = 0.0
    while True:
        await seat.pause(LOOK_MS)
        waited += LOOK_MS
        await seat.look("watching the body")
        came = await _where(seat, check, axis)
        if waited >= PATIENCE_MS or (came is not None and abs(came - wanted) <= check.tolerance):
            return came


async def _by_keys(seat: Seat, check: ControlCheck, control: KeyControl, axis: str) -> list[Follow]:
    found = []
    for key, sign in ((control.less, -1), (control.more, 1)):
        was = await _where(seat, check, axis)
        await seat.game.hold_key(key, True)
        await seat.pause(KEY_HOLD_MS)
        await seat.game.hold_key(key, False)
        await seat.look(f"held {key}")
        now = await _where(seat, check, axis)
        moved = was is not None and now is not None and (now - was) * sign > 0
        word = "less" if sign < 0 else "more"
        found.append(Follow(f"{key}: {axis} {word} than {_told(axis, was)}", _told(axis, now), moved))
    return found


def _told(axis: str, value: float | None) -> str:
    return f"{axis} {value:.0f}" if value is not None else "nowhere"
