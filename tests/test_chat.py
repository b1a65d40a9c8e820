"""Chat: messages on the wire, and the one JSON object in what a model wrote."""

import base64
import contextlib
import io
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from playtest.chat import Message, Picture, from_wire, media_type, size_of, to_wire, usage_in
from playtest.errors import ReplyRefused
from playtest.protocol.coordinates import CoordinateSpace
from playtest.protocol.reply import parse_reply
from playtest.protocol.usage import Usage
from playtest.reply_text import extract_json, strip_thinking

TAP = {"code": "K7Q4", "seen": "a menu", "action": {"type": "tap", "x": 500, "y": 700}}
OTHER = {"code": "K7Q4", "seen": "a menu", "action": {"type": "tap", "x": 100, "y": 100}}
TEXT = json.dumps(TAP)


def encoded(image_format: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(buffer, image_format)
    return buffer.getvalue()


class TestWire:
    @pytest.mark.parametrize("name", ["PNG", "JPEG", "WEBP", "GIF"])
    def test_the_media_type_is_read_from_the_bytes(self, name):
        assert media_type(encoded(name)) == f"image/{name.lower()}"

    def test_what_is_no_picture_is_refused(self):
        with pytest.raises(ValueError, match="not a PNG"):
            media_type(b"<svg/>")

    def test_a_text_message_is_a_string_and_a_picture_is_a_data_url(self):
        data = encoded("PNG")
        system, user = to_wire(
            [Message("system", ("be brief",)), Message("user", ("look", Picture(data, 4, 4)))], "default"
        )
        assert system == {"role": "system", "content": "be brief"}
        text, picture = user["content"]
        assert text == {"type": "text", "text": "look"}
        assert picture["image_url"]["detail"] == "default"
        head, _, body = picture["image_url"]["url"].partition(",")
        assert head == "data:image/png;base64"
        assert base64.b64decode(body) == data

    def test_no_detail_is_left_out(self):
        (message,) = to_wire([Message("user", (Picture(encoded("PNG"), 4, 4),))])
        assert set(message["content"][0]["image_url"]) == {"url"}

    def test_the_size_bounds_hold_for_a_known_text(self):
        size = size_of([Message("user", ("The quick brown fox jumps over the lazy dog.",))])
        assert size.least_text_tokens <= 10 <= size.most_text_tokens
        size = size_of([Message("user", ("敏捷的棕色狐狸跳过了懒狗。",))])
        assert size.least_text_tokens <= 8 <= size.most_text_tokens

    def test_a_pictures_bytes_stay_out_of_its_repr(self):
        assert "PNG" not in repr(Picture(encoded("PNG"), 4, 4))


class TestAnswer:
    def test_text_finish_and_usage(self):
        body = {
            "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
        }
        usage = Usage(requests=1, prompt_tokens=10, cached_tokens=4, completion_tokens=2)
        assert from_wire(body) == ("hi", "stop", usage)

    @pytest.mark.parametrize("content", [None, "", []])
    def test_no_content_is_an_empty_text(self, content):
        assert from_wire({"choices": [{"message": {"content": content}}]}).text == ""

    def test_content_in_parts_is_joined(self):
        parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
        assert from_wire({"choices": [{"message": {"content": parts}}]}).text == "ab"

    @pytest.mark.parametrize("body", [None, [], "x", {}, {"choices": None}, {"choices": []}, {"choices": [{}]}])
    def test_anything_else_is_no_answer(self, body):
        with pytest.raises(ValueError, match="choices"):
            from_wire(body)

    @pytest.mark.parametrize("usage", [None, {}, {"total_tokens": 9}, {"prompt_tokens": None}, 3])
    def test_usage_that_says_nothing_is_unknown_and_not_zero(self, usage):
        assert usage_in({"usage": usage}) is None

    @pytest.mark.parametrize("details", [None, 3, {}, {"cached_tokens": None}, {"cached_tokens": -1}])
    def test_odd_details_cost_only_themselves(self, details):
        usage = usage_in({"usage": {"prompt_tokens": 7, "completion_tokens": "x", "prompt_tokens_details": details}})
        assert usage == Usage(requests=1, prompt_tokens=7)


class TestThinking:
    @pytest.mark.parametrize("tag", ["think", "mm:think", "thinking", "THINK"])
    def test_a_closed_block_goes(self, tag):
        assert strip_thinking(f"<{tag}>hm {json.dumps(OTHER)}</{tag}>\n{TEXT}") == TEXT

    def test_several_blocks_go(self):
        assert strip_thinking(f"<think>a</think>x<think>b</think>{TEXT}") == f"x{TEXT}"

    def test_a_closing_tag_alone_ends_thinking_that_began_before(self):
        assert strip_thinking(f'draft {{"action": 1}} and {{"x": </think>{TEXT}') == TEXT

    def test_an_unclosed_block_keeps_only_an_object_at_the_very_end(self):
        assert strip_thinking(f"<think>perhaps {json.dumps(OTHER)}? no: {TEXT}\n") == TEXT
        assert strip_thinking(f"<think>hm\n```json\n{TEXT}\n```") == f"```json\n{TEXT}\n```"

    def test_an_object_followed_by_more_thought_was_a_draft(self):
        assert strip_thinking(f"<think>perhaps {TEXT} but then again") == ""

    def test_what_stood_before_an_unclosed_block_stays(self):
        assert strip_thinking(f"{TEXT}<think>was that right") == TEXT

    def test_tags_on_the_games_screen_are_no_thinking(self):
        reply = json.dumps({**TAP, "seen": "a sign says <think> and </think>"})
        assert strip_thinking(f"Here: {reply}") == f"Here: {reply}"

    @given(st.text(alphabet='<>/{}"thinkm: a\\`', max_size=80))
    @settings(max_examples=300, deadline=None)
    def test_it_ends_on_any_text_and_a_second_time_changes_nothing_of_plain_text(self, text):
        result = strip_thinking(text)
        assert len(result) <= len(text)


class TestExtract:
    @pytest.mark.parametrize(
        "text",
        [
            TEXT,
            f"  {TEXT}\n",
            f"```json\n{TEXT}\n```",
            f"```\n{TEXT}\n```",
            f"I'll tap it.\n{TEXT}\nThat should work {{really}}.",
            f"<think>first {json.dumps(OTHER)}</think>{TEXT}",
            f"<mm:think>no end {TEXT}",
            f"{TEXT}\n\n{TEXT}",
            f"The old way {json.dumps(OTHER)}\n```json\n{TEXT}\n```",
            f'{{"note": "a thing of mine"}} {TEXT}',
            "{'code': 'K7Q4', 'seen': 'a menu', 'action': {'type': 'tap', 'x': 500, 'y': 700,},}",
            '{code: "K7Q4", seen: "a menu", action: {type: "tap", x: 500, y: 700}}',
            '{"code": "K7Q4", "seen": "a menu", // see\n "action": {"type": "tap", "x": 500, "y": 700}}',
        ],
        ids=[
            "plain", "padded", "fence", "bare fence", "prose", "draft in thinking", "unclosed thinking", "said twice",
            "fence beats prose", "other object", "single quotes and trailing commas", "bare keys", "comment",
        ],
    )  # fmt: skip
    def test_the_one_object_is_found(self, text):
        assert extract_json(text) == TAP

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "no JSON object"),
            ("I'm sorry, I can't help with that.", "no JSON object"),
            ("<think>I should tap", "no JSON object"),
            (TEXT[:-1], "cut off"),
            (TEXT[:-3], "cut off"),
            (TEXT[: TEXT.index("500") + 2], "cut off"),
            (f"```json\n{TEXT[:30]}", "cut off"),
            (f"{TEXT}\nor rather {json.dumps(OTHER)[:40]}", "cut off"),
            (TEXT + json.dumps(OTHER), "2 different"),
            (f"```json\n{TEXT}\n```\n```json\n{json.dumps(OTHER)}\n```", "2 different"),
            (f"[{TEXT}, {json.dumps(OTHER)}]", "a list"),
            (f"```json\n[{TEXT}]\n```", "a list"),
            ('[{"type": "tap", "x": 1, "y": 2}]', "a list"),
            ('{"action": {"type": "tap", "x": 19 5, "y": 3}, }', "'19 5' is not a number"),
            ('{"action": {"type": "tap", "x": 1e, "y": 3}}', "'1e' is not a number"),
            ('{"action": {"type": "tap", "x": 1.2.3, "y": 3}}', "not a number"),
            ('{"action": {"type": "tap", "x": 1, "x": 2, "y": 3}}', "'x' stands twice"),
        ],
    )
    def test_what_is_ambiguous_or_damaged_is_refused(self, text, problem):
        with pytest.raises(ReplyRefused) as caught:
            extract_json(text)
        assert problem in caught.value.message
        assert caught.value.raw == strip_thinking(text) or caught.value.raw in text or "stands twice" in problem

    def test_no_prefix_of_a_reply_is_ever_completed(self):
        for end in range(len(TEXT)):
            with pytest.raises(ReplyRefused):
                extract_json(TEXT[:end])

    def test_the_refusal_quotes_a_bounded_part_of_the_reply(self):
        with pytest.raises(ReplyRefused) as caught:
            extract_json("word " * 50_000)
        assert "word word" in caught.value.message
        assert len(caught.value.message) < 300
        assert len(caught.value.raw) <= 20_000

    def test_braces_and_fences_in_strings_are_text(self):
        reply = {**TAP, "seen": 'a } b { ``` "quoted" \\'}
        assert extract_json(f"so: {json.dumps(reply)} ok") == reply

    def test_nan_is_refused_by_name_later(self):
        data = extract_json('{"code": "A", "action": {"type": "tap", "x": NaN, "y": 3}}')
        with pytest.raises(ReplyRefused, match=r"not a number|finite"):
            parse_reply(data, CoordinateSpace.NORM1000)

    def test_a_missing_value_is_never_made_up(self):
        data = extract_json('{"code": "A", "action": {"type": "tap", "x": , "y": 3}}')
        with pytest.raises(ReplyRefused):
            parse_reply(data, CoordinateSpace.NORM1000)

    @pytest.mark.parametrize(
        "text",
        [
            "word { " * 15_000,
            '{"a": ' * 20_000,
            '{"a": ' * 20_000 + "1" + "}" * 20_000,
            "{" * 100_000,
            '{"' * 50_000,
            '"' * 100_000,
            "<think>" * 15_000,
            "</think>" * 12_000,
            "<think></think>" * 7_000,
            '{"a": 1} ' * 11_000 + '{"a": 2}',
            "{'a': " + "x, " * 33_000 + "}",
            "```json\n" * 12_000,
            '{"a <think>' * 9_000,
        ],
        ids=range(13),
    )
    def test_100_kb_of_nonsense_is_refused_quickly(self, text):
        started = time.perf_counter()
        with pytest.raises(ReplyRefused):
            extract_json(text)
        assert time.perf_counter() - started < 2

    def test_an_object_after_100_kb_of_prose_is_found(self):
        assert extract_json("well, " * 17_000 + TEXT) == TAP

    @given(st.text(max_size=200))
    @settings(max_examples=300, deadline=None)
    def test_any_text_gives_an_object_or_a_refusal(self, text):
        with contextlib.suppress(ReplyRefused):
            assert isinstance(extract_json(text), dict)

    @given(
        st.dictionaries(st.text(max_size=8), st.one_of(st.text(max_size=30), st.integers(), st.none()), max_size=5),
        st.text(alphabet="abc .,'\n", max_size=30),
    )
    @settings(deadline=None)
    def test_a_valid_object_in_prose_comes_back_unchanged(self, extra, words):
        reply = {"action": {"type": "wait", "ms": 100}, **extra, "seen": words}
        assert extract_json(f"{words} {json.dumps(reply)} {words}") == reply
