"""Capture files: raw frames of a conversation, one a line, turned into sessions without a log.

Above this module: `importer`, and `replay`, which renders a capture as it is. Below it: the
recorders, which do the same live.

A line is `{"t": seconds, "dir": "in" | "out" | "meta", "frame": …, "conn"?: …}`; `meta` is a
note of whoever made the capture. Times are relative, so `ts` counts from the beginning of 1970:
for display, and only the differences mean anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Literal

from eventlog import codec
from eventlog.errors import Malformed
from eventlog.event import GATEWAY, START, Event, Seq, SessionId, line
from eventlog.recorders import (
    AcpRecorder,
    Direction,
    Entry,
    HermesRecorder,
    Note,
    Observation,
    Recorder,
    Unrecorded,
)
from eventlog.recorders.frames import Call, Notification, read_frame

Kind = Literal["acp", "hermes"]
"""Whose frames they are."""

_LAST_TS: Final = 2**53 - 1
_NO_LINE: Final = "not a line of a capture"


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of the file: where it stands, when and which way it went, and on which socket."""

    number: int
    at: int
    direction: Direction
    text: bytes
    connection: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that holds no frame, and why; *number* counts from 1, *size* is in bytes."""

    number: int
    reason: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A session that a file gives: its id, its events and when each happened (µs)."""

    id: SessionId
    events: list[Event] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    start: Seq = START
    """The head behind which the events stand."""

    @property
    def is_gateway(self) -> bool:
        """Whether it holds what belongs to no session."""
        return self.id.startswith("imp-") and self.id.endswith("-0")

    @property
    def lines(self) -> list[bytes]:
        """The events as lines of the log."""
        numbered = enumerate(zip(self.at, self.events, strict=True), self.start + 1)
        return [line(seq, ts, event) for seq, (ts, event) in numbered]


@dataclass
class Capture:
    """What a capture file holds."""

    sha256: str
    kind: Kind
    sessions: list[ImportedSession] = field(default_factory=list)
    """In order of their first event; `imp-…-0` stands for `@gateway`."""
    frames: int = 0
    notes: int = 0
    """Lines that are notes of whoever made the capture, not frames."""
    skipped: list[Skipped] = field(default_factory=list)
    unrecorded: Counter[Unrecorded] = field(default_factory=Counter)


def read_capture(data: bytes) -> list[ImportedSession]:
    """Return the sessions of a capture file, with their final events, without any log.

    Raises:
        Malformed: no line of it is a frame of an ACP or Hermes conversation.

    """
    return capture_of(data).sessions


def capture_of(
    data: bytes,
    *,
    into: SessionId | None = None,
    start: int = START,
    observed: Callable[[Frame, Observation], None] | None = None,
) -> Capture:
    """Read a capture file; the same content gives the same sessions, ids and bytes.

    With *into* its one session continues that one behind *start*. *observed* is told what each
    frame became.

    Raises:
        Malformed: no line of it is a frame of an ACP or Hermes conversation.

    """
    lines = list(_lines(data))
    frames = [item for item in lines if isinstance(item, Frame)]
    capture = Capture(sha256(data).hexdigest(), _kind(frames))
    taking = _Taking(capture, into=into, start=Seq(start), observed=observed)
    for item in lines:
        taking.take(item)
    taking.finish()
    return capture


