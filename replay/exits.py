"""How `hermes-replay` ends: an exit code and advice for each situation (cli.md).

Above this module: `program`. Below it: the errors of both packages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Final

from eventlog import (
    BadCassette,
    EventLogError,
    ForeignDatabase,
    InvalidSessionId,
    Malformed,
    exits,
)
from replay.errors import (
    AmbiguousName,
    CannotRedact,
    ForeignFile,
    NoSuchPoint,
    NothingToReplay,
    ReplayError,
    SessionNotFound,
    WouldOverwrite,
    WrongName,
)

DONE: Final = exits.OK
FOUND: Final = exits.FOUND
"""A difference, a failed check, or a search that found nothing."""
USAGE: Final = exits.USAGE
NOT_FOUND: Final = exits.NOT_FOUND
DAMAGED: Final = exits.DAMAGED
UNAVAILABLE: Final = exits.UNAVAILABLE
INTERRUPTED: Final = exits.INTERRUPTED

_CODES: Final[Mapping[type[Exception], int]] = {
    InvalidSessionId: USAGE,
    WrongName: USAGE,
    AmbiguousName: USAGE,
    NoSuchPoint: USAGE,
    WouldOverwrite: USAGE,
    CannotRedact: USAGE,
    SessionNotFound: NOT_FOUND,
    NothingToReplay: NOT_FOUND,
    ForeignFile: DAMAGED,
    ForeignDatabase: DAMAGED,
    BadCassette: DAMAGED,
    Malformed: DAMAGED,
}
"""Every other failure is that of the log, or of the file system: UNAVAILABLE."""

_ADVICE: Final[Mapping[type[Exception], str]] = {
    InvalidSessionId: "give a session's id or its beginning, `latest`, or the path of a file",
    WrongName: "hermes-replay --help shows what can be given, with examples",
    AmbiguousName: "give more of the id",
    NoSuchPoint: "give the number of an event, turn:N, +SECONDS, or a time in UTC",
    WouldOverwrite: "name another file, or overwrite it with --force",
    CannotRedact: "leave out --redact, or take -f json",
    SessionNotFound: "`latest` is the session recorded last; --log names another log",
    NothingToReplay: "record a session first, or take a file that holds one",
    ForeignFile: "hermes-replay reads cassettes, captures and lines of the log",
    ForeignDatabase: "--log names another log",
    BadCassette: "hermes-replay reads cassettes, captures and lines of the log",
    Malformed: "hermes-replay reads cassettes, captures and lines of the log",
}
_OF_LOG: Final = "--log, or HERMES_LOG, names another log"
_OF_FILES: Final = "look at the path, its permissions, and the room on the disk"


def ending(work: Callable[[], int]) -> int:
    """Do *work*; return its exit code, or the one of its failure, told in words on stderr."""
    try:
        return work()
    except BrokenPipeError:
        _close_stdout()
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ReplayError, EventLogError, OSError) as error:
        general = _OF_FILES if isinstance(error, OSError) else _OF_LOG
        complain(f"hermes-replay: {error}", f"  try: {_ADVICE.get(type(error), general)}")
        return _CODES.get(type(error), UNAVAILABLE)


def complain(*lines: str) -> None:
    """Say *lines* on standard error."""
    text = "".join(f"{line}\n" for line in lines)
    sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stderr.buffer.flush()


def _close_stdout() -> None:
    """Keep the interpreter from flushing into the broken pipe once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
