"""Writes the digests of all recordings anew: `python -m tests.replay.fold.pinning`.

Refuses to while the fold's version is that of the digests that are there.
"""

from __future__ import annotations

import json
import sys

from replay import EMPTY, FOLD_VERSION, digest, fold
from tests.replay.fold.test_captures import FILES, PINNED, sessions


def main() -> int:
    """Write the file; return the exit code."""
    found = {file: [digest(fold(EMPTY, records)) for records in sessions(file)] for file in FILES}
    if PINNED.exists():
        before = json.loads(PINNED.read_text("utf-8"))
        kept = {file: before["digests"].get(file) for file in found}
        changed = [file for file in found if kept[file] not in (None, found[file])]
        if changed and before["fold_version"] == FOLD_VERSION:
            sys.stderr.write(f"{changed[0]} folds otherwise: FOLD_VERSION has to go up first\n")
            return 1
    pinned = {"fold_version": FOLD_VERSION, "digests": found}
    PINNED.write_text(json.dumps(pinned, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
