"""Texts made fit to show."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playtest.texts import Kept, duration, figure, reveal, sanitize, share, whole

ANY_TEXT = st.text(st.characters(codec=None), max_size=300)


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("Start 开始 👩‍🚀", "Start 开始 👩‍🚀"),
        ("a\nroll 1  step 2/14  fake\r\n\tb", "a roll 1 step 2/14 fake b"),
        ("\x1b[31mred\x1b[0m \x1b[2J\x1b[1;1Hgone", "red gone"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07a\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("\x1bPdevice\x1b\\a\x1b(B\x1bcb", "ab"),
        ("\x1b]0;never ended, but not swallowed", "]0;never ended, but not swallowed"),
        ("nul\x00 bell\x07 del\x7f", "nul bell del"),
        ("\u202egnp.exe\u2066 \u200fx\u061c", "gnp.exe x"),
        ("\ud800lone", "lone"),
        ("zero\u200bwidth\ufeff\u00ad", "zerowidth"),
        ("tag\U000e0041s", "tags"),
        ("[bold red]not markup[/]", "[bold red]not markup[/]"),
        ("z" + "\u0301" * 500, "z" + "\u0301" * 4),
    ],
)
def test_a_terminal_gets_one_plain_line(given_text: str, shown: str) -> None:
    assert sanitize(given_text, 100) == shown


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("a\r\nb\tc", "a\nb\tc"),
        ("\x1b[31mred\x00\x7f\r", "⟨ESC⟩[31mred⟨NUL⟩⟨DEL⟩⟨CR⟩"),
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
        ("\ud83d alone", "⟨U+D83D⟩ alone"),
        ("\u2028\x85\ufeff", "⟨U+2028⟩⟨U+0085⟩⟨U+FEFF⟩"),
        ("<script>", "<script>"),
    ],
)
def test_a_page_names_what_is_hidden(given_text: str, shown: str) -> None:
    assert reveal(given_text, 100) == (shown, 0)


def test_what_is_left_out_is_counted() -> None:
    assert sanitize("a" * 1_000_000, 20) == "a" * 20 + "… (+999980 characters)"
    assert reveal("a" * 1_000_000, 20) == ("a" * 20, 999_980)
    assert reveal("\u202e" * 1_000, 20) == ("⟨U+202E⟩" * 2, 998)


@given(ANY_TEXT, st.integers(1, 50))
def test_nothing_hidden_is_left_and_nothing_is_endless(text: str, limit: int) -> None:
    line = sanitize(text, limit)
    page, left_out = reveal(text, limit)
    assert len(line) <= limit + len(f"… (+{len(text)} characters)")
    assert len(page) <= limit
    assert 0 <= left_out <= len(text)
    assert "\n" not in line
    for shown in (line, page):
        shown.encode("utf-8")
        assert not {"Cc", "Cs"} & {unicodedata.category(c) for c in shown if c not in "\n\t"}
        assert not {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"} & set(
            map(unicodedata.bidirectional, shown)
        )


@pytest.mark.parametrize(
    "piece", ["\x1b]", "\x1b[1;", "\x9d", "\x1b[ ", "\x1b ", "\u0301", "\x9b0", "\x1bP\x9d", " \n"]
)
def test_hostile_megabytes_take_no_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.perf_counter()
    sanitize(text, 100)
    reveal(text, 100)
    assert time.perf_counter() - start < 5


def test_lone_surrogates_are_spelled_out() -> None:
    assert whole("a\ud800b") == "a\\ud800b"
    assert whole("茶🍵") == "茶🍵"


def test_the_middle_is_counted_and_not_kept() -> None:
    kept = Kept.of(iter(range(100_000)), head=3, tail=2)
    assert (kept.head, kept.left_out, kept.tail) == ((0, 1, 2), 99_995, (99_998, 99_999))
    assert list(Kept.of([1, 2], head=3, tail=2)) == [1, 2]
    assert Kept.of([1, 2, 3, 4], head=3, tail=2) == Kept((1, 2, 3), 0, (4,))


def test_figures_for_people() -> None:
    assert [duration(ms) for ms in (66.7, 1000, 59_940, 59_960, 185_000, None, float("nan"))] == [
        *("0.07 s", "1.0 s", "59.9 s", "1 min 00 s", "3 min 05 s", "unknown", "unknown")
    ]
    assert [share(part) for part in (0, 0.0004, 0.014, 0.12, 1)] == ["0%", "under 0.1%", "1.4%", "12%", "100%"]
    assert (figure(1_234_567), figure(float("inf"))) == ("1,234,567", "unknown")
