"""The client against a strict endpoint on this machine: what it sends, how it fails, what it charges."""

import asyncio
import io
import json
import logging
import traceback
from email.utils import formatdate

import pytest
from PIL import Image
from pydantic import SecretStr

from playtest import errors, vision_client
from playtest.chat import Message, Picture
from playtest.endpoint import Endpoint
from playtest.endpoint_errors import shown
from playtest.metering import Tariff
from playtest.presets import GENERIC, MINIMAX_M3
from playtest.pricing import MINIMAX_M3 as M3_PRICE
from playtest.vision_client import RateLimiter, VisionClient
from tests import endpoint_faults as faults
from tests.conftest_guard import loopback_only  # noqa: F401 - an autouse fixture
from tests.endpoint import KEY, Answer, StrictEndpoint, closed_address

NOW = 1_800_000_000.0
# How far the endpoint's clock is ahead of this machine's.
AHEAD_S = 3600.0


def picture(width: int = 390, height: int = 872) -> Picture:
    image = Image.new("RGB", (width, height), "navy")
    image.paste("yellow", (10, 10, 60, 60))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return Picture(buffer.getvalue(), width, height)


LOOK = (Message("system", ("You test games. " * 200,)), Message("user", ("Step 1", picture())))


class Clock:
    """A clock that only sleeping moves; every pause is kept."""

    def __init__(self) -> None:
        self.time = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds


@pytest.fixture
def server():
    with StrictEndpoint(lambda request: "a menu") as endpoint:
        yield endpoint


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def connect(server, clock):
    """Makes clients for the server, with a clock that doesn't wait."""
    clients = []

    def make(**changes) -> VisionClient:
        tariff = {
            "price": M3_PRICE,
            "currency": "USD",
            "max_cost": 1.0,
            **{name: changes.pop(name) for name in ("price", "currency", "max_cost", "usd_rate") if name in changes},
        }
        given = {
            "base_url": server.base_url,
            "api_key": SecretStr(KEY),
            "model": server.model,
            "preset": MINIMAX_M3,
            "tariff": Tariff(**tariff),
            **changes,
        }
        client = VisionClient(Endpoint(**given), sleep=clock.sleep, clock=clock, now=lambda: NOW, jitter=lambda: 1.0)
        clients.append(client)
        return client

    yield make
    for client in clients:
        await client.close()


async def failure(client: VisionClient) -> errors.TesterFault:
    with pytest.raises(errors.TesterFault) as caught:
        await client.complete(LOOK)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


class TestRequest:
    async def test_a_strict_endpoint_takes_it_and_sees_the_picture(self, server, connect):
        completion = await connect().complete(LOOK)
        assert not server.rejections
        assert completion.text == "a menu"
        assert server.requests[0].picture.size == (390, 872)
        assert server.requests[0].picture.getpixel((20, 20)) == (255, 255, 0)

    async def test_exactly_the_vendors_fields_are_sent(self, server, connect):
        await connect().complete(LOOK, max_completion_tokens=99)
        body = dict(server.bodies[0])
        body.pop("messages")
        assert body == {
            "model": "MiniMax-M3",
            "max_completion_tokens": 99,
            "temperature": 0.1,
            "thinking": {"type": "disabled"},
            "reasoning_split": True,
        }

    async def test_usage_and_cost_of_two_requests_add_up_and_the_prefix_is_cached(self, server, connect):
        client = connect()
        first = await client.complete(LOOK)
        more = (*LOOK, Message("assistant", ("a menu",)), Message("user", ("Step 2", picture())))
        second = await client.complete(more)
        assert second.usage.cached_tokens >= 512
        assert first.usage.prompt_tokens > 434
        usage, cost = client.spent
        assert usage == first.usage + second.usage
        assert usage.requests == 2
        assert cost.amount == pytest.approx(M3_PRICE.amount(first.usage) + M3_PRICE.amount(second.usage))

    async def test_the_caps_currency_is_used_at_its_rate(self, connect):
        client = connect(currency="CNY", usd_rate=7.0)
        completion = await client.complete(LOOK)
        assert client.spent[1].currency == "CNY"
        assert client.spent[1].amount == pytest.approx(7 * M3_PRICE.amount(completion.usage))

    async def test_proxies_of_the_environment_are_not_used(self, server, connect, monkeypatch):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, closed_address())
        await connect().complete(LOOK)
        assert len(server.requests) == 1

    async def test_a_base_url_may_end_in_a_slash(self, server, connect):
        await connect(base_url=server.base_url + "/").complete(LOOK)
        assert len(server.requests) == 1

    async def test_a_latency_is_measured(self, connect, clock):
        completion = await connect().complete(LOOK)
        assert completion.latency_ms == 0  # the fake clock stood still


