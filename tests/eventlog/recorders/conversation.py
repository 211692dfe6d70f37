"""A recorder under test with a log so thin that a test can read it at a glance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eventlog import Event, Seq, SessionId, codec
from eventlog.recorders import Direction, Entry, Note, Observation, Recorder, Unrecorded

Json = dict[str, Any]


@dataclass
class Conversation:
    """Feeds frames to a recorder and numbers what comes out, as whoever appends it would."""

    recorder: Recorder
    log: defaultdict[SessionId, list[Event]] = field(default_factory=lambda: defaultdict(list))
    last: Observation = field(default_factory=Observation)

    def send(self, frame: Json | bytes, note: Note | None = None) -> list[tuple[str, Json]]:
        """Let the client send *frame*; return what was recorded."""
        return self._observe("in", frame, note)

    def receive(self, frame: Json | bytes) -> list[tuple[str, Json]]:
        """Let the agent or gateway send *frame*; return what was recorded."""
        return self._observe("out", frame, None)

    def end(self, payload: Mapping[str, Any]) -> list[tuple[str, Json]]:
        """Let the process end."""
        return self._append(self.recorder.ended(payload))

    def types(self, session_id: str) -> list[str]:
        """Return the types of a session's events."""
        return [event.type for event in self.log[SessionId(session_id)]]

    def payloads(self, session_id: str, type_: str) -> list[Json]:
        """Return the payloads of a session's events of one type."""
        events = self.log[SessionId(session_id)]
        return [codec.loads(event.payload) for event in events if event.type == type_]

    @property
    def unrecorded(self) -> Unrecorded | None:
        """Why the last frame gave no event."""
        return self.last.unrecorded

    def everything(self) -> bytes:
        """Return all bytes that were recorded."""
        events = [event for session in self.log.values() for event in session]
        return b"\n".join(event.payload + event.rest for event in events)

    def _observe(
        self, direction: Direction, frame: Json | bytes, note: Note | None
    ) -> list[tuple[str, Json]]:
        text = frame if isinstance(frame, bytes) else codec.dumps({"jsonrpc": "2.0", **frame})
        self.last = self.recorder.observe(direction, text, note)
        assert bool(self.last.entries) != bool(self.last.unrecorded)
        return self._append(self.last.entries)

    def _append(self, entries: Sequence[Entry]) -> list[tuple[str, Json]]:
        for entry in entries:
            self.log[entry.session_id].append(entry.event)
            if entry.slot:
                entry.slot.seq = Seq(len(self.log[entry.session_id]))
        return [(entry.event.type, codec.loads(entry.event.payload)) for entry in entries]
