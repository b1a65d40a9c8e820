"""What a page is, told by name: facts that explain an ending, and that no verdict is made of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from playtest.browser.console import Recorder
from playtest.exploring.leaks import leaks
from playtest.ports import VisibleText

# A document that replaces itself so often while nobody touches it never comes to anything.
MAX_RELOADS = 4
MAX_MISSING = 10
SLOW_FRAME_S = 0.1
FRAMES_MEASURED = 30
_LANDSCAPE = re.compile(
    r"(rotate|turn)\s+(your\s+)?(device|phone|screen)|landscape\s+(mode|only|orientation)|横屏|横向|旋转(手机|设备|屏幕)",
    re.IGNORECASE,
)
_GAMEPAD = re.compile(r"game\s?pad|controller|joystick|手柄", re.IGNORECASE)
_SCRIPTS = {
    "Chinese": re.compile(r"[\u4e00-\u9fff]"),
    "Japanese": re.compile(r"[\u3040-\u30ff]"),
    "Korean": re.compile(r"[\uac00-\ud7af]"),
    "emoji": re.compile(r"[\U0001f300-\U0001faff]"),
}


class PageFacts:
    """Tells each fact about a page once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._told: set[str] = set()
        self._reloads = 0
        self.missing_glyphs: Sequence[str] = ()
        self._gamepad = False
        self._missing: set[str] = set()

    def counted(self, facts: Mapping[str, Any]) -> None:
        """Take what the probe counted in the top frame."""
        if facts.get("pointercancel"):
            self._tell(
                "pointer_cancelled",
                "the page's own panning took a touch away from the game (no touch-action: none); a drag may be cut off",
            )
        if facts.get("audioWaiting"):
            self._tell("audio_gate", "the game waits for its sound to be unlocked (AudioContext.resume() does not end)")
        if facts.get("lost"):
            self._tell("webgl_lost", "the game lost its WebGL context, and what it had drawn with it")
        if facts.get("noWebgl") and not facts.get("webgl"):
            self._tell("no_webgl", "the game asked for WebGL, and this browser has none: what it draws can't be judged")
        if facts.get("pointerLock"):
            self._tell(
                "needs_mouse", "the game captures the mouse to steer by its movement; touches can't give it that"
            )
        if facts.get("viewportMeta") is False:
            self._tell("no_viewport_meta", "the page has no viewport meta tag; phones would shrink it")
        self._gamepad = self._gamepad or bool(facts.get("gamepad"))

    def read(self, texts: Sequence[VisibleText]) -> None:
        """Take the texts on the screen."""
        if (asked := self.landscape(texts)) is not None:
            self._tell("needs_landscape", f"the game asks for the other orientation: {asked!r}")
        for text in texts:
            if self._gamepad and _GAMEPAD.search(text.text):
                self._tell("needs_gamepad", f"the game asks for a gamepad: {text.text[:80]!r}")
            for script in self.missing_glyphs:
                if script in _SCRIPTS and _SCRIPTS[script].search(text.text):
                    self._tell("missing_glyphs", f"this machine has no font for {script}; it is shown as boxes")
        for text, value in leaks(texts):
            place = {} if text.centre is None else {"x": text.centre.x, "y": text.centre.y}
            self._tell("leaked_text", f"the screen shows {value!r}: {text.text[:80]!r}", **place)

    def cannot_reach(self, host: str, kind: str, url: str) -> None:
        """The game asked another host for something that it may not do without; such requests are blocked."""
        self._tell_one(
            "unreachable_dependency",
            host,
            f"the game needs a {kind} from {host}: {url[:200]}",
            host=host,
            url=url[:500],
        )

    def has_not(self, path: str, status: int) -> None:
        """The game asked its own server for something that is not there."""
        self._tell_one("missing_file", path, f"{path[:200]} was answered with HTTP {status}", status=status)

    def landscape(self, texts: Sequence[VisibleText]) -> str | None:
        """The words that ask for the other orientation, if there are any."""
        return next((text.text[:80] for text in texts if _LANDSCAPE.search(text.text)), None)

    def turned(self, words: str, width: int, height: int) -> None:
        """The game asked for the other orientation and got it."""
        self._tell(
            "needs_landscape", f"the game asks for the other orientation ({words!r}): played at {width}x{height}"
        )

    def reloaded(self) -> None:
        """The page replaced itself by itself."""
        self._reloads += 1
        if self._reloads >= MAX_RELOADS:
            self._tell("reload_loop", f"the page loaded itself anew {self._reloads} times with no input in between")

    def touched(self) -> None:
        """An input was made: a reload after it may be the game's answer."""
        self._reloads = 0

    def drew(self, frames: int, seconds: float) -> None:
        """Take how long frames took in real time; a held clock waits, but a phone would not."""
        if frames >= FRAMES_MEASURED and seconds / frames > SLOW_FRAME_S:
            self._tell("slow_render", f"a frame takes {seconds / frames * 1000:.0f} ms on this machine")

    def _tell_one(self, kind: str, what: str, message: str, **detail: object) -> None:
        """Each host or file once."""
        key = f"{kind} {what}"
        if key not in self._missing and len(self._missing) < MAX_MISSING:
            self._missing.add(key)
            self._recorder.fault(kind, message, **detail)

    def _tell(self, kind: str, message: str, **detail: object) -> None:
        if kind not in self._told:
            self._told.add(kind)
            self._recorder.fault(kind, message, **detail)
