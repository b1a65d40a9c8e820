"""What `playtest validate` and `playtest spec` print with `--json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from playtest.protocol.base import Document


class Violation(Document):
    """One rule of a schema that a document breaks."""

    at: str = Field(description="Where in the document, as a JSONPath: `$.items[0]`.")
    rule: str = Field(description="The schema's keyword, with the field where one is meant: `required phaseNow`.")
    message: str

    def __str__(self) -> str:
        return f"{self.at}: {self.rule}"


class FileReport(Document):
    """One document held against a schema."""

    file: str
    valid: bool
    violations: tuple[Violation, ...] = ()


class ValidationReport(Document):
    """What `playtest validate SCHEMA FILE... --json` prints."""

    schema_: Literal["playtest-validate/1"] = Field(default="playtest-validate/1", alias="schema")
    ok: bool
    contract: str = Field(description="The schema: a contract's name, or its file.")
    files: tuple[FileReport, ...]


class SampleReport(Document):
    """One sample of the suite."""

    file: str
    expected: Literal["valid", "invalid"]
    ok: bool
    reproduces: str | None = Field(default=None, description="The real failure that an invalid sample shows.")
    stopped_by: str | None = Field(default=None, description="The rule that must stop an invalid sample.")
    problem: str | None = Field(default=None, description="Why the suite fails at this sample.")
    violations: tuple[Violation, ...] = ()


class ContractReport(Document):
    """One contract's samples: how many there are, and how many of them did as they must."""

    contract: str
    valid: int
    accepted: int
    invalid: int
    stopped: int
    samples: tuple[SampleReport, ...]


class SuiteReport(Document):
    """What `playtest validate --suite --json` prints."""

    schema_: Literal["playtest-suite/1"] = Field(default="playtest-suite/1", alias="schema")
    ok: bool
    contracts: tuple[ContractReport, ...]


class SourceDigest(Document):
    """What `playtest spec hash --json` prints; `sourceHash` and `files` are a PlaySpec's `derivedFrom`."""

    schema_: Literal["playtest-sources/1"] = Field(default="playtest-sources/1", alias="schema")
    folder: str
    source_hash: str = Field(description="Of all the files' names and contents.")
    files: dict[str, str] = Field(description="Each file's own hash by its path from the folder.")


class SpecCheck(Document):
    """What `playtest spec check --json` prints."""

    schema_: Literal["playtest-spec-check/1"] = Field(default="playtest-spec-check/1", alias="schema")
    game_id: str
    fresh: bool = Field(description="Whether the spec was made of the sources as they are.")
    recorded: str = Field(description="The hash of the sources that the spec was made of.")
    actual: str = Field(description="The hash of the sources as they are.")
    changed: tuple[str, ...] | None = Field(
        default=None, description="Files changed since; null where that is unknown."
    )
    added: tuple[str, ...] | None = None
    removed: tuple[str, ...] | None = None
