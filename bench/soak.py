"""`python -m bench.soak [ROLLS]`: many rolls in one process, every fifth with a crash; what is left of them.

Exit 1 where a process, a profile or an open file is left, or our memory grew by more than a tenth.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from playtest.browser.driver import driver
from playtest.protocol.transcript import TranscriptLine
from tests.play import GAMES, play, script, tap, verdict

ROLLS = 100
PAGES = ("levels", "drifting", "chance-webgl")
CRASH_EVERY = 5
# A process has its full size only after some rolls; the first and the last of the rest are compared.
WARM_UP_SHARE, COMPARED_SHARE = 0.1, 0.2
MOST_GROWTH = 1.10
REPLIES = [
    {"action": tap(195, 600)},
    {"action": tap(100, 500)},
    {"action": {"type": "wait", "ms": 300}},
    *[{"verdict": verdict("degraded")}] * 2,
]


@dataclass
class Left:
    """What the rolls came to, and what was left of them."""

    endings: Counter[str] = field(default_factory=Counter)
    memory_mb: list[float] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    processes: int = 0
    profiles: int = 0
    seconds: float = 0.0

    @property
    def growth(self) -> float:
        """Our memory at the end next to that after the warm-up."""
        warm = self.memory_mb[int(len(self.memory_mb) * WARM_UP_SHARE) :]
        compared = max(1, int(len(warm) * COMPARED_SHARE))
        return statistics.median(warm[-compared:]) / statistics.median(warm[:compared])

    @property
    def more_files(self) -> int:
        """Files that are open at the end and were not after the warm-up."""
        return self.files[-1] - self.files[int(len(self.files) * WARM_UP_SHARE)]

    @property
    def problems(self) -> list[str]:
        """What must not be."""
        found = {
            f"{self.processes} processes are left": self.processes,
            f"{self.profiles} browser profiles are left": self.profiles,
            f"{self.more_files} more files are open": self.more_files > 0,
            f"our memory is {self.growth:.2f} of what it was": self.growth > MOST_GROWTH,
        }
        return [words for words, wrong in found.items() if wrong]

    def told(self) -> Iterator[str]:
        """The figures, a line each."""
        rolls = len(self.memory_mb)
        endings = ", ".join(f"{count} {ending}" for ending, count in sorted(self.endings.items()))
        yield f"rolls                          {rolls} of {len(PAGES)} pages in {self.seconds:.0f} s: {endings}"
        yield f"processes left                 {self.processes}"
        yield f"browser profiles left          {self.profiles}"
        yield f"open files, more than before   {self.more_files}"
        yield f"our memory                     {self.memory_mb[-1]:.0f} MB, {self.growth:.2f} of that after the warm-up"


async def soak(rolls: int, folder: Path) -> Left:
    """Play `rolls` rolls one after another. `folder` is empty."""
    left, us, started = Left(), psutil.Process(), time.monotonic()
    async with driver():
        before = {child.pid for child in us.children(recursive=True)}
        with _temporary(folder / "tmp") as profiles:
            for number in range(1, rolls + 1):
                left.endings[await _roll(number, Path(tempfile.mkdtemp(dir=folder)))] += 1
                gc.collect()
                left.memory_mb.append(us.memory_info().rss / 2**20)
                left.files.append(us.num_fds())
            after = [child for child in us.children(recursive=True) if child.pid not in before]
            left.processes = len(psutil.wait_procs(after, timeout=10)[1])
            left.profiles = len(list(profiles.iterdir()))
    left.seconds = time.monotonic() - started
    return left


async def _roll(number: int, folder: Path) -> str:
    crash = number % CRASH_EVERY == 0

    def watch(line: TranscriptLine) -> None:
        if crash and line.type == "step":
            _kill_page()

    page = GAMES / PAGES[number % len(PAGES)]
    played = await play(page, folder, watch=watch, tester=script(folder, REPLIES), rolls=1, settle_ms=100)
    result = played.result
    return f"{result.verdict} {result.kind or result.degraded_reason}"


def _kill_page() -> None:
    for child in psutil.Process().children(recursive=True):
        if "--type=renderer" in child.cmdline():
            child.kill()


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    """Where profiles go meanwhile."""
    folder.mkdir()
    usual, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = usual


def main() -> int:
    """Print the figures."""
    rolls = int(sys.argv[1]) if len(sys.argv) > 1 else ROLLS
    with tempfile.TemporaryDirectory() as folder:
        left = asyncio.run(soak(rolls, Path(folder)))
    print("\n".join(left.told()))
    for problem in left.problems:
        print(f"FAIL: {problem}")
    return 1 if left.problems else 0


if __name__ == "__main__":
    sys.exit(main())
