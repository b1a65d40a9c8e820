"""The scripts that run in every frame before any code of the page."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files

_JS = files("playtest.browser") / "js"


def probe_key(seed: int) -> str:
    """The name of the probe on the window: hard to guess for a page, the same for the same seed."""
    return "_" + hashlib.sha256(f"playtest probe {seed}".encode()).hexdigest()[:16]


def init_script(seed: int, start_date_ms: float, clock: str) -> str:
    """Seeds and probe for one roll. Only `realtime` leaves Date to the machine, only `frames` the time origin."""
    seeded = {"seed": seed, "startDate": start_date_ms, "shiftDate": clock == "realtime", "rebase": clock == "frames"}
    scripts = (("seed.js", seeded), ("probe.js", {"key": probe_key(seed)}))
    return "\n".join(
        (_JS / name).read_text("utf-8").replace("__PARAMS__", json.dumps(parameters)) for name, parameters in scripts
    )
