"""What the tester's model used, and what that cost."""

from __future__ import annotations

from pydantic import Field

from playtest.protocol.base import Document


class Usage(Document):
    """Requests and tokens. Adds up with `+`; cached tokens are part of the prompt tokens."""

    requests: int = Field(default=0, ge=0)
    prompt_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            requests=self.requests + other.requests,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            requests=self.requests - other.requests,
            prompt_tokens=self.prompt_tokens - other.prompt_tokens,
            cached_tokens=self.cached_tokens - other.cached_tokens,
            completion_tokens=self.completion_tokens - other.completion_tokens,
        )


class Cost(Document):
    """Money spent. An unknown price is `priced: false`, and then the amount says nothing."""

    amount: float = Field(default=0.0, ge=0)
    currency: str = "CNY"
    priced: bool = True
    at_risk: float = Field(
        default=0.0, ge=0, description="At most this much more, for answers that were lost or came without their usage."
    )

    @property
    def at_most(self) -> float:
        """The amount if every lost answer was billed in full."""
        return self.amount + self.at_risk

    def plus(self, more: Cost) -> Cost:
        """Both together, in the currency of the latter. One unpriced part makes the whole unpriced."""
        return Cost(
            amount=round(self.amount + more.amount, 9),
            currency=more.currency,
            priced=self.priced and more.priced,
            at_risk=round(self.at_risk + more.at_risk, 9),
        )

    def since(self, before: Cost) -> Cost:
        """What came on top of an earlier state of the same bill."""
        return Cost(
            amount=max(0.0, round(self.amount - before.amount, 9)),
            currency=self.currency,
            priced=self.priced,
            at_risk=max(0.0, round(self.at_risk - before.at_risk, 9)),
        )
