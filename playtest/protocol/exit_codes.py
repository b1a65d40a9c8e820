"""Exit codes of every subcommand that judges."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a caller may conclude from the process's end."""

    PASS = 0
    FAIL = 1
    USAGE = 2
    BUG = 3
    DEGRADED = 4
    INTERRUPTED = 130


EXIT_CODE_MEANINGS = {
    ExitCode.PASS: "pass or accepted",
    ExitCode.FAIL: "fail or rejected",
    ExitCode.USAGE: "usage, configuration or environment: nothing was played",
    ExitCode.BUG: "a bug of playtest's own, or evidence that could not be written",
    ExitCode.DEGRADED: "the tester could not decide: never release on it",
    ExitCode.INTERRUPTED: "interrupted; evidence was closed as degraded: interrupted",
}
