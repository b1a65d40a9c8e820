"""The four ways to play: keys in turn, targets that the state lists, a paddle under a ball, and fixed inputs."""

from __future__ import annotations

from playtest.drivers.seat import POLL_MS, Seat
from playtest.gates.conditions import Value, at, holds, number, same
from playtest.ports import Point
from playtest.protocol.actions import Key, Tap
from playtest.protocol.play_spec import KeyControl, KeyCycle, PaddleIntercept, PointerControl, TapTargets

# A paddle is steered this often, in game time, and left alone when it is so near, CSS px.
STEER_MS = 50.0
NEAR_PX = 6.0


async def start(seat: Seat) -> bool:
    """The spec's start ritual; False where it does not get through, with the reason. Raises BrowserFault."""
    ritual = seat.spec.start_ritual
    await seat.look("boot", picture=True)
    if ritual is not None:
        if ritual.ready is not None and not await _ready(seat, ritual.ready, ritual.timeout_ms):
            seat.played.stuck = f"{ritual.ready} was not true within {ritual.timeout_ms} ms of game time"
            return False
        for given in ritual.inputs:
            await seat.carry_out(given)
        if seat.played.missed:
            seat.played.stuck = seat.played.missed[0]
            return False
        if ritual.started_when is not None and not await seat.until(ritual.started_when, ritual.timeout_ms):
            path = ritual.started_when.path
            seat.played.stuck = f"{path} did not say so within {ritual.timeout_ms} ms: {at(seat.state, path)!r}"
            return False
    await seat.look("started", picture=True)
    seat.begin()
    return True


async def play(seat: Seat) -> None:
    """Play until an end or the limits; then see whether the end stays. Raises BrowserFault."""
    driver = seat.spec.driver
    if isinstance(driver, KeyCycle):
        await _keys(seat, driver)
    elif isinstance(driver, TapTargets):
        await _targets(seat, driver)
    elif isinstance(driver, PaddleIntercept):
        await _paddle(seat, driver)
    else:
        for given in seat.spec.inputs or ():
            if seat.over:
                break
            await seat.carry_out(given)
    await _dwell(seat)


async def _ready(seat: Seat, path: str, within_ms: float) -> bool:
    ends_ms = seat.game.clock.now_ms + within_ms
    while True:
        told = await seat.game.read(path)
        if told.problem is None and told.value:
            return True
        if seat.game.clock.now_ms >= ends_ms:
            return False
        await seat.pause(POLL_MS)


async def _dwell(seat: Seat) -> None:
    """Look again after a while: an end that stays is one. Every game is looked at a last time."""
    latch, end = seat.spec.latch, seat.played.end
    await seat.pause(latch.dwell_ms if latch is not None else 500)
    await seat.look("dwell", picture=True)
    condition = {"win": seat.spec.observables.win, "lose": seat.spec.observables.lose}.get(end or "")
    if condition is not None:
        seat.played.stayed = holds(condition, seat.state)


async def _keys(seat: Seat, driver: KeyCycle) -> None:
    number_of = 0
    while not seat.over:
        await seat.act(Key(key=driver.keys[number_of % len(driver.keys)], ms=driver.hold_ms))
        await seat.pause(driver.gap_ms)
        number_of += 1


async def _targets(seat: Seat, driver: TapTargets) -> None:
    """First to last. The list is read anew for each tap: what is gone is not tapped, and what moved is not missed."""
    turn = 0
    while not seat.over:
        listed = at(seat.state, driver.targets)
        entries = listed if isinstance(listed, list) else []
        wanted = [entry for entry in entries if driver.when is None or holds(driver.when, entry)]
        if not wanted:
            await seat.pause(max(driver.gap_ms, POLL_MS))
            await seat.look("waiting for a target")
            continue
        entry = wanted[turn % len(wanted)]
        place = await seat.place(at(entry, driver.x), at(entry, driver.y), driver.space)
        if place is None:
            seat.miss(f"a target has no place: {entry!r}"[:200])
            await seat.pause(max(driver.gap_ms, POLL_MS))
            await seat.look("waiting for a target")
        else:
            await seat.act(Tap(x=round(place.x, 1), y=round(place.y, 1)))
            await seat.pause(driver.gap_ms)
            await seat.look("after the tap")
        after = at(seat.state, driver.targets)
        still = isinstance(after, list) and any(same(entry, other) for other in after)
        turn = turn + 1 if still or place is None else turn


async def _paddle(seat: Seat, driver: PaddleIntercept) -> None:
    held: str | None = None
    try:
        while not seat.over:
            paddle = await along(seat, at(seat.state, driver.paddle), driver.axis, driver.space)
            ball = await along(seat, at(seat.state, driver.ball), driver.axis, driver.space)
            if paddle is None or ball is None:
                seat.miss(f"no place to be read of {driver.paddle if paddle is None else driver.ball}")
            elif isinstance(driver.control, PointerControl):
                across = driver.control.at or await _across(seat, driver)
                await steer(seat, driver.axis, ball, across)
            else:
                held = await _lean(seat, driver.control, held, ball - paddle)
            await seat.pause(STEER_MS)
            await seat.look("steering")
    finally:
        if held is not None and seat.game.alive:
            await seat.game.hold_key(held, False)
        if isinstance(driver.control, PointerControl) and seat.game.alive:
            await seat.game.finger(None)


async def along(seat: Seat, body: Value, axis: str, space: str) -> float | None:
    """A body's place on an axis, CSS px: of an object with `x` and `y`, or of the number itself."""
    value = number(at(body, axis) if isinstance(body, dict) else body)
    if value is None or space == "css":
        return value
    point = await seat.place(value, value, space)
    return None if point is None else getattr(point, axis)


async def steer(seat: Seat, axis: str, to: float, across: float | None) -> None:
    """Put the finger, or move it, to a place on the axis. Only the first touch counts as an input."""
    width, height = seat.game.screen.width, seat.game.screen.height
    if across is None:
        across = (height if axis == "x" else width) * 0.8
    x, y = (to, across) if axis == "x" else (across, to)
    await seat.game.finger(Point(min(max(x, 1.0), width - 2.0), min(max(y, 1.0), height - 2.0)))
    seat.played.inputs = max(seat.played.inputs, 1)


async def _across(seat: Seat, driver: PaddleIntercept) -> float | None:
    """The paddle's own place on the other axis, where it tells one."""
    other = "y" if driver.axis == "x" else "x"
    body = at(seat.state, driver.paddle)
    return await along(seat, body, other, driver.space) if isinstance(body, dict) else None


async def _lean(seat: Seat, control: KeyControl, held: str | None, off: float) -> str | None:
    """Hold the key that brings the paddle nearer; the key that is held now."""
    wanted = None if abs(off) <= NEAR_PX else control.more if off > 0 else control.less
    if wanted == held:
        return held
    if held is not None:
        await seat.game.hold_key(held, False)
    if wanted is not None:
        await seat.game.hold_key(wanted, True)
        seat.played.inputs += 1
    return wanted
