"""What a conversation has used, and whether the next request still fits under the cap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playtest.chat import Message, size_of
from playtest.errors import TesterFault
from playtest.presets import Preset
from playtest.pricing import Price, add_costs, cost_of, worst_case
from playtest.protocol.usage import Cost, Usage

# For pictures whose tokens are unknown: one token for 400 px, more than any vendor's formula gives.
PIXELS_PER_TOKEN = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """The price and the cap. `usd_rate` is how much of `currency` one dollar buys; no `max_cost` is no cap."""

    price: Price | None
    currency: str = "CNY"
    usd_rate: float | None = None
    max_cost: float | None = None

    def cost(self, usage: Usage) -> Cost:
        """What one request cost."""
        return cost_of(usage, self.price, self.currency, self.usd_rate)


class Meter:
    """Adds up requests, tokens and money, and keeps the cap.

    Requests count when they are sent, tokens and money when they are answered. Money for answers that never came
    may have been spent all the same: it counts for the cap, and stands beside the bill as `at_risk`.
    """

    def __init__(self, tariff: Tariff) -> None:
        self._tariff = tariff
        self._usage = Usage()
        self._cost = tariff.cost(Usage())

    @property
    def spent(self) -> tuple[Usage, Cost]:
        """All that was used so far."""
        return self._usage, self._cost

    @property
    def cap_holds(self) -> bool:
        """Whether the cap can be kept: not when there is one but the price is unknown."""
        return self._tariff.max_cost is None or self._tariff.cost(Usage()).priced

    def check(self, messages: Sequence[Message], max_completion_tokens: int, preset: Preset) -> float:
        """What the request can cost at most. Raises TesterFault `cost` where that could break the cap."""
        tariff = self._tariff
        size = size_of(messages)
        pictures = sum(
            preset.tokens_per_picture(picture.width, picture.height)
            or picture.width * picture.height // PIXELS_PER_TOKEN
            for picture in size.pictures
        )
        prompt = size.most_text_tokens + pictures
        cost = worst_case(prompt, max_completion_tokens, tariff.price, tariff.currency, tariff.usd_rate)
        total = self._cost.at_most + cost.amount
        if tariff.max_cost is not None and cost.priced and total > tariff.max_cost:
            raise TesterFault(
                "cost",
                f"the next request could bring the cost to {total:.4f} {tariff.currency}, above the cap of"
                f" {tariff.max_cost:g}; spent so far: {self._cost.amount:.4f}",
                "raise the cap, or play with fewer steps",
            )
        return cost.amount

    def sent(self) -> None:
        """A request goes out."""
        self._usage += Usage(requests=1)

    def answered(self, usage: Usage | None, at_most: float) -> None:
        """An answer came. Without its usage the bill is unknown from here on."""
        if usage is None:
            self.lost(at_most)
            self._cost = self._cost.model_copy(update={"priced": False})
        else:
            self._usage += usage.model_copy(update={"requests": 0})
            self._cost = add_costs(self._cost, self._tariff.cost(usage))

    def lost(self, at_most: float) -> None:
        """A request was sent and its answer never came."""
        self._cost = self._cost.model_copy(update={"at_risk": self._cost.at_risk + at_most})
