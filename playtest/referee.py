"""The guards of one roll: which replies, verdicts and repetitions the runner answers for, and how."""

from __future__ import annotations

from dataclasses import dataclass, field

from playtest.briefing import QUIET_FACTS, Briefing, Says
from playtest.errors import ReplyRefused, TesterFault
from playtest.journal import Journal
from playtest.policy.budget import Budget
from playtest.policy.outcome import Ending, ending_of_claim
from playtest.policy.refusals import MAX_UNPARSEABLE, MIN_DISTINCT_TAPS, CanaryGuard, VerdictGuard, distinct_taps
from playtest.policy.repeat_tap import RepeatedTaps
from playtest.ports import Decision
from playtest.protocol.actions import Action
from playtest.protocol.transcript import BudgetLine, Effect, RefusalLine, VerdictLine, WarningLine
from playtest.protocol.verdict import VerdictClaim

RAW_LIMIT = 20_000
MESSAGE_LIMIT = 2_000


@dataclass(slots=True)
class Referee:
    """Writes refusals, warnings and extensions to the journal, and leaves what the tester must read in `inbox`."""

    journal: Journal
    say: Says
    briefing: Briefing
    budget: Budget
    inbox: list[str] = field(default_factory=list)
    claim: VerdictClaim | None = None
    _repeats: RepeatedTaps = field(default_factory=RepeatedTaps)
    _verdicts: VerdictGuard = field(default_factory=VerdictGuard)
    _canary: CanaryGuard = field(default_factory=CanaryGuard)
    _unparseable: int = 0

    def unusable(self, refused: ReplyRefused) -> None:
        """A reply can't be used. Raises TesterFault at the third in a row."""
        message = self.say("reply_refused", problem=refused.message)
        self._refuse("unparseable", refused.message, message, refused.raw)
        self._unparseable += 1
        if self._unparseable >= MAX_UNPARSEABLE:
            raise TesterFault(
                "unparseable", f"{MAX_UNPARSEABLE} replies in a row can't be used: {refused.message}"
            ) from refused

    def picture_arrived(self, decision: Decision, canary: str) -> bool:
        """Whether the reply proves that its picture was seen. Raises TesterFault when it failed to twice running."""
        self._unparseable = 0
        if self._canary.check(canary, decision.reply.code):
            return True
        given = (decision.reply.code or "")[:20]
        doubts = "; ".join(("", *decision.doubts))
        why = f"the code in the picture is {canary}, the tester said {given!r}{doubts}"
        self._refuse("wrong_canary", why, self.say("wrong_canary", given=given), decision.raw)
        if self._canary.blind:
            raise TesterFault("image_channel", f"the code in the picture could not be read twice running: {why}")
        return False

    def verdict(self, claim: VerdictClaim, actions: list[Action], supported: bool, page_is_up: bool) -> Ending | None:
        """The ending that a claim brings, or None when it is sent back."""
        taps, step = distinct_taps(actions), self.journal.step
        refusal = self._verdicts.judge(claim, taps=taps, supported=supported, page_is_up=page_is_up, last_step=step)
        if refusal is not None:
            cited = max((item.step for item in claim.phenomena), default=0)
            message = self.say(
                refusal, tried=taps, needed=MIN_DISTINCT_TAPS, inputs=len(actions), step=cited, last_step=step
            )
            self._refuse(refusal, message, message, None)
            return None
        self.claim = claim
        self.journal.write(VerdictLine, claim=claim)
        return ending_of_claim(claim, supported, step)

    def send_back(self, refusal: str, message: str) -> None:
        """A claim that the guards let through does not stand all the same."""
        self.claim = None
        self._refuse(refusal, message, message, None)

    def tell(self, fault: str, message: str) -> None:
        """Tell the tester of a fact about the page, unless it would only bias its look."""
        if fault not in QUIET_FACTS:
            self.inbox.append(self.say("fault_seen", fault=fault, message=message[:300]))

    def repeated(self, action: Action, effect: Effect) -> None:
        """Warn of the second and each further tap on one spot."""
        warning = self._repeats.note(action, effect.changed)
        if warning is None or self._repeats.spot is None:
            return
        x, y = self.briefing.place(*self._repeats.spot)
        message = self.say(warning, count=self._repeats.count, x=x, y=y)
        self.inbox.append(message)
        self.journal.write(WarningLine, warning=warning, message=message)

    def progressed(self, found: tuple[str, ...]) -> None:
        """Extend the budget for a step that brought progress."""
        if found and self.budget.grow():
            why, left = found[0][:120], self.budget.left(self.journal.step)
            self.inbox.append(self.say("budget_extended", why=why, budget=self.budget.allowed, steps_left=left))
            self.journal.write(BudgetLine, budget=self.budget.allowed, why=why)

    def _refuse(self, refusal: str, why: str, message: str, raw: str | None) -> None:
        self.inbox.append(message)
        self.journal.write(RefusalLine, refusal=refusal, message=why[:MESSAGE_LIMIT], raw=raw and raw[:RAW_LIMIT])
