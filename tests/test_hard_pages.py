"""The table of hard pages names tests that there are, and faults by the names that are used."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = (ROOT / "docs" / "hard-pages.md").read_text("utf-8")


def test_every_test_in_the_table_exists():
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", TABLE)
    assert len(named) > 30
    missing = [
        f"{file}::{name}" for file, name in named if f"def {name}(" not in (ROOT / "tests" / file).read_text("utf-8")
    ]
    assert missing == []


def test_every_fault_in_the_table_is_one_that_is_told():
    rows = [line.split("|") for line in TABLE.splitlines() if line.startswith("|")][2:]
    named = {cell for row in rows for cell in re.findall(r"`(\w+)`", row[3])}
    source = "".join(path.read_text("utf-8") for path in (ROOT / "playtest").rglob("*.py"))
    assert {name for name in named if f'"{name}"' not in source} == set()
    assert len(named) > 12
