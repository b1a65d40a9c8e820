"""The exception tree. Each class says who can put it right.

PlaytestError                 base; carries a message and a hint
├── UsageError                the caller: arguments, settings, environment (exit 2, nothing was played)
├── EvidenceError             the machine: evidence can't be written (exit 3, what was saved stays)
├── BrowserFault              the page or its browser: ends or bends a roll, becomes a fault line
└── TesterFault               the tester: ends a roll as degraded, with a named reason
    └── ReplyRefused          one reply that can't be used; the tester is told and asked again
"""

from __future__ import annotations


class PlaytestError(Exception):
    """Base of every error that a user may see: what happened, and what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(PlaytestError):
    """The call can't be carried out as given: nothing was played."""


class EvidenceError(PlaytestError):
    """Evidence could not be written; what had been written stays."""


class BrowserFault(PlaytestError):
    """The page or the browser stopped answering.

    `kind` is a transcript fault name: `hang`, `crash`, `boot`, `clock`.
    """

    def __init__(self, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.kind = kind


class TesterFault(PlaytestError):
    """The tester can't go on. `reason` becomes the result's `degradedReason`."""

    __test__ = False  # its name starts like a test's

    def __init__(self, reason: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.reason = reason


class ReplyRefused(TesterFault):
    """One reply can't be used. The message is written for the tester, who gets another try."""

    def __init__(self, message: str, raw: str = "") -> None:
        super().__init__("unparseable", message)
        self.raw = raw
