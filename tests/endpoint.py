"""A strict endpoint on this machine that answers as the MiniMax API would, and can be told to misbehave.

    with StrictEndpoint(brain=lambda request: '{"code": ...}') as endpoint:
        client = VisionClient(Endpoint(base_url=endpoint.base_url, ...))

It refuses whatever the real API refuses, in its error shape; counts tokens honestly; and keeps every request.
Faults are queued with `then`: the first is for the next request, None is a healthy answer.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import httpx
from PIL import Image

from tests import endpoint_faults as faults
from tests.endpoint_faults import Fault
from tests.endpoint_rules import Rejection, decoded_pictures, is_solid, picture_tokens, rejection_of, text_tokens

MODEL = "MiniMax-M3"
KEY = "sk-test-0123456789abcdefghijklmnop"
CACHE_FROM_TOKENS = 512
_CAPTION = re.compile(r"The picture of step (\d+):|第 (\d+) 步的画面：")


@dataclass(frozen=True)
class Request:
    """One accepted request as a brain sees it: what the gateway let through."""

    number: int
    body: dict[str, Any]
    pictures: list[Image.Image]
    """All pictures in order; a stripped or solid-colour one is missing."""

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of each message."""
        return [(message["role"], text_of(message)) for message in self.body["messages"]]

    @property
    def system(self) -> str:
        return self.messages[0][1]

    @property
    def last_text(self) -> str:
        return self.messages[-1][1]

    @property
    def picture(self) -> Image.Image | None:
        """The newest picture, or None for a blind model."""
        return self.pictures[-1] if self.pictures else None

    @property
    def step(self) -> int | None:
        """The step of the newest picture, by its caption."""
        for role, text in reversed(self.messages):
            captions = _CAPTION.findall(text) if role == "user" else []
            if captions:
                return int("".join(captions[-1]))
        return None


@dataclass(frozen=True)
class Answer:
    """What a brain says. A plain string or a dict will do as well."""

    text: str
    finish_reason: str = "stop"


Brain = Callable[[Request], "str | dict[str, Any] | Answer"]


def closed_address() -> str:
    """A base URL at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


class StrictEndpoint:
    """The server. A context manager; `base_url` and `key` are what a client needs."""

    def __init__(self, brain: Brain, *, model: str = MODEL, key: str = KEY) -> None:
        self.brain = brain
        self.model = model
        self.key = key
        self.requests: list[Request] = []
        self.bodies: list[Any] = []
        """Every body that was posted, accepted or not."""
        self.rejections: list[Rejection] = []
        self.refused = 0
        """How many requests met nobody."""
        self.now = time.time
        """Unix time as the endpoint tells it in its answers."""
        self.closing = threading.Event()
        self._faults: deque[Fault | None] = deque()
        self._cached: list[tuple[str, int]] = []
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def then(self, *queued: Fault | None) -> Self:
        """Queue faults for the next requests."""
        self._faults.extend(queued)
        return self

    @property
    def next_fault(self) -> Fault | None:
        """What the next request will meet."""
        return self._faults[0] if self._faults else None

    def transport(self) -> httpx.AsyncBaseTransport:
        """A client's way to the endpoint that knows what the next request will meet."""
        return _Transport(self)

    def refuse(self) -> None:
        """The next request meets nobody."""
        with self._lock:
            self._faults.popleft()
            self.refused += 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, body: Any, authorization: str) -> Fault:
        """What goes back for a posted body, as a fault with all its bytes set."""
        with self._lock:
            fault = (self._faults.popleft() if self._faults else None) or Fault()
            self.bodies.append(body)
            if fault.body is not None or fault.connection in ("reset", "stall"):
                return fault
            if rejection := rejection_of(body, authorization, self.model, self.key):
                self.rejections.append(rejection)
                return faults.error(rejection.status, rejection.code, rejection.message)
            return self._completion(body, fault)

    def _completion(self, body: dict[str, Any], fault: Fault) -> Fault:
        pictures = [] if fault.blind else [image for image in decoded_pictures(body) if not is_solid(image)]
        request = Request(len(self.requests) + 1, body, pictures)
        self.requests.append(request)
        said = self.brain(request)
        said = said if isinstance(said, Answer) else Answer(said if isinstance(said, str) else json.dumps(said))
        text = fault.reply(said.text) if fault.reply else said.text
        document: dict[str, Any] = {
            "id": f"test-{request.number}",
            "object": "chat.completion",
            "model": self.model,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": fault.finish_reason or said.finish_reason,
                    "message": {"role": "assistant", "content": text},
                }
            ],
            "base_resp": {"status_code": 0, "status_msg": ""},
        }
        usage = self._usage(body, text, blind=fault.blind)
        if fault.usage:
            document["usage"] = usage
        data = json.dumps(document).encode()
        return Fault(connection=fault.connection, body=data, headers={"Content-Type": "application/json"})

    def _usage(self, body: dict[str, Any], reply: str, *, blind: bool) -> dict[str, Any]:
        sizes = [
            (json.dumps(message), 4 + text_tokens(text_of(message)) + (0 if blind else picture_tokens(message)))
            for message in body["messages"]
        ]
        cached = 0
        for old, new in zip(self._cached, sizes, strict=False):
            if old != new:
                break
            cached += new[1]
        self._cached = sizes
        return {
            "prompt_tokens": sum(tokens for _, tokens in sizes),
            "completion_tokens": text_tokens(reply),
            "prompt_tokens_details": {"cached_tokens": cached if cached >= CACHE_FROM_TOKENS else 0},
        }


class _Transport(httpx.AsyncHTTPTransport):
    """Sends refused requests where nobody listens, and lets a stalled one wait for no time worth telling."""

    def __init__(self, endpoint: StrictEndpoint) -> None:
        super().__init__(verify=False, trust_env=False)
        self._endpoint = endpoint

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        fault = self._endpoint.next_fault
        if fault is not None and fault.connection == "refused":
            self._endpoint.refuse()
            request.url = httpx.URL(closed_address())
        elif fault is not None and fault.connection == "stall":
            request.extensions["timeout"]["read"] = 0.05
        return await super().handle_async_request(request)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, endpoint: StrictEndpoint) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.endpoint = endpoint


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        endpoint = self.server.endpoint
        if not self.path.endswith("/models"):
            self._send(faults.error(404, message="no such page"))
        elif self.headers.get("Authorization") == f"Bearer {endpoint.key}":
            self._send(faults.raw(json.dumps({"object": "list", "data": [{"id": endpoint.model}]})))
        else:
            self._send(faults.error(401, 1004, "login fail"))

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            self._send(faults.error(404, message="no such page"))
            return
        try:
            body = json.loads(data)
        except ValueError:
            body = None
        answer = self.server.endpoint.answer(body, self.headers.get("Authorization", ""))
        if answer.connection == "stall":
            self.server.endpoint.closing.wait()
            self.close_connection = True
        elif answer.connection == "reset":
            self._reset()
        else:
            self._send(answer)

    def date_time_string(self, timestamp: float | None = None) -> str:
        return formatdate(self.server.endpoint.now(), usegmt=True)

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # the client went away, which some tests are about
            super().handle()

    def log_message(self, *_: object) -> None:
        """Say nothing: pytest's output is for tests."""

    def _send(self, answer: Fault) -> None:
        body = answer.body or b""
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if answer.connection == "reset_mid_body":
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self._reset()
        else:
            self.wfile.write(body)

    def _reset(self) -> None:
        # With a linger time of 0 closing sends a reset instead of an orderly end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
