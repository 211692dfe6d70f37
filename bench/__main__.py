"""`python -m bench [NAME…]`: run benchmarks and print their tables; exit 1 if one missed a goal.

With `--write` the tables and plots go to docs/bench/ too. With `--sync-us=N` each sync takes N µs
at least, as on a slower disk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import anyio

from bench import (
    batches,
    durable,
    fold,
    group_commit,
    growth,
    jetstream,
    keeping,
    opening,
    reading,
    room,
    soak,
    wire,
)
from bench.disk import on_slow_disk
from bench.harness import REPEATS, Contender, Goal, machine, measure, report
from bench.plot import bars, curves

BENCHMARKS: dict[str, Callable[[], tuple[list[Contender], list[Goal]]]] = {
    "batches": batches.contenders,
    "durable": durable.contenders,
    "fold": fold.contenders,
    "group_commit": group_commit.contenders,
    "opening": opening.contenders,
    "room": room.contenders,
    "growth": growth.contenders,
    "jetstream": jetstream.contenders,
    "keeping": keeping.contenders,
    "reading": reading.contenders,
    "soak": soak.contenders,
    "wire": wire.contenders,
}

SLOW = "--sync-us="

FOLDER = Path(__file__).parent.parent / "docs" / "bench"


def main(arguments: list[str]) -> int:
    """Run the benchmarks that are named, or all."""
    for argument in arguments:
        if argument.startswith(SLOW):
            rest = [one for one in arguments if one != argument]
            return on_slow_disk(rest, float(argument.removeprefix(SLOW)))
    names = [name for name in arguments if name != "--write"]
    if unknown := set(names) - BENCHMARKS.keys():
        print(
            f"{min(unknown)}: no such benchmark; there are {' '.join(BENCHMARKS)}", file=sys.stderr
        )
        return 2
    print(machine())
    met = True
    for name in names or BENCHMARKS:
        met &= _run(name, write="--write" in arguments)
    return 0 if met else 1


def _run(name: str, *, write: bool) -> bool:
    contenders, goals = BENCHMARKS[name]()
    anyio.run(measure, contenders, 1 if name == "soak" else REPEATS)
    found = report(name, contenders, goals)
    print(f"\n{name}", *found.lines, sep="\n")
    if write:
        FOLDER.mkdir(exist_ok=True)
        plot = curves if any(one.curve for one in contenders) else bars
        text = f"# {name}\n\n{machine()}\n\n![{name}]({name}.svg)\n\n```\n"
        lines = "\n".join(found.lines)
        FOLDER.joinpath(f"{name}.md").write_text(f"{text}{lines}\n```\n", "utf-8")
        FOLDER.joinpath(f"{name}.svg").write_text(plot(name, contenders), "utf-8")
    return found.met


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
