"""`playtest check`: calls are found in code and nowhere else, and what should not be there any more is listed."""

import json

import pytest

from playtest.checking.check import check_sources
from playtest.checking.scripts import parse_script
from playtest.cli import main

PAGE = "<!doctype html><title>A game</title><script src=main.js></script>"


def checked(files, prefixes=(), words=(), **more):
    contents = {path: text.encode() for path, text in files.items()}
    return check_sources("game", contents, prefixes=prefixes, words=words, **more)


def called(code, prefix="audio.", name="main.js"):
    """How often a script that a page loads calls what begins with the prefix."""
    page = PAGE.replace("main.js", name)
    return checked({"index.html": page, name: code}, [prefix]).calls[0].calls


CALLS = {
    "plain": "audio.play('x');",
    "at whatever holds it": "this.ctx.audio.play();",
    "over lines": "ctx\n  .audio\n  // softly\n  .play();",
    "optional": "ctx?.audio?.play?.();",
    "by a text": "ctx['audio'][`play`]();",
    "of something without a name": "(a || b).audio.play();",
    "of a call's result": "engine().audio.play();",
    "awaited": "async () => (await engine()).audio.play()",
    "in a sequence": "(0, ctx.audio.play)();",
    "in a template": "x = `a ${audio.play()} b`;",
    "in a template in a template": "x = `a ${`b ${audio.play()}`} c`;",
    "in a text with a slash before": "x = a / b; audio.play(); y = c / d;",
    "after a regular expression with a quote": "x = /['\"`/*]/; audio.play();",
    "after a regular expression after a bracket": "if (x) /['`]/.test(y); audio.play();",
    "after a text with a comment": "x = '// /*'; audio.play();",
    "in an arrow": "on(() => audio.play())",
    "in a class": "class A { #b = 1; static { audio.play(); } }",
    "handed over": "button.on('tap', ctx.audio.play);",
    "by call": "ctx.audio.play.call(ctx.audio);",
    "constructed": "new audio.Track();",
    "renamed": "const a = ctx.audio; a.play();",
    "renamed twice": "const c = host.ctx; const a = c.audio; a.play();",
    "kept in a field": "this.sfx = ctx.audio; this.sfx.play();",
    "taken apart": "const {audio: a} = ctx; a.play();",
    "taken far apart": "const {engine: {audio: {play: p = f}}} = ctx; p();",
    "taken apart and handed in": "function start({audio}) { audio.play(); }",
    "after a mistake": "let = ;\nfunction f() { audio.play(); }",
    "a mistake after it": "audio.play(); let = (",
    "minified": "!function(){var t=e.audio;t.play()}();",
}
NOT_CALLS = {
    "in a comment": "// audio.play();\n/* audio.play(); */ <!-- audio.play()\n",
    "in a text": "x = \"audio.play()\"; y = 'audio.play()';",
    "in a template's text": "x = `audio.play() ${y} audio.play()`;",
    "in a regular expression": "x = /audio.play()/; y = z.match(/[/]audio.play()/g);",
    "in a text over lines": "x = 'a\\\naudio.play()';",
    "told, not called": "x = audio.play; if (audio.playing) y();",
    "assigned": "audio.play = () => 1;",
    "a part of a name": "myaudio.play(); audios.play(); $audio.play();",
    "a property of the name": "x.audio; y = {audio: 1};",
    "another alias": "const a = ctx.video; a.play();",
    "empty": "",
}


@pytest.mark.parametrize("code", CALLS.values(), ids=CALLS)
def test_a_call_is_found(code):
    assert called(code) == 1


@pytest.mark.parametrize("code", NOT_CALLS.values(), ids=NOT_CALLS)
def test_what_only_looks_like_a_call_is_none(code):
    assert called(code) == 0


TYPED = {
    "annotated": "const a: Audio = ctx.audio as Audio; (a!).play();",
    "generic": "f<string>(x); (ctx as any).audio.play<number>();",
    "asserted": "(<any>ctx).audio.play();",
    "satisfies": "(ctx satisfies Ctx).audio.play();",
    "decorated": "@on('tap') class A { private x?: number; m(): void { this.ctx.audio.play(); } }",
    "enum and namespace": "enum E { A = 1 } namespace N { audio.play(); }",
}


