"""The floor of a page: what is watched for the four gates, while a game is played or only looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from playtest.errors import BrowserFault
from playtest.gates.blank import look
from playtest.gates.floor import RUNNING_FRAMES, Death, FloorFacts, Stopped, floor_of, judge_floor
from playtest.gates.uncaught import Uncaught
from playtest.pictures import Picture, changed_tiles, decode
from playtest.ports import Game, PageFault, VisibleText, Vitals
from playtest.protocol.actions import Action, Key, Swipe, Tap, describe
from playtest.protocol.gates import Floor, Gate, GateName

BOOT_MS = 20_000.0
# Game time between two looks: at first, and once the start has taken as long as a person would wait without doubt.
LOOK_EVERY_MS, PATIENT_LOOK_MS, PATIENT_AFTER_MS = 100.0, 400.0, 2000.0
# How long a page that has come up is watched. A loop that ends later than this is the tester's to find.
WATCH_MS = 2000.0
# Game time that an input gets to wake a page that stands still.
WAKE_MS = 400.0
MAX_TRIES = 6
# Pictures until one belongs to the vitals after it: not every clock holds a page that is still scrolling.
MAX_SCROLLING = 5

# Ends that are the page's own doing; any other is our browser's.
OWN_ENDS = ("hang", "crash", "boot")

Keep: TypeAlias = Callable[[str, bytes], str]
"""Keeps a picture under a name; its path for the record."""


@dataclass(slots=True)
class FloorWatch:
    """Gathers the facts of one page."""

    boot_ms: float = BOOT_MS
    facts: FloorFacts = field(init=False)

    def __post_init__(self) -> None:
        self.facts = FloorFacts(self.boot_ms)

    def opened(self, vitals: Vitals, now_ms: float) -> None:
        """The document has loaded, or was left loading, and its first frames have come."""
        self.facts.opened = True
        self.facts.loaded_ms = now_ms
        self._seen(vitals)

    def answered(self, advances: bool) -> None:
        """Whether frames or timers come."""
        self.facts.advances = advances

    def _seen(self, vitals: Vitals) -> None:
        self.facts.parsed = self.facts.parsed or vitals.parsed
        self.facts.canvas_drawn = self.facts.canvas_drawn or vitals.draws
        self.facts.frames = max(self.facts.frames, vitals.frames)

    def looked(self, picture: Picture, vitals: Vitals | None = None) -> None:
        """One more picture of the game, only the first that is not blank matters; and the vitals at that time."""
        if vitals is not None:
            self._seen(vitals)
        if self.facts.shown_ms is None:
            self.facts.sight = look(picture.pixels)
            if self.facts.sight.blank is None:
                self.facts.shown_ms = picture.game_ms

    def ended_on(self, picture: Picture) -> None:
        """The last picture of a page that nothing was done to: one that is blank again has lost what it showed."""
        sight = look(picture.pixels)
        if self.facts.shown_ms is not None and sight.blank is not None:
            self.facts.sight, self.facts.blank_since_ms = sight, picture.game_ms

    def fault(self, fault: PageFault) -> None:
        """One more fact about the page."""
        if fault.kind == "uncaught":
            told = fault.detail
            self.facts.uncaught.append(
                Uncaught(
                    fault.message,
                    game_ms=float(told.get("gameMs", 0.0)),
                    file=str(told.get("file", "")),
                    line=int(told.get("line", 0)),
                    column=int(told.get("column", 0)),
                    stack=str(told.get("stack", "")),
                    rejection=bool(told.get("rejection", False)),
                )
            )
        elif fault.kind == "slow_load":
            self.facts.load_problem = fault.message

    def died(self, kind: str, message: str) -> None:
        """The page is gone."""
        self.facts.death = Death(kind, message)

    def showed(self, gate: GateName, *paths: str) -> None:
        """Where the evidence for a gate is."""
        self.facts.evidence[gate] = tuple(dict.fromkeys((*self.facts.evidence.get(gate, ()), *paths)))

    @property
    def undecided(self) -> str | None:
        """Why nobody can tell, where the page's end was the browser's and not the page's own."""
        death = self.facts.death
        return "browser" if death is not None and death.kind not in OWN_ENDS else None

    def gates(self) -> dict[GateName, Gate]:
        """The gates as they stand."""
        return judge_floor(self.facts)

    def result(self, first_picture: str | None = None) -> Floor:
        """The floor as it stands; `first_picture` is where the first picture was kept."""
        if first_picture is not None:
            self.showed("A_boot", first_picture)
            self.showed("D_render", first_picture)
        return floor_of(self.gates())


