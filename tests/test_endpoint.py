"""The strict endpoint refuses what the API would, so no bug of the client's can hide behind it."""

import base64
import io
import socket

import httpx
import pytest
from PIL import Image

from tests.conftest_guard import loopback_only  # noqa: F401 - an autouse fixture
from tests.endpoint import KEY, StrictEndpoint, closed_address

SYSTEM = {"role": "system", "content": "You test games."}
USER = {"role": "user", "content": "Look."}
ASSISTANT = {"role": "assistant", "content": "A menu."}


def data_url(width: int = 390, height: int = 872, image_format: str = "PNG", spot: str = "yellow") -> str:
    image = Image.new("RGB", (width, height), "navy")
    image.paste(spot, (0, 0, width // 2, height // 2))
    buffer = io.BytesIO()
    image.save(buffer, image_format)
    return f"data:image/{image_format.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def showing(*urls: object, detail: str = "default") -> list[dict]:
    pictures = [{"type": "image_url", "image_url": {"url": url, "detail": detail}} for url in urls]
    return [SYSTEM, {"role": "user", "content": [{"type": "text", "text": "Look."}, *pictures]}]


@pytest.fixture
def server():
    with StrictEndpoint(lambda request: "seen" if request.picture else "blind") as endpoint:
        yield endpoint


@pytest.fixture
async def post(server):
    async with httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {KEY}"}) as client:

        async def send(messages: list | None = None, **fields) -> httpx.Response:
            body = {"model": "MiniMax-M3", "messages": [SYSTEM, USER] if messages is None else messages, **fields}
            return await client.post(server.base_url + "/chat/completions", json=body)

        yield send


def refused(response: httpx.Response) -> str:
    error = response.json()["error"]
    assert (response.status_code, error["http_code"]) == (400, "400")
    assert error["message"].endswith("(2013)")
    return error["message"]


async def test_a_good_request_is_answered(post):
    answer = await post(temperature=0, thinking={"type": "adaptive"}, max_completion_tokens=10, reasoning_split=True)
    assert answer.status_code == 200
    assert answer.json()["choices"][0]["message"]["content"] == "blind"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": "minimax-m3"}, "model"),
        ({"temperature": 2.5}, "temperature"),
        ({"temperature": "0.1"}, "temperature"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"thinking": {"type": "enabled"}}, "thinking"),
        ({"stream": True}, "stream"),
        ({"max_completion_tokens": 0}, "max_completion_tokens"),
        ({"messages": []}, "messages"),
        ({"messages": [USER]}, "system"),
        ({"messages": [SYSTEM, SYSTEM, USER]}, "system"),
        ({"messages": [SYSTEM, USER, USER]}, "roles"),
        ({"messages": [SYSTEM, ASSISTANT, USER]}, "roles"),
        ({"messages": [SYSTEM, USER, ASSISTANT]}, "roles"),
        ({"messages": [SYSTEM, {"role": "user", "content": " "}]}, "empty"),
        ({"messages": [SYSTEM, {"role": "user", "content": [{"type": "text", "text": ""}]}]}, "empty"),
    ],
)
async def test_bad_fields_and_messages(post, server, fields, words):
    assert words in refused(await post(**fields))
    assert server.requests == []
    assert len(server.rejections) == 1


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a.png",
        "data:image/png;base64,AAAA",
        "data:image/png;base64,!!",
        "data:image/bmp;base64,AAAA",
        data_url(image_format="PNG").replace("image/png", "image/jpeg"),
        None,
    ],
    ids=["remote", "no picture", "no base64", "unknown type", "another type", "nothing"],
)
async def test_bad_pictures(post, url):
    refused(await post(showing(url)))


async def test_pictures_belong_to_the_user(post):
    picture = {"type": "image_url", "image_url": {"url": data_url()}}
    refused(await post([{"role": "system", "content": [picture]}, USER]))


async def test_there_is_no_detail_auto(post):
    assert "detail" in refused(await post(showing(data_url(), detail="auto")))


async def test_ten_pictures_are_taken_and_eleven_are_not(post):
    assert (await post(showing(*[data_url(56, 56)] * 10))).status_code == 200
    assert "11 pictures" in refused(await post(showing(*[data_url(56, 56)] * 11)))


async def test_five_megabytes_are_the_limit(post):
    head, _, body = data_url().partition(",")
    big = base64.b64encode(base64.b64decode(body) + bytes(5_000_000)).decode()
    assert "size" in refused(await post(showing(f"{head},{big}")))


@pytest.mark.parametrize("image_format", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_picture_arrives_and_takes_its_tokens(post, image_format):
    without = (await post()).json()["usage"]["prompt_tokens"]
    answer = (await post(showing(data_url(image_format=image_format)))).json()
    assert answer["choices"][0]["message"]["content"] == "seen"
    assert answer["usage"]["prompt_tokens"] - without == 14 * 31


async def test_a_solid_picture_is_dropped_silently(post):
    without = (await post()).json()["usage"]["prompt_tokens"]
    answer = (await post(showing(data_url(spot="navy")))).json()
    assert answer["choices"][0]["message"]["content"] == "blind"
    assert answer["usage"]["prompt_tokens"] == without


async def test_only_an_unchanged_prefix_is_cached(post):
    long = {"role": "system", "content": "word " * 1000}
    first = (await post([long, USER])).json()["usage"]
    second = (await post([long, USER, ASSISTANT, USER])).json()["usage"]
    other = (await post([{**long, "content": "x" + long["content"]}, USER])).json()["usage"]
    cached = [usage["prompt_tokens_details"]["cached_tokens"] for usage in (first, second, other)]
    assert cached == [0, first["prompt_tokens"], 0]


async def test_another_key_is_refused(server):
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(server.base_url + "/chat/completions", json={"model": "MiniMax-M3"})
    assert answer.status_code == 401
    assert answer.json()["error"]["message"].endswith("(1004)")


async def test_no_test_can_reach_the_world():
    async with httpx.AsyncClient(trust_env=False) as client:
        with pytest.raises(AssertionError, match=r"api\.minimax\.io"):
            await client.get("https://api.minimax.io/v1/models")


def test_a_closed_address_refuses():
    host, port = closed_address().removeprefix("http://").removesuffix("/v1").split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=1)
