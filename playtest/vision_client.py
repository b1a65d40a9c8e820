"""A vision model over HTTP, by the chat-completions protocol: one request, one whole answer.

Nothing is streamed: deltas of some endpoints are cumulative and their end mark may be missing. Every request that was
answered is charged, also when the answer is of no use. The key stays in the request's header.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, TypeAlias

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from playtest.chat import Completion, Message, from_wire, to_wire, usage_in
from playtest.endpoint import Endpoint
from playtest.endpoint_errors import EndpointFault, fault_of, retry_after, shown
from playtest.metering import Meter
from playtest.protocol.usage import Cost, Usage
from playtest.reply_text import strip_thinking

BACK_OFF_FIRST_S = 1.0
BACK_OFF_MOST_S = 30.0
# Far more than the longest answer; what is longer is a server that never ends.
MAX_ANSWER_BYTES = 8_000_000
# A second try after an answer that was all thinking gets this much more room.
MORE_ROOM = 4

Clock: TypeAlias = Callable[[], float]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]


class Probe(NamedTuple):
    """What a contact without a paid call found. `key_accepted` is None where that can't be told."""

    reachable: bool
    status: int | None
    key_accepted: bool | None
    message: str
    latency_ms: float


class _Answer(NamedTuple):
    status: int
    headers: httpx.Headers
    data: bytes