class TestClassification:
    @pytest.mark.parametrize(
        ("fault", "reason"),
        [
            (faults.base_resp(1000), "overloaded"),
            (faults.base_resp(1001), "timeout"),
            (faults.base_resp(1013), "overloaded"),
            (faults.base_resp(1024), "overloaded"),
            (faults.base_resp(1033), "overloaded"),
            (faults.base_resp(1002), "rate_limited"),
            (faults.base_resp(1039), "rate_limited"),
            (faults.base_resp(1041), "rate_limited"),
            (faults.base_resp(2045), "rate_limited"),
            (faults.error(400, 1002), "rate_limited"),
            (faults.error(408), "timeout"),
            (faults.error(429), "rate_limited"),
            (faults.error(500), "overloaded"),
            (faults.error(502), "overloaded"),
            (faults.error(503), "overloaded"),
            (faults.error(529), "overloaded"),
            (faults.raw("<html>bad gateway</html>", 502, "text/html"), "overloaded"),
            (faults.reset(), "unreachable"),
            (faults.reset_mid_body(), "unreachable"),
            (faults.cut_json(), "malformed_reply"),
        ],
    )
    async def test_what_may_pass_is_tried_again_and_succeeds(self, server, connect, fault, reason):
        server.then(fault)
        assert (await connect().complete(LOOK)).text == "a menu"
        server.then(fault, fault)
        caught = await failure(connect(max_attempts=2))
        assert caught.reason == reason
        assert len(server.bodies) == 4

    @pytest.mark.parametrize(
        ("fault", "reason"),
        [
            (faults.base_resp(1004), "endpoint_auth"),
            (faults.base_resp(2049), "endpoint_auth"),
            (faults.error(401), "endpoint_auth"),
            (faults.error(403), "endpoint_auth"),
            (faults.base_resp(1008), "endpoint_balance"),
            (faults.error(402), "endpoint_balance"),
            (faults.error(429, 1008), "endpoint_balance"),
            (faults.error(500, 2056), "endpoint_quota"),
            (faults.error(400, 2013), "endpoint_request"),
            (faults.error(500, 2013), "endpoint_request"),
            (faults.error(404), "endpoint_request"),
            (faults.base_resp(4242), "endpoint_request"),
            (faults.error(500, 1026), "content_refused"),
            (faults.error(422, 1027), "content_refused"),
            (faults.base_resp(1026, "image not supported by our policy"), "content_refused"),
            (faults.raw(json.dumps({"choices": None, "input_sensitive": True})), "content_refused"),
            (faults.error(400, 2013, "image input not supported"), "image_channel"),
            (faults.error(400, message="This model does not support image_url"), "image_channel"),
            (faults.error(404, message="No endpoints found that support image input"), "image_channel"),
            (faults.error(400, message="该模型不支持图片输入"), "image_channel"),
            (faults.error(400, 2013, "image format not supported"), "endpoint_request"),
            (faults.raw(json.dumps({"error": {"message": "x (2056)", "http_code": "500"}})), "endpoint_quota"),
            (faults.raw(json.dumps({"error": {"message": "x", "code": "insufficient_quota"}}), 429), "endpoint_quota"),
            (faults.raw(json.dumps({"error": "no such model"})), "endpoint_request"),
            (faults.raw("<html>welcome</html>", 200, "text/html"), "malformed_reply"),
            (faults.raw("", 302, headers={"Location": "https://example.com/"}), "endpoint_request"),
        ],
    )
    async def test_what_will_not_pass_is_asked_once(self, server, connect, clock, fault, reason):
        server.then(fault)
        caught = await failure(connect())
        assert caught.reason == reason
        assert len(server.bodies) == 1
        assert clock.pauses == []

    async def test_a_wrong_key_and_a_wrong_model_are_told_apart(self, connect):
        caught = await failure(connect(api_key=SecretStr("another-key")))
        assert caught.reason == "endpoint_auth"
        assert "key" in caught.hint
        assert (await failure(connect(model="minimax-m3"))).reason == "endpoint_request"

    async def test_a_code_wins_over_the_http_status(self, server, connect):
        server.then(faults.error(401, 1013))
        assert (await connect().complete(LOOK)).text == "a menu"

    async def test_nobody_there(self, connect, clock):
        caught = await failure(connect(base_url=closed_address(), max_attempts=3))
        assert caught.reason == "unreachable"
        assert "127.0.0.1" in caught.message
        assert len(clock.pauses) == 2

    async def test_an_endpoint_that_never_answers(self, server, connect):
        server.then(faults.stall(), faults.stall())
        caught = await failure(connect(read_timeout_s=0.05, max_attempts=2))
        assert caught.reason == "timeout"
        assert len(server.bodies) == 2

    async def test_the_total_deadline_ends_a_stall(self, server, connect):
        server.then(faults.stall())
        client = connect(total_deadline_s=0.05)
        assert (await failure(client)).reason == "timeout"
        assert client.spent[0].requests == 1

    async def test_an_answer_without_end_is_given_up(self, server, connect, monkeypatch):
        monkeypatch.setattr(vision_client, "MAX_ANSWER_BYTES", 100_000)
        server.then(faults.raw('{"choices": [' + " " * 200_000))
        client = connect()
        assert (await failure(client)).reason == "malformed_reply"
        assert len(server.bodies) == 1

    async def test_the_content_filter_as_a_finish_reason(self, server, connect):
        server.brain = lambda request: Answer("", "content_filter")
        client = connect()
        assert (await failure(client)).reason == "content_refused"
        assert client.spent[0].prompt_tokens > 0
        assert len(server.bodies) == 1


