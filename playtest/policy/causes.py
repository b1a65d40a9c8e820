"""Causes outside the game: what this machine or the closed network lacks is never charged to a game."""

from __future__ import annotations

from collections.abc import Sequence

from playtest.policy.outcome import Ending
from playtest.ports import PageFault
from playtest.protocol.verdict import Verdict


def outside_cause(faults: Sequence[PageFault], effective: int) -> Ending | None:
    """Why a fail can't be laid at the game's door, or None.

    A thing from another host counts where play never went on without it, or where an error came after it: a game that
    plays can do without.
    """
    told = {fault.kind: fault for fault in reversed(faults)}
    if "no_webgl" in told:
        return Ending(Verdict.DEGRADED, reason="no_webgl", message=told["no_webgl"].message)
    needed = told.get("unreachable_dependency")
    if needed is not None and (not effective or "uncaught" in told):
        return _unreachable(faults, needed)
    return None


def cannot_boot(faults: Sequence[PageFault], blank: bool) -> Ending | None:
    """The ending of a roll whose game shows nothing because it can't get what it needs; no tester need look at it."""
    needed = next((fault for fault in faults if fault.kind == "unreachable_dependency"), None)
    return _unreachable(faults, needed) if blank and needed is not None else None


def unreadable(faults: Sequence[PageFault]) -> Ending | None:
    """The ending of a fail that no experiment confirmed, on a machine that shows the game's words as boxes."""
    boxes = next((fault for fault in faults if fault.kind == "missing_glyphs"), None)
    return Ending(Verdict.DEGRADED, reason="missing_glyphs", message=boxes.message) if boxes else None


def _unreachable(faults: Sequence[PageFault], needed: PageFault) -> Ending:
    error = next((f"; then {fault.message}" for fault in faults if fault.kind == "uncaught"), "")
    message = f"{needed.message}; only the game's own host can be reached{error}"
    return Ending(Verdict.DEGRADED, reason="unreachable_dependency", message=message[:1000])
