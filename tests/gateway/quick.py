"""An agent that plays a capture and imports next to nothing: for tests that start dozens.

Run as `python quick.py CAPTURE`. It answers as was answered, whatever it is asked, and says what
was said then, a thousandth of a second apart. `hermes-gateway play` does it with care.
"""

from __future__ import annotations

import json
import sys
import time


def play(path: str) -> None:
    """Wait for each frame that came in, and send those that went out behind it."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes its time
        lines = [json.loads(line) for line in file]
    asked: dict[object, object] = {}
    for line in lines:
        frame = line.get("frame") or {}
        if line.get("dir") == "in":
            live = json.loads(sys.stdin.readline())
            asked[frame.get("id")] = live.get("id")
        elif line.get("dir") == "out":
            if "method" not in frame:
                frame["id"] = asked[frame["id"]]
            sys.stdout.write(json.dumps(frame) + "\n")
            sys.stdout.flush()
            time.sleep(0.001)
    sys.stdin.read()


if __name__ == "__main__":
    play(sys.argv[1])