class TestBackOff:
    async def test_pauses_double_up_to_a_limit(self, server, connect, clock):
        server.then(*[faults.error(503)] * 8)
        await failure(connect(max_attempts=8))
        assert clock.pauses == [1, 2, 4, 8, 16, 30, 30]

    async def test_jitter_shortens_a_pause_to_half_at_most(self, server, clock):
        server.then(faults.error(503))
        client = VisionClient(
            Endpoint(
                base_url=server.base_url,
                api_key=SecretStr(KEY),
                model=server.model,
                preset=MINIMAX_M3,
                tariff=Tariff(price=None),
            ),
            sleep=clock.sleep,
            clock=clock,
            jitter=lambda: 0.0,
        )
        await client.complete(LOOK)
        await client.close()
        assert clock.pauses == [0.5]

    @pytest.mark.parametrize(
        ("value", "pause"),
        [("7", 8), ("0", 1), ("1.5", 2.5), ("-3", 1), (formatdate(NOW + AHEAD_S + 12, usegmt=True), 13), ("soon", 1)],
        ids=["seconds", "zero", "fraction", "past", "date", "nonsense"],
    )
    async def test_retry_after_is_honoured_by_the_servers_clock(self, server, connect, clock, value, pause):
        server.now = lambda: NOW + AHEAD_S
        server.then(faults.error(429, retry_after=value))
        await connect().complete(LOOK)
        assert clock.pauses == [pytest.approx(pause)]

    async def test_a_retry_after_beyond_the_deadline_ends_it_at_once(self, server, connect, clock):
        server.then(faults.error(429, retry_after="3600"))
        caught = await failure(connect(total_deadline_s=60))
        assert caught.reason == "rate_limited"
        assert clock.pauses == []

    async def test_pauses_add_up_to_the_deadline_at_most(self, server, connect, clock):
        server.then(*[faults.error(503)] * 10)
        caught = await failure(connect(max_attempts=10, total_deadline_s=10))
        assert caught.reason == "overloaded"
        assert clock.pauses == [1, 2, 4]

    async def test_the_rate_limit_spaces_requests(self, connect, clock):
        client = connect(requests_per_minute=2)
        for _ in range(3):
            await client.complete(LOOK)
        assert clock.pauses == [60]

    async def test_a_shared_limiter_queues_callers_in_order(self, clock):
        limiter = RateLimiter(1, clock, clock.sleep)
        clock.sleep = lambda seconds: clock.pauses.append(seconds) or asyncio.sleep(0)
        limiter._sleep = clock.sleep
        await asyncio.gather(limiter.turn(), limiter.turn(), limiter.turn())
        assert clock.pauses == [60, 120]


