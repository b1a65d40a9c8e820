"""Only the game's own origin can be reached; the game's folder is served as a web server would, and nothing else."""

import asyncio
import gzip
import json
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from playtest.browser.server import Gate, Origin, origin_of
from playtest.browser.static import answer, resolve
from playtest.errors import UsageError
from playtest.protocol.actions import Wait
from tests.browser_helper import HELD_CLOCKS, js, kinds, playing, playing_url


class Canary:
    """Listens where nobody may come, and writes down who came."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def serve(self, reader, writer) -> None:
        self.heard.append((await reader.readline()).decode("latin-1").strip() or "a connection")
        writer.close()

    def datagram_received(self, data, address) -> None:
        self.heard.append("a datagram")

    def connection_made(self, transport) -> None: ...

    def connection_lost(self, error) -> None: ...


@asynccontextmanager
async def canary():
    bird = Canary()
    server = await asyncio.start_server(bird.serve, "0.0.0.0", 0)
    port = server.sockets[0].getsockname()[1]
    loop = asyncio.get_running_loop()
    datagrams, _ = await loop.create_datagram_endpoint(lambda: bird, ("0.0.0.0", port))
    try:
        yield bird, port
    finally:
        datagrams.close()
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("clock", HELD_CLOCKS)
async def test_no_way_out_but_the_own_origin(clock):
    async with canary() as (bird, port):
        places = [f"{host}:{port}" for host in ("127.0.0.1", "127.0.0.2", "localhost", "[::1]", "games.example")]
        async with playing("escape", clock, page=f"index.html?to={','.join(places)}", boot_s=6) as game:
            await game.perform(Wait(ms=1500))
            done = await js(game, "done")
            faults = game.drain_faults()
            asked = {fault.detail["host"] for fault in faults if fault.kind == "blocked_request"}
            assert asked >= {f"127.0.0.1:{port}", f"127.0.0.2:{port}", f"localhost:{port}", f"games.example:{port}"}
            assert len(done) > 20
            assert not [name for name, value in done.items() if name.startswith("fetch") and "200" in value]
            await js(game, f"setTimeout(() => window.open('http://127.0.0.1:{port}/opened'), 0)")
            await game.perform(Wait(ms=500))
            await js(game, f"setTimeout(() => location.href = 'http://127.0.0.1:{port}/gone', 0)")
            await game.perform(Wait(ms=500))
        assert bird.heard == []


@pytest.mark.parametrize("target", ["file:///etc/passwd", "data:text/html,<h1>elsewhere</h1>", "chrome://version"])
async def test_the_top_frame_does_not_leave_for_other_schemes(target):
    async with playing("echo") as game:
        await js(game, "target => setTimeout(() => { location.href = target; }, 0)", target)
        await game.perform(Wait(ms=500))
        assert (await js(game, "location.href")).startswith("http://127.0.0.1"), "Chromium refuses to go"
        assert "left_game" not in kinds(game)


# -- the folder ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "game"
    (root / "sub").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "index.html").write_text("<!doctype html><title>游戏</title>", "utf-8")
    (root / "sub" / "index.html").write_text("sub", "utf-8")
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    (tmp_path / "game-two").mkdir()
    (tmp_path / "game-two" / "secret.txt").write_text("secret", "utf-8")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "linked").symlink_to(tmp_path)
    (root / "loop").symlink_to(root / "loop")
    (root / "inside.txt").symlink_to(root / "sub" / "index.html")
    return root


ESCAPES = [
    "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/%2e%2e%2fsecret.txt", "/sub/../../secret.txt",
    "/..\\secret.txt", "/..%5csecret.txt", "/%5c..%5csecret.txt", "//etc/passwd", "/%2fetc/passwd", "/etc/passwd",
    "/link.txt", "/linked/secret.txt", "/loop", "/loop/x", "/index.html%00", "/%00", "/../game-two/secret.txt",
    "/....//secret.txt", "/%252e%252e/secret.txt", "/file:///etc/passwd", "/" + "a" * 5000, "/sub" * 500, "/?/../secret.txt&",
    "/~root", "/.", "/..", "/%80%ff",
]  # fmt: skip


@pytest.mark.parametrize("path", ESCAPES)
async def test_nothing_outside_the_folder_is_served(folder, path):
    async with Gate(folder) as gate:
        reply = await raw(gate, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode("latin-1"))
        assert reply.startswith((b"HTTP/1.1 404", b"HTTP/1.1 200 OK", b"HTTP/1.1 301")), reply[:80]
        assert b"secret" not in reply.partition(b"\r\n\r\n")[2]
        assert b"root:" not in reply
        assert reply.startswith(b"HTTP/1.1 404") or path in ("/.", "/..", "/?/../secret.txt&"), (
            "these are the page itself"
        )


async def raw(gate: Gate, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
    writer.write(data)
    if b"\r\n\r\n" not in data:
        writer.write_eof()
    try:
        return await asyncio.wait_for(reader.read(), 5)
    finally:
        writer.close()


async def test_no_folder_is_listed_and_links_inside_work(folder):
    async with Gate(folder) as gate, httpx.AsyncClient(base_url=gate.address) as client:
        assert (await client.get("/empty/")).status_code == 404
        assert (await client.get("/inside.txt")).text == "sub"
        assert (await client.get("/sub/")).text == "sub"
        assert "index" not in (await client.get("/empty")).text
        moved = await client.get("/sub?x=1")
        assert (moved.status_code, moved.headers["location"]) == (301, "/sub/?x=1"), (
            "or its own files are looked for here"
        )
        assert (await client.get("/", headers={"Accept": "*/*"})).status_code == 200


TYPES = {
    "a.js": "text/javascript; charset=utf-8", "a.mjs": "text/javascript; charset=utf-8", "a.json": "application/json",
    "a.wasm": "application/wasm", "a.css": "text/css; charset=utf-8", "a.html": "text/html; charset=utf-8",
    "a.svg": "image/svg+xml", "a.webp": "image/webp", "a.mp3": "audio/mpeg", "a.ogg": "audio/ogg", "a.png": "image/png",
    "A.JPG": "image/jpeg", "a.woff2": "font/woff2", "a.txt": "text/plain; charset=utf-8", "a.glb": "model/gltf-binary",
    "a.unknown": "application/octet-stream", "noname": "application/octet-stream", "a.wav": "audio/wav",
}  # fmt: skip


async def test_types(folder):
    async with Gate(folder) as gate, httpx.AsyncClient(base_url=gate.address) as client:
        found = {}
        for name in TYPES:
            (folder / name).write_bytes(b"x")
            found[name] = (await client.get(f"/{name}")).headers["content-type"]
        assert found == TYPES


async def test_a_page_in_another_encoding_says_so_itself(folder):
    (folder / "gbk.html").write_bytes('<meta charset="gbk"><title>开始游戏</title>'.encode("gbk"))
    async with Gate(folder) as gate, httpx.AsyncClient(base_url=gate.address) as client:
        assert (await client.get("/gbk.html")).headers["content-type"] == "text/html"
        assert (await client.get("/index.html")).headers["content-type"] == "text/html; charset=utf-8"


async def test_packed_files(folder):
    packed = gzip.compress(b"let a = 1;")
    (folder / "a.js.gz").write_bytes(packed)
    (folder / "game.wasm.br").write_bytes(b"not really brotli")
    (folder / "b.js").write_bytes(b"plain")
    (folder / "b.js.gz").write_bytes(packed)
    async with Gate(folder) as gate, httpx.AsyncClient(base_url=gate.address) as client:
        by_name = await client.get("/a.js.gz")
        assert (by_name.headers["content-encoding"], by_name.text) == ("gzip", "let a = 1;")
        assert by_name.headers["content-type"] == "text/javascript; charset=utf-8"
        stand_in = await client.get("/a.js?v=2", headers={"Accept-Encoding": "gzip, br"})
        assert (stand_in.headers["content-encoding"], stand_in.text) == ("gzip", "let a = 1;")
        assert (await client.get("/a.js", headers={"Accept-Encoding": "identity"})).status_code == 404
        assert (await client.get("/b.js", headers={"Accept-Encoding": "gzip"})).text == "plain"
        brotli = await raw(gate, b"GET /game.wasm.br HTTP/1.1\r\n\r\n")
        assert b"Content-Encoding: br\r\n" in brotli
        assert b"Content-Type: application/wasm\r\n" in brotli


async def test_ranges_heads_and_what_is_not_there(folder):
    (folder / "a.mp3").write_bytes(bytes(range(100)))
    async with Gate(folder) as gate, httpx.AsyncClient(base_url=gate.address) as client:
        part = await client.get("/a.mp3", headers={"Range": "bytes=10-19"})
        assert (part.status_code, part.content, part.headers["content-range"]) == (
            206,
            bytes(range(10, 20)),
            "bytes 10-19/100",
        )
        assert (await client.get("/a.mp3", headers={"Range": "bytes=90-"})).content == bytes(range(90, 100))
        assert (await client.get("/a.mp3", headers={"Range": "bytes=-5"})).content == bytes(range(95, 100))
        assert (await client.get("/a.mp3", headers={"Range": "bytes=50-500"})).content == bytes(range(50, 100))
        late = await client.get("/a.mp3", headers={"Range": "bytes=200-"})
        assert (late.status_code, late.headers["content-range"]) == (416, "bytes */100")
        for odd in ("bytes=", "bytes=a-b", "bytes=1-2,5-6", "items=1-2", "bytes=--5", "bytes=9-3"):
            assert (await client.get("/a.mp3", headers={"Range": odd})).status_code in (200, 416)
        head = await client.head("/a.mp3")
        assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "100")
        assert (await client.get("/favicon.ico")).status_code == 204
        assert (await client.get("/none.png")).status_code == 404
        assert (await client.post("/a.mp3", content=b"x")).status_code == 405


async def test_many_at_once_and_nonsense_in_between(folder):
    (folder / "big.bin").write_bytes(b"0123456789" * 300_000)
    async with Gate(folder) as gate:
        nonsense = [
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"\r\n\r\n", b"", b"GET / HTTP/1.1",
            b"GET http://[::1 HTTP/1.1\r\n\r\n", b"CONNECT nowhere HTTP/1.1\r\n\r\n", b"CONNECT x:99999999 HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000 + b"\r\n", b"A" * 200_000, b"\x00" * 100, b"GET http:// HTTP/1.1\r\n\r\n",
            b"GET http://x:port/ HTTP/1.1\r\n\r\n", "GET /猫 HTTP/1.1\r\n\r\n".encode(),
        ]  # fmt: skip

        async def fetch() -> int:
            async with httpx.AsyncClient(base_url=gate.address) as client:
                return len((await client.get("/big.bin")).content)

        async def speak(data: bytes) -> None:
            try:
                await raw(gate, data)
            except OSError:
                pass  # it hung up on us, as it should

        sizes = await asyncio.gather(*(fetch() for _ in range(20)), *(speak(data) for data in nonsense))
        assert sizes[:20] == [3_000_000] * 20
        assert (await raw(gate, b"GET / HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 200")
        assert not any("127.0.0.1" in host for host in gate.refused)


@pytest.mark.parametrize("url", ["ftp://x/", "http://", "http://[::1", "http://x:port/", "javascript:1", ""])
def test_an_origin_is_that_of_an_http_page(url):
    with pytest.raises(UsageError) as caught:
        origin_of(url)
    assert caught.value.hint


def test_origins():
    assert origin_of("http://Games.Example/x") == ("games.example", 80)
    assert origin_of("https://games.example") == ("games.example", 443)
    assert origin_of("http://[::1]:8080/") == ("::1", 8080)


# -- games elsewhere -------------------------------------------------------------------------------------------


async def remote_game(reader, writer, other: int) -> None:
    request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    path = request.split(" ")[1]
    status, extra, kind = "200 OK", "", "text/html; charset=utf-8"
    if path == "/game":
        status, extra, body = "302 Found", "Location: /game/\r\n", ""
    elif path == "/game/":
        body = f"""<h1>from afar</h1><script>window.got = [];
          fetch('/game/data').then((r) => r.json()).then((d) => got.push(d.n));
          fetch('http://127.0.0.1:{other}/other').then((r) => got.push('out ' + r.status)).catch(() => got.push('refused'));
          const socket = new WebSocket('ws://' + location.host + '/socket');
          socket.onopen = () => got.push('socket open');
          </script>"""
    elif path == "/game/data":
        kind, body = "application/json", json.dumps({"n": 7})
    elif path == "/socket":
        import base64
        import hashlib

        key = next(
            line.split(": ")[1] for line in request.split("\r\n") if line.lower().startswith("sec-websocket-key")
        )
        accept = base64.b64encode(
            hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        ).decode()
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        )
        await reader.read()
        writer.close()
        return
    else:
        status, body = "404 Not Found", ""
    data = body.encode()
    writer.write(
        f"HTTP/1.1 {status}\r\n{extra}Content-Type: {kind}\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode()
        + data
    )
    await writer.drain()
    writer.close()


async def test_a_game_of_another_server_is_played_through_the_gate_and_only_it():
    async with canary() as (bird, other):
        server = await asyncio.start_server(lambda r, w: remote_game(r, w, other), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, playing_url(f"http://127.0.0.1:{port}/game", Origin("127.0.0.1", port)) as game:
            await game.perform(Wait(ms=1000))
            assert sorted(map(str, await js(game, "got"))) == ["7", "refused", "socket open"]
            assert [text.text for text in await game.texts()] == ["from afar"]
            told = {f.kind: f.detail.get("host") for f in game.drain_faults() if f.kind != "no_viewport_meta"}
            there = f"127.0.0.1:{other}"
            assert told == {"unreachable_dependency": there, "blocked_request": there}, (
                "a redirect at the start is no fault"
            )
        assert bird.heard == []


@pytest.mark.parametrize("path", ["/none", "/gone"])
async def test_no_page_at_the_address_is_the_callers_to_put_right(path):
    server = await asyncio.start_server(lambda r, w: remote_game(r, w, 1), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        if path == "/gone":
            server.close()
        with pytest.raises(UsageError) as caught:
            async with playing_url(f"http://127.0.0.1:{port}{path}", Origin("127.0.0.1", port)):
                pass
        assert "--game" in caught.value.hint


async def test_the_page_is_isolated_so_that_engines_with_threads_run():
    async with playing("echo") as game:
        assert await js(game, "crossOriginIsolated && new SharedArrayBuffer(8).byteLength") == 8


def test_resolving_needs_no_trailing_slash(folder):
    assert resolve(folder, "/") == folder / "index.html"
    assert answer(folder, "GET", "/index.html?x#y", {}).status == 200
