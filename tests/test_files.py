"""Files that a reader never sees half of."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from playtest.errors import EvidenceError
from playtest.files import LineFile, dump_json, write_atomically, write_bytes

ODD = ["\0", "a\ud800b", "\udfff", "x" * 1_000_000, "\\\ud800", "\n\r\u2028", "猫😀", '"quotes"', "\x7f\x1b[31m", ""]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_any_text_is_one_line_of_valid_json(tmp_path, text):
    file = LineFile(tmp_path / "a.jsonl")
    file.write({"text": text, text[:20]: 1})
    file.write({"text": "next"})
    file.close()
    lines = (tmp_path / "a.jsonl").read_bytes().decode("utf-8").split("\n")
    assert len(lines) == 3
    assert lines[2] == ""
    assert json.loads(lines[0])["text"] == text
    assert json.loads(lines[1]) == {"text": "next"}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_json_number_is_refused(number):
    with pytest.raises(ValueError, match="JSON"):
        dump_json({"n": number})


def test_every_line_is_there_as_soon_as_it_is_written(tmp_path):
    file = LineFile(tmp_path / "a.jsonl")
    for i in range(3):
        file.write({"i": i})
        assert (tmp_path / "a.jsonl").read_text().count("\n") == i + 1
    file.close()


def test_lines_are_appended(tmp_path):
    for i in range(2):
        file = LineFile(tmp_path / "a.jsonl")
        file.write(i)
        file.close()
    assert (tmp_path / "a.jsonl").read_text() == "0\n1\n"


def test_a_full_disk_is_told(tmp_path):
    if not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("no /dev/full here")
    (tmp_path / "full").symlink_to("/dev/full")
    file = LineFile(tmp_path / "full")
    with pytest.raises(EvidenceError) as caught:
        file.write({"a": 1})
    file.close()
    assert "No space left" in caught.value.message
    assert caught.value.hint
    with pytest.raises(EvidenceError):
        write_bytes(tmp_path / "full", b"x" * 10)


def test_a_line_that_does_not_fit_leaves_nothing_of_itself(tmp_path):
    """The system takes half of a line at its limit for a file's size, as it does at a disk's end."""
    code = f"""
import resource
from pathlib import Path
from playtest.errors import EvidenceError
from playtest.files import LineFile, write_bytes
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
file = LineFile(Path({str(tmp_path / "a.jsonl")!r}))
file.write("x" * 500)
for write in (lambda: file.write("y" * 600), lambda: write_bytes(Path({str(tmp_path / "b.png")!r}), b"z" * 1001)):
    try:
        write()
    except EvidenceError:
        continue
    raise SystemExit("not told")
file.write("z" * 400)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent.parent)
    assert [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()] == ["x" * 500, "z" * 400]
    assert not (tmp_path / "b.png").exists()


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_atomically(path, "old")
    assert path.read_text() == "old"
    assert path.stat().st_mode & 0o777 == 0o644

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(EvidenceError):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["result.json"], "nothing is left of the attempt"


def test_where_nothing_can_be_written_it_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    for write in (
        lambda p: write_atomically(p, "x"), lambda p: write_bytes(p, b"x"), LineFile,
    ):  # fmt: skip
        with pytest.raises(EvidenceError) as caught:
            write(tmp_path / "file" / "below" / "a.json")
        assert "a.json" in caught.value.message
