"""Holding documents against contracts, by schema and by model, and naming each rule that is broken."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from pydantic import JsonValue
from pydantic import ValidationError as ModelError
from referencing import Registry
from referencing.exceptions import Unresolvable

from playtest.errors import PlaytestError, UsageError
from playtest.protocol.contract import Contract
from playtest.protocol.feedback import VerdictFeedback
from playtest.protocol.play_spec import PlaySpec
from playtest.protocol.schema import SCHEMAS
from playtest.protocol.validation import Violation
from playtest.texts import sanitize

MODELS: dict[str, type[Contract]] = {"play-spec": PlaySpec, "verdict-feedback": VerdictFeedback}
"""The contracts that others write by, by name."""
_LONGEST = 300


class Rules(NamedTuple):
    """What documents are held against: a JSON Schema, and where it is one of ours also its model."""

    name: str
    validator: Validator
    model: type[Contract] | None = None

    def violations(self, document: JsonValue) -> tuple[Violation, ...]:
        """Each rule that the document breaks, once; none where it is valid.

        Raises UsageError where the schema itself can't be followed.
        """
        try:
            found = tuple(_distinct(_named(self.validator.iter_errors(document))))
        except Unresolvable as error:
            raise UsageError(
                f"the schema {self.name} refers to {error.ref}, which isn't in it", "nothing is fetched from elsewhere"
            ) from error
        except (re.error, RecursionError) as error:
            raise UsageError(f"the schema {self.name} can't be followed: {error}", "mend the schema") from error
        if self.model is not None:
            _must_agree(self, document, refused=bool(found))
        return found


def contract_rules(name: str) -> Rules:
    """The rules of a contract of ours, by the name of its schema's file, with or without its ending."""
    file = next((file for file in SCHEMAS if name in (file, short_name(file))), None)
    if file is None:
        known = ", ".join(short_name(file) for file in SCHEMAS)
        raise UsageError(f"there is no contract {name}", f"known: {known}; or give a schema's file")
    name = short_name(file)
    return Rules(name, Draft202012Validator(SCHEMAS[file](), registry=Registry()), MODELS.get(name))


def schema_rules(name: str, schema: Any) -> Rules:
    """The rules of any JSON Schema; ours gets its model too. Raises UsageError when it is none."""
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except (SchemaError, re.error) as error:
        words = error.message if isinstance(error, SchemaError) else str(error)
        raise UsageError(f"{name} is no JSON Schema: {sanitize(words, _LONGEST)}", "mend the schema") from error
    ours = next((model for own, model in MODELS.items() if SCHEMAS[f"{own}.schema.json"]() == schema), None)
    return Rules(name, kind(schema, registry=Registry()), ours)


def short_name(file: str) -> str:
    """`play-spec` of `play-spec.schema.json`."""
    return file.removesuffix(".json").removesuffix(".schema")


def _must_agree(rules: Rules, document: JsonValue, *, refused: bool) -> None:
    assert rules.model is not None
    try:
        rules.model.from_wire(document)
    except ModelError as error:
        if not refused:
            raise PlaytestError(f"the model of {rules.name} refuses what its schema accepts: {error}") from error
    else:
        if refused:
            raise PlaytestError(f"the model of {rules.name} accepts what its schema refuses")


def _distinct(violations: Iterator[Violation]) -> Iterator[Violation]:
    seen: set[str] = set()
    for violation in violations:
        if str(violation) not in seen:
            seen.add(str(violation))
            yield violation


def _named(errors: Iterator[ValidationError]) -> Iterator[Violation]:
    missing_so_far: Counter[tuple[object, ...]] = Counter()
    for error in errors:
        rule, message = str(error.validator), error.message
        limit: Any = error.validator_value
        given: Any = error.instance
        if error.validator == "required":  # one error for each missing field, which isn't told apart from the message
            place = (*error.absolute_path, "/", *error.absolute_schema_path)
            missing = [name for name in limit if name not in given]
            rule = f"required {missing[missing_so_far[place]]}"
            missing_so_far[place] += 1
        elif error.validator == "additionalProperties" and limit is False:
            rule = f"additionalProperties {', '.join(_unknown(given, error.schema))}"
        elif error.validator in ("anyOf", "oneOf"):
            message = _alternatives(limit, "exactly one" if error.validator == "oneOf" else "at least one")
        elif error.validator == "type" and given is None:
            message = "is null; leave out what there is none of"
        yield Violation(at=error.json_path, rule=rule, message=sanitize(message, _LONGEST))


def _unknown(document: dict[str, JsonValue], schema: Any) -> list[str]:
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return sorted(name for name in document if name not in named and not any(re.search(one, name) for one in patterns))


def _alternatives(choices: list[Any], how_many: str) -> str:
    if all(isinstance(one, dict) and list(one) == ["required"] for one in choices):
        return f"must have {how_many} of: {'; '.join(', '.join(one['required']) for one in choices)}"
    return f"must meet {how_many} of {len(choices)} alternatives"
