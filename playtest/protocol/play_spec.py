"""PlaySpec (`schemas/play-spec.schema.json`): how a game is to be played, and by what its playing is judged.

A spec belongs to one state of a game's sources: `derivedFrom.sourceHash` says which (`playtest spec hash`). A spec
that doesn't fit the sources any more is stale and made anew, never used.

What a game can do is said by the sections it has (`economy`, `controlCheck`, `firstPlay`), never by the name of a tier.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StringConstraints, model_validator

from playtest.protocol.contract import AUTHOR_NOTES, END, WHOLE, Authored, Contract, Extension, Scalar, Text, breach
from playtest.protocol.keys import KEY_NAMES

SOURCE_HASH = rf"^sha256:[0-9a-f]{{64}}{END}"
_NAME = r"[^ \t\r\n.()\[\]]+"
_INDEX = r"\[[0-9]{1,6}\]"

GameId: TypeAlias = Annotated[str, Field(pattern=rf"^[A-Za-z0-9][A-Za-z0-9._-]{{0,127}}{END}")]
SourceHash: TypeAlias = Annotated[str, Field(pattern=SOURCE_HASH)]
PagePath: TypeAlias = Annotated[
    str,
    Field(
        max_length=200,
        pattern=rf"^{_NAME}(?:\(\))?(?:\.{_NAME}(?:\(\))?|{_INDEX})*{END}",
        description="Where a value is found, from the page's window: `game.state`, `view()`, `app.scenes[0].read()`."
        " Names, indices and calls without arguments; it is walked, never evaluated.",
    ),
]
StatePath: TypeAlias = Annotated[
    str,
    Field(
        max_length=200,
        pattern=rf"^{_NAME}(?:\.{_NAME}|{_INDEX})*{END}",
        description="Where a value is found inside the state: `score`, `player.x`, `tiles[0].value`.",
    ),
]
Number: TypeAlias = StrictFloat
Distance: TypeAlias = Annotated[StrictFloat, Field(ge=0, le=100_000)]
HoldMs: TypeAlias = Annotated[StrictInt, Field(ge=1, le=10_000), WHOLE]
WaitMs: TypeAlias = Annotated[StrictInt, Field(ge=0, le=600_000), WHOLE]
Key: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=rf"^(?:[ -~]|{'|'.join(sorted(KEY_NAMES))}){END}"),
    Field(description="A key as `KeyboardEvent.key` or `.code` has it: `ArrowLeft`, `Space`, `a`."),
]


# --- inputs


class TapInput(Contract):
    """Touch and release at a place, CSS px."""

    type: Literal["tap"]
    x: Distance
    y: Distance


class TapTextInput(Contract):
    """Tap in the middle of the text that is seen on the screen."""

    type: Literal["tap_text"]
    text: Annotated[Text, Field(max_length=200)]


class DoubleTapInput(Contract):
    """Two taps at one place, fast enough to count as a double tap."""

    type: Literal["double_tap"]
    x: Distance
    y: Distance


class LongPressInput(Contract):
    """Touch, hold for `ms`, release."""

    type: Literal["long_press"]
    x: Distance
    y: Distance
    ms: HoldMs = 600


class StrokeInput(Contract):
    """A touch that moves from one place to another: `swipe` moves at once, `drag` after 150 ms."""

    type: Literal["swipe", "drag"]
    x1: Distance
    y1: Distance
    x2: Distance
    y2: Distance
    ms: HoldMs = 300


class KeyInput(Contract):
    """Press a key and hold it for `ms`."""

    type: Literal["key"]
    key: Key
    ms: HoldMs = 80


class TypeInput(Contract):
    """Type a text into whatever has the focus."""

    type: Literal["type"]
    text: Annotated[Text, Field(max_length=500)]


class WaitInput(Contract):
    """Let `ms` of game time pass."""

    type: Literal["wait"]
    ms: Annotated[StrictInt, Field(ge=1, le=60_000), WHOLE]


Input: TypeAlias = Annotated[
    TapInput | TapTextInput | DoubleTapInput | LongPressInput | StrokeInput | KeyInput | TypeInput | WaitInput,
    Field(discriminator="type"),
]


# --- what the state must say


class Ordered(Contract):
    """The value is a number on this side of `value`."""

    path: StatePath
    op: Literal["gt", "gte", "lt", "lte"]
    value: Number


class Equal(Contract):
    """The value is `value`, of the same kind; or with `ne` it is not."""

    path: StatePath
    op: Literal["eq", "ne"]
    value: Scalar


class Member(Contract):
    """The value is one of `value`, of the same kind; or with `not_in` it is none of them."""

    path: StatePath
    op: Literal["in", "not_in"]
    value: Annotated[tuple[Scalar, ...], Field(min_length=1)]


class Moved(Contract):
    """The number after playing is above or below the one before, by at least `by` where that is given."""

    path: StatePath
    op: Literal["increased", "decreased"]
    by: Annotated[StrictFloat, Field(gt=0, le=1e15)] | None = None


class Altered(Contract):
    """The value after playing is another than before, or the same."""

    path: StatePath
    op: Literal["changed", "unchanged"]


Condition: TypeAlias = Annotated[Ordered | Equal | Member, Field(discriminator="op")]
"""What one reading of the state must say."""
Assertion: TypeAlias = Annotated[Ordered | Equal | Member | Moved | Altered, Field(discriminator="op")]
"""What must be true after playing, of the reading then or next to the one before."""


# --- how it is played


class StartRitual(Contract):
    """From the loaded page to a game that is being played."""

    ready: PagePath | None = None
    """Turns true once the page can be played; waited for before the first input."""
    inputs: tuple[Input, ...] = ()
    """In this order: the taps and keys that a player begins with."""
    started_when: Condition | None = None
    """Waited for after the last input."""
    timeout_ms: WaitMs = 10_000
    """Game time that each of the two waits may take."""


class KeyCycle(Contract):
    """Presses the keys in turn, over and over."""

    type: Literal["key-cycle"]
    keys: Annotated[tuple[Key, ...], Field(min_length=1)]
    """The keys, in the order in which they are pressed."""
    hold_ms: HoldMs = 80
    gap_ms: WaitMs = 120
    """Game time between two keys."""


class TapTargets(Contract):
    """Taps the targets that the state lists, those that answer `when` first to last."""

    type: Literal["tap-targets"]
    targets: StatePath
    """The list in the state. Each entry is an object with its place."""
    x: StatePath = "x"
    """Where an entry has its place from the left."""
    y: StatePath = "y"
    """Where an entry has its place from the top."""
    when: Condition | None = None
    """Which entries are tapped; all, where there is none. Its path is that inside an entry."""
    space: Literal["css", "canvas"] = "css"
    """What places are counted in: CSS px of the page, or the canvas's own pixels, which are converted."""
    gap_ms: WaitMs = 200
    """Game time between two taps."""


