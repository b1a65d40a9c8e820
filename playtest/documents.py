"""Reading JSON documents that others wrote: a document is refused where two readers could understand it differently."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NoReturn

from pydantic import JsonValue

from playtest.contracts import Rules, contract_rules
from playtest.errors import UsageError
from playtest.protocol.play_spec import PlaySpec

MAX_BYTES = 20_000_000
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_document(path: Path) -> JsonValue:
    """The JSON in a file. Raises UsageError naming the file, and the line where there is one.

    Refused besides what is no JSON: a name that stands twice in one object, NaN and infinities, half a character.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror or error}", "check its name") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is longer than {MAX_BYTES} bytes", "give a smaller document")
    try:
        document: JsonValue = json.loads(
            data.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite
        )
        text = json.dumps(document, ensure_ascii=False)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: byte {error.start}", "save it as UTF-8") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}", "mend it there") from error
    except RecursionError as error:
        raise UsageError(f"{path} is nested too deeply", "flatten it") from error
    except ValueError as error:
        raise UsageError(f"{path} is no plain JSON: {error}", "mend it") from error
    if _LONE_SURROGATE.search(text):
        raise UsageError(f"{path} is no plain JSON: half a character, an unpaired \\ud800 to \\udfff", "mend it")
    return document


def read_play_spec(path: Path) -> PlaySpec:
    """The PlaySpec in a file. Raises UsageError with the first rule that it breaks."""
    document = read_document(path)
    refuse_invalid(contract_rules("play-spec"), path, document)
    return PlaySpec.from_wire(document)


def refuse_invalid(rules: Rules, path: Path, document: JsonValue) -> None:
    """Raises UsageError when the document breaks the rules."""
    found = rules.violations(document)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise UsageError(
            f"{path} is no {rules.name}: {found[0].at}: {found[0].message}{more}",
            f"`playtest validate {rules.name} {path}` tells everything that is wrong with it",
        )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"the name {next(name for name in names if names.count(name) > 1)!r} stands twice in one object"
        )
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number in JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is larger than any number that can be kept")
    return value