@pytest.mark.parametrize("name", ["main.ts", "main.mts"])
@pytest.mark.parametrize("code", TYPED.values(), ids=TYPED)
def test_typescript_is_read(code, name):
    assert called(code, name=name) == 1


@pytest.mark.parametrize("name", ["main.js", "main.jsx", "main.mjs", "main.cjs", "main.tsx"])
def test_each_kind_of_script_is_read(name):
    assert called("const a = audio.play();", name=name) == 1
    if name.endswith("x"):
        assert called("const a = <b onClick={() => audio.play()}>audio.stop()</b>;", name=name) == 1


PAGES = {
    "inline": ("<script>audio.play()</script>", 1),
    "module": ('<script type="module">import "./x.js"; audio.play()</script>', 1),
    "typed": ('<script lang="ts">const a: A = audio.play() as A</script>', 1),
    "a handler": ('<button onclick="audio.play(&quot;x&quot;)">play</button>', 1),
    "in a picture": ("<svg><script>audio.play()</script></svg>", 1),
    "closed by a slash": ("<script src=a.js /></script><script>audio.play()</script>", 1),
    "a text with an end in it": ("<script>x = '<\\/script>'; audio.play()</script>", 1),
    "commented out": ("<!-- <script>audio.play()</script> -->", 0),
    "a template": ('<script type="text/x-template">audio.play()</script>', 0),
    "data": ('<script type="application/json">"audio.play()"</script>', 0),
    "words": ("<p>audio.play()</p>", 0),
    "an attribute": ('<p title="audio.play()"></p>', 0),
}


@pytest.mark.parametrize(("page", "calls"), PAGES.values(), ids=PAGES)
def test_pages_are_read(page, calls):
    assert checked({"index.html": page}, ["audio."]).calls[0].calls == calls


def test_places_count_from_the_page_s_first_line():
    report = checked({"index.html": "<p>\n<script\n defer>\n\naudio.play()</script>"}, ["audio."])
    assert [(place.file, place.line, place.text) for place in report.calls[0].places] == [
        ("index.html", 5, "audio.play")
    ]


LOADED = {
    "by a page": {"index.html": PAGE},
    "by a page elsewhere": {"web/index.html": "<script src=../main.js></script>"},
    "from the root": {"index.html": "<script src=/main.js?v=3></script>"},
    "by an import": {"index.html": "<script type=module src=a.js></script>", "a.js": "import {x} from './main'"},
    "by an import for its effect": {"index.html": "<script type=module>import './main.js'</script>"},
    "by an import in passing": {"index.html": "<script>import('./main.js')</script>"},
    "by a loader": {"index.html": "<script>load('main.js')</script>"},
    "by a worker": {"index.html": "<script>new Worker(new URL('main.js', import.meta.url))</script>"},
    "by a map": {"index.html": '<script type=importmap>{"imports": {"m": "./main.js"}}</script>'},
    "by a name made of parts": {"index.html": "<script>import(`./ma${x}.js`)</script>"},
    "where there is no page": {},
}


@pytest.mark.parametrize("others", LOADED.values(), ids=LOADED)
def test_calls_count_in_code_that_is_loaded(others):
    report = checked({"main.js": "audio.play()", **others}, ["audio."])
    assert report.calls[0].calls == 1
    assert report.ok


def test_typescript_may_be_named_as_what_it_becomes():
    files = {
        "index.html": "<script type=module src=src/a.ts></script>",
        "src/a.ts": "import './b.js'",
        "src/b.ts": "audio.play()",
    }
    assert checked(files, ["audio."]).ok


def test_code_that_no_page_loads_shows_nothing():
    report = checked({"index.html": "<script>start()</script>", "old.js": "audio.play()"}, ["audio."])
    assert not report.ok
    assert report.problems == ("audio. is never called",)
    assert report.calls[0].not_calls[0].text == "in code that no page loads: audio.play()"
    assert "old.js: no page loads it; its calls don't count" in report.notes


