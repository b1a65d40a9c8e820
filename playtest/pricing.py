"""What a request costs, and what it could cost at worst.

Prices are in money per million tokens and carry the date on which they were read. A model without a known
price is `priced: false`: its amount says nothing, and is never to be read as free.
"""

from __future__ import annotations

from dataclasses import dataclass

from playtest.protocol.usage import Cost, Usage

PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Money per million tokens, as read on the ISO date `as_of`.

    Above `long_context_threshold` prompt tokens all rates are multiplied.
    """

    input: float
    output: float
    cached: float
    currency: str
    as_of: str
    long_context_threshold: int | None = None
    long_context_factor: float = 1.0

    def amount(self, usage: Usage) -> float:
        """The price of one request in `currency`.

        Cached tokens are part of the prompt tokens. Long-context rates hold for the whole request, which is
        why usage that was summed over requests must not be given here.
        """
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        plain = (
            (usage.prompt_tokens - cached) * self.input + cached * self.cached + usage.completion_tokens * self.output
        ) / PER_MILLION
        long = self.long_context_threshold is not None and usage.prompt_tokens > self.long_context_threshold
        return plain * self.long_context_factor if long else plain


# The vendor's list price in dollars. Its prices in yuan were not found in public documents, so none stand here.
MINIMAX_M3 = Price(
    input=0.30,
    output=1.20,
    cached=0.06,
    currency="USD",
    as_of="2026-09-29",
    long_context_threshold=512_000,
    long_context_factor=2.0,
)
PRICES = {"minimax-m3": MINIMAX_M3}


def price_of(model: str) -> Price | None:
    """The known price of a model, or None. A gateway's vendor prefix (`minimax/MiniMax-M3`) is looked through.

    Only exact names count: a relative of a priced model may well cost something else.
    """
    return PRICES.get(model.rsplit("/", 1)[-1].lower())


def cost_of(usage: Usage, price: Price | None, currency: str = "CNY", usd_rate: float | None = None) -> Cost:
    """What one request cost, in `currency`. `usd_rate` is how much of `currency` one dollar buys.

    Without a price, or without a rate where one is needed, the cost is `priced: false`.
    """
    factor = None if price is None else _conversion(price.currency, currency, usd_rate)
    if price is None or factor is None:
        return Cost(currency=currency, priced=False)
    return Cost(amount=price.amount(usage) * factor, currency=currency)


def worst_case(
    prompt_tokens: int,
    completion_tokens: int,
    price: Price | None,
    currency: str = "CNY",
    usd_rate: float | None = None,
) -> Cost:
    """What a request not yet sent can cost at most: nothing cached, the whole token budget used."""
    usage = Usage(requests=1, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
    return cost_of(usage, price, currency, usd_rate)


def add_costs(first: Cost, second: Cost) -> Cost:
    """Both together. Raises ValueError for two currencies: caps and sums are kept in one."""
    if first.currency != second.currency:
        raise ValueError(f"can't add {second.currency} to {first.currency}")
    return first.plus(second)


def _conversion(source: str, target: str, usd_rate: float | None) -> float | None:
    if source == target:
        return 1.0
    return usd_rate if source == "USD" else None
