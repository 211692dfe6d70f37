"""The recorder of a Hermes gateway: the frames of all its connections in, events out.

Above this module: `wrap hermes`, the importer. Below it: `events` (what the gateway tells),
`questions` (what it asks), `calls` (what clients ask), over the state that they share (`wire`).
Rules: protocol §6 and §8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from eventlog.event import GATEWAY, SessionId
from eventlog.recorders.frames import Answer, Call, Frame, Notification, read_frame
from eventlog.recorders.hermes import calls, events, questions
from eventlog.recorders.hermes.seen import Seen
from eventlog.recorders.hermes.wire import Attached, Question, Recorded, Wire
from eventlog.recorders.noise import noise, noise_of_client
from eventlog.recorders.recorder import (
    Direction,
    Entry,
    NameSession,
    Note,
    Observation,
    Unrecorded,
)


class HermesRecorder:
    """Observes one Hermes gateway, on one connection or several (`Note.connection`).

    *source* is `session.opened`'s member of that name, *opened* are further members of it.
    *scope* says where the gateway's session ids come from (P-22). *known* are the stored ids,
    with their sessions, that the log holds already; *has_history* says whether it holds anything
    of a session.
    """

    def __init__(
        self,
        name_session: NameSession,
        source: Mapping[str, Any],
        *,
        scope: str | None = None,
        opened: Mapping[str, Any] | None = None,
        known: Mapping[str, SessionId] | None = None,
        has_history: Callable[[SessionId], bool] = lambda _: False,
    ) -> None:
        self._wire = Wire(
            name_session=name_session,
            source=source,
            opened=opened or {},
            scope=scope or f"hermes:{source.get('name') or 'gateway'}",
            has_history=has_history,
            stored=dict(known or {}),
        )

    @property
    def sessions(self) -> Mapping[str, SessionId]:
        """The sessions of the gateway's present process: runtime id -> durable id."""
        return {runtime: item.session for runtime, item in self._wire.attached.items()}

    @property
    def highest(self) -> Mapping[str, int]:
        """The highest event number seen of each runtime id: where to ask on from (P-39)."""
        return {runtime: item.seen.highest for runtime, item in self._wire.attached.items()}

    @property
    def stored(self) -> Mapping[str, SessionId]:
        """The sessions that last: stored id -> durable id."""
        return self._wire.stored

    def go_on(
        self,
        epoch: str,
        runtime: str,
        session_id: SessionId,
        highest: int,
        questions: Iterable[Question] = (),
    ) -> None:
        """Take note of what the log holds of a session of a process that lives on (P-39).

        *highest* is the last number of *runtime* in it, *questions* are those it was asked.
        """
        self._wire.go_on(epoch, runtime, Attached(session_id, Seen(highest)))
        self._wire.questions.update({item.id: item for item in questions})

    def observe(self, direction: Direction, frame: bytes, note: Note | None = None) -> Observation:
        """Return what *frame* means."""
        if not frame.strip():
            return Observation(unrecorded=Unrecorded.BLANK)
        read = read_frame(frame)
        recorded = self._recorded(direction, read, note or Note()) if read else None
        if recorded is None:
            event = noise(frame) if direction == "out" else noise_of_client(frame)
            recorded = [Entry(GATEWAY, event)]
        if isinstance(recorded, Unrecorded):
            return Observation(unrecorded=recorded)
        return Observation(recorded)

    def ended(self, payload: Mapping[str, Any]) -> Sequence[Entry]:
        """Return `agent.exited` for every session that the gateway's process had."""
        return self._wire.gone(payload)

    def remaining(self) -> Sequence[Entry]:
        """Return nothing: this recorder holds nothing back."""
        return ()

    def _recorded(self, direction: Direction, frame: Frame, note: Note) -> Recorded | None:
        return self._sent(frame, note) if direction == "in" else self._received(frame, note)

    def _sent(self, frame: Frame, note: Note) -> Recorded:
        match frame:
            case Call():
                return calls.asked(self._wire, frame, note)
            case Answer():
                return questions.answered(self._wire, frame, note)
            case Notification():
                return Unrecorded.UNLISTED

    def _received(self, frame: Frame, note: Note) -> Recorded | None:
        match frame:
            case Call():
                return questions.asked(self._wire, frame)
            case Answer():
                return calls.answered(self._wire, frame, note.connection)
            case Notification(method="event"):
                return events.observed(self._wire, frame.params)
            case Notification():
                return None
