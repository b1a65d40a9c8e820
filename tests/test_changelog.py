"""The changelog's newest entry is the version that the package says it is."""

import re
from pathlib import Path

import playtest

ROOT = Path(__file__).parent.parent


def test_the_newest_entry_is_the_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\d+\.\d+\.\d+)\b", text, re.MULTILINE)
    assert versions, "CHANGELOG.md has no entry of the form `## 1.2.3`"
    assert versions[0] == playtest.__version__
