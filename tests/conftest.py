"""What every test has: no way to spend money, and no settings from the machine it runs on."""

import pytest
import pytest_asyncio

from playtest.browser.driver import driver
from tests.conftest_guard import loopback_only

__all__ = ["loopback_only"]


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch):
    """Keys and settings of the person who runs the tests must not reach them."""
    for name in ("MINIMAX_API_KEY", "MINIMAX_BASE_URL", "MINIMAX_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def one_driver_for_all():
    """Starting Playwright's driver takes longer than a browser: every test of this process uses the same one."""
    async with driver():
        yield
