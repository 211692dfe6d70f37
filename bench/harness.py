"""Contenders measured in turn, again and again, so that a noisy machine is noisy for all.

Above this module: the benchmarks. Below it: the clock and the disk.
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

REPEATS = 5
LINE = b"x" * 300 + b"\n"
"""What a plain file is given where the log is given an event: about as many bytes."""


@dataclass(slots=True)
class Contender:
    """Something to measure: *run* does it once in an empty folder and returns figures by name."""

    name: str
    run: Callable[[Path], Awaitable[dict[str, float]]]
    figures: dict[str, list[float]] = field(default_factory=dict)

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
                for figure, value in (await contender.run(Path(at))).items():
                    contender.figures.setdefault(figure, []).append(value)


def report(contenders: Sequence[Contender], goals: Sequence[Goal]) -> bool:
    """Print what was measured; whether all goals were met."""
    print(f"machine: {os.cpu_count()} cores, {platform.system()}, Python {_python()}")
    print(f"disk:    fdatasync of {len(LINE)} appended bytes takes {fdatasync_cost():.0f} µs (p50)")
    width = max(len(contender.name) for contender in contenders)
    for contender in contenders:
        for figure in contender.figures:
            value, spread = contender.median(figure), contender.spread(figure)
            print(f"{contender.name:<{width}}  {value:>12,.0f} {figure}  (spread {spread:.0%})")
    met = True
    for goal in goals:
        ratio = goal.ratio()
        reached = goal.met is None or goal.met(ratio)
        met &= reached
        print(
            f"{goal.text}: {ratio:.2f}{'' if goal.met is None else '  met' if reached else '  MISSED'}"
        )
    return met


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