@pytest.mark.parametrize("path", ["vendor/engine.js", "lib/engine.min.js"])
def test_the_engine_s_own_calls_show_nothing(path):
    page = f"<script src={path}></script><script>start()</script>"
    report = checked({"index.html": page, path: "audio.play()"}, ["audio."])
    assert not report.ok
    assert "an engine's or library's own code" in report.calls[0].not_calls[0].text


def test_a_game_that_is_one_built_file_is_its_own():
    assert checked({"index.html": "<script src=game.min.js></script>", "game.min.js": "audio.play()"}, ["audio."]).ok


def test_it_is_told_where_a_prefix_stands_that_is_never_called():
    report = checked({"main.js": "// audio.play()\nx = 'audio.stop()';\ny = audio.z;"}, ["audio.", "hud."])
    audio, hud = report.calls
    assert [(place.line, place.text.partition(":")[0]) for place in audio.not_calls] == [
        (1, "in a comment"),
        (2, "in a text"),
        (3, "in code, but not called"),
    ]
    assert hud.not_calls == ()
    assert report.problems == ("audio. is never called", "hud. is never called")


def test_without_prefixes_it_says_that_calls_were_not_checked():
    report = checked({"main.js": "x()"})
    assert report.ok
    assert "not checked" in report.notes[0]


def test_a_mistake_is_told_with_its_line():
    assert parse_script(b"let a = 1;\nlet b = 2;", "js").broken_at is None
    report = checked({"main.js": "let a = 1;\nlet b = (;\nlet c = 3;"})
    assert report.notes[-1].startswith("main.js:2: can't be parsed")


def residue(path, text, **more):
    report = checked({path: text}, **more)
    return report.ok, [(one.line, one.word, one.where, one.sure) for one in report.residue]


def test_a_retired_contract_in_code_is_listed_and_may_stay():
    code = "host._forensicsView = () => ({\n  targets: list.map(one => ({...one, 'occupied': one.used})),\n});"
    found = [(1, "_forensicsView", "code", True), (2, "targets", "code", True), (2, "occupied", "code", True)]
    assert residue("main.js", code) == (True, found)
    assert residue("main.js", code, strict=True) == (False, found)
    assert residue("index.html", f"<p>a</p>\n<script>{code}</script>") == (
        True,
        [(line + 1, *rest) for line, *rest in found],
    )


def test_a_prompt_that_still_teaches_a_retired_contract_fails():
    ok, found = residue("prompt.md", "Export `_forensicsView`.\n\n```js\nstate.targets[0].occupied\n```\n")
    assert not ok
    assert found == [(1, "_forensicsView", "text", True), (4, "targets", "text", True), (4, "occupied", "text", True)]


