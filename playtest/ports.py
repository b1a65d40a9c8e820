"""The seams: what the use cases need from the edges, as protocols and small values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from pydantic import JsonValue

from playtest.errors import BrowserFault
from playtest.protocol.actions import Action
from playtest.protocol.coordinates import Screen
from playtest.protocol.reply import Reply
from playtest.protocol.result import Roll, TesterInfo
from playtest.protocol.transcript import Effect, TranscriptLine
from playtest.protocol.usage import Cost, Usage


class Point(NamedTuple):
    """A place on the game's screen in CSS pixels."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class VisibleText:
    """A text on the screen. The box is in CSS px; a text drawn off the page has none."""

    text: str
    box: tuple[float, float, float, float] | None
    source: Literal["dom", "canvas"]
    tappable: bool = False

    @property
    def centre(self) -> Point | None:
        """The middle of its box."""
        if self.box is None:
            return None
        x, y, width, height = self.box
        return Point(x + width / 2, y + height / 2)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A line of the page's console, bounded; repeats are counted, not kept."""

    level: str
    text: str
    game_ms: float
    place: str = ""


@dataclass(frozen=True, slots=True)
class PageFault:
    """A fact about the page: its name, what was seen, and details for the record."""

    kind: str
    message: str
    detail: dict[str, Any] = field(default_factory=dict)


class Reading(NamedTuple):
    """What a game exports at a path: plain JSON, or why there is nothing to read."""

    value: JsonValue = None
    problem: str | None = None


class CanvasBox(NamedTuple):
    """The largest canvas that is shown: its box in CSS px, and its own size in pixels."""

    x: float
    y: float
    width: float
    height: float
    pixel_width: float
    pixel_height: float

    def to_css(self, x: float, y: float) -> Point:
        """A place in the canvas's own pixels as one on the screen."""
        return Point(self.x + x * self.width / self.pixel_width, self.y + y * self.height / self.pixel_height)


class Vitals(NamedTuple):
    """What a page is about, seen from the outside."""

    parsed: bool
    """The document has been read to its end."""
    frames: int
    """Animation frames that it asked for so far."""
    draws: bool
    """A canvas has a rendering context."""
    canvas: CanvasBox | None
    scroll: str = ""
    """How far the page is scrolled, to be compared only."""


class GameClock(Protocol):
    """The game's time. Between `advance` calls nothing moves (except under `realtime`)."""

    @property
    def name(self) -> str:
        """`frames`, `js` or `realtime`."""
        ...

    @property
    def now_ms(self) -> float:
        """Game time since navigation began."""
        ...

    async def hold(self) -> None:
        """Stand still."""
        ...

    async def advance(self, ms: float) -> None:
        """Let `ms` of game time pass. Raises BrowserFault when the page hangs or dies."""
        ...


@dataclass(slots=True)
class Film:
    """Every frame of some stretch of game time, and when input events reached the page. Times in ms of game time.

    `heard` are the types of the events that the page listened for where the last input was made, where that is known.
    """

    frames: list[tuple[float, bytes]] = field(default_factory=list)
    events: list[float] = field(default_factory=list)
    heard: frozenset[str] = frozenset()


class Game(Protocol):
    """One fresh game in its own browser."""

    screen: Screen
    unseeded: list[str]
    notes: list[str]
    chromium: str

    @property
    def clock(self) -> GameClock:
        """The game's clock."""
        ...

    async def picture(self) -> bytes:
        """The screen as PNG. May take up to two frames of game time."""
        ...

    async def picture_at(self, game_ms: float) -> bytes:
        """The screen at a game time to come: time is advanced so that the picture's own frame lands on it."""
        ...

    def film(self) -> AbstractAsyncContextManager[Film]:
        """Keeps a picture of every frame while it is open (clock `frames` only)."""
        ...

    async def film_so_far(self) -> Film | None:
        """What was filmed while nothing was held (clock `realtime`); None under other clocks. It ends here."""
        ...

    async def texts(self) -> list[VisibleText]:
        """The texts on the screen, from the DOM and from 2D canvases."""
        ...

    async def vitals(self) -> Vitals:
        """What the page is about, from the outside. Takes no game time. Raises BrowserFault when it hangs."""
        ...

    async def read(self, path: str) -> Reading:
        """What the game exports at a path from its window. Takes no game time. Raises BrowserFault when it hangs."""
        ...

    async def finger(self, point: Point | None) -> None:
        """Put the finger down, or move it, to a place; None lifts it. Raises BrowserFault."""
        ...

    async def hold_key(self, key: str, down: bool) -> None:
        """Press a key and keep it down, or let it go. Raises BrowserFault."""
        ...

    async def perform(self, action: Action, *, mouse: bool = False) -> None:
        """Real input events, taking game time as a person's would; by touch, or by mouse. Raises BrowserFault."""
        ...

    async def show_echo(self, point: Point) -> None:
        """Put the ring where a tap landed."""
        ...

    async def hide_echo(self) -> None:
        """Take the ring away."""
        ...

    async def revive(self) -> bool:
        """End an endless loop of the page's; True when it answers again."""
        ...

    async def frames_advance(self) -> bool:
        """Whether animation frames come, or else the event loop answers."""
        ...

    def drain_log(self) -> list[LogEntry]:
        """Console lines since the last call."""
        ...

    def drain_faults(self) -> list[PageFault]:
        """Faults since the last call."""
        ...

    @property
    def alive(self) -> bool:
        """False once the page crashed or can't be brought back."""
        ...

    async def close(self) -> None:
        """End the browser and delete its profile."""
        ...


class OpenedGame(NamedTuple):
    """A game that was opened, and why it could not be booted if it could not."""

    game: Game
    fault: BrowserFault | None


class RollSink(Protocol):
    """Where one roll's record goes."""

    def line(self, line: TranscriptLine) -> None:
        """Append one transcript line."""
        ...

    def log(self, entries: Sequence[LogEntry]) -> None:
        """Append console lines."""
        ...

    def reply(self, step: int, text: str, usage: Usage) -> None:
        """Append one of the model's answers as it came."""
        ...

    def clean_picture(self, step: int, png: bytes) -> str:
        """Keep a clean picture; its path for the record."""
        ...

    def ruled_picture(self, step: int, attempt: int, webp: bytes) -> str:
        """Keep a picture as it was sent; its path for the record."""
        ...

    def close(self, roll: Roll) -> None:
        """Write the roll's own record."""
        ...


KeepReply: TypeAlias = Callable[[int, str, Usage], None]


class View(NamedTuple):
    """What a tester is shown for one step."""

    step: int
    steps_left: int
    ruled: bytes
    clean: bytes
    texts: list[VisibleText]
    log: list[str]
    messages: list[str]
    last_effect: Effect | None
    screen: Screen


class Decision(NamedTuple):
    """A tester's decision. `doubts` are signs that the picture did not arrive."""

    reply: Reply
    raw: str = ""
    wire: dict[str, Any] | None = None
    doubts: tuple[str, ...] = ()


class Tester(Protocol):
    """Whoever looks and decides. One instance plays one roll."""

    info: TesterInfo
    reads_canary: bool

    async def decide(self, view: View) -> Decision:
        """One decision. Raises ReplyRefused (asked again) or TesterFault (the roll is degraded)."""
        ...

    @property
    def spent(self) -> tuple[Usage, Cost]:
        """All that this tester has used so far, failed requests included."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
