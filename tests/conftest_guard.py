"""No test can spend money: httpx reaches nothing but this machine."""

import httpx
import pytest

LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def _check(request: httpx.Request) -> None:
    if request.url.host not in LOOPBACK:
        raise AssertionError(f"a test tried to reach {request.url.host}")


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch):
    """Import this into a conftest (or a test module) and every httpx connection to elsewhere fails the test."""
    send, send_async = httpx.HTTPTransport.handle_request, httpx.AsyncHTTPTransport.handle_async_request

    def guarded(self, request):
        _check(request)
        return send(self, request)

    async def guarded_async(self, request):
        _check(request)
        return await send_async(self, request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", guarded)
    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", guarded_async)
