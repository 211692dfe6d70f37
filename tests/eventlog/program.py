"""`hermes-log`, run as people run it.

Above this module: the tests of commands. Below it: `starter.py`.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock

COMMAND = (sys.executable, "-c", "from eventlog.cli import main; main()")


def hermes_log(
    *arguments: str | Path, log: Path | None = None, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the program; it has to end within a few seconds, whatever happens (R029).

    In a process of its own, which does without a start of the interpreter (`starter.py`) where
    the test says nothing of its environment.
    """
    given = {**os.environ, **({"HERMES_LOG": str(log)} if log else {}), **(environ or {})}
    if environ is None:
        return starter().run([str(argument) for argument in arguments], given)
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=20, env=given, check=False
    )


class Starter:
    """Where processes of the program come from: one at a time."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("starter.py")
        self._lock = Lock()
        self._process = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self, arguments: list[str], environ: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run one, and return how it ended and what it printed."""
        asks, hears = self._process.stdin, self._process.stdout
        assert asks is not None
        assert hears is not None
        with self._lock, NamedTemporaryFile() as out, NamedTemporaryFile() as err:
            asked = {"out": out.name, "err": err.name, "environ": dict(environ)}
            asks.write(json.dumps({**asked, "arguments": arguments}) + "\n")
            asks.flush()
            code = int(hears.readline())
            said, told = out.read().decode(), err.read().decode()
        return subprocess.CompletedProcess(["hermes-log", *arguments], code, said, told)

    def end(self) -> None:
        """Start no more."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()


@cache
def starter() -> Starter:
    """Return the one of this process, which ends with it."""
    found = Starter()
    atexit.register(found.end)
    return found