class RateLimiter:
    """At most `per_minute` starts within any 60 seconds. May be shared by clients that use one key."""

    def __init__(
        self,
        per_minute: int,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._starts: deque[float] = deque(maxlen=max(1, per_minute))
        self._clock = clock
        self._sleep = sleep

    async def turn(self) -> None:
        """Wait until a request may start. The turn is booked before the wait, so callers queue up."""
        now = self._clock()
        start = max(now, self._starts[0] + 60) if len(self._starts) == self._starts.maxlen else now
        self._starts.append(start)
        if start > now:
            await self._sleep(start - now)


class VisionClient:
    """A ChatModel over HTTP. Tries again where that can help; each failure is a TesterFault with its reason.

    Reasons: `unreachable`, `timeout`, `rate_limited`, `overloaded`, `endpoint_auth`, `endpoint_balance`,
    `endpoint_quota`, `endpoint_request`, `content_refused`, `image_channel`, `empty_reply`, `malformed_reply`, `cost`.
    `transport`, `sleep`, `clock` (monotonic seconds), `now` (Unix seconds) and `jitter` (0-1) are for tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        limiter: RateLimiter | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
        now: Clock = time.time,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._endpoint = endpoint
        self._key = endpoint.api_key.get_secret_value()
        self._meter = Meter(endpoint.tariff)
        self._limiter = limiter or RateLimiter(endpoint.requests_per_minute, clock, sleep)
        self._sleep, self._clock, self._now, self._jitter = sleep, clock, now, jitter
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=httpx.Timeout(endpoint.read_timeout_s, connect=endpoint.connect_timeout_s),
            transport=transport,
            trust_env=False,
        )

    @property
    def model(self) -> str:
        """The model's id, as it is sent."""
        return self._endpoint.model

    @property
    def spent(self) -> tuple[Usage, Cost]:
        """All that was used so far, failed requests included."""
        return self._meter.spent

    @property
    def cap_holds(self) -> bool:
        """Whether the cost cap can be kept: not when there is a cap but the price is unknown."""
        return self._meter.cap_holds

    async def close(self) -> None:
        """Let go of connections."""
        await self._http.aclose()

    async def complete(self, messages: Sequence[Message], max_completion_tokens: int | None = None) -> Completion:
        """One answer. Raises TesterFault.

        An answer without content is asked for once more, with more room when thinking used it up.
        """
        room = max_completion_tokens or self._endpoint.preset.max_completion_tokens
        limit = self._endpoint.total_deadline_s
        started = self._clock()
        try:
            async with asyncio.timeout(limit):
                answer = await self._with_retries(messages, room, started)
                if strip_thinking(answer.text):
                    return answer
                room *= MORE_ROOM if answer.finish_reason == "length" else 1
                answer = await self._with_retries(messages, room, started)
        except TimeoutError as error:
            raise EndpointFault("timeout", f"no usable answer within {limit:g} s") from error
        if not strip_thinking(answer.text):
            raise EndpointFault("empty_reply", f"two answers without content (finish_reason {answer.finish_reason!r})")
        return answer

    async def probe(self) -> Probe:
        """Whether the endpoint can be reached: one GET that costs nothing. Any HTTP answer counts as reachable."""
        started = self._clock()
        try:
            response = await self._http.get(self._endpoint.url("models"), timeout=self._endpoint.connect_timeout_s)
        except httpx.RequestError as error:
            return Probe(False, None, None, _transport_fault(error, self._key).message, self._ms_since(started))
        status = response.status_code
        accepted = {200: True, 401: False, 403: False}.get(status)
        return Probe(True, status, accepted, f"HTTP {status}", self._ms_since(started))

    async def _with_retries(self, messages: Sequence[Message], room: int, started: float) -> Completion:
        def exhausted(state: RetryCallState) -> bool:
            spent = self._clock() - started + state.upcoming_sleep
            return state.attempt_number >= self._endpoint.max_attempts or spent > self._endpoint.total_deadline_s

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, EndpointFault) and error.retryable),
            wait=self._pause,
            stop=exhausted,
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(self._attempt, messages, room)

    def _pause(self, state: RetryCallState) -> float:
        """Seconds until the next try: doubling, jittered, never less than the endpoint asked for."""
        error = state.outcome.exception() if state.outcome else None
        step = min(BACK_OFF_MOST_S, BACK_OFF_FIRST_S * 2.0 ** (state.attempt_number - 1))
        jittered = step * (0.5 + self._jitter() / 2)
        asked = error.retry_after_s if isinstance(error, EndpointFault) else None
        return jittered if asked is None else asked + self._jitter() * BACK_OFF_FIRST_S

    async def _attempt(self, messages: Sequence[Message], room: int) -> Completion:
        preset = self._endpoint.preset
        at_most = self._meter.check(messages, room, preset)
        body = {
            "model": self._endpoint.model,
            "messages": to_wire(messages, preset.image_detail),
            **preset.request_fields(room),
        }
        await self._limiter.turn()
        self._meter.sent()
        started = self._clock()
        try:
            answer = await self._post(body)
        except httpx.RequestError as error:
            if not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                self._meter.lost(at_most)
            raise _transport_fault(error, self._key) from error
        except asyncio.CancelledError:  # the deadline, or the run's end: the endpoint goes on all the same
            self._meter.lost(at_most)
            raise
        return self._read(answer, at_most, self._ms_since(started))

    async def _post(self, body: dict[str, Any]) -> _Answer:
        """What comes back, up to a bound. Raises httpx.RequestError."""
        async with self._http.stream("POST", self._endpoint.url("chat/completions"), json=body) as response:
            data = bytearray()
            async for piece in response.aiter_bytes():
                data += piece
                if len(data) > MAX_ANSWER_BYTES:
                    break
        return _Answer(response.status_code, response.headers, bytes(data))

    def _read(self, answer: _Answer, at_most: float, latency_ms: float) -> Completion:
        """The answer, charged before anything is made of it. Raises EndpointFault."""
        text = answer.data.decode("utf-8-sig", "replace")
        try:
            body: Any = json.loads(text)
        except (ValueError, RecursionError):
            body = text
        usage = usage_in(body)
        pause = retry_after(answer.headers.get("retry-after"), self._server_time(answer.headers))
        fault = fault_of(answer.status, body, pause, self._key)
        if usage is not None or fault is None:
            self._meter.answered(usage, at_most)
        if fault is not None:
            raise fault
        try:
            text, finish_reason, _ = from_wire(body)
        except ValueError as error:
            # A web page is a wrong base URL and stays one; anything else may have been an answer cut short.
            endless = len(answer.data) > MAX_ANSWER_BYTES
            page = "html" in answer.headers.get("content-type", "")
            message = f"not a chat completion: {shown(text, self._key)!r}"
            if endless:
                message = f"the answer had not ended after {MAX_ANSWER_BYTES // 1_000_000} MB"
            raise EndpointFault("malformed_reply", message, retryable=not page and not endless) from error
        if finish_reason == "content_filter":
            raise EndpointFault("content_refused", "the endpoint's content filter stopped the answer")
        return Completion(text, usage or Usage(requests=1), finish_reason, latency_ms)

    def _server_time(self, headers: httpx.Headers) -> float:
        """Unix time by the server's own clock where it tells it: this machine's may be wrong, or jump."""
        try:
            return parsedate_to_datetime(headers.get("date", "")).timestamp()
        except ValueError:
            return self._now()

    def _ms_since(self, started: float) -> float:
        return (self._clock() - started) * 1000


def _transport_fault(error: httpx.RequestError, key: str) -> EndpointFault:
    """No answer came: nobody there, too late, or the connection broke."""
    host = error.request.url.host
    what = shown(str(error), key) or type(error).__name__
    if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
        return EndpointFault("timeout", f"{host} did not answer in time ({type(error).__name__})", retryable=True)
    return EndpointFault("unreachable", f"no answer from {host}: {what}", retryable=True)
