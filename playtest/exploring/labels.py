"""What a label on the screen offers, read from its words alone: start, go on, close, try again, go back..."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple


class LabelKind(StrEnum):
    """What a tap on a label is expected to do."""

    START = "start"
    NEXT_LEVEL = "next level"
    NEXT = "next"
    CLOSE = "close"
    RETRY = "retry"
    BACK = "back"
    SIDE = "side"


class Label(NamedTuple):
    """A label's kind and how well its words fit, 0-1."""

    kind: LabelKind
    fit: float


FORWARD = (LabelKind.START, LabelKind.NEXT_LEVEL, LabelKind.NEXT, LabelKind.CLOSE)
MAX_INVITATION = 56

# In the order of precedence; the words of a kind are tried from the longest down.
_WORDS: dict[LabelKind, str] = {
    LabelKind.RETRY: (
        "再来一局|再来一次|再玩一次|再玩一局|再来|重新开始|重新挑战|重新游戏|再试一次|重试|重玩|重开|"
        "重来|再战|复活|play again|try again|retry|restart|replay|again|new game|revive"
    ),
    LabelKind.NEXT_LEVEL: (
        "下一关|下一章|下一回合|下一轮|下一天|下一波|下一站|进入下一关|next level|next stage|next round|"
        "next chapter|next wave|next day"
    ),
    LabelKind.BACK: (
        "返回主菜单|返回菜单|返回首页|回到主页|主菜单|返回|退出|离开|回主页|首页|暂停|main menu|menu|"
        "back|home|quit|exit|pause"
    ),
    LabelKind.SIDE: (
        "设置|音量|音效|音乐|静音|声音|分享|排行榜|排行|成就|帮助|玩法说明|游戏说明|玩法|说明|规则|关于|"
        "反馈|登录|商店|语言|图鉴|选择关卡|settings|options|sound|music|mute|share|leaderboard|ranking|"
        "achievements|help|how to play|rules|about|credits|login|shop|store|language|feedback|"
        "level select"
    ),
    LabelKind.START: (
        "开始游戏|开始营业|开始挑战|开始冒险|开始答题|点击开始|立即开始|马上开始|开始|进入游戏|进入|出发|"
        "启动|开局|营业|开门|挑战|start game|start|play now|play|begin|enter|let's go|go|launch|new run"
    ),
    LabelKind.NEXT: (
        "继续游戏|继续|下一步|下一题|下一页|下一个|下一句|下一位|下一|前进|确定|确认|好的|好|知道了|"
        "我知道了|明白了|收下|领取|同意|接受|提交|continue|next question|next|proceed|resume|ok|okay|"
        "got it|confirm|yes|accept|submit|done|agree"
    ),
    LabelKind.CLOSE: ("关闭|跳过|取消|跳过教程|close|skip|dismiss|no thanks|skip tutorial|cancel"),
}
_RULES = tuple(
    (kind, re.compile("(?:" + "|".join(sorted(words.split("|"), key=lambda w: (-len(w), w))) + ")"))
    for kind, words in _WORDS.items()
)
_SIGNS = {
    "▶": LabelKind.START, "►": LabelKind.START, "▷": LabelKind.START, "×": LabelKind.CLOSE, "✕": LabelKind.CLOSE,
    "✖": LabelKind.CLOSE, "✗": LabelKind.CLOSE, "╳": LabelKind.CLOSE, "x": LabelKind.CLOSE, "X": LabelKind.CLOSE,
    "→": LabelKind.NEXT, "»": LabelKind.NEXT, "›": LabelKind.NEXT, ">": LabelKind.NEXT, "▼": LabelKind.NEXT,
    "▾": LabelKind.NEXT, "←": LabelKind.BACK, "‹": LabelKind.BACK, "<": LabelKind.BACK, "↻": LabelKind.RETRY,
    "🔄": LabelKind.RETRY, "⟳": LabelKind.RETRY,
}  # fmt: skip
_INVITATION = re.compile(
    r"(?:点击|轻触|点按|触摸|轻点|按|\btap|\bclick|\btouch|\bpress).{0,14}?"
    r"(?P<what>开始|继续|进入|重新|再来|start|begin|play|try again|continue|proceed|restart|retry)",
    re.IGNORECASE,
)
_KEYS = (
    ("Space", re.compile(r"空格|\bspace(?:bar)?\b", re.IGNORECASE)),
    ("Enter", re.compile(r"回车|\benter(?: key)?\b(?! the| a )", re.IGNORECASE)),
    ("Arrow", re.compile(r"方向键|箭头键|\barrows?\b", re.IGNORECASE)),
    ("wasd", re.compile(r"\bwasd\b", re.IGNORECASE)),
)
_KEY_TALK = re.compile(r"按|键|\bpress\b|\bkeys?\b|\bhit\b|\buse\b", re.IGNORECASE)
_INVITED_RETRY = ("重新", "再来", "restart", "retry", "try again")
_INVITED_NEXT = ("继续", "continue", "proceed")
_EDGES = re.compile(r"^[^\w×✕✖\u4e00-\u9fff]+|[^\w×✕✖\u4e00-\u9fff]+$")
_CJK = re.compile(r"[\u4e00-\u9fff]")
_SENTENCE = re.compile(r"[，。；？、,;?]|[.!]\s")
_WIN = re.compile(
    r"胜利|通关|过关|恭喜|获胜|赢了|你赢|挑战成功|任务完成|全部完成|闯关成功|大获全胜|圆满|第.{0,4}关.{0,3}完成|"
    r"you win|you won|victory|congratulations|\bwinner\b|level (?:complete|cleared)|stage clear|\bcompleted?!|"
    r"well done",
    re.IGNORECASE,
)
_LOSE = re.compile(
    r"失败|游戏结束|输了|你死了|阵亡|时间到|闯关失败|挑战结束|"
    r"game over|you lose|you lost|you died|defeat|time'?s up|try again",
    re.IGNORECASE,
)
_END = re.compile(
    r"剧终|全剧终|结局|本局结束|已结束|最终得分|本局得分|\bthe end\b|final score|your score|\bresults?\b", re.IGNORECASE
)
_HINTS = {
    "drag": re.compile(r"拖|\bdrag", re.IGNORECASE),
    "swipe": re.compile(r"滑动|划|滑屏|左滑|右滑|上滑|\bswipe|\bslide|\bflick", re.IGNORECASE),
    "key": re.compile(
        r"方向键|键盘|空格|按键|\barrow keys?|\bwasd\b|\bspace(?:bar)?\b|\bkeyboard|\bpress\b", re.IGNORECASE
    ),
    "long_press": re.compile(r"长按|按住|\bhold\b|long[- ]press", re.IGNORECASE),
    "double_tap": re.compile(r"双击|连点两下|double[- ](?:tap|click)", re.IGNORECASE),
}


