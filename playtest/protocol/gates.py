"""The gates: what each one says of a game, and the records that are made of them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field, JsonValue

from playtest.protocol.base import Document

GateName: TypeAlias = Literal[
    "A_boot", "B_uncaught", "C_frame", "D_render", "E_live", "F_wiring", "G_input", "H_progress", "I_control"
]
FLOOR_GATES: tuple[GateName, ...] = ("A_boot", "B_uncaught", "C_frame", "D_render")
OBSERVED_GATES: tuple[GateName, ...] = ("E_live", "F_wiring", "G_input", "H_progress", "I_control")
ALL_GATES: tuple[GateName, ...] = FLOOR_GATES + OBSERVED_GATES
Weight: TypeAlias = Literal["hard", "advisory", "skipped"]


class Gate(Document):
    """What one gate says."""

    passed: bool = Field(alias="pass")
    detail: str
    measured: dict[str, JsonValue] = Field(default={}, description="The figures that the gate was judged by.")
    evidence: tuple[str, ...] = Field(default=(), description="Files that show it, relative to the record.")
    weight: Weight = Field(
        default="hard",
        description="`advisory`: told, but not fatal. `skipped`: there was nothing to judge, which counts as a pass.",
    )


class Floor(Document):
    """The contract-free gates: A_boot, B_uncaught, C_frame, D_render. All must pass."""

    passed: bool = Field(alias="pass")
    gates: dict[str, Gate]
