"""The five observed gates: what a game says of itself while a driver plays it.

They believe the game's own export, so they are evidence and not the last word: an export can lie though the game is
good. Where it stands still while the screen follows the inputs, that is said, and is the export's fault.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from playtest.gates.conditions import MISSING, Judged, judge, leaves, short
from playtest.gates.timeline import Observed, Played
from playtest.protocol.contract import Scalar
from playtest.protocol.gate_results import ExportFault, Latching
from playtest.protocol.gates import OBSERVED_GATES, Gate, GateName
from playtest.protocol.play_spec import Condition, PlaySpec, TapTargets

MIN_STATES = 2
MAX_DETAIL = 500
TIMELINE = "timeline.jsonl"
UNDRIVEN = "nothing was driven: there is no PlaySpec"


def judge_undriven() -> dict[GateName, Gate]:
    """The five gates of a game that nobody drove: E and H are advisory, the others have nothing to judge."""
    gates: dict[GateName, Gate] = {}
    for name in OBSERVED_GATES:
        advisory = name in ("E_live", "H_progress")
        gates[name] = Gate(passed=not advisory, detail=UNDRIVEN, weight="advisory" if advisory else "skipped")
    return gates


def judge_driven(spec: PlaySpec, seen: Observed) -> dict[GateName, Gate]:
    """The five gates of a game that was driven."""
    fault = export_fault(seen)
    return {
        "E_live": _live(seen.played, fault),
        "F_wiring": _wiring(spec, seen.played),
        "G_input": _input(seen, fault),
        "H_progress": _progress(spec, seen.played, fault),
        "I_control": _control(spec, seen),
    }


def spec_paths(spec: PlaySpec) -> list[str]:
    """The paths into the state that the spec judges by."""
    ends: list[Condition] = [end for end in (spec.observables.win, spec.observables.lose) if end is not None]
    paths = [assertion.path for assertion in spec.progress] + [end.path for end in ends]
    if spec.observables.phase is not None:
        paths.append(spec.observables.phase)
    if isinstance(spec.driver, TapTargets):
        paths.append(spec.driver.targets)
    return list(dict.fromkeys(paths))


def export_fault(seen: Observed) -> ExportFault | None:
    """What is wrong with the state export itself; None where nothing is known to be.

    A state that is the same in every reading proves a frozen export only where the inputs moved the screen: a dead
    game's state stands still too, and rightly.
    """
    played = seen.played
    if not played.read:
        problem = next((moment.problem for moment in reversed(played.moments) if moment.problem), "")
        return ExportFault(kind="unreadable_export", detail=problem) if problem else None
    if not played.constant or not seen.screen_follows:
        return None
    return ExportFault(
        kind="frozen_export",
        detail=f"the state is as it was at boot in all {len(played.read)} readings, while the screen follows the"
        " inputs: the export is at fault, not the game (are its values computed once, outside the function that"
        " returns them?)",
        paths=tuple(path for path, _ in leaves(played.read[0].state))[:50],
    )


def latching(spec: PlaySpec, played: Played) -> Latching | None:
    """Whether an end was reached and stayed; None where neither the spec asks for it nor one was reached."""
    if spec.latch is None and played.end is None:
        return None
    if played.end is None:
        return Latching(
            passed=False,
            advisory=spec.latch is not None and spec.latch.advisory,
            reason="no end was reached",
            phase_now=played.phase or "unknown",
        )
    if not played.stayed:
        return Latching(
            passed=False,
            advisory=False,
            reason=f"the end ({played.end}) did not stay",
            after=played.phase or "unknown",
            phase_now=played.phase or "unknown",
        )
    return Latching(passed=True, reason=f"the end ({played.end}) stayed", after=played.phase)


def _gate(passed: bool, detail: str, measured: dict[str, JsonValue]) -> Gate:
    return Gate(passed=passed, detail=detail[:MAX_DETAIL], measured=measured, evidence=(TIMELINE,))


def _skipped(detail: str) -> Gate:
    return Gate(passed=True, detail=detail, weight="skipped")


def _not_played(played: Played) -> str | None:
    """Why there is nothing to judge; None where the game was played."""
    if played.started is None:
        return f"the game did not start: {played.stuck or played.died or 'unknown'}"
    return None


def _blamed(fault: ExportFault | None, else_detail: str) -> str:
    return else_detail if fault is None else fault.detail


def _live(played: Played, fault: ExportFault | None) -> Gate:
    states = {repr(sorted((path, repr(value)) for path, value in leaves(moment.state))) for moment in played.read}
    passed = len(states) >= MIN_STATES and played.started is not None
    detail = f"{len(states)} distinct states in {len(played.moments)} readings"
    if not passed:
        detail = _not_played(played) or f"{detail}; {_blamed(fault, 'the state never changes')}"
    return _gate(passed, detail, {"distinctStates": len(states), "readings": len(played.moments)})


def _wiring(spec: PlaySpec, played: Played) -> Gate:
    expected = spec.expected_engine_call_prefixes
    if expected is None:
        return _skipped("the spec expects no engine calls")
    if spec.observables.calls is None:
        return _gate(False, "the spec expects engine calls, but not where they are told (observables.calls)", {})
    absent = [prefix for prefix in expected if not any(call.startswith(prefix) for call in played.calls)]
    told = sorted(played.calls)
    detail = f"{len(told)} different calls; each expected prefix is among them"
    if absent:
        names = ", ".join(told[:10]) or "none"
        detail = f"no call begins with {', '.join(absent)}; {len(told)} different calls: {names}"
    return _gate(not absent, detail, {"callCount": len(told), "absent": list(absent), "calls": list(told[:50])})


def _input(seen: Observed, fault: ExportFault | None) -> Gate:
    played, control = seen.played, seen.control
    problem = _not_played(played)
    measured: dict[str, JsonValue] = {"inputs": played.inputs, "missed": list(played.missed[:20])}
    if problem is None and played.inputs == 0:
        problem = f"no input could be made: {'; '.join(played.missed[:3]) or 'the driver found nothing to do'}"
    if problem is None and control is None:
        problem = "what the game does by itself could not be seen"
    if problem is not None or control is None:
        return _gate(False, problem or "", measured)
    measured |= {"compared": control.compared, "moved": list(control.paths[:20])}
    if control.paths:
        paths = ", ".join(control.paths[:5])
        return _gate(True, f"after {control.input} the state is another than without inputs: {paths}", measured)
    nothing = f"in {control.compared} readings the state is what it is without any input"
    return _gate(False, f"{nothing}; {_blamed(fault, 'the inputs do nothing to it')}", measured)


def _progress(spec: PlaySpec, played: Played, fault: ExportFault | None) -> Gate:
    before, after = played.before, played.after
    if before is None or after is None:
        return _gate(False, _not_played(played) or "there are no readings", {})
    judged = [judge(assertion, before.state, after.state) for assertion in spec.progress]
    latch = latching(spec, played)
    failed = [one for one in judged if not one.passed]
    told = [one.told for one in failed]
    end_fails = latch is not None and not latch.passed and not latch.advisory
    if latch is not None and (not latch.passed or spec.latch is not None):
        advisory = " (advisory)" if latch.advisory else ""
        where = "" if latch.passed else f", phase now {latch.phase_now}"
        told.append(f"{latch.reason}{where}{advisory}")
    passed = not failed and not end_fails
    detail = "; ".join(told) or "; ".join(one.told for one in judged)
    if not passed and fault is not None:
        detail = f"{fault.detail}; {detail}"
    elif not passed:
        unmoved = played.unmoved(spec_paths(spec))
        detail += f"; never changed in any reading: {', '.join(unmoved)}" if unmoved else ""
    measured: dict[str, JsonValue] = {
        "assertions": [_as_json(one) for one in judged],
        "end": played.end,
        "latch": None if latch is None else latch.to_json(),
    }
    return _gate(passed, detail, measured)


def _as_json(judged: Judged) -> JsonValue:
    wanted: Scalar | Sequence[Scalar] | None = getattr(judged.assertion, "value", None)
    return {
        "path": judged.assertion.path,
        "op": judged.assertion.op,
        "value": list(wanted) if isinstance(wanted, tuple) else wanted,  # type: ignore[dict-item]
        "before": None if judged.before is MISSING else short(judged.before),
        "after": None if judged.after is MISSING else short(judged.after),
        "pass": judged.passed,
    }


def _control(spec: PlaySpec, seen: Observed) -> Gate:
    check = spec.control_check
    if check is None:
        return _skipped("the spec names no controlled body")
    missed = [follow for follow in seen.follows if not follow.followed]
    passed = bool(seen.follows) and not missed and not seen.follow_problem
    detail = f"{check.body} followed the hand to {len(seen.follows)} places"
    if not passed:
        told = [f"asked {follow.asked}, came {follow.came}" for follow in missed]
        detail = seen.follow_problem or f"{check.body} did not follow the hand: {'; '.join(told) or 'it was not tried'}"
    measured: dict[str, JsonValue] = {
        "tolerance": check.tolerance,
        "asked": [follow.asked for follow in seen.follows],
        "came": [follow.came for follow in seen.follows],
    }
    return _gate(passed, detail, measured)