ORDINARY = {
    "prose": ("brief.md", "Hit all targets before every seat is occupied.", []),
    "a tween": ("main.js", "tween({targets: ball});", [(1, "targets", "code", False)]),
    "a board": ("main.js", "if (cell.occupied) return;", [(1, "occupied", "code", False)]),
    "part of a word": ("main.js", "let targetsLeft = preoccupied, _targets, $targets;", []),
    "a comment": ("main.js", "// targets that are occupied\n", [(1, "targets", "comment", False), (1, "occupied", "comment", False)]),
    "a text": ("main.js", "say('all targets hit');", [(1, "targets", "string", False)]),
    "the engine's": ("vendor/tween.js", "_forensicsView; targets; occupied", []),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text", "found"), ORDINARY.values(), ids=ORDINARY)
def test_an_ordinary_word_is_no_sure_sign(path, text, found):
    assert residue(path, text, strict=True) == (True, found)


RED = {
    "a text": ("main.js", "say('去赌博吧')", "string"),
    "a name": ("main.js", "赌博();", "code"),
    "a comment": ("main.js", "// 赌博", "comment"),
    "a page": ("index.html", "<p>赌博</p>", "text"),
    "a script in a page": ("index.html", "<p></p>\n<script>say('赌博')</script>", "string"),
    "an escape": ("main.js", r"say('\u8d4c\u{535a}')", "string"),
    "an entity": ("index.html", "<p>&#36172;&#x535a;</p>", "text"),
    "data": ("items.json", '{"name": "赌博"}', "text"),
    "a brief": ("brief.md", "不要赌博", "text"),
}


@pytest.mark.parametrize(("path", "text", "where"), RED.values(), ids=RED)
def test_a_red_line_word_fails_wherever_it_stands(path, text, where):
    report = checked({path: text}, words=["赌博", "casino"])
    assert not report.ok
    assert [(one.word, one.where) for one in report.red_words] == [("赌博", where)]
    assert f"{path}:{text.count(chr(10)) + 1}: the red-line word 赌博" in report.problems


def test_red_line_words_are_whole_words_in_any_case_and_width():
    words = ["ass", "CASINO", "free money"]
    assert checked({"a.js": "class A {} let assets, bass = pass;"}, words=words).ok
    found = checked({"a.js": "'Casino'; 'ＣＡＳＩＮＯ';\n'big-ass'; 'FREE money'"}, words=words).red_words
    assert [(one.line, one.word) for one in found] == [(1, "CASINO"), (2, "ass"), (2, "free money")]


@pytest.fixture
def game(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "game"
    (folder / "node_modules" / "x").mkdir(parents=True)
    (folder / "evidence" / "playtest").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "main.js").write_text("ctx.audio.play('tap');")
    (folder / "logo.png").write_bytes(b"\x89PNG casino")
    (folder / "node_modules" / "x" / "x.js").write_text("casino")
    (folder / "evidence" / "playtest" / "playtest.json").write_text('{"casino": 1}')
    (tmp_path / "red.txt").write_text("# words\ncasino\n\n")
    return folder


def test_the_command_passes_fails_and_prints_one_document(game, capsys):
    assert main(["check", str(game), "--calls", "audio.", "--red-words", "red.txt"]) == 0
    out = capsys.readouterr().out
    assert "ok   calls audio.: 1, first at main.js:1 ctx.audio.play" in out
    assert main(["check", str(game), "--calls", "audio.", "--calls", "hud.", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["problems"] == ["hud. is never called"]
    assert report["files"] == 2
    (game / "main.js").write_text("ctx.audio.play('casino'); // _forensicsView")
    assert main(["check", str(game), "--red-words", "red.txt"]) == 1
    out = capsys.readouterr().out
    assert "main.js:1 casino (string): ctx.audio.play('casino')" in out
    assert "main.js:1 _forensicsView (comment)" in out


def test_prefixes_come_from_flags_or_the_spec_or_the_settings(game, capsys, monkeypatch):
    spec = {
        "gameId": "game", "driver": {"type": "key-cycle", "keys": ["a"]}, "derivedFrom": {"sourceHash": "sha256:" + "0" * 64},
        "observables": {"state": "s", "win": {"path": "p", "op": "eq", "value": 1}}, "progress": [{"path": "p", "op": "changed"}],
        "expectedEngineCallPrefixes": ["audio.", "hud."],
    }  # fmt: skip
    monkeypatch.setenv("PLAYTEST_ENGINE_CALLS", "audio., score.")
    assert main(["check", str(game), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"] == ["score. is never called"]
    (game / "play-spec.json").write_text(json.dumps(spec))
    assert main(["check", str(game), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"] == ["hud. is never called"]
    (game / "play-spec.json").rename(game.parent / "other.json")
    assert main(["check", str(game), "--spec", "other.json", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"] == ["hud. is never called"]
    assert main(["check", str(game), "--calls", "audio."]) == 0


def test_one_file_can_be_checked(game, capsys):
    assert main(["check", str(game / "main.js"), "--calls", "audio."]) == 0
    assert main(["check", str(game / "main.js"), "--calls", "hud."]) == 1


def test_a_wrong_call_is_told_before_anything_is_read(game, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    calls = (
        ("nowhere",),
        ("empty",),
        (game, "--calls", ""),
        (game, "--red-words", "gone.txt"),
        (game, "--spec", "gone.json"),
        (game, "--spec", "red.txt"),
        (),
    )
    for arguments in calls:
        assert main(["check", *map(str, arguments), "--json"]) == 2, arguments
        assert json.loads(capsys.readouterr().out)["error"]["code"] == 2