class TestCharging:
    async def test_failed_requests_count_and_cost_nothing_known(self, server, connect):
        server.then(faults.error(503), faults.reset(), faults.error(429))
        client = connect()
        completion = await client.complete(LOOK)
        usage, cost = client.spent
        assert usage.requests == 4
        assert usage.prompt_tokens == completion.usage.prompt_tokens
        assert cost.amount == pytest.approx(M3_PRICE.amount(completion.usage))

    async def test_an_unknown_price_is_never_zero_as_known(self, connect):
        client = connect(price=None, preset=GENERIC, max_cost=None)
        assert client.spent[1].priced is False
        assert client.cap_holds is True

    async def test_a_cap_without_a_price_is_owned_up_to(self, server, connect):
        client = connect(price=None)
        await client.complete(LOOK)
        assert client.cap_holds is False

    async def test_the_cap_stops_before_the_request(self, server, connect):
        client = connect(max_cost=0.001)
        caught = await failure(client)
        assert caught.reason == "cost"
        assert server.bodies == []
        assert client.spent[0].requests == 0

    async def test_the_cap_is_checked_before_each_try(self, server, connect):
        client = connect(max_cost=0.0085)
        server.then(*[faults.reset()] * 4)  # each may have been answered, and billed, behind our back
        caught = await failure(client)
        assert caught.reason == "cost"
        assert len(server.bodies) == 2

    async def test_an_answer_without_usage_is_unpriced(self, server, connect):
        server.then(faults.without_usage())
        client = connect()
        assert (await client.complete(LOOK)).text == "a menu"
        assert client.spent[1].priced is False

    async def test_a_malformed_answer_with_usage_is_charged(self, server, connect):
        server.then(faults.raw(json.dumps({"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 0}})))
        client = connect(max_attempts=1)
        assert (await failure(client)).reason == "malformed_reply"
        assert client.spent[0].prompt_tokens == 1000
        assert client.spent[1].amount == pytest.approx(1000 * 0.30 / 1e6)


class TestEmpty:
    async def test_thinking_that_ate_the_budget_gets_a_bigger_one_once(self, server, connect):
        server.then(faults.empty("length"))
        completion = await connect().complete(LOOK, max_completion_tokens=100)
        assert completion.text == "a menu"
        assert [body["max_completion_tokens"] for body in server.bodies] == [100, 400]

    async def test_thinking_inside_the_content_counts_as_empty(self, server, connect):
        server.then(faults.rewritten(lambda text: "<think>hm, let me see", "length"))
        assert (await connect().complete(LOOK)).text == "a menu"
        assert len(server.bodies) == 2

    @pytest.mark.parametrize("finish", ["length", "stop"])
    async def test_twice_empty_is_given_up_and_charged(self, server, connect, finish):
        server.then(faults.empty(finish), faults.empty(finish))
        client = connect()
        caught = await failure(client)
        assert caught.reason == "empty_reply"
        assert client.spent[0].requests == 2
        assert client.spent[1].amount > 0
        assert len(server.bodies) == 2

    async def test_an_empty_answer_that_was_not_cut_is_asked_for_with_the_same_room(self, server, connect):
        server.then(faults.empty("stop"))
        await connect().complete(LOOK)
        assert len({body["max_completion_tokens"] for body in server.bodies}) == 1


class TestSecrecy:
    @pytest.mark.parametrize(
        "message",
        [f"bad key {KEY}", f"bad key {KEY[:12]}***", "x" * 290 + KEY, f"Authorization: Bearer {KEY}"],
        ids=["whole", "cut short", "at the edge of what is shown", "header"],
    )
    async def test_a_server_that_echoes_the_key(self, server, connect, message, caplog):
        caplog.set_level(logging.DEBUG)
        server.then(faults.error(401, 1004, message))
        caught = await failure(connect())
        for text in (str(caught), repr(caught), caught.message, caplog.text):
            assert KEY[:10] not in text

    def test_a_short_key_is_taken_out_before_the_text_is_cut(self):
        assert "hunt" not in shown("x" * 295 + "hunter2" + "y" * 50, "hunter2")

    async def test_a_malformed_answer_that_echoes_the_key(self, server, connect):
        server.then(faults.raw(f"<html>{KEY}</html>", content_type="text/html"))
        assert KEY not in (await failure(connect())).message

    async def test_reprs_do_not_show_it(self, connect):
        client = connect()
        assert KEY not in repr(client) + repr(client._endpoint) + repr(client._http.headers)

    @pytest.mark.parametrize("key", ["se cret", "secret\n", "sécret", "sec\x00ret"])
    def test_a_key_that_cant_be_a_key_is_refused_without_being_shown(self, key):
        with pytest.raises(errors.UsageError) as caught:
            Endpoint(
                base_url="http://127.0.0.1/v1",
                api_key=SecretStr(key),
                model="m",
                preset=MINIMAX_M3,
                tariff=Tariff(price=None),
            )
        assert key not in str(caught.value)

    @pytest.mark.parametrize(
        "url",
        ["", "api.example.com/v1", "ftp://x/v1", "http://", "http://u:p@x/v1", "http://x/v1?key=1", "http://x:y/"],
    )
    def test_an_address_that_cant_be_used_is_the_callers_mistake(self, url):
        with pytest.raises(errors.UsageError, match="base URL"):
            Endpoint(base_url=url, api_key=SecretStr("k"), model="m", preset=MINIMAX_M3, tariff=Tariff(price=None))


class TestProbe:
    async def test_reachable_with_a_good_key(self, server, connect):
        probe = await connect().probe()
        assert (probe.reachable, probe.status, probe.key_accepted) == (True, 200, True)
        assert server.bodies == []

    async def test_a_refused_key_is_still_reachable(self, connect):
        probe = await connect(api_key=SecretStr("another")).probe()
        assert (probe.reachable, probe.status, probe.key_accepted) == (True, 401, False)

    async def test_an_endpoint_without_a_list_of_models_is_reachable(self, server, connect):
        probe = await connect(base_url=server.base_url + "/elsewhere?"[:-1]).probe()
        assert probe.reachable

    async def test_nobody_there(self, connect):
        probe = await connect(base_url=closed_address()).probe()
        assert (probe.reachable, probe.status, probe.key_accepted) == (False, None, None)
        assert "127.0.0.1" in probe.message

    async def test_it_costs_nothing(self, connect):
        client = connect()
        await client.probe()
        assert client.spent[0].requests == 0
