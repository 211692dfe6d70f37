"""Where a rendering goes: standard output, or a file that is whole or not there.

Above this module: `program`. Below it: the file system.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from replay.errors import WouldOverwrite


def refuse_to_overwrite(output: Path | None, *, force: bool) -> None:
    """Raise `WouldOverwrite` if *output* is a file already, before anything is read."""
    if output is not None and output.is_file() and not force:
        raise WouldOverwrite(str(output))


def write(content: Iterable[bytes], output: Path | None, *, force: bool) -> None:
    """Write *content*, piece by piece, to *output*, a file of its owner's alone (0600), or to standard output.

    Raises:
        WouldOverwrite: there is such a file, also one made meanwhile, and *force* is not set.
        OSError: it cannot be written.

    """
    if output is None:
        for part in content:
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
    elif output.exists() and not output.is_file():
        with output.open("wb") as device:  # or a pipe
            device.writelines(content)
    else:
        _write_whole(content, output, force=force)


def _write_whole(content: Iterable[bytes], output: Path, *, force: bool) -> None:
    draft = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(content)
        _put(draft, output, force=force)
    finally:
        draft.unlink(missing_ok=True)


def _put(draft: Path, output: Path, *, force: bool) -> None:
    if force:
        draft.replace(output)
        return
    try:
        os.link(draft, output)  # unlike a rename it does not replace what is there
    except OSError:
        if output.exists():
            raise WouldOverwrite(str(output)) from None
        draft.replace(output)  # a file system without links