class PointerControl(Contract):
    """A finger stays down and is moved to where the body should be."""

    by: Literal["pointer"]
    at: Distance | None = None
    """The finger's place on the other axis, CSS px; the body's own, where there is none."""


class KeyControl(Contract):
    """A key is held until the body is there."""

    by: Literal["keys"]
    less: Key
    """Moves the body to smaller numbers: left or up."""
    more: Key
    """Moves the body to larger numbers: right or down."""


Control: TypeAlias = Annotated[PointerControl | KeyControl, Field(discriminator="by")]


class PaddleIntercept(Contract):
    """Keeps the paddle in the ball's way."""

    type: Literal["paddle-intercept"]
    paddle: StatePath
    """The paddle's place: an object with `x` and `y`, or the number on the axis."""
    ball: StatePath
    """The ball's place: an object with `x` and `y`, or the number on the axis."""
    axis: Literal["x", "y"] = "x"
    """The axis that the paddle moves on."""
    control: Control
    space: Literal["css", "canvas"] = "css"
    """What places are counted in: CSS px of the page, or the canvas's own pixels, which are converted."""


Driver: TypeAlias = Annotated[KeyCycle | TapTargets | PaddleIntercept, Field(discriminator="type")]
INPUT_SEQUENCE = "input-sequence"
"""What stands for the driver where fixed `inputs` are played."""


