"""Gateways that need not start an interpreter and import everything first, to be killed.

Run as `python starter.py ARGUMENTS`. For each line that it reads it forks one, which is
`hermes-gateway ARGUMENTS` from then on: `pid N` first, and `dead` when it has ended. Its number is
nobody else's until the next one is asked for.
"""

from __future__ import annotations

import os
import sys

import anyio

import eventlog.sqlite.store
import gateway.serve
import gateway.transports.door
from gateway.cli import main

__all__ = ["eventlog", "gateway"]


def become() -> None:
    """Turn this process into one that was started so."""
    os.write(1, b"pid %d\n" % os.getpid())
    for number in (0, 1):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    sys.argv[0] = "hermes-gateway"
    main()


if __name__ == "__main__":
    anyio.run(anyio.lowlevel.checkpoint)  # what a loop needs is imported when one is first run
    ended = 0
    for _ in sys.stdin:
        if ended:
            os.waitpid(ended, 0)
        if (child := os.fork()) == 0:
            become()
            break
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        os.write(1, b"dead\n")
        ended = child
