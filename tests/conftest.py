"""What every test has: no way to spend money, and no settings from the machine it runs on."""

import pytest

from tests.conftest_guard import loopback_only

__all__ = ["loopback_only"]


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch):
    """Keys and settings of the person who runs the tests must not reach them."""
    for name in ("MINIMAX_API_KEY", "MINIMAX_BASE_URL", "MINIMAX_MODEL"):
        monkeypatch.delenv(name, raising=False)
