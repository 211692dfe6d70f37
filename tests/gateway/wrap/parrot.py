"""An agent that says what a capture says, byte for byte, where the capture says it.

    python parrot.py FILE [EXIT CODE]

FILE holds a line a frame: `>` and what it has to hear, or `<` and what it says. What it hears
otherwise ends it with code 97, and is told on stderr.
"""

import sys
from pathlib import Path

with Path(sys.argv[1]).open("rb") as script:
    for line in script:
        if line.startswith(b"<"):
            sys.stdout.buffer.write(line[1:])
            sys.stdout.buffer.flush()
        elif (heard := sys.stdin.buffer.readline()) != line[1:]:
            sys.stderr.write(f"heard {heard[:200]!r}, and not {line[1:201]!r}\n")
            sys.exit(97)
sys.exit(97 if sys.stdin.buffer.read() else int(sys.argv[2]))
