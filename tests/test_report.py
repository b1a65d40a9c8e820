"""The report, made from real documents, parsed, and opened in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from PIL import Image
from playwright.async_api import async_playwright

from playtest.errors import EvidenceError
from playtest.protocol import result as r
from playtest.protocol import transcript as t
from playtest.protocol.actions import Action, DoubleTap, Key, LongPress, Swipe, Tap, Wait
from playtest.protocol.usage import Cost, Usage
from playtest.protocol.verdict import ClaimedPhenomenon, FailKind, Phenomenon, Verdict, VerdictClaim
from playtest.report import write_report
from playtest.texts import reveal

HOSTILE = (
    "</bdi></pre></dd><script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>"
    '<article class="step" id="roll-1-step-1">" onload="pwned" {{ 7 * 7 }} \x1b[31m\x00\u202e&lt;b&gt;'
    "<style>*{display:none}</style><meta http-equiv=refresh content='0;url=http://evil.invalid/'>"
    "<iframe src=http://evil.invalid/></iframe><!-- ]]> <svg onload=pwned>"
)
ACTIONS: list[Action] = [
    Tap(x=195, y=612, target="Start"),
    DoubleTap(x=50, y=60),
    LongPress(x=70, y=80),
    Swipe(x1=10, y1=20, x2=300, y2=400),
    Key(key="ArrowLeft"),
    Wait(ms=500),
]
CLAIM = VerdictClaim(
    result=Verdict.FAIL, kind=FailKind.BROKEN, phenomena=(ClaimedPhenomenon(step=1, what="dead"),), summary=""
)
VOID = {"meta", "link", "img", "input", "br"}
PATHS = {"path", "circle", "rect", "use"}


class Page(HTMLParser):
    """A parsed report; what is opened must be closed in order."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.path = path
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in PATHS
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._open[-1:]):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).replace("\xa0", " ").split())

    def all(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [a for name, a in self.tags if name == tag and all(a.get(k) == v for k, v in wanted.items())]

    @property
    def skeleton(self) -> list[tuple[str, tuple[str, ...]]]:
        """Tags and the names of their attributes: what a text must not be able to change."""
        return [(tag, tuple(attributes)) for tag, attributes in self.tags]


def line_at(step: int) -> dict[str, Any]:
    return {"step": step, "game_ms": step * 900.0, "wall_ms": step * 9000.0}


def make_lines(number: int, steps: int, said: str) -> list[t.TranscriptLine]:
    lines: list[t.TranscriptLine] = [
        t.StartLine(**line_at(0), gid="tea-stall", roll=number, seed=70 + number, clock="frames",
                  start_date="2026-01-01", url=said, tester="minimax", budget=14, max_budget=24,
                  game=said, locale="zh-CN", settle_ms=1500, reaction_ms=100),
    ]  # fmt: skip
    lines += [
        t.StepLine(**line_at(step), seen=said, observed={"score": said, "level": None}, reason=said, raw=said,
                   action=ACTIONS[(step - 1) % len(ACTIONS)], progress=(said,), texts=(said,) * 3, log=(said,) * 2,
                   effect=t.Effect(changed=step % 2 == 1, area=0.12, region=(10, 20, 30, 40), texts=(said,)),
                   picture=f"shots/{step:04d}.png", ruled_picture=f"shots/{step:04d}.grid.webp", canary="K7Q4",
                   code="K7Q9", usage=Usage(requests=1, prompt_tokens=2000), thought_ms=8000, budget=14)
        for step in range(1, steps + 1)
    ]  # fmt: skip
    lines += [
        t.WarningLine(**line_at(2), warning="repeated_tap", message=said),
        t.RefusalLine(**line_at(2), refusal="early_fail", message=said, raw=said),
        t.BudgetLine(**line_at(2), budget=17, why=said),
        t.FaultLine(**line_at(2), fault="uncaught", message=said, detail={said: [said]}),
        t.VerdictLine(**line_at(steps), claim=CLAIM.model_copy(update={"summary": said})),
        t.EndLine(**line_at(steps), verdict=Verdict.FAIL, kind=FailKind.BROKEN, message=said),
    ]  # fmt: skip
    return lines


def make_roll(number: int, said: str, **changes: Any) -> r.Roll:
    phenomenon = Phenomenon(roll=number, step=1, x=195, y=612, what=said, picture=f"roll-{number}/shots/0002.png")
    values: dict[str, Any] = {
        "number": number, "seed": 70 + number, "clock": "frames", "verdict": Verdict.FAIL, "kind": FailKind.BROKEN,
        "summary": said, "steps": 6, "budget": 14, "distinct_taps": 3, "effective_inputs": 2, "unseeded": (said,),
        "notes": (said,), "blocked": (said,), "faults": (said,), "phenomena": (phenomenon,), "held_ms": 8000,
    }  # fmt: skip
    return r.Roll(**{**values, **changes})


def make_result(rolls: tuple[r.Roll, ...], said: str, **changes: Any) -> r.RunResult:
    values: dict[str, Any] = {
        "gid": "tea-stall", "verdict": Verdict.FAIL, "kind": FailKind.BROKEN, "speculation": (said,), "rolls": rolls,
        "phenomena": tuple(item for roll in rolls for item in roll.phenomena),
        "first_play": r.FirstPlay(playable_at_ms=420, how={"playableAtMs": said}), "usage": Usage(requests=6),
        "cost": Cost(priced=False), "tester": r.TesterInfo(name="minimax", model=said, limits=(said,)),
        "versions": r.Versions(playtest="0.1.0", chromium=said, python="3.11"), "started_at": "2026-07-12T08:14:03Z",
        "duration_ms": 191_000, "game_time_ms": 9000, "evidence": r.EvidencePaths(report="report.html"),
        "floor": r.Floor.model_validate({"pass": True, "gates": {"A_boot": {"pass": True, "detail": said}}}),
    }  # fmt: skip
    return r.RunResult(**{**values, **changes})


Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes an evidence folder as a run would; `said` is what game and tester say everywhere."""

    def build(said: str = "said", steps: int = 6, rolls: int = 1, pictures: bool = True, **changes: Any) -> Path:
        root = tmp_path / "evidence" / "playtest"
        made = tuple(make_roll(number, said) for number in range(1, rolls + 1))
        for roll in made:
            folder = root / f"roll-{roll.number}"
            (folder / "shots").mkdir(parents=True, exist_ok=True)
            write_lines(folder / "transcript.jsonl", [x.to_json() for x in make_lines(roll.number, steps, said)])
            write_lines(folder / "console.jsonl", [{"level": said, "text": said, "place": said, "count": 3}] * 3)
            (folder / "roll.json").write_text(json.dumps(roll.to_json()))
            for step in range(1, steps + 1) if pictures else ():
                Image.new("RGB", (390, 844), "teal").save(folder / f"shots/{step:04d}.png")
                Image.new("RGB", (390, 872), "teal").save(folder / f"shots/{step:04d}.grid.webp")
        (root / "playtest.json").write_text(json.dumps(make_result(made, said, **changes).to_json()))
        return root

    return build


def write_lines(path: Path, values: list[Any]) -> None:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))


def test_a_whole_run(make: Make) -> None:
    root = make("said <b>", rolls=2)
    path = write_report(root)
    page = Page(path)
    assert path == root / "report.html"
    assert sorted(p.name for p in root.iterdir()) == ["playtest.json", "report.html", "roll-1", "roll-2"]
    for words in (
        *("Fail: broken", "tea-stall", "Next:", "not priced", "0.42 s", "never", "Guesses at the cause", "71 , 72"),
        *("A_boot", "Not seeded", "Hosts not reached", "tap (195, 612) Start", "changed 12%", "no change", "17 steps"),
        *("repeated_tap", "early_fail", "uncaught", "the picture said K7Q4 , the tester K7Q9", "Floor: passed"),
    ):
        assert words in page.text
    cards = [a["id"] for a in page.all("article")]
    assert cards == [f"roll-{number}-step-{step}" for number in (1, 2) for step in range(1, 7)]
    order = [page.text.index(word) for word in ("double_tap (50", "Warning repeated_tap", "End of roll 1", "Roll 2")]
    assert order == sorted(order)


def test_links_lead_somewhere(make: Make) -> None:
    page = Page(write_report(make(rolls=2)))
    ids = {a["id"] for _, a in page.tags if "id" in a}
    for _, attributes in page.tags:
        for address in filter(None, (attributes.get("href"), attributes.get("src"))):
            if address.startswith("#"):
                assert address[1:] in ids
            elif address != "data:,":
                assert (page.path.parent / unquote(address)).is_file(), address
    assert all(a["loading"] == "lazy" and a["alt"] and a["width"] and a["height"] for a in page.all("img"))
    assert len(page.all("img")) > 24
    assert not re.search(r"url\((?!#)|@import|https?:(?!//127)", page.source.replace("http-equiv", ""))


def test_places_are_marked_on_the_picture(make: Make) -> None:
    page = Page(write_report(make()))
    assert len(page.all("circle", **{"class": "mark", "cx": "195.0", "cy": "612.0"})) == 4  # thumbnails, clean, ruled
    assert page.all("path", **{"class": "mark arrow", "d": "M10.0 20.0L300.0 400.0"})
    assert page.all("rect", **{"class": "region", "x": "10", "y": "20", "width": "30", "height": "40"})
    assert {a["viewbox"] for a in page.all("svg", **{"class": "over"})} == {"0 0 390 844", "0 0 390 872"}


@pytest.mark.parametrize(
    "left", [b'{"type":"step","ste', b'{"type":"step","seen":"\xe8\x8c', b"[" * 9999, b'{"type":"new"}\n']
)
def test_a_killed_run_shows_its_whole_lines(make: Make, left: bytes) -> None:
    root = make()
    (root / "playtest.json").unlink()
    (root / "roll-1/roll.json").unlink()
    with (root / "roll-1/transcript.jsonl").open("ab") as stream:
        stream.write(left)
    page = Page(write_report(root))
    assert len(page.all("article")) == 6
    for words in (
        "tea-stall",
        "The run did not finish",
        "Run it again",
        "1 line of the transcript can't be read",
        "did not finish",
    ):
        assert words in page.text


def test_a_result_that_cannot_be_read_and_an_empty_folder(make: Make, tmp_path: Path) -> None:
    root = make()
    (root / "playtest.json").write_text('{"schema": "playtest/9"}')
    assert "but it can't be read" in Page(write_report(root)).text
    (tmp_path / "empty").mkdir()
    assert "No roll left anything behind" in Page(write_report(tmp_path / "empty")).text
    with pytest.raises(EvidenceError):
        write_report(tmp_path / "nowhere")


def test_missing_pictures_and_pictures_of_others(make: Make, tmp_path: Path) -> None:
    page = Page(write_report(make(pictures=False)))
    assert not page.all("img")
    assert page.all("svg", **{"class": "missing"})
    Image.new("RGB", (390, 844)).save(tmp_path / "mine.png")
    root = make(pictures=False)
    lines = [json.loads(line) for line in (root / "roll-1/transcript.jsonl").read_text().splitlines()]
    names = [
        "../../../mine.png",
        str(tmp_path / "mine.png"),
        "http://evil.invalid/x.png",
        "javascript:1",
        "\0",
        "a" * 5000,
    ]
    steps = [line for line in lines if line["type"] == "step"]
    write_lines(
        root / "roll-1/transcript.jsonl", [{**line, "picture": name} for line, name in zip(steps, names, strict=True)]
    )
    assert not Page(write_report(root)).all("img")


REASONS = ["image_channel", "budget", "unsupported_pass", "interrupted", "unparseable", "something_new"]


@pytest.mark.parametrize(("verdict", "kind", "reason"), [
    ("pass", None, None), ("fail", "hollow", None), ("fail", "off_brief", None),
    *(("degraded", None, reason) for reason in REASONS),
])  # fmt: skip
def test_every_verdict_has_words(make: Make, verdict: str, kind: str | None, reason: str | None) -> None:
    page = Page(write_report(make(verdict=verdict, kind=kind, degraded_reason=reason)))
    assert page.all("section", **{"class": f"banner {verdict}"})
    assert (reason or kind or verdict).replace("_", " ") in page.text.lower().replace("_", " ")
    assert ("never released" in page.text) == (verdict == "degraded")


def test_strangers_cannot_change_the_markup(make: Make) -> None:
    tame, hostile = Page(write_report(make("s" * len(reveal(HOSTILE, 9999).text)))), Page(write_report(make(HOSTILE)))
    assert hostile.skeleton == tame.skeleton
    assert "⟨ESC⟩[31m⟨NUL⟩⟨U+202E⟩" in hostile.text
    assert not set("\x1b\x00\u202e") & set(hostile.source)


def test_endless_texts_are_bounded_and_counted(make: Make) -> None:
    root = make("<&'\"" * 25_000, steps=24)
    write_lines(root / "roll-1/console.jsonl", [{"level": "log", "text": f"line {n} \ud800"} for n in range(100_000)])
    page = Page(write_report(root))
    assert len(page.source) < 1_000_000
    assert len(page.all("article")) == 24
    assert "+99,400 characters left out" in page.text
    assert "+99,880 lines left out" in page.text
    assert "line 99999 \\ud800" in page.text
    step = t.StepLine(**line_at(1), log=("x",) * 100_000, budget=14).to_json()
    write_lines(
        root / "roll-1/transcript.jsonl", [step, {**step, "raw": "x" * 33_000_000}, *[{**step, "log": []}] * 1000]
    )
    text = Page(write_report(root)).text
    assert "+99,990 more left out" in text
    assert "+801 lines of the transcript left out" in text
    assert "1 line of the transcript can't be read" in text


@pytest.mark.parametrize("scripts", [True, False])
async def test_in_a_browser_no_stranger_runs_and_nothing_is_fetched(make: Make, scripts: bool) -> None:
    root = make(HOSTILE)
    address = write_report(root).as_uri()
    seen: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"]
        )
        context = await browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=scripts)
        page = await context.new_page()
        page.on("request", lambda request: seen.append(request.url))
        page.on("console", lambda message: seen.append(message.text))
        page.on("pageerror", lambda error: seen.append(str(error)))
        page.on("dialog", lambda dialog: seen.append(dialog.message))
        await page.goto(address)
        for name in ("#roll-1-step-1", "#roll-1-step-6"):
            await page.locator(name).scroll_into_view_if_needed()
        await page.wait_for_timeout(200)
        assert page.url == address
        assert all(url.startswith(root.as_uri()) for url in seen), seen
        assert await page.locator("#roll-1-step-3 .clean img").is_visible()
        if scripts:
            assert await page.evaluate("[window.pwned, document.documentElement.scrollWidth]") == [None, 390]
            assert await page.evaluate("[...document.images].filter((i) => i.complete && !i.naturalWidth).length") == 0
            await page.evaluate("scrollTo(0, 0)")
            await page.keyboard.press("j")
            await page.keyboard.press("j")
            await page.keyboard.press("v")
            assert await page.evaluate("document.activeElement.id") == "roll-1-step-2"
        await page.locator("#view-ruled").check()
        assert not await page.locator("#roll-1-step-3 .clean img").is_visible()
        await browser.close()
