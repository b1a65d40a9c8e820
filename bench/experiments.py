"""What the experiments behind a verdict cost: control and probes, next to the roll that they are about."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.play import EXAM, play, script, tap, verdict

# The board of the tile puzzle takes no touch at all, so every claim is tried to its end.
CLAIMED = [(45, 258), (165, 378), (285, 498)]
START = [{"action": tap(195, 534, "开始")}, {"action": {"type": "wait", "ms": 1500}}]


async def cost() -> list[str]:
    """The rows of the table."""
    claims = [
        {"step": step, "x": x, "y": y, "what": "tapped a tile; nothing changed"}
        for step, (x, y) in enumerate(CLAIMED, len(START) + 1)
    ]
    replies = [*START, *({"action": tap(x, y, "花砖")} for x, y in CLAIMED)]
    replies.append({"verdict": verdict("fail", phenomena=claims)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        played = await play(EXAM / "puzzle-r3", path, tester=script(path, replies), rolls=1, film_first_play=True)
    roll = played.result.rolls[0]
    own_ms = roll.wall_time_ms - roll.experiment_ms
    control_ms = roll.control.wall_time_ms if roll.control is not None else 0.0
    probing_ms = roll.probe_ms
    return [
        f"control, share of the whole roll's wall time   {control_ms / roll.wall_time_ms:6.0%}",
        f"probes, seconds per phenomenon                 {probing_ms / 1000 / len(claims):6.1f}",
        f"film of the first play, seconds                {roll.film_ms / 1000:6.1f}",
        f"the roll by itself, seconds                    {own_ms / 1000:6.1f}",
    ]