class _Taking:
    """Lets a recorder see a file, and keeps what comes out of it session by session."""

    def __init__(
        self,
        capture: Capture,
        *,
        into: SessionId | None,
        start: Seq,
        observed: Callable[[Frame, Observation], None] | None,
    ) -> None:
        self._capture = capture
        self._observed = observed
        self._prefix = f"imp-{capture.sha256[:12]}"
        self._into = into
        self._start = start
        self._names: dict[str, SessionId] = {}
        self._sessions: dict[SessionId, ImportedSession] = {}
        self._requests = 0
        self._last: SessionId | None = None
        self._at = 0
        self._recorder = self._new_recorder()

    def take(self, item: Frame | Skipped | int) -> None:
        """Take one line: a frame, something that is none, or a note (its time)."""
        match item:
            case Frame():
                self._observe(item)
            case Skipped():
                self._skip(item)
            case _:
                self._capture.notes += 1

    def finish(self) -> None:
        """Give the capture its sessions, that of the gateway last."""
        for entry in self._recorder.remaining():
            self._append(entry, self._at)
        order = sorted(self._sessions.values(), key=lambda item: item.id == self._gateway)
        self._capture.sessions += order

    @property
    def _gateway(self) -> SessionId:
        return SessionId(f"{self._prefix}-0")

    def _new_recorder(self) -> Recorder:
        source = {"kind": "imported"}
        opened = {"import": {"sha256": self._capture.sha256}}
        if self._capture.kind == "hermes":
            return HermesRecorder(self._name, source, opened=opened, has_history=self._has_history)
        return AcpRecorder(
            self._name,
            self._new_request_id,
            source,
            opened=opened,
            has_history=self._has_history,
        )

    def _has_history(self, session_id: SessionId) -> bool:
        return session_id == self._into and self._start > START

    def _name(self, foreign_id: str, call: Mapping[str, Any]) -> SessionId:  # noqa: ARG002 - one of two that a recorder tells
        number = len(self._names) + 1
        into = self._into if number == 1 else None
        named = into or SessionId(f"{self._prefix}-{number}")
        return self._names.setdefault(foreign_id, named)

    def _new_request_id(self) -> str:
        self._requests += 1
        return f"srq-{self._requests:012x}"

    def _observe(self, frame: Frame) -> None:
        note = Note(connection=frame.connection)
        observation = self._recorder.observe(frame.direction, frame.text, note)
        self._capture.frames += 1
        self._at = frame.at
        if observation.unrecorded:
            self._capture.unrecorded[observation.unrecorded] += 1
        for entry in observation.entries:
            self._append(entry, frame.at)
        if self._observed:
            self._observed(frame, observation)

    def _skip(self, skipped: Skipped) -> None:
        """Leave a mark where a line was lost (R031); an empty line has lost nothing (R035)."""
        self._capture.skipped.append(skipped)
        if skipped.size:
            reason = f"line {skipped.number} of the imported file: {skipped.reason}"
            gap = Event.of("log.gap", {"lost": 1, "reason": reason, "size": skipped.size})
            self._append(Entry(self._last or GATEWAY, gap), self._at)

    def _append(self, entry: Entry, at: int) -> None:
        id_ = self._gateway if entry.session_id == GATEWAY else entry.session_id
        start = self._start if id_ == self._into else START
        session = self._sessions.setdefault(id_, ImportedSession(id_, start=start))
        session.events.append(entry.event)
        session.at.append(at)
        if entry.slot:
            entry.slot.seq = Seq(session.start + len(session.events))
        if id_ != self._gateway:
            self._last = id_


def _lines(data: bytes) -> Iterator[Frame | Skipped | int]:
    at = 0
    texts = data.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n").split(b"\n")
    for number, text in enumerate(texts, 1):
        item = _line(number, text, at)
        at = item.at if isinstance(item, Frame) else at
        yield item


def _line(number: int, text: bytes, before: int) -> Frame | Skipped | int:
    if not text.strip():
        return Skipped(number, "an empty line")
    try:
        value = codec.loads(text)
    except Malformed as error:
        return Skipped(number, str(error), len(text))
    match value:
        case {"dir": "meta"}:
            return before
        case {"dir": "in" | "out" as direction, "frame": frame}:
            return Frame(number, _at(value, before), direction, _raw(frame), _connection(value))
    return Skipped(number, _NO_LINE, len(text))


def _at(value: Mapping[str, Any], before: int) -> int:
    """Return a line's time in µs; one without a usable time is as late as the one before."""
    match value.get("t"):
        case bool():
            return before
        case int() | float() as seconds if 0 <= seconds * 1_000_000 <= _LAST_TS:
            return round(seconds * 1_000_000)
    return before


def _raw(frame: Any) -> bytes:
    match frame:
        case {"_raw": str(text)}:
            return text.encode("utf-8", "surrogatepass")
    return codec.dumps(frame)


def _connection(value: Mapping[str, Any]) -> str:
    name = value.get("conn")
    return name if isinstance(name, str) else ""


def _kind(frames: list[Frame]) -> Kind:
    for frame in frames:
        match read_frame(frame.text):
            case Call(_, method) | Notification(method):
                return "acp" if "/" in method or method == "initialize" else "hermes"
    raise Malformed("no line of it is a frame of an ACP agent or a Hermes gateway")
