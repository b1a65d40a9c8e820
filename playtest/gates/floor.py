"""The floor: four gates that need nothing of a game but to be a page that comes up, runs and shows something.

Each is red only for what is certain: the floor is the one authority for pre-screening, and a good game that it stops
is lost without anybody having looked at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from playtest.gates.blank import Sight
from playtest.gates.uncaught import Uncaught, told_once
from playtest.protocol.gates import FLOOR_GATES, Floor, Gate, GateName

# A page that has asked for so many animation frames has a loop that runs.
RUNNING_FRAMES = 5
# A loop that throws in every frame does not run, whatever it asks for.
FEW_ERRORS = 2
MAX_DETAIL = 500


@dataclass(frozen=True, slots=True)
class Death:
    """How the page ended."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """A loop of animation frames that ended by itself, and the inputs that did not wake it."""

    frames: int
    tried: tuple[str, ...]


@dataclass(slots=True)
class FloorFacts:
    """What was seen of one page. Times in ms of game time, None for what never happened."""

    boot_ms: float
    """The boot limit."""
    opened: bool = False
    parsed: bool = False
    load_problem: str = ""
    loaded_ms: float = 0.0
    """When the document had loaded and its first frames had come."""
    canvas_drawn: bool = False
    """Whether a canvas has a rendering context."""
    shown_ms: float | None = None
    """When a picture that is not blank was first seen."""
    sight: Sight | None = None
    """Of the best picture: the first that is not blank, else the last."""
    blank_since_ms: float | None = None
    """Set where the page was blank again at the end, though no input was made."""
    ready: bool | None = None
    """Whether the page said that it is ready; None where it was not asked."""
    ready_told: str = ""
    advances: bool = False
    """Whether a frame or a timer came."""
    frames: int = 0
    """Animation frames that the page asked for."""
    stopped: Stopped | None = None
    death: Death | None = None
    uncaught: list[Uncaught] = field(default_factory=list)
    evidence: dict[GateName, tuple[str, ...]] = field(default_factory=dict)

    @property
    def counted(self) -> list[Uncaught]:
        """The errors that count."""
        return [error for error in self.uncaught if error.harmless is None]


def judge_floor(facts: FloorFacts) -> dict[GateName, Gate]:
    """The four gates."""
    return {
        "A_boot": _boot(facts),
        "B_uncaught": _uncaught(facts),
        "C_frame": _frame(facts),
        "D_render": _render(facts),
    }


def floor_of(gates: Mapping[GateName, Gate]) -> Floor:
    """The floor within any record of gates: a gate that is not in it has not passed."""
    missing = Gate(passed=False, detail="was not judged")
    four = {name: gates.get(name, missing) for name in FLOOR_GATES}
    return Floor(passed=all(gate.passed for gate in four.values()), gates={**four})


def _boot(facts: FloorFacts) -> Gate:
    problem = _boot_problem(facts)
    return Gate(
        passed=problem is None,
        detail=(problem or _came_up(facts))[:MAX_DETAIL],
        measured={
            "parsed": facts.parsed,
            "loadedMs": round(facts.loaded_ms, 1) if facts.opened else None,
            "firstShownMs": None if facts.shown_ms is None else round(facts.shown_ms, 1),
            "limitMs": facts.boot_ms,
            "ready": facts.ready,
        },
        evidence=facts.evidence.get("A_boot", ()),
    )


def _boot_problem(facts: FloorFacts) -> str | None:
    limit = f"{facts.boot_ms / 1000:g} s"
    broke_off = _broke_off(facts)
    if broke_off is not None:
        return f"the start broke off: {broke_off.told}"
    if facts.death is not None and facts.shown_ms is None:
        return f"never came up: {facts.death.kind}: {facts.death.message}"
    if not facts.opened:
        return f"never came up: {facts.load_problem or 'no document was loaded'}"
    if not facts.parsed:
        return f"the document was not loaded within {limit}: {facts.load_problem or 'it is still being read'}"
    if facts.shown_ms is None and not facts.canvas_drawn:
        return f"nothing was shown within {limit}, and no canvas was drawn on"
    if facts.shown_ms is not None and facts.shown_ms > facts.boot_ms:
        return f"nothing was shown within {limit}; the first picture came after {facts.shown_ms / 1000:.1f} s"
    if facts.ready is False:
        return f"the page did not say that it is ready within {limit}: {facts.ready_told}"
    return None


def _came_up(facts: FloorFacts) -> str:
    told = [f"loaded ({facts.load_problem})" if facts.load_problem else "loaded"]
    if facts.shown_ms is not None:
        told.append(f"something to see at {facts.shown_ms:.0f} ms")
    if facts.ready:
        told.append("says that it is ready")
    return "; ".join(told)


def _broke_off(facts: FloorFacts) -> Uncaught | None:
    """The error that ended the start, if one did: the page may also have come up in spite of it.

    An error in a script that runs while the document loads leaves out what follows it. A rejection may be a side
    matter, so it counts only where nothing came up.
    """
    in_spite = facts.frames >= RUNNING_FRAMES and facts.shown_ms is not None and len(facts.counted) <= FEW_ERRORS
    if in_spite:
        return None
    nothing = facts.shown_ms is None
    for error in facts.counted:
        early = error.game_ms <= facts.loaded_ms
        if (early and not error.rejection) or nothing:
            return error
    return None


def _uncaught(facts: FloorFacts) -> Gate:
    counted = facts.counted
    more = f" (and {len(counted) - 1} more)" if len(counted) > 1 else ""
    ignored: dict[str, int] = {}
    for error in facts.uncaught:
        if error.harmless is not None:
            ignored[error.harmless] = ignored.get(error.harmless, 0) + 1
    return Gate(
        passed=not counted,
        detail=(counted[0].told[: MAX_DETAIL - len(more)] + more) if counted else "none",
        measured={"count": len(counted), "errors": told_once(counted), "ignored": {**ignored}},
        evidence=facts.evidence.get("B_uncaught", ()),
    )


def _frame(facts: FloorFacts) -> Gate:
    stopped = facts.stopped
    if facts.death is not None:
        passed, detail = False, f"the page ended by {facts.death.kind}: {facts.death.message}"
    elif not facts.advances:
        passed, detail = False, "neither a frame nor a timer came"
    elif stopped is not None:
        passed = False
        detail = (
            f"the loop stopped by itself after {stopped.frames} frames, and {len(stopped.tried)} inputs did not wake it"
        )
    else:
        passed, detail = True, "frames come" if facts.frames >= RUNNING_FRAMES else "the event loop answers"
    return Gate(
        passed=passed,
        detail=detail[:MAX_DETAIL],
        measured={
            "framesAsked": facts.frames,
            "answers": facts.advances and facts.death is None,
            "triedToWake": list(stopped.tried) if stopped is not None else [],
        },
        evidence=facts.evidence.get("C_frame", ()),
    )


def _render(facts: FloorFacts) -> Gate:
    sight = facts.sight
    if sight is None:
        passed, detail = False, "no picture could be taken"
    elif facts.shown_ms is None:
        passed, detail = False, f"every picture was blank: {sight.blank}"
    elif facts.blank_since_ms is not None:
        passed = False
        detail = f"blank again since {facts.blank_since_ms:.0f} ms, though nothing was done: {sight.blank}"
    else:
        passed, detail = True, "not blank"
    figures = {} if sight is None else {"colours": sight.colours, "deviation": sight.deviation}
    shares = {} if sight is None else {"mainShare": sight.main_share, "blank": sight.blank}
    return Gate(
        passed=passed, detail=detail, measured={**figures, **shares}, evidence=facts.evidence.get("D_render", ())
    )
