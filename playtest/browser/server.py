"""The gate: the browser's only way out.

It is an HTTP proxy on the loopback that Chromium must use for everything. A local game's files are served by
the gate itself; a remote game's own origin is let through; every other request is refused and its host recorded.
So pages, workers, service workers and web sockets are all held by one check, outside the browser.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from playtest.browser.static import Answer, answer
from playtest.errors import UsageError

HEAD_LIMIT = 64 * 1024
HEAD_TIMEOUT_S = 30
MAX_REFUSED = 500
URL_HINT = "give http://host[:port]/path or a local path"
DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class Origin(NamedTuple):
    """Host and port that a game may talk to."""

    host: str
    port: int


class Request(NamedTuple):
    """A request's head."""

    method: str
    target: str
    headers: dict[str, str]
    raw_headers: list[bytes]


class Gate:
    """Serves `folder`, or lets `remote` through. Use as an async context manager."""

    def __init__(self, folder: Path | None = None, remote: Origin | None = None) -> None:
        self._folder = folder
        self._remote = remote
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.refused: Counter[str] = Counter()

    @property
    def port(self) -> int:
        """The port that the gate listens on."""
        assert self._server is not None, "the gate is not open"
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def address(self) -> str:
        """The proxy's address for the browser, and the origin of a local game."""
        return f"http://127.0.0.1:{self.port}"

    def lets_through(self, url: str) -> bool:
        """Whether a page's request may go out: to the game's own origin, or to nowhere (`data:` and `blob:` URLs)."""
        if url.partition(":")[0].lower() not in ("http", "https", "ws", "wss"):
            return True
        parts = urlsplit(url)
        wanted = Origin(parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme.replace("ws", "http"), 80))
        own = Origin("127.0.0.1", self.port) if self._folder is not None else self._remote
        return wanted == own

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_LIMIT)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_TIMEOUT_S):
                request = await _read_head(reader)
            if request is not None:
                await self._handle(request, reader, writer)
        except (OSError, TimeoutError, asyncio.LimitOverrunError, ValueError):
            pass  # the browser went away or spoke nonsense; there is nobody to tell
        finally:
            writer.close()

    async def _handle(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wanted = _wanted(request, self.port)
        path = _origin_form(request.target)
        if request.method != "CONNECT" and self._folder is not None and wanted == Origin("127.0.0.1", self.port):
            found = await asyncio.to_thread(answer, self._folder, request.method, path, request.headers)
            await _write(writer, found, head_only=request.method == "HEAD")
        elif self._remote is not None and wanted == self._remote:
            await self._pass_on(request, path, reader, writer)
        else:
            place = f"{wanted.host}:{wanted.port}"
            if place in self.refused or len(self.refused) < MAX_REFUSED:
                self.refused[place] += 1
            await _write(writer, Answer(403, {}, b"blocked: only the game's own origin can be reached"))

    async def _pass_on(
        self, request: Request, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        assert self._remote is not None
        try:
            far_reader, far_writer = await asyncio.open_connection(self._remote.host, self._remote.port)
        except OSError as error:
            await _write(writer, Answer(502, {}, f"the game's host can't be reached: {error}".encode()))
            return
        try:
            if request.method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                # One request a connection: the next one may be for another host and must be checked again.
                kept = [h for h in request.raw_headers if not h.lower().startswith((b"proxy-", b"connection:"))]
                upgrade = b"Connection: Upgrade" if "upgrade" in request.headers else b"Connection: close"
                head = b"\r\n".join([f"{request.method} {path} HTTP/1.1".encode(), *kept, upgrade])
                far_writer.write(head + b"\r\n\r\n")
            await _both(_pipe(reader, far_writer), _pipe(far_reader, writer))
        finally:
            far_writer.close()


async def _both(up: Coroutine[Any, Any, None], down: Coroutine[Any, Any, None]) -> None:
    """Run both directions until the answer has ended."""
    upward = asyncio.ensure_future(up)
    try:
        await down
    finally:
        upward.cancel()
        await asyncio.gather(upward, return_exceptions=True)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def _read_head(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = head[:-4].split(b"\r\n")
    method, target, _ = lines[0].decode("latin-1").split(" ", 2)
    headers = {}
    for line in lines[1:]:
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return Request(method, target, headers, lines[1:])


def _wanted(request: Request, own_port: int) -> Origin:
    """The host and port that a request is for."""
    if request.method == "CONNECT":
        host, _, port = request.target.rpartition(":")
        return Origin(host.strip("[]"), int(port))
    if request.target.startswith("/"):  # not through the proxy: somebody opened the local game's address
        return Origin("127.0.0.1", own_port)
    parts = urlsplit(request.target)
    return Origin(parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme, 80))


def _origin_form(target: str) -> str:
    if target.startswith("/"):
        return target
    parts = urlsplit(target)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


async def _write(writer: asyncio.StreamWriter, found: Answer, head_only: bool = False) -> None:
    head = [f"HTTP/1.1 {found.status} {HTTPStatus(found.status).phrase}"]
    head += [f"{name}: {value}" for name, value in found.headers.items()]
    head += [f"Content-Length: {len(found.body)}", "Connection: close"]
    writer.write("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + (b"" if head_only else found.body))
    await writer.drain()


def origin_of(url: str) -> Origin:
    """The origin of an http(s) URL. Raises UsageError for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"not a usable URL: {url!r} ({error})", URL_HINT) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"not an http(s) URL: {url!r}", URL_HINT)
    return Origin(parts.hostname, port or DEFAULT_PORTS[parts.scheme])
