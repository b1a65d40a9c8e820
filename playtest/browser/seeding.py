"""The scripts that run in every frame before any code of the page."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files

_JS = files("playtest.browser") / "js"


def probe_key(seed: int) -> str:
    """The name of the probe on the window: hard to guess for a page, the same for the same seed."""
    return "_" + hashlib.sha256(f"playtest probe {seed}".encode()).hexdigest()[:16]


def init_script(seed: int, start_date_ms: float, clock: str) -> str:
    """Seeds, times and probe for one roll. Only `realtime` leaves Date to the machine."""
    key = probe_key(seed)
    scripts = [_script("seed.js", {"seed": seed, "startDate": start_date_ms, "shiftDate": clock == "realtime"})]
    if clock == "frames":
        scripts.append(_script("frames.js", {"key": _begin_key(key), "startDate": start_date_ms}))
        scripts.append(_script("window.js", {}))
    if clock != "realtime":
        scripts.append(_script("sound.js", {}))
    return "\n".join([*scripts, _script("probe.js", {"key": key})])


def begin_script(key: str) -> str:
    """Lets time begin in a document under the clock `frames`; to be run in all that there are and all to come."""
    return f"window.{_begin_key(key)} && window.{_begin_key(key)}()"


def _begin_key(key: str) -> str:
    return f"{key}b"


def hold_script(key: str, probe: str) -> str:
    """What holds animations still under the clock `js`; it leaves a function on the window under `key`."""
    return _script("hold.js", {"key": key, "probe": probe})


def _script(name: str, parameters: Mapping[str, object]) -> str:
    return (_JS / name).read_text("utf-8").replace("__PARAMS__", json.dumps(parameters))
