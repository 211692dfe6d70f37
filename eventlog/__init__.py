"""A durable, sequenced, append-only log of session events."""

from typing import TYPE_CHECKING

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
from eventlog.later import later
from eventlog.lease import Lease, Leases
from eventlog.location import log_file, log_home, log_location, open_log, open_reader
from eventlog.naming import sessions_named
from eventlog.page import Page
from eventlog.printing import printable
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
    Prunable,
    Retention,
    SessionRow,
)

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
    from eventlog.forking import fork
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
    from eventlog.sqlite import SqliteReader, SqliteStore, database_file
    from eventlog.subscription import CaughtUp, subscribe
else:
    __getattr__ = later(
        __name__,
        {
            "capture": "Capture ImportedSession Skipped capture_of read_capture",
            "cassette": "CassetteBase CassetteHeader Imported export_cassette import_cassette"
            " is_cassette read_cassette",
            "forking": "fork",
            "importer": "ImportReport import_file",
            "memory": "MemoryStore",
            "recorders": "AcpRecorder Direction Entry HermesRecorder NameSession Note Observation"
            " Question Recorder Slot Unrecorded is_secret",
            "sqlite": "SqliteReader SqliteStore database_file",
            "subscription": "CaughtUp subscribe",
        },
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
    "later",
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
