"""`python -m bench`: seconds per tap step next to plain Playwright, what experiments cost, and our own peak memory.

An instant endpoint on this machine answers each request, so what is measured is the runner: capture, ruler, evidence,
real input events, the settle wait and the effect. Plain Playwright taps and takes a screenshot, in the same run.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from playwright.async_api import async_playwright

from bench.experiments import cost
from playtest.browser.find import find_browser
from tests.endpoint import KEY, Request, StrictEndpoint
from tests.play import play_with
from tests.sight import read_canary

PAGES = Path(__file__).parent / "pages"
STEPS = 24


def instant(request: Request) -> str:
    """Taps one of two places, at once."""
    assert request.picture is not None
    y = 688 if len(request.messages) % 4 else 420
    return json.dumps({"code": read_canary(request.picture), "action": {"type": "tap", "x": 500, "y": y}})


async def ours(page: Path) -> list[float]:
    """Seconds of each step but the first, the endpoint's and the reader's own time taken out."""
    with tempfile.TemporaryDirectory() as folder, StrictEndpoint(instant) as endpoint:
        played = await play_with(endpoint, page, Path(folder), steps=STEPS, max_steps=STEPS, rolls=1, max_cost=1000,
                                 max_cost_per_roll=1000)  # fmt: skip
    lines = played.of("step")
    return [(after.wall_ms - before.wall_ms - after.thought_ms) / 1000 for before, after in pairwise(lines)]


async def plain(page: Path) -> list[float]:
    """Seconds of `screenshot()` and `tap` on the same page, in the same browser, unheld."""
    binary = find_browser(None)
    taken = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(binary.path), args=["--no-sandbox"])
        shown = await browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
        await shown.goto((page / "index.html").as_uri())
        for number in range(STEPS):
            started = time.perf_counter()
            await shown.screenshot()
            await shown.touchscreen.tap(195, 600 if number % 2 else 366)
            taken.append(time.perf_counter() - started)
        await browser.close()
    return taken[1:]


def peak_memory_mb(page: Path) -> float:
    """The most memory that the command itself held, in a process of its own."""
    # Not getrusage: a child's maximum there begins with that of the process that started it.
    told = "print(*[line for line in open('/proc/self/status') if line.startswith('VmHWM')], file=sys.stderr)"
    with tempfile.TemporaryDirectory() as folder, StrictEndpoint(instant) as endpoint:
        brief = Path(folder, "brief.md")
        brief.write_text("A game. Tap to play.", "utf-8")
        arguments = ["run", "--gid", "bench", "--brief", str(brief), "--game", str(page), "--evidence", folder]
        arguments += ["--base-url", endpoint.base_url, "--steps", str(STEPS), "--max-steps", str(STEPS)]
        code = f"import sys; from playtest.cli import main; main({arguments!r}); {told}"
        environment = {**os.environ, "MINIMAX_API_KEY": KEY}
        command = [sys.executable, "-c", code]
        ended = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    return int(ended.stderr.split()[-2]) / 1024


def row(name: str, seconds: list[float]) -> str:
    """Median and 90th percentile."""
    return f"{name:<34} {statistics.median(seconds):6.3f} {statistics.quantiles(seconds, n=10)[-1]:6.3f}"


async def main() -> None:
    """Print the table."""
    print(f"{'seconds per tap step':<34} {'median':>6} {'p90':>6}   ratio to plain")
    for page in sorted(PAGES.iterdir()):
        reference = await plain(page)
        measured = await ours(page)
        ratio = statistics.median(measured) / statistics.median(reference)
        print(row(f"{page.name}: playtest", measured) + f"   {ratio:5.2f}")
        print(row(f"{page.name}: screenshot()+tap", reference))
    print("\nexperiments")
    for line in await cost():
        print(line)
    print(f"\npeak memory of our process over a roll of {STEPS} steps: {peak_memory_mb(PAGES / '2d-busy'):.0f} MB")


asyncio.run(main())
