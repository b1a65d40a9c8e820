"""A PlaySpec is bound to its game's sources by their contents, and a stale one is told."""

import json
import os
from pathlib import Path

import pytest

from playtest.cli import main
from playtest.sources import digest_of

SPEC = {
    "gameId": "sliding",
    "driver": {"type": "key-cycle", "keys": ["ArrowLeft"]},
    "observables": {"state": "game.state()", "win": {"path": "phase", "op": "eq", "value": "won"}},
    "progress": [{"path": "score", "op": "increased"}],
}


@pytest.fixture
def game(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "games" / "sliding"
    (folder / "src").mkdir(parents=True)
    (folder / "index.html").write_text("<script src=src/main.js></script>")
    (folder / "src" / "main.js").write_text("let score = 0;\n")
    return folder


def hash_of(folder):
    return digest_of(folder).source_hash


def bind(folder, name="play-spec.json", **more):
    file = folder / name
    digest = digest_of(folder)
    file.write_text(json.dumps(SPEC | {"derivedFrom": {"sourceHash": digest.source_hash, **more}}))
    return file


def edit(folder):
    (folder / "src" / "main.js").write_text("let score = 1;\n")


def rename(folder):
    (folder / "src" / "main.js").rename(folder / "src" / "game.js")


def move_text(folder):
    """The same bytes in the same order, cut elsewhere."""
    (folder / "a.js").write_text("one two")
    (folder / "b.js").write_text("")


CHANGES = {
    "a file's text": edit,
    "a file's name": rename,
    "a new file": lambda folder: (folder / "extra.png").write_bytes(b"\x89PNG"),
    "a file gone": lambda folder: (folder / "src" / "main.js").unlink(),
    "an empty file": lambda folder: (folder / "empty.js").write_bytes(b""),
    "line ends": lambda folder: (folder / "src" / "main.js").write_bytes(b"let score = 0;\r\n"),
    "a link to another folder": lambda folder: (folder / "lib").symlink_to("src"),
    "a hidden file": lambda folder: (folder / ".well-known.json").write_text("{}"),
    "a game's own folder called evidence": lambda folder: ((folder / "evidence").mkdir(), (folder / "evidence" / "knife.png").write_bytes(b"x")),
}  # fmt: skip


def touched(folder):
    for file in folder.rglob("*"):
        os.utime(file, (1, 1))
        file.chmod(0o755)


def own_evidence(folder):
    (folder / "evidence" / "playtest" / "roll-1").mkdir(parents=True)
    (folder / "evidence" / "playtest" / "playtest.json").write_text("{}")


KEPT = {
    "times and modes": touched,
    "evidence of a run": own_evidence,
    "its specs": lambda folder: [(folder / name).write_text("{}") for name in ("play-spec.json", "easy.play-spec.json")],
    "its brief": lambda folder: (folder / "brief.md").write_text("A game."),
    "version control": lambda folder: ((folder / ".git").mkdir(), (folder / ".git" / "HEAD").write_text("x")),
    "a link out of the folder": lambda folder: (folder / "away").symlink_to(Path("/etc")),
    "a link to nothing": lambda folder: (folder / "gone.js").symlink_to("nowhere.js"),
    "a link to itself": lambda folder: (folder / "loop").symlink_to("loop"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_served_decides(game, change):
    before = hash_of(game)
    change(game)
    assert hash_of(game) != before


@pytest.mark.parametrize("change", KEPT.values(), ids=KEPT)
def test_what_is_not_the_game_does_not_count(game, change):
    before = hash_of(game)
    change(game)
    assert hash_of(game) == before


def test_contents_do_not_run_together(game):
    move_text(game)
    one = hash_of(game)
    (game / "a.js").write_text("one ")
    (game / "b.js").write_text("two")
    assert hash_of(game) != one


def test_where_the_folder_lies_does_not_count(game, tmp_path):
    moved = tmp_path / "elsewhere"
    before = hash_of(game)
    game.rename(moved)
    assert hash_of(moved) == before
    (tmp_path / "link").symlink_to(moved)
    assert hash_of(tmp_path / "link") == before


def test_a_link_inside_counts_as_what_it_leads_to(game):
    (game / "copy.js").symlink_to("src/main.js")
    before = hash_of(game)
    (game / "copy.js").unlink()
    (game / "copy.js").write_bytes((game / "src" / "main.js").read_bytes())
    assert hash_of(game) == before


def test_an_accented_name_is_the_same_however_it_is_kept(game):
    (game / "caf\u00e9.js").write_text("x")
    before = hash_of(game)
    (game / "caf\u00e9.js").rename(game / "cafe\u0301.js")
    assert hash_of(game) == before


def test_a_name_that_is_no_text_counts_and_can_be_shown(game, capsys):
    before = hash_of(game)
    Path(os.fsdecode(bytes(game) + b"/\xff.js")).write_text("x")
    assert hash_of(game) != before
    assert main(["spec", "hash", str(game), "--json"]) == 0
    assert "\\udcff.js" in json.loads(capsys.readouterr().out)["files"]


def test_a_fresh_spec_fits_and_a_stale_one_is_told(game, capsys):
    spec = bind(game)
    assert main(["spec", "check", str(spec)]) == 0
    assert "fits" in capsys.readouterr().out
    edit(game)
    os.utime(game / "src" / "main.js", (1, 1))
    assert main(["spec", "check", str(spec)]) == 1
    out = capsys.readouterr().out
    assert "STALE" in out
    assert "make it anew" in out
    assert hash_of(game) in out


def test_a_stale_spec_that_kept_the_files_says_which_are_others(game, capsys):
    spec = bind(game, files=digest_of(game).files)
    edit(game)
    (game / "new.js").write_text("x")
    (game / "index.html").unlink()
    assert main(["spec", "check", str(spec), "--game", str(game), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["changed"], report["added"], report["removed"]) == (["src/main.js"], ["new.js"], ["index.html"])
    assert report["fresh"] is False
    assert main(["spec", "check", str(spec), "--game", str(game)]) == 1
    assert "changed  src/main.js" in capsys.readouterr().out


def test_the_game_is_found_by_the_spec_s_own_name(game, tmp_path, monkeypatch, capsys):
    spec = bind(game).rename(tmp_path / "kept.json")
    monkeypatch.setenv("PLAYTEST_GAMES_ROOT", "games")
    assert main(["spec", "check", str(spec), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gameId"] == "sliding"
    assert main(["spec", "check", str(spec), "--game", str(game / "index.html")]) == 0
    assert main(["spec", "hash", "sliding"]) == 0
    assert capsys.readouterr().out.strip().endswith(hash_of(game))


def test_bad_input_is_told_and_is_neither_fresh_nor_stale(game, tmp_path, capsys):
    spec = bind(game)
    lost = SPEC | {"derivedFrom": {}}
    (tmp_path / "bad.json").write_text(json.dumps(lost))
    (tmp_path / "empty").mkdir()
    calls = (
        ("check", tmp_path / "bad.json"),
        ("check", tmp_path / "no.json"),
        ("check", spec, "--game", "nowhere"),
        ("check", spec, "--game", "http://127.0.0.1:1/"),
        ("check", spec.rename(game / "other.json"), "--game", game),
        ("hash", tmp_path / "empty"),
        ("hash", "nowhere"),
    )
    for arguments in calls:
        assert main(["spec", *map(str, arguments), "--json"]) == 2, arguments
        out, _ = capsys.readouterr()
        error = json.loads(out)["error"]
        assert error["code"] == 2
        assert error["hint"]
