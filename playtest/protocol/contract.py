"""The base of the contracts that others write by: PlaySpec and VerdictFeedback.

A document is judged in two ways that may never disagree: by these models, and by the JSON Schemas generated from them.
So the models are as literal as JSON Schema is: wire names only, no coercion (`"5"`, `0` for false), and a field that is
`null` is not a field that is absent. In Python code a contract is made by field name, and None stands for absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# The end of the text in every dialect of patterns; `$` also stands before a last line feed in some.
END = r"(?![\s\S])"
AUTHOR_NOTES: dict[str, Any] = {
    "patternProperties": {"^_": {"description": "A note of the author's. Nothing reads it."}},
    "additionalProperties": False,
}
_FROM_WIRE = "playtest.from_wire"


def breach(keyword: str, message: str) -> PydanticCustomError:
    """A rule that plain fields can't say, told by the name of the JSON Schema keyword that says it."""
    # The message is an argument: braces in it are text.
    return PydanticCustomError(keyword, "{message}", {"message": message})  # type: ignore[arg-type,unused-ignore]


class Contract(BaseModel):
    """A part of a contract: closed to unknown fields, unchangeable once made."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
        allow_inf_nan=False,
        regex_engine="python-re",
    )

    @classmethod
    def from_wire(cls, document: JsonValue) -> Self:
        """The contract that a JSON document holds. Raises pydantic.ValidationError with every breach."""
        return cls.model_validate(document, by_alias=True, by_name=False, context={_FROM_WIRE: True})

    def to_json(self) -> dict[str, Any]:
        """The document as plain JSON types with wire names; what is absent stays absent."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @classmethod
    def json_schema(cls, identity: str) -> dict[str, Any]:
        """The JSON Schema of what `from_wire` takes, under the address `identity`."""
        schema = cls.model_json_schema(mode="validation", schema_generator=_Literal)
        return {"$schema": DIALECT, "$id": identity, **schema}

    @model_validator(mode="before")
    @classmethod
    def _null_is_not_absent(cls, document: Any, info: ValidationInfo) -> Any:
        if isinstance(document, Mapping) and isinstance(info.context, Mapping) and info.context.get(_FROM_WIRE):
            for field in cls.model_fields.values():
                if field.default is None and document.get(field.alias, field) is None:
                    raise breach("type", f"{field.alias} is null; leave it out where there is none")
        return document


class Authored(Contract):
    """A contract's outermost object: fields that begin with `_` are notes of its author, of any kind and for people."""

    model_config = ConfigDict(extra="allow", json_schema_extra=AUTHOR_NOTES)

    @model_validator(mode="after")
    def _notes_only(self) -> Self:
        for name in self.model_extra or {}:
            if not name.startswith("_"):
                raise breach("additionalProperties", f"there is no field {name}; an author's note begins with _")
        return self


class Open(Contract):
    """A part of a contract that takes fields beyond those it names."""

    model_config = ConfigDict(extra="allow")


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 5.0 is as whole as 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Comes last, after the limits: pydantic leaves limits that follow it out of the JSON Schema."""
Scalar: TypeAlias = Annotated[
    StrictBool | StrictInt | StrictFloat | StrictStr, WithJsonSchema({"type": ["boolean", "number", "string"]})
]
Text: TypeAlias = Annotated[StrictStr, Field(min_length=1)]
Extension: TypeAlias = dict[str, Any]


class _Literal(GenerateJsonSchema):
    """Schemas that say exactly what `from_wire` takes, and whose errors point at the rule that was broken."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Absent, never null."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """None is no default but absence."""
        if schema.get("default", ...) is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def field_title_should_be_set(self, schema: Any) -> bool:
        """A title that repeats the name says nothing."""
        return False

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """Choose by the tag: an error is then told in the branch that was meant, not as "none of these"."""
        tag = schema["discriminator"]
        if not isinstance(tag, str):  # pragma: no cover - ours are all by name
            return super().tagged_union_schema(schema)
        branches: dict[str, list[str]] = {}
        bodies: dict[str, JsonSchemaValue] = {}
        for value, choice in schema["choices"].items():
            body = self.generate_inner(choice)
            key = str(sorted(body.items()))
            branches.setdefault(key, []).append(str(value))
            bodies[key] = body
        return {
            "type": "object",
            "required": [tag],
            "properties": {tag: {"enum": sorted(str(value) for value in schema["choices"])}},
            "allOf": [
                {"if": {"required": [tag], "properties": {tag: {"enum": values}}}, "then": bodies[key]}
                for key, values in branches.items()
            ],
        }
