"""What several commands share on their command lines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, TypeAlias

from playtest.config import Loaded, load

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - it has no public name

RUN_SETTINGS = {
    "--tester": ("tester", str, "minimax | explorer | scripted:FILE"),
    "--model": ("model", str, "the model's id at the endpoint"),
    "--base-url": ("base_url", str, "the endpoint, without /chat/completions"),
    "--preset": ("preset", str, "how to ask the model, when not as its family"),
    "--seed": ("seed", int, "the first roll's seed"),
    "--steps": ("steps", int, "steps of a roll (14; the explorer 40)"),
    "--max-steps": ("max_steps", int, "steps of a roll that makes progress (24; the explorer 120)"),
    "--rolls": ("rolls", int, "2 confirms a fail by a second roll"),
    "--clock": ("clock", str, "auto | frames | js | realtime"),
    "--evidence": ("evidence", Path, "the evidence root"),
    "--timeout": ("timeout_s", float, "seconds of wall time for the whole run"),
    "--max-cost": ("max_cost", float, "the most that the run may cost, in the currency of the settings"),
}


def add_settings(parser: argparse.ArgumentParser, *flags: str) -> None:
    """Take these settings as flags; all that a run has when none is named."""
    for flag in flags or RUN_SETTINGS:
        name, kind, words = RUN_SETTINGS[flag]
        parser.add_argument(flag, dest=name, type=kind, help=words)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Every command that gives a document takes this."""
    parser.add_argument("--json", action="store_true", help="print the result as one JSON document on stdout")


def loaded(options: argparse.Namespace) -> Loaded:
    """The effective settings, flags first. Raises UsageError."""
    given: dict[str, Any] = {name: getattr(options, name, None) for name, _, _ in RUN_SETTINGS.values()}
    for name in ("steps", "max_steps"):  # whoever names a number means it for any tester
        given[f"explorer_{name}"] = given[name]
    return load(given)
