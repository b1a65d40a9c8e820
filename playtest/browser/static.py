"""A local game's folder as HTTP answers: right types and encodings, no listing, no way out of the folder."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

# What engines ship and Python's own table lacks or knows by another name on some systems.
TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
    ".ogg": "audio/ogg",
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
    ".wav": "audio/wav",
    ".glb": "model/gltf-binary",
    ".gltf": "model/gltf+json",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".ttf": "font/ttf",
}
ENCODINGS = {".br": "br", ".gz": "gzip"}
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Accept-Ranges": "bytes",
}


class Answer(NamedTuple):
    """One HTTP answer."""

    status: int
    headers: dict[str, str]
    body: bytes


def content_type(name: str, body: bytes = b"") -> str:
    """The MIME type of a file name. Text that isn't UTF-8 is left to say itself what it is."""
    suffix = Path(name).suffix.lower()
    kind = TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") and _is_utf8(body) else kind


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def resolve(folder: Path, target: str) -> Path | None:
    """The file that a request path names, or None where there is none inside the folder (links included)."""
    found = _inside(folder, target)
    try:
        if found is not None and found.is_dir():
            found = _inside(folder, f"{_path_of(target)}/index.html")
        return found if found is not None and found.is_file() else None
    except OSError:  # a name too long for the file system
        return None


def _path_of(target: str) -> str:
    return target.split("?", 1)[0].split("#", 1)[0]


def _inside(folder: Path, target: str) -> Path | None:
    """The place inside the folder that a request path names, whether or not there is anything."""
    path = unquote(_path_of(target))
    if "\0" in path:
        return None
    root = folder.resolve()
    try:
        found = (root / path.lstrip("/")).resolve()
    except (OSError, RuntimeError):  # a link that leads to itself
        return None
    return found if found == root or root in found.parents else None


def answer(folder: Path, method: str, target: str, headers: dict[str, str]) -> Answer:
    """The answer to one request for a game's file."""
    if method not in ("GET", "HEAD"):
        return Answer(405, {"Allow": "GET, HEAD"}, b"")
    path, _, query = target.partition("?")
    if not path.endswith("/") and (named := _inside(folder, target)) is not None and _is_folder(named):
        location = f"/{path.lstrip('/')}/" + (f"?{query}" if query else "")
        return Answer(301, {**HEADERS, "Location": location}, b"")
    file, encoding = _find(folder, target, headers.get("accept-encoding", ""))
    if file is None:
        if path == "/favicon.ico":  # asked for by the browser, not by the game
            return Answer(204, dict(HEADERS), b"")
        return Answer(404, {**HEADERS, "Content-Type": "text/plain; charset=utf-8"}, b"not found")
    body = file.read_bytes()
    name = file.name.removesuffix(file.suffix) if encoding else file.name
    out = {**HEADERS, "Content-Type": content_type(name, b"" if encoding else body)}
    if encoding:
        out["Content-Encoding"] = encoding
    status, body, ranged = (200, body, None) if encoding else _ranged(body, headers.get("range", ""))
    if ranged:
        out["Content-Range"] = ranged
    return Answer(status, out, body)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _find(folder: Path, target: str, accepted: str) -> tuple[Path | None, str]:
    """The file, and its content encoding: `x.js.br` asked for by name, or standing in for an absent `x.js`."""
    file = resolve(folder, target)
    if file is not None:
        return file, ENCODINGS.get(file.suffix.lower(), "") if len(file.suffixes) > 1 else ""
    for suffix, encoding in ENCODINGS.items():
        if encoding in accepted:
            packed = resolve(folder, target.split("?", 1)[0] + suffix)
            if packed is not None:
                return packed, encoding
    return None, ""


def _ranged(body: bytes, wanted: str) -> tuple[int, bytes, str | None]:
    """A single byte range, as media elements ask for; anything else gets the whole file."""
    unit, _, span = wanted.partition("=")
    first, dash, last = span.partition("-")
    if unit != "bytes" or not dash or "," in span or not (first or last):
        return 200, body, None
    if not (first or "0").isdecimal() or not (last or "0").isdecimal():
        return 200, body, None
    size = len(body)
    start = int(first) if first else max(0, size - int(last))
    stop = min(int(last) + 1, size) if first and last else size
    if start >= stop:
        return 416, b"", f"bytes */{size}"
    return 206, body[start:stop], f"bytes {start}-{stop - 1}/{size}"
