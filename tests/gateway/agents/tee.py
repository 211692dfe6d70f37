"""Stand between the gateway and its agent, and keep every line of both, unread.

    python tee.py FILE COMMAND…

FILE gets one JSON object a line: `{"dir": "in" or "out", "line": …}`, *in* being what the agent is
told. It is what the log is held against, so it shares no code with it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Lock, Thread
from typing import IO


def copy(source: IO[bytes], target: IO[bytes], note: IO[str], lock: Lock, direction: str) -> None:
    """Pass lines on as they come; the end, too."""
    for line in iter(source.readline, b""):
        with lock:
            print(json.dumps({"dir": direction, "line": line.decode()}), file=note, flush=True)
        try:
            target.write(line)
            target.flush()
        except OSError:
            break
    if direction == "in":
        target.close()


def main(file: Path, command: list[str]) -> int:
    """Run *command* with a tee in its pipes; return its exit code."""
    lock = Lock()
    with file.open("a", encoding="utf-8") as note, Popen(command, stdin=PIPE, stdout=PIPE) as agent:
        assert agent.stdin
        assert agent.stdout
        told = (sys.stdin.buffer, agent.stdin, note, lock, "in")
        Thread(target=copy, args=told, daemon=True).start()
        copy(agent.stdout, sys.stdout.buffer, note, lock, "out")
        return agent.wait()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
