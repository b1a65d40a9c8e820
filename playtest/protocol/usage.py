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

    def plus(self, more: Cost) -> Cost:
        """Both together, in the currency of the latter."""
        return more.model_copy(update={"amount": self.amount + more.amount, "priced": self.priced and more.priced})