def read_label(text: str) -> Label | None:
    """What the text offers when tapped; None for sentences and for words that say nothing about the flow."""
    text = text.strip()
    if text in _SIGNS:
        return Label(_SIGNS[text], 0.7)
    plain = _EDGES.sub("", text).lower().strip()
    if not plain or len(plain) > MAX_INVITATION:
        return None
    if invitation := _INVITATION.search(plain):
        return Label(_invited(invitation["what"].lower()), 0.85)
    if _too_long(plain):
        return None
    if _SENTENCE.search(plain):
        return None
    for kind, words in _RULES:
        if words.fullmatch(plain):
            return Label(kind, 1.0)
    for kind, words in _RULES:
        found = words.search(plain)
        if found and _stands_alone(plain, found) and len(plain) - len(found[0]) <= _slack(plain):
            return Label(kind, round(0.4 + 0.4 * len(found[0]) / len(plain), 2))
    return None


def ending(text: str) -> str | None:
    """`win`, `lose` or `end` where the words speak of a game's end, in sentences only where they begin with it."""
    if len(text) > 40 or len(_SENTENCE.findall(text)) > 1:
        return None
    for name, words in (("win", _WIN), ("lose", _LOSE), ("end", _END)):
        found = words.search(text)
        if found and (found.start() < 3 or not _SENTENCE.search(text)):
            return name
    return None


def hints(text: str) -> frozenset[str]:
    """The kinds of input that a text speaks of."""
    return frozenset(kind for kind, words in _HINTS.items() if words.search(text))


def named_keys(text: str) -> tuple[str, ...]:
    """The keys that a text tells to press: `Space`, `Enter`, `Arrow` (any of the four), `wasd`."""
    if not _KEY_TALK.search(text):
        return ()
    return tuple(key for key, words in _KEYS if words.search(text))


def _invited(what: str) -> LabelKind:
    if what in _INVITED_RETRY:
        return LabelKind.RETRY
    return LabelKind.NEXT if what in _INVITED_NEXT else LabelKind.START


def _too_long(plain: str) -> bool:
    return len(plain) > (14 if _CJK.search(plain) else 32)


def _slack(plain: str) -> int:
    return 4 if _CJK.search(plain) else 10


def _stands_alone(plain: str, found: re.Match[str]) -> bool:
    """Latin words are whole words: `go` is not in `gold`; a single Chinese character is no label inside others."""
    before, after = plain[: found.start()][-1:], plain[found.end() :][:1]
    if _CJK.search(found[0]):
        return len(found[0]) > 1
    return not (before.isalpha() and before.isascii()) and not (after.isalpha() and after.isascii())