class FloorVisit:
    """Watches one page come up and run, without playing it."""

    def __init__(self, game: Game, watch: FloorWatch, keep: Keep, ready: str | None = None) -> None:
        self._game = game
        self._watch = watch
        self._keep = keep
        self._ready = ready
        self._frames_by_look: list[int] = []
        self._vitals: Vitals
        self.last: Picture
        self.faults: list[PageFault] = []

    async def boot(self, fault: BrowserFault | None) -> bool:
        """Wait until there is something to see and the page says that it is ready, up to the boot limit.

        False where the page is gone; the watch has the reason then.
        """
        if fault is not None:
            self._gone(fault)
            return False
        try:
            self._watch.opened(await self._game.vitals(), self._game.clock.now_ms)
            await self._look()
            self._show("boot", "A_boot", "D_render")
            while not await self._is_up() and self._game.clock.now_ms < self._watch.boot_ms:
                await self._pause()
                await self._look()
            self._watch.answered(await self._game.frames_advance())
        except BrowserFault as gone:
            self._gone(gone)
            return False
        finally:
            self.take_faults()
        return True

    async def stay(self) -> None:
        """Watch the page run for a while; where it is blank or stands still at the end, make sure of it."""
        facts = self._watch.facts
        try:
            until_ms = self._game.clock.now_ms + WATCH_MS
            while self._game.clock.now_ms < until_ms:
                await self._pause()
                await self._look()
            while look(self.last.pixels).blank and self._game.clock.now_ms < self._watch.boot_ms:
                await self._pause()
                await self._look()
            self._watch.ended_on(self.last)
            self._show("end", "A_boot", "C_frame", "D_render")
            ran = self._stopped_after()
            if ran:
                facts.stopped = await self._wake(ran)
        except BrowserFault as gone:
            self._gone(gone)
        finally:
            self.take_faults()

    def take_faults(self) -> None:
        """Hand the page's new facts to the watch."""
        for fault in self._game.drain_faults():
            self.faults.append(fault)
            self._watch.fault(fault)

    def _gone(self, fault: BrowserFault) -> None:
        self.take_faults()
        self._watch.died(fault.kind, fault.message)

    async def _is_up(self) -> bool:
        facts = self._watch.facts
        if self._ready is not None:
            told = await self._game.read(self._ready)
            facts.ready = told.problem is None and bool(told.value)
            facts.ready_told = told.problem or f"{self._ready} is {told.value!r}"
        return facts.parsed and facts.shown_ms is not None and facts.ready is not False

    async def _look(self) -> None:
        before = await self._game.vitals()
        await self._take_picture()
        for _ in range(MAX_SCROLLING):
            if self._vitals.scroll == before.scroll:
                break
            before = self._vitals
            await self._take_picture()
        self._watch.looked(self.last, self._vitals)
        self._frames_by_look.append(self._vitals.frames)

    async def _take_picture(self) -> None:
        self.last = decode(await self._game.picture(), self._game.clock.now_ms)
        self._vitals = await self._game.vitals()

    async def _pause(self) -> None:
        early = self._game.clock.now_ms < PATIENT_AFTER_MS
        await self._game.clock.advance(LOOK_EVERY_MS if early else PATIENT_LOOK_MS)

    def _show(self, name: str, *gates: GateName) -> None:
        path = self._keep(name, self.last.png)
        for gate in gates:
            self._watch.showed(gate, path)

    def _stopped_after(self) -> int:
        """How many frames a loop ran before it stopped; 0 where none did. A page without a canvas may rest."""
        asked = self._frames_by_look
        if not self._watch.facts.canvas_drawn or asked[-1] < RUNNING_FRAMES:
            return 0
        late = asked[len(asked) // 2 :]
        return asked[-1] if late[0] == late[-1] else 0

    async def _wake(self, ran: int) -> Stopped | None:
        """Whether a page whose loop rests wakes on an input, as one that only draws on inputs does. None: it does."""
        tried = []
        for action in tries(await self._game.texts(), self._game):
            before, picture = self._vitals, self.last
            await self._game.perform(action)
            await self._game.clock.advance(WAKE_MS)
            await self._look()
            tried.append(describe(action))
            moved = changed_tiles(picture, self.last).any() and self._vitals.scroll == before.scroll
            if moved or self._vitals.frames > before.frames:
                return None
        return Stopped(ran, tuple(tried))


def tries(texts: list[VisibleText], game: Game) -> list[Action]:
    """Inputs, one of which a page that takes any would answer: taps on its texts and all over it, a swipe, keys."""
    width, height = game.screen.width, game.screen.height
    spots = [text.centre for text in texts if text.centre is not None]
    spots.sort(key=lambda spot: spot.y, reverse=True)  # what is to be tapped tends to be below
    taps: list[Action] = [Tap(x=round(x, 1), y=round(y, 1)) for x, y in spots[:MAX_TRIES]]
    taps += [Tap(x=width * x / 6, y=height * y / 10) for y in (5, 7, 9, 3, 1) for x in (3, 1, 5)]
    swipe = Swipe(x1=width * 0.5, y1=height * 0.6, x2=width * 0.8, y2=height * 0.6, ms=200)
    return [*taps, swipe, *(Key(key=key) for key in ("Enter", " ", "ArrowRight"))]
