"""How a program ends: what it says on stderr, and its exit code (cli.md).

Above this module: the three command lines. Below it: `errors`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from eventlog.errors import (
    BadCassette,
    EventLogError,
    Fenced,
    ForeignDatabase,
    InvalidSessionId,
    LogBusy,
    LogUnavailable,
    Malformed,
    NewerSchema,
)

OK: Final = 0
FOUND: Final = 1
"""A difference, a failed check."""
USAGE: Final = 2
NOT_FOUND: Final = 3
DAMAGED: Final = 4
UNAVAILABLE: Final = 5
INTERRUPTED: Final = 130

_CODES: Final[dict[type[EventLogError], int]] = {
    InvalidSessionId: USAGE,
    BadCassette: DAMAGED,
    ForeignDatabase: DAMAGED,
    Malformed: DAMAGED,
    LogBusy: UNAVAILABLE,
    Fenced: UNAVAILABLE,
    LogUnavailable: UNAVAILABLE,
    NewerSchema: UNAVAILABLE,
}
_ADVICE: Final[dict[type[EventLogError], str]] = {
    LogBusy: "Reading is possible meanwhile; to write, ask that process or end it.",
    Fenced: "Nothing was recorded; ask that process, or end it.",
    LogUnavailable: "The log is where --log or HERMES_LOG says; see that it can be used there.",
    ForeignDatabase: "It was left as it is. Name another place with --log or HERMES_LOG; if it is"
    " a damaged log, `hermes-log salvage` makes a new one of what is intact.",
    NewerSchema: "It was left as it is. Use the version that wrote it, or a later one.",
}


def exit_code(error: EventLogError) -> int:
    """Return the exit code that tells *error*; 1 for those that no command should meet."""
    return _CODES.get(type(error), FOUND)


@contextmanager
def ending(program: str) -> Generator[None, None, None]:
    """End *program* as every program here ends, whatever happens in the block.

    An error of the log is one line on stderr with advice and its exit code; an interrupt is
    130; a reader of stdout that went away (`| head`) is no error at all (R128).
    """
    try:
        yield
        sys.stdout.flush()
    except EventLogError as error:
        sys.stderr.write(f"{program}: {error}\n")
        if advice := _ADVICE.get(type(error)):
            sys.stderr.write(f"{advice}\n")
        raise SystemExit(exit_code(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # What is still buffered has nowhere to go; the interpreter would complain when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(OK) from None
