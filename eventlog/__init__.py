"""A durable, sequenced, append-only log of session events."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from eventlog import codec, exits
from eventlog.address import LogAddress
from eventlog.blobs import Piece, lean, restored, text_of
from eventlog.errors import (
    BadCassette,
    EventLogError,
    Fenced,
    ForeignDatabase,
    HistoryTruncated,
    InvalidSessionId,
    LogBusy,
    LogUnavailable,
    Malformed,
    NewerSchema,
    WrongExpectedVersion,
)
from eventlog.event import (
    GATEWAY,
    START,
    Envelope,
    Event,
    Seq,
    SessionId,
    Span,
    event_of,
    is_session,
    line,
    on_the_wire,
    parse,
    seq_of,
    valid_session_id,
)
from eventlog.folding import Standing
from eventlog.forking import fork
from eventlog.lease import Lease, Leases
from eventlog.location import log_file, log_home, log_location, open_log, open_reader
from eventlog.naming import sessions_named
from eventlog.printing import printable
from eventlog.sqlite import SqliteReader, SqliteStore, database_file
from eventlog.store import (
    Catalogue,
    Checkpoint,
    Checkpoints,
    Condition,
    Contents,
    EventSource,
    EventStore,
    Log,
    LogReader,
    Page,
    Prunable,
    Retention,
    SessionRow,
)
from eventlog.subscription import CaughtUp, subscribe

if TYPE_CHECKING:
    from eventlog.capture import Capture, ImportedSession, Skipped, capture_of, read_capture
    from eventlog.cassette import (
        CassetteBase,
        CassetteHeader,
        Imported,
        export_cassette,
        import_cassette,
        is_cassette,
        read_cassette,
    )
    from eventlog.importer import ImportReport, import_file
    from eventlog.memory import MemoryStore
    from eventlog.recorders import (
        AcpRecorder,
        Direction,
        Entry,
        HermesRecorder,
        NameSession,
        Note,
        Observation,
        Question,
        Recorder,
        Slot,
        Unrecorded,
        is_secret,
    )

__all__ = [
    "GATEWAY",
    "START",
    "AcpRecorder",
    "BadCassette",
    "Capture",
    "CassetteBase",
    "CassetteHeader",
    "Catalogue",
    "CaughtUp",
    "Checkpoint",
    "Checkpoints",
    "Condition",
    "Contents",
    "Direction",
    "Entry",
    "Envelope",
    "Event",
    "EventLogError",
    "EventSource",
    "EventStore",
    "Fenced",
    "ForeignDatabase",
    "HermesRecorder",
    "HistoryTruncated",
    "ImportReport",
    "Imported",
    "ImportedSession",
    "InvalidSessionId",
    "Lease",
    "Leases",
    "Log",
    "LogAddress",
    "LogBusy",
    "LogReader",
    "LogUnavailable",
    "Malformed",
    "MemoryStore",
    "NameSession",
    "NewerSchema",
    "Note",
    "Observation",
    "Page",
    "Piece",
    "Prunable",
    "Question",
    "Recorder",
    "Retention",
    "Seq",
    "SessionId",
    "SessionRow",
    "Skipped",
    "Slot",
    "Span",
    "SqliteReader",
    "SqliteStore",
    "Standing",
    "Unrecorded",
    "WrongExpectedVersion",
    "capture_of",
    "codec",
    "database_file",
    "event_of",
    "exits",
    "export_cassette",
    "fork",
    "import_cassette",
    "import_file",
    "is_cassette",
    "is_secret",
    "is_session",
    "lean",
    "line",
    "log_file",
    "log_home",
    "log_location",
    "on_the_wire",
    "open_log",
    "open_reader",
    "parse",
    "printable",
    "read_capture",
    "read_cassette",
    "restored",
    "seq_of",
    "sessions_named",
    "subscribe",
    "text_of",
    "valid_session_id",
]

_LATER: Final = {
    "memory": {"MemoryStore"},
    "capture": {"Capture", "ImportedSession", "Skipped", "capture_of", "read_capture"},
    "cassette": {
        "CassetteBase",
        "CassetteHeader",
        "Imported",
        "export_cassette",
        "import_cassette",
        "is_cassette",
        "read_cassette",
    },
    "importer": {"ImportReport", "import_file"},
    "recorders": {
        "AcpRecorder",
        "Direction",
        "Entry",
        "HermesRecorder",
        "NameSession",
        "Note",
        "Observation",
        "Question",
        "Recorder",
        "Slot",
        "Unrecorded",
        "is_secret",
    },
}
"""What only some ask for, by its module: it is imported when they do, for to start is felt."""


def __getattr__(name: str) -> Any:
    """Import the module that *name* comes from."""
    for module, names in _LATER.items():
        if name in names:
            found = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