class Limits(Contract):
    """When a driver that reached no end gives up."""

    inputs: Annotated[StrictInt, Field(ge=1, le=100_000), WHOLE] = 400
    game_ms: Annotated[StrictInt, Field(ge=100, le=3_600_000), WHOLE] = 60_000


class Observables(Contract):
    """Where the game says how it stands, and what it says when it is won or lost."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["win"]}, {"required": ["lose"]}]})

    state: PagePath
    """The state: an object, read before, while and after playing."""
    phase: StatePath | None = None
    """What part of the game it is in, `menu`, `playing`, `over` or whatever words it has; told where it gets stuck."""
    calls: PagePath | None = None
    """The list of calls to the engine or its plugins: names, or objects with a `name`."""
    win: Condition | None = None
    lose: Condition | None = None

    @model_validator(mode="after")
    def _can_end(self) -> Self:
        if self.win is None and self.lose is None:
            raise breach("anyOf", "win or lose must be told: else no end could ever be seen")
        return self


class Latch(Contract):
    """An end must stay: the game is looked at again after a while."""

    dwell_ms: WaitMs = 500
    """Game time for which the end must stay."""
    advisory: StrictBool = False
    """True for a game that has no quick end: not to reach one is then told but not fatal, if there was progress."""


# --- what the game can do: sections that are there or not


class Economy(Contract):
    """Money is won and lost, and both ways lead to an end."""

    balance: StatePath
    """The money."""
    start: Number
    """What a game begins with."""
    target: Number
    """From here on it is won."""
    ruin: Condition
    """What the state says when the business is ruined."""


class ControlCheck(Contract):
    """A body follows the player's hand."""

    body: StatePath
    """The body's place: an object with `x` and `y`, or the number on the axis."""
    axis: Literal["x", "y", "both"] = "x"
    control: Control
    space: Literal["css", "canvas"] = "css"
    tolerance: Annotated[StrictFloat, Field(gt=0, le=1000)] = 40
    """How far from the hand the body may end, CSS px."""


class FirstPlay(Contract):
    """A first game is timed: when it is playable, when it answers, when the core loop is closed once."""

    playable_within_ms: WaitMs = 2000
    feedback_within_ms: WaitMs = 100
    loop_within_ms: WaitMs = 60_000
    loop_closed_when: Assertion
    """What the state says when the core loop was closed once."""


class DerivedFrom(Contract):
    """Which sources the spec was made of."""

    source_hash: SourceHash
    """`playtest spec hash GAME`: of all the game's files. It alone decides whether the spec is stale."""
    files: dict[str, SourceHash] | None = None
    """Each file's own hash (`playtest spec hash GAME --json`), to tell which ones are others now."""


class PlaySpec(Authored):
    """How a game is to be played, and by what its playing is judged."""

    model_config = ConfigDict(
        json_schema_extra=AUTHOR_NOTES | {"oneOf": [{"required": ["driver"]}, {"required": ["inputs"]}]}
    )

    schema_version: Text | None = None
    """`play-spec/1`."""
    game_id: GameId
    start_ritual: StartRitual | None = None
    driver: Driver | None = None
    """Who plays: a family, with what it needs."""
    inputs: Annotated[tuple[Input, ...], Field(min_length=1)] | None = None
    """In place of a driver: the inputs themselves."""
    limits: Limits = Limits()
    observables: Observables
    progress: Annotated[tuple[Assertion, ...], Field(min_length=1)]
    """All must be true after playing. An operator that isn't known is refused: it would be false for ever."""
    latch: Latch | None = None
    expected_engine_call_prefixes: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    """For each, the game makes a call whose name begins so."""
    economy: Economy | None = None
    control_check: ControlCheck | None = None
    first_play: FirstPlay | None = None
    derived_from: DerivedFrom
    ext: Extension | None = None
    """Whatever else belongs to one line of games. Nothing here reads it."""

    @model_validator(mode="after")
    def _one_way_to_play(self) -> Self:
        if (self.driver is None) == (self.inputs is None):
            raise breach("oneOf", "either a driver or inputs: one way to play, and not two")
        return self

    @property
    def driver_type(self) -> str:
        """The driver's family, or `input-sequence`."""
        return INPUT_SEQUENCE if self.driver is None else self.driver.type
