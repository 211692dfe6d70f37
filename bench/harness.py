"""Contenders measured in turn, again and again, so that a noisy machine is noisy for all.

Above this module: the benchmarks. Below it: the clock and the disk.
"""

from __future__ import annotations

import gc
import os
import platform
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from bench.peers.server import Absent

REPEATS = 5
LINE = b"x" * 300 + b"\n"
"""What a plain file is given where the log is given an event: about as many bytes."""


@dataclass(slots=True)
class Contender:
    """Something to measure: *run* does it once in an empty folder and returns figures by name."""

    name: str
    run: Callable[[Path], Awaitable[dict[str, float]]]
    figures: dict[str, list[float]] = field(default_factory=dict)
    absent: str | None = None
    """Why it was not measured."""
    curve: str = ""
    """What grows, where this is a point of a curve."""
    size: int = 0
    """How far it has grown here."""

    def median(self, figure: str) -> float:
        """Return the median of what was measured."""
        return median(self.figures[figure])

    def spread(self, figure: str) -> float:
        """Return how far apart the lowest and the highest were, over the median."""
        found = self.figures[figure]
        return (max(found) - min(found)) / median(found)


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio of two contenders' medians, and what it should be."""

    text: str
    ratio: Callable[[], float]
    met: Callable[[float], bool] | None = None
    """None where the ratio is there to be known."""


async def measure(contenders: Sequence[Contender], repeats: int = REPEATS) -> None:
    """Run every contender *repeats* times, in turn, each time in a new folder."""
    for _ in range(repeats):
        for contender in contenders:
            with tempfile.TemporaryDirectory(
                prefix="bench-", dir=os.environ.get("BENCH_DIR")
            ) as at:
                await _measure(contender, Path(at))


async def _measure(contender: Contender, folder: Path) -> None:
    if contender.absent is None:
        gc.collect()
        gc.freeze()  # nobody pays for walking the libraries of all the others, as in one process each
        try:
            found = await contender.run(folder)
        except Absent as reason:
            contender.absent = str(reason)
        else:
            for figure, value in found.items():
                contender.figures.setdefault(figure, []).append(value)


@dataclass(slots=True)
class Report:
    """What a benchmark found, in lines for people."""

    name: str
    lines: list[str] = field(default_factory=list)
    met: bool = True
    """Whether every goal was reached that could be measured."""


def report(name: str, contenders: Sequence[Contender], goals: Sequence[Goal]) -> Report:
    """Say what was measured, and which goals were reached."""
    found = Report(name)
    width = max(len(contender.name) for contender in contenders)
    for contender in contenders:
        if contender.absent is not None:
            found.lines.append(f"{contender.name:<{width}}  skipped: {contender.absent}")
        for figure in contender.figures:
            value, spread = contender.median(figure), contender.spread(figure)
            found.lines.append(
                f"{contender.name:<{width}}  {value:>12,.{0 if value > 100 else 2}f} {figure}"
                f"  (spread {spread:.0%})"
            )
    for goal in goals:
        try:
            ratio = goal.ratio()
        except (KeyError, ValueError):
            found.lines.append(f"{goal.text}: not measured")
            continue
        reached = goal.met is None or goal.met(ratio)
        found.met &= reached
        word = "" if goal.met is None else "  met" if reached else "  MISSED"
        found.lines.append(f"{goal.text}: {ratio:.2f}{word}")
    return found


def machine() -> str:
    """Return on what all this is measured, in a line."""
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {_python()}, "
        f"SQLite {sqlite3.sqlite_version}; fdatasync of {len(LINE)} appended bytes takes "
        f"{fdatasync_cost():.0f} µs (p50)"
    )


def fdatasync_cost(times: int = 200) -> float:
    """Return what a small append and its fdatasync take here: the median, in µs."""
    with tempfile.NamedTemporaryFile(dir=os.environ.get("BENCH_DIR")) as file:
        return median(timed_appends(file.fileno(), times))


def timed_appends(descriptor: int, times: int) -> Iterator[float]:
    """Append a line and sync it, again and again; yield how long each took, in µs."""
    for _ in range(times):
        before = perf_counter()
        os.write(descriptor, LINE)
        os.fdatasync(descriptor)
        yield (perf_counter() - before) * 1e6


def percentiles(latencies: Sequence[float]) -> dict[str, float]:
    """Return p50 and p99 of latencies in µs."""
    cuts = quantiles(latencies, n=100)
    return {"µs p50": cuts[49], "µs p99": cuts[98]}


def _python() -> str:
    return platform.python_version()
