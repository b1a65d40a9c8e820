"""The explorer reads labels, leaked values and numbers from texts alone."""

import pytest

from playtest.exploring.labels import LabelKind, ending, hints, named_keys, read_label
from playtest.exploring.leaks import leaked, leaks
from playtest.exploring.readings import Counters, Role, read_numbers
from playtest.ports import VisibleText


def text(words: str, x: float = 20, y: float = 20, tappable: bool = False) -> VisibleText:
    return VisibleText(words, (x, y, 14.0 * len(words), 20), "canvas", tappable)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("开始", LabelKind.START),
        ("开始营业", LabelKind.START),
        ("开始游戏", LabelKind.START),
        ("PLAY", LabelKind.START),
        ("▶ Start", LabelKind.START),
        ("Tap to start", LabelKind.START),
        ("点击屏幕开始", LabelKind.START),
        ("Press any key to continue", LabelKind.NEXT),
        ("继续", LabelKind.NEXT),
        ("确定", LabelKind.NEXT),
        ("知道了", LabelKind.NEXT),
        ("Next", LabelKind.NEXT),
        ("下一关", LabelKind.NEXT_LEVEL),
        ("Next level", LabelKind.NEXT_LEVEL),
        ("关闭", LabelKind.CLOSE),
        ("×", LabelKind.CLOSE),
        ("跳过", LabelKind.CLOSE),
        ("Skip", LabelKind.CLOSE),
        ("再来一局", LabelKind.RETRY),
        ("Try again", LabelKind.RETRY),
        ("Tap to retry", LabelKind.RETRY),
        ("返回菜单", LabelKind.BACK),
        ("Settings", LabelKind.SIDE),
        ("玩法说明", LabelKind.SIDE),
        ("选择关卡", LabelKind.SIDE),
    ],
)
def test_a_label_says_what_it_offers(words, kind):
    label = read_label(words)
    assert label is not None
    assert label.kind is kind


@pytest.mark.parametrize(
    "words",
    [
        "得分 7 / 35",
        "先点茶，再点想喝它的客人",
        "红茶",
        "Gold",
        "Goblin",
        "Placebo",
        "bananas",
        "",
        "  ",
        "每关赚够 35 分，别让客人等",
    ],
)
def test_other_words_are_no_labels(words):
    assert read_label(words) is None


def test_the_exact_label_fits_better_than_one_inside_other_words():
    exact, inside = read_label("开始游戏"), read_label("快速开始吧")
    assert exact is not None
    assert inside is not None
    assert exact.fit > inside.fit


@pytest.mark.parametrize(
    ("words", "kind"),
    [("Game over", "lose"), ("You win!", "win"), ("第 1 关 完成", "win"), ("游戏结束", "lose"), ("剧终", "end")],
)
def test_words_of_an_end(words, kind):
    assert ending(words) == kind


@pytest.mark.parametrize(
    "words", ["得分 7", "红茶", "完成目标，收集五颗星，就能获得胜利，加油", "点击相连的同色花砖，凑够分数过关"]
)
def test_other_words_are_no_end(words):
    assert ending(words) is None


def test_hints_and_keys_named_in_texts():
    assert "drag" in hints("把水果拖进篮子")
    assert "swipe" in hints("Swipe to join the tiles")
    assert named_keys("Press Space to start") == ("Space",)
    assert named_keys("按方向键移动") == ("Arrow",)
    assert named_keys("Space Invaders") == ()


@pytest.mark.parametrize(
    "words",
    [
        "undefined",
        "NaN",
        "得分NaN",
        "得分 undefined",
        "8undefined",
        "NaN%",
        "Score: NaN",
        "Score undefined",
        "[object Object]",
        "金币：[object Object]",
        "undefined/35",
        "$NaN",
        "Score: undefined points",
        "生命 undefined 点",
    ],
)
def test_a_leaked_value_is_seen(words):
    assert leaked(words)


@pytest.mark.parametrize(
    "words",
    [
        "banana",
        "BaNaNa",
        "Nan",
        "nan",
        "NANCY",
        "undefined behavior quiz",
        "The value is undefined here",
        "What does undefined mean?",
        "isNaN",
        "undefinedness",
        "an object lesson",
        "奶奶 Nan Li",
        "returns 'undefined'",
    ],
)
def test_words_that_only_look_like_a_leak(words):
    assert leaked(words) is None


def test_a_quiz_about_the_language_leaks_nothing():
    options = [text("typeof x === ?"), text("undefined", y=60), text("NaN", y=90)]
    assert leaks(options) == []
    assert [value for _, value in leaks([text("Score NaN"), text("Start", y=60)])] == ["NaN"]


def test_numbers_are_read_with_their_role_and_goal():
    numbers = read_numbers(
        [text("第 1 关"), text("得分 7 / 35", y=50), text("流失 1 / 3", y=80), text("时间 0:30", y=110)]
    )
    roles = {reading.text: (reading.role, reading.value, reading.goal) for reading in numbers.values()}
    assert roles["第 1 关"] == (Role.STAGE, 1, None)
    assert roles["得分 7 / 35"] == (Role.SCORE, 7, 35)
    assert roles["流失 1 / 3"] == (Role.HARM, 1, 3)


def test_a_bare_number_takes_the_word_beside_it():
    numbers = read_numbers([text("Score:", x=20), text("1,200", x=120)])
    (reading,) = numbers.values()
    assert (reading.role, reading.value) == (Role.SCORE, 1200)


def test_a_board_full_of_numbers_is_no_counter():
    assert read_numbers([text(str(2**i), x=20 + 80 * (i % 4), y=200 + 80 * (i // 4)) for i in range(1, 9)]) == {}


def test_a_gain_that_floats_by_is_no_counter():
    assert read_numbers([text("+7")]) == {}


def test_a_number_that_moves_in_waits_is_not_counted_for_inputs():
    counters, at = Counters(), lambda value: read_numbers([text(f"Score {value}")])
    assert counters.acted(1, at(0), at(5), "tap")
    counters.waited(at(5), at(10))
    assert counters.acted(2, at(10), at(15), "tap") == []
    assert counters.rises_of(Role.SCORE) == {}


def test_a_number_that_stands_still_in_waits_is():
    counters, at = Counters(), lambda value: read_numbers([text(f"Score {value}")])
    counters.acted(1, at(0), at(5), "tap")
    counters.waited(at(5), at(5))
    counters.acted(3, at(5), at(9), "tap")
    assert [len(rises) for rises in counters.rises_of(Role.SCORE).values()] == [2]


def test_a_clock_is_never_progress():
    counters = Counters()
    assert counters.acted(1, read_numbers([text("时间 5")]), read_numbers([text("时间 6")]), "tap") == []
