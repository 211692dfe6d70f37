"""Where a gateway of this machine listens: a file in the log's folder, while it runs.

Above this module: the command line, `attach`. Below it: the file system.

The gateway keeps the file locked. One that nobody holds is stale: its gateway was killed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Final

from eventlog import Malformed, codec

FILE: Final = "gateway.json"


@contextmanager
def announced(folder: Path, url: str) -> Generator[None, None, None]:
    """Say in *folder* that a gateway is at *url*, for whoever may read there: its owner alone."""
    path = folder / FILE
    descriptor, draft = mkstemp(dir=folder, prefix=".gateway-")  # 0600
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, codec.dumps({"url": url, "pid": os.getpid()}) + b"\n")
        Path(draft).replace(path)
        yield
    finally:
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(descriptor).st_ino:  # or another one is here now
                path.unlink()
        os.close(descriptor)


def gateway_in(folder: Path) -> str | None:
    """Return where the gateway that serves the log in *folder* is; None if none runs."""
    try:
        descriptor = os.open(folder / FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # its gateway holds it
        return _url(os.read(descriptor, 4096))
    finally:
        os.close(descriptor)
    return None


def _url(text: bytes) -> str | None:
    try:
        match codec.loads(text):
            case {"url": str(url)}:
                return url
    except Malformed:
        pass
    return None
