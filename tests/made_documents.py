"""Hypothesis strategies for documents of a JSON Schema: valid ones, and ones that are spoilt here and there."""

import copy
import re
from functools import cache

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

TEXTS = ["", "a", "playing", "状态", "\n", "a\n", " ", "null", "_", "1", "é" * 3, "x" * 600, "\u2028"]
NUMBERS = [0, 1, -1, 1.0, 0.5, -0.0, 5.0, 100, 1e15, 10**18, 10**400, 1e300, -(10**40), 2**63, 600_001]
ODD = [None, True, False, *NUMBERS, *TEXTS, [], {}]
JSON = st.one_of(st.sampled_from(ODD), st.lists(st.sampled_from(ODD), max_size=2))
NAMES = st.sampled_from(TEXTS)


def valid(schema):
    """Documents that a schema of ours accepts."""
    parts: dict[str, st.SearchStrategy] = {}

    def named(name):
        if name not in parts:
            parts[name] = _of(schema["$defs"][name], named)
        return parts[name]

    return _of(schema, named)


def _of(part, named):
    if "$ref" in part:
        return named(part["$ref"].rpartition("/")[2])
    if "const" in part:
        return st.just(part["const"])
    if "allOf" in part:  # by its tag
        return st.one_of([_of(branch["then"], named) for branch in part["allOf"]])
    if "enum" in part:
        return st.sampled_from(part["enum"])
    kinds = part.get("type", "any")
    if isinstance(kinds, list):
        return st.one_of([_of({"type": kind}, named) for kind in kinds])
    return _KINDS[kinds](part, named)


def _object(part, named):
    properties = part.get("properties", {})
    required = part.get("required", [])
    extra = part.get("additionalProperties", True)
    fields = {name: _of(inner, named) for name, inner in properties.items()}
    made = st.one_of(
        [
            st.fixed_dictionaries({name: fields[name] for name in must}, optional={name: fields[name] for name in may})
            for must, may in _choices(part, list(fields), required)
        ]
    )
    if "then" in part:
        made = made.map(_with_phase)
    if "patternProperties" in part:
        made = st.builds(lambda a, b: a | b, made, st.dictionaries(st.sampled_from(["_note", "_"]), JSON, max_size=1))
    elif extra is True:
        made = st.builds(lambda a, b: b | a, made, st.dictionaries(NAMES, JSON, max_size=1))
    elif extra is not False:
        made = st.builds(lambda a, b: b | a, made, st.dictionaries(NAMES, _of(extra, named), max_size=2))
    return made


def _choices(part, names, required):
    """The fields that must and that may be there, for each way to meet `oneOf` or `anyOf`."""
    for keyword in ("oneOf", "anyOf"):
        if keyword in part:
            ways = [one["required"][0] for one in part[keyword]]
            for way in ways:
                others = [name for name in ways if name != way]
                must = [*required, way]
                yield must, [name for name in names if name not in must and (keyword == "anyOf" or name not in others)]
            return
    yield required, [name for name in names if name not in required]


def _with_phase(item):
    """What the one condition of our contracts asks for."""
    stuck = item.get("latch", {}).get("pass") is False
    return {"phaseNow": "playing"} | item if stuck else item


def _number(part, _):
    return st.floats(
        part.get("minimum", part.get("exclusiveMinimum", -1e9)) + (0.5 if "exclusiveMinimum" in part else 0),
        min(part.get("maximum", 1e9), 1e9),
    ) | st.integers(int(part.get("minimum", 1)), int(min(part.get("maximum", 1000), 1e9)))


def _string(part, _):
    if "pattern" in part:
        return _matching(part["pattern"])
    return NAMES.filter(lambda text: part.get("minLength", 0) <= len(text) <= part.get("maxLength", 10**6))


@cache
def _matching(pattern):
    """A dozen texts for each pattern: making ever new ones takes most of a test's time."""
    made = st.from_regex(pattern).filter(lambda text: len(text) <= 120)
    found = []

    @settings(
        max_examples=12,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(made)
    def collect(text):
        found.append(text)

    collect()
    return st.sampled_from(found)


_KINDS = {
    "object": _object,
    "array": lambda part, named: st.lists(_of(part["items"], named), min_size=part.get("minItems", 0), max_size=part.get("minItems", 0) + 2),
    "string": _string,
    "number": _number,
    "integer": lambda part, _: st.integers(part.get("minimum", -5), part.get("maximum", 10**6)),
    "boolean": lambda *_: st.booleans(),
    "any": lambda *_: JSON,
}  # fmt: skip


def spoilt(document, random):
    """The document with one edit, or two or three, at chance places: other values, fields gone, added, or under other names."""
    document = copy.deepcopy(document)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        places = list(_places(document))
        if places:
            random.choice(_EDITS)(random, *random.choice(places))
    return document


def _places(node):
    for key in list(node) if isinstance(node, dict) else range(len(node) if isinstance(node, list) else 0):
        yield node, key
        yield from _places(node[key])


def _replace(random, parent, key):
    parent[key] = _any(random)


def _any(random):
    value = random.choice(ODD)
    return random.choice([value, value, value, value, [value], {random.choice(TEXTS): value}])


def _nudge(random, parent, key):
    """Almost the same."""
    value = parent[key]
    near = [None, [value], {"value": value}, str(value)]
    if isinstance(value, bool):
        near = [not value, int(value), float(value), str(value).lower()]
    elif isinstance(value, int | float):
        near = [-value, value * 1000, str(value), value == 1]
        near += [float(value), int(value), value + 0.5] if abs(value) < 1e15 else []
    elif isinstance(value, str):
        near = [value + "\n", value + " ", value.upper(), "", value[1:], value * 2]
    elif isinstance(value, list):
        near = [[], value + value, value[:1], {str(place): one for place, one in enumerate(value)}]
    elif isinstance(value, dict):
        near = [{}, [value], list(value)]
    parent[key] = random.choice(near)


def _drop(random, parent, key):
    del parent[key]


def _rename(random, parent, key):
    if isinstance(parent, dict):
        snake = re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), key)
        parent[random.choice([snake, "_" + key, key.upper(), key + "_", key[1:]])] = parent.pop(key)


def _add(random, parent, key):
    if isinstance(parent, dict):
        parent[random.choice(MORE_NAMES)] = _any(random)


def _copy(random, parent, key):
    """A value at another place of the same object or list."""
    parent[random.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))] = copy.deepcopy(parent[key])


MORE_NAMES = ["_note", "_", "tier", "driver_type", "game_id", "inputs", "driver", "pass", "by", "latch"]
_EDITS = [_replace, _nudge, _nudge, _drop, _rename, _add, _copy]
