"""The tester that follows a script: JSON lines of replies, `code` left out, places in css pixels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from playtest.errors import ReplyRefused, TesterFault, UsageError
from playtest.ports import Decision, View
from playtest.protocol.coordinates import CoordinateSpace, Screen
from playtest.protocol.reply import Reply, parse_reply
from playtest.protocol.result import TesterInfo
from playtest.protocol.usage import Cost, Usage


class ScriptedTester:
    """Gives one reply a step, whatever it is shown (`ports.Tester`)."""

    reads_canary = False

    def __init__(self, script: Sequence[Reply]) -> None:
        self._script = script
        self._next = 0
        self.info = TesterInfo(name="scripted", limits=("it does not look: its verdict is the script's",))

    async def decide(self, view: View) -> Decision:
        """The script's next reply.

        Raises TesterFault `script_ended` after the last, ReplyRefused for a place that is not on this screen.
        """
        if self._next >= len(self._script):
            raise TesterFault("script_ended", f"the script ended after {len(self._script)} replies without a verdict")
        reply = self._script[self._next]
        self._next += 1
        if reply.action is not None:
            view.screen.action_from_wire(reply.action, CoordinateSpace.CSS)
        return Decision(reply)

    @property
    def spent(self) -> tuple[Usage, Cost]:
        """Nothing."""
        return Usage(), Cost()

    async def close(self) -> None:
        """Nothing to let go of."""


def read_script(path: Path) -> list[Reply]:
    """The replies of a script. Raises UsageError naming the line that can't be used."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the script {path} can't be read: {error}", "check --tester scripted:FILE") from error
    script = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            script.append(_reply(json.loads(line)))
        except ReplyRefused as refused:
            raise UsageError(f"{path}, line {number}: {refused.message}", "each line is one reply") from refused
        except ValueError as error:
            raise UsageError(f"{path}, line {number} is not JSON: {error}", "each line is one reply") from error
    if not script:
        raise UsageError(f"the script {path} has no reply", "each line is one reply")
    return script


def _reply(data: Any) -> Reply:
    """A reply whose places lie on the screen, upright or turned: which it will be shows when the game is open."""
    try:
        return parse_reply(data, CoordinateSpace.CSS)
    except ReplyRefused:
        with suppress(ReplyRefused):
            return parse_reply(data, CoordinateSpace.CSS, Screen().turned)
        raise
