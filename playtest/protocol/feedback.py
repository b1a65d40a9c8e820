"""VerdictFeedback (`schemas/verdict-feedback.schema.json`): what the code-writing model is told after a game failed.

It is made only when a gate failed; a game that passed has none. Each item says which gate, by what driver the game was
played, and, where no end was reached and kept, in which phase the game was stuck. Whatever text is made of it holds
nothing that isn't in it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from playtest.protocol.contract import Authored, Contract, Extension, Open, Text, breach

NO_DRIVER = "none"
"""What stands for the driver at a gate that needs none."""
_LATCH_FAILED: dict[str, JsonValue] = {
    "required": ["latch"],
    "properties": {"latch": {"required": ["pass"], "properties": {"pass": {"const": False}}}},
}

# `$` as this contract has it, and not contract.END: its validator is Python's, and other writers rely on it as it is.
GateId: TypeAlias = Annotated[
    str,
    Field(
        pattern=r"^([A-I]_[a-z]+|richGame:[a-zA-Z]+|finding:P[0-2])$",
        description="A gate of the nine (`A_boot` to `I_control`), a rich game's own (`richGame:economy`), or what a"
        " reviewer found (`finding:P0` to `finding:P2`).",
    ),
]


class Evidence(Open):
    """Where the whole judgement's evidence lies."""

    verdict_path: StrictStr | None = None
    """The file with all gates' results."""
    trace_path: StrictStr | None = None
    """The file with the trace of how the game was made."""
    trace_id: StrictStr | None = None
    """The id under which traces and costs of this making are kept."""
    screenshot_dir: StrictStr | None = None
    """The folder with the pictures."""


class ItemEvidence(Open):
    """Where one gate's evidence lies: paths, or the thing itself in short."""

    console: StrictStr | None = None
    """What the page's console said."""
    game_log: StrictStr | None = None
    """What the game logged."""
    screenshots: tuple[StrictStr, ...] | None = None
    """Pictures."""
    state_path: StrictStr | None = None
    """The state before and after playing."""


class LatchResult(Open):
    """Whether an end was reached, and stayed."""

    pass_: StrictBool = Field(alias="pass")
    """True when it was reached and stayed."""
    advisory: StrictBool | None = None
    """True when that alone is no reason to fail the game: it made progress and has no quick end."""
    reason: StrictStr | None = None
    """Why it is judged so."""
    after: StrictStr | None = None
    """The phase that was read when the end was looked at again."""


class Surface(Contract):
    """A place in the sources that may be at fault."""

    file: StrictStr | None = None
    """The file, from the game's folder."""
    symbol: StrictStr | None = None
    """The function, class or variable."""
    why: StrictStr | None = None
    """Why it is suspected."""


class FeedbackItem(Contract):
    """One gate that failed."""

    model_config = ConfigDict(json_schema_extra={"if": _LATCH_FAILED, "then": {"required": ["phaseNow"]}})

    gate: GateId
    driver_type: Text
    """How the game was played: a driver's family, `input-sequence`, or `none` where the gate needs no playing.

    Without it nobody can tell a broken game from a game that the driver couldn't play."""
    phase_now: StrictStr | None = None
    """The phase in which the game was stuck. Must be there when `latch.pass` is false."""
    latch: LatchResult | None = None
    detail: StrictStr | None = None
    """What was measured and what was expected."""
    fix_direction: StrictStr | None = None
    """In one sentence, where to look."""
    evidence: ItemEvidence | None = None
    suspected_surface: tuple[Surface, ...] | None = None
    """Places in the sources that may be at fault."""
    ext: Extension | None = None
    """What else is known of this gate in one line of games."""

    @model_validator(mode="after")
    def _stuck_somewhere(self) -> Self:
        if self.latch is not None and not self.latch.pass_ and self.phase_now is None:
            raise breach("required", "phaseNow is missing: no end was reached, and where the game is stuck is unsaid")
        return self


def _false(value: Any) -> Any:
    """In Python 0 is equal to False; in JSON it isn't."""
    if value is not False:
        raise breach("const", "passed is always false: a game that passed gets no feedback")
    return value


class VerdictFeedback(Authored):
    """What failed, where the game is stuck, how it was played, and where to look."""

    schema_version: Text | None = None
    """`verdict-feedback/1`."""
    game_id: Text
    """The game."""
    passed: Annotated[Literal[False], BeforeValidator(_false), WithJsonSchema({"const": False})]
    """Always false: a game that passed gets no feedback."""
    failed_gates: Annotated[tuple[GateId, ...], Field(min_length=1)]
    """Every gate that failed."""
    items: Annotated[tuple[FeedbackItem, ...], Field(min_length=1)]
    """What is known of each."""
    evidence: Evidence | None = None
    human_readable: StrictStr | None = None
    """The same in words, made of `items` alone."""
    ext: Extension | None = None
    """What else is known of the whole in one line of games."""
