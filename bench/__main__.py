"""`python -m bench NAME`: run one benchmark and print its table; exit 1 if it missed a goal."""

from __future__ import annotations

import sys

import anyio

from bench import fold, group_commit, wire
from bench.harness import measure, report

BENCHMARKS = {
    "fold": fold.contenders,
    "group_commit": group_commit.contenders,
    "wire": wire.contenders,
}


def main(arguments: list[str]) -> int:
    """Run the benchmark that is named."""
    if len(arguments) != 1 or arguments[0] not in BENCHMARKS:
        print(f"usage: python -m bench {{{'|'.join(BENCHMARKS)}}}", file=sys.stderr)
        return 2
    contenders, goals = BENCHMARKS[arguments[0]]()
    anyio.run(measure, contenders)
    return 0 if report(contenders, goals) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
