"""Processes of `hermes-log` that need not start an interpreter and import everything first.

Run as `python starter.py`. For each line that it reads, the JSON of arguments, environment, and
the files for what is printed, it forks one, which runs the program as its entry point does, and
says how that ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys

import anyio

import eventlog.cassette
import eventlog.copying
import eventlog.forking
import eventlog.sqlite.doctor
import eventlog.sqlite.inspection
import eventlog.sqlite.salvage
import eventlog.sqlite.store
import replay
from eventlog.cli import main

SECONDS = 20
"""It has to end within these, whatever happens (R029)."""

__all__ = ["eventlog", "replay"]


def become(asked: dict[str, object]) -> None:
    """Turn this process into one that was started so."""
    signal.alarm(SECONDS)
    files = (os.devnull, os.O_RDONLY), (asked["out"], os.O_WRONLY), (asked["err"], os.O_WRONLY)
    for number, (path, how) in enumerate(files):
        os.dup2(os.open(str(path), how), number)
    os.environ.clear()
    os.environ.update(asked["environ"])  # type: ignore[call-overload]
    sys.argv = ["hermes-log", *asked["arguments"]]  # type: ignore[misc]
    main()


if __name__ == "__main__":
    anyio.run(anyio.lowlevel.checkpoint)  # what a loop needs is imported when one is first run
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            become(json.loads(line))
            break
        _, status = os.waitpid(child, 0)
        os.write(1, f"{os.waitstatus_to_exitcode(status)}\n".encode())
