"""Money: what a request costs, what it could cost, and what is not known."""

import pytest

from playtest import errors
from playtest.chat import Message, Picture
from playtest.metering import Meter, Tariff
from playtest.presets import GENERIC, MINIMAX_M3
from playtest.pricing import MINIMAX_M3 as M3_PRICE
from playtest.pricing import Price, add_costs, cost_of, price_of, worst_case
from playtest.protocol.usage import Cost, Usage

MILLION = Usage(requests=1, prompt_tokens=500_000, completion_tokens=1_000_000)
YUAN = Price(input=2.0, output=8.0, cached=0.4, currency="CNY", as_of="2026-11-01")


def test_the_vendors_list_price_in_dollars():
    assert cost_of(MILLION, M3_PRICE, "USD").amount == pytest.approx(0.15 + 1.20)


def test_cached_tokens_are_the_cheap_part_of_the_prompt():
    usage = Usage(requests=1, prompt_tokens=100_000, cached_tokens=80_000)
    assert cost_of(usage, M3_PRICE, "USD").amount == pytest.approx(0.02 * 0.30 + 0.08 * 0.06)


def test_more_cached_tokens_than_prompt_never_make_a_negative_price():
    assert M3_PRICE.amount(Usage(requests=1, prompt_tokens=10, cached_tokens=1000)) == pytest.approx(10 * 0.06 / 1e6)


@pytest.mark.parametrize(("prompt", "factor"), [(512_000, 1), (512_001, 2)])
def test_long_context_doubles_every_rate_above_the_threshold_only(prompt, factor):
    usage = Usage(requests=1, prompt_tokens=prompt, cached_tokens=1000, completion_tokens=1000)
    plain = ((prompt - 1000) * 0.30 + 1000 * 0.06 + 1000 * 1.20) / 1e6
    assert M3_PRICE.amount(usage) == pytest.approx(plain * factor)


def test_dollars_become_the_caps_currency_at_the_given_rate():
    cost = cost_of(MILLION, M3_PRICE, "CNY", usd_rate=7.0)
    assert (cost.currency, cost.priced) == ("CNY", True)
    assert cost.amount == pytest.approx(7 * 1.35)


def test_the_same_currency_needs_no_rate():
    assert cost_of(MILLION, YUAN, "CNY").amount == pytest.approx(1.0 + 8.0)


@pytest.mark.parametrize(
    ("price", "currency", "rate"),
    [(None, "CNY", 7.0), (M3_PRICE, "CNY", None), (YUAN, "USD", 7.0)],
    ids=["no price", "no rate", "a rate for the other direction"],
)
def test_what_is_not_known_is_unpriced_and_not_zero_as_known(price, currency, rate):
    assert cost_of(MILLION, price, currency, rate) == Cost(amount=0, currency=currency, priced=False)


def test_the_worst_case_has_nothing_cached_and_the_whole_budget_used():
    assert worst_case(500_000, 1_000_000, M3_PRICE, "USD") == cost_of(MILLION, M3_PRICE, "USD")


@pytest.mark.parametrize("model", ["MiniMax-M3", "minimax/MiniMax-M3"])
def test_the_one_known_model_is_priced(model):
    assert price_of(model) is M3_PRICE


@pytest.mark.parametrize("model", ["MiniMax-M3-highspeed", "MiniMax-M2", "gpt-5", ""])
def test_a_relative_of_it_is_not(model):
    assert price_of(model) is None


def test_one_unpriced_part_makes_the_sum_unpriced():
    total = add_costs(Cost(amount=1), Cost(amount=2, priced=False))
    assert (total.amount, total.priced) == (3, False)


def test_two_currencies_are_never_added():
    with pytest.raises(ValueError, match="USD to CNY"):
        add_costs(Cost(), Cost(currency="USD"))


HELLO = [Message("user", ("hello",))]


def test_the_cap_counts_what_is_spent_and_the_next_worst_case():
    meter = Meter(Tariff(price=M3_PRICE, currency="USD", max_cost=0.01))
    assert meter.check(HELLO, 2048, MINIMAX_M3) < 0.01
    meter.answered(Usage(requests=1, prompt_tokens=30_000), 0.009)
    with pytest.raises(errors.TesterFault) as caught:
        meter.check(HELLO, 2048, MINIMAX_M3)
    assert caught.value.reason == "cost"
    assert "cap of 0.01" in caught.value.message


def test_pictures_count_in_the_worst_case():
    tariff = Tariff(price=M3_PRICE, currency="USD")
    shown = [Message("user", ("hello", Picture(b"", 390, 872)))]
    rise = Meter(tariff).check(shown, 1, MINIMAX_M3) - Meter(tariff).check(HELLO, 1, MINIMAX_M3)
    assert rise == pytest.approx(14 * 31 * 0.30 / 1e6)
    unknown = Meter(tariff).check(shown, 1, GENERIC) - Meter(tariff).check(HELLO, 1, GENERIC)
    assert unknown > rise


def test_lost_answers_count_for_the_cap_and_stand_beside_the_bill():
    meter = Meter(Tariff(price=M3_PRICE, currency="USD", max_cost=0.01))
    meter.sent()
    meter.lost(0.0099)
    assert meter.spent == (Usage(requests=1), Cost(currency="USD", at_risk=0.0099))
    with pytest.raises(errors.TesterFault, match="cap"):
        meter.check(HELLO, 2048, MINIMAX_M3)


def test_an_answer_without_usage_makes_the_bill_unknown_but_keeps_the_cap():
    meter = Meter(Tariff(price=M3_PRICE, currency="USD", max_cost=0.01))
    meter.answered(None, 0.0099)
    assert meter.spent[1].priced is False
    with pytest.raises(errors.TesterFault, match="cap"):
        meter.check(HELLO, 2048, MINIMAX_M3)


@pytest.mark.parametrize(("price", "cap", "holds"), [(M3_PRICE, 1.0, True), (None, 1.0, False), (None, None, True)])
def test_a_cap_without_a_price_says_that_it_cant_be_kept(price, cap, holds):
    meter = Meter(Tariff(price=price, currency="USD", max_cost=cap))
    assert meter.cap_holds is holds
    meter.check(HELLO, 10**9 if price is None else 1, MINIMAX_M3)
