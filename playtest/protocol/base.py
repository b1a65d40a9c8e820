"""The base of every document that we write: camelCase on the wire, no unknown fields."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Document(BaseModel):
    """A document of ours: unknown fields are an error, values don't change once made."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        """The document as plain JSON types with wire names."""
        return self.model_dump(mode="json", by_alias=True)


class Foreign(BaseModel):
    """A document that others write: unknown fields are ignored (the raw text is kept elsewhere)."""

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True)
