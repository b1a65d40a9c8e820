"""The floor: four gates that need nothing of the game but to be a page that runs and shows something."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from playtest.pictures import Picture
from playtest.ports import PageFault
from playtest.protocol.result import Floor, Gate

# Exceptions that say nothing about a game.
HARMLESS = (re.compile(r"^ResizeObserver loop"),)


@dataclass(slots=True)
class FloorWatch:
    """Gathers what the gates need while a roll is played."""

    _booted: bool = False
    _advances: bool = False
    _shown: bool = False
    _death: str | None = None
    _uncaught: list[str] = field(default_factory=list)

    def booted(self, picture: Picture, advances: bool) -> None:
        """The document is loaded and was looked at; `advances` tells whether frames or timers come."""
        self._booted = True
        self._advances = advances
        self.looked(picture)

    def looked(self, picture: Picture) -> None:
        """One more picture of the game."""
        self._shown = self._shown or bool((picture.pixels != picture.pixels[0, 0]).any())

    def fault(self, fault: PageFault) -> None:
        """One more fact about the page."""
        if fault.kind == "uncaught" and not any(pattern.search(fault.message) for pattern in HARMLESS):
            self._uncaught.append(fault.message)

    def died(self, kind: str) -> None:
        """The page is gone."""
        self._death = kind

    def result(self) -> Floor:
        """The gates as they stand."""
        death = f"the page ended by {self._death}" if self._death else ""
        uncaught = f"{len(self._uncaught)} uncaught: {self._uncaught[0]}" if self._uncaught else "none"
        gates = {
            "A_boot": Gate(passed=self._booted, detail="loaded" if self._booted else death or "never came up"),
            "B_uncaught": Gate(passed=not self._uncaught, detail=uncaught[:500]),
            "C_frame": Gate(
                passed=self._advances and self._death is None,
                detail=death or ("frames come" if self._advances else "neither a frame nor a timer came"),
            ),
            "D_render": Gate(passed=self._shown, detail="not blank" if self._shown else "every picture was one colour"),
        }
        return Floor(passed=all(gate.passed for gate in gates.values()), gates=gates)
