"""The recorder of an ACP connection: both directions of its frames in, events out (P-35).

Above this module: the gateway's agent host, `wrap acp`, the importer. Below it: `client` and
`agent`, one for each end's calls, over the state that they share (`line`). Rules:
protocol §8 and §11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eventlog.event import GATEWAY, Event, SessionId
from eventlog.recorders.acp import agent, client
from eventlog.recorders.acp.line import Line, Recorded
from eventlog.recorders.acp.places import Places
from eventlog.recorders.frames import Answer, Call, Frame, Notification, key_of, read_frame
from eventlog.recorders.noise import noise, noise_of_client
from eventlog.recorders.recorder import (
    Direction,
    Entry,
    NameSession,
    Note,
    Observation,
    Unrecorded,
)


class AcpRecorder:
    """Observes one ACP connection; a second `initialize` on it is a new process.

    *source* is `session.opened`'s member of that name, *opened* are further members of it.
    *scope* says where the agent's session ids come from (P-22). *known* are the ACP ids, with
    their sessions, that the log holds already. *has_history* says whether the log holds anything
    of a session: if so, an agent's own replay of it is counted and not recorded. *home* is where
    what belongs to no session stands: noise before the session is named, calls about none.
    """

    def __init__(
        self,
        name_session: NameSession,
        new_request_id: Callable[[], str],
        source: Mapping[str, Any],
        *,
        scope: str | None = None,
        opened: Mapping[str, Any] | None = None,
        known: Mapping[str, SessionId] | None = None,
        has_history: Callable[[SessionId], bool] = lambda _: False,
        home: SessionId = GATEWAY,
    ) -> None:
        self._line = Line(
            source=source,
            opened=opened or {},
            places=Places(name_session, has_history, dict(known or {}), home),
            new_request_id=new_request_id,
            scope=scope,
            aliased=set(known or {}),
        )

    @property
    def open_requests(self) -> Mapping[Any, str]:
        """The questions that nobody has answered: the agent's JSON-RPC id -> `srq-…`."""
        return {
            pending.call.id: pending.request
            for pending in self._line.pending["out"].values()
            if pending.request is not None and isinstance(pending.call.id, int | str)
        }

    @property
    def sessions(self) -> Mapping[str, SessionId]:
        """The sessions that have a place: the agent's sessionId -> durable id."""
        return dict(self._line.places.named)

    def know(self, foreign_id: str, session_id: SessionId) -> None:
        """Take note that the log holds a session under this id of the agent's."""
        self._line.places.named.setdefault(foreign_id, session_id)
        self._line.aliased.add(foreign_id)

    def asked_in(self, id_: Any) -> str | None:
        """Return the agent's id of the session that its unanswered call *id_* is about."""
        pending = self._line.pending["out"].get(key_of(id_))
        return pending.foreign if pending else None

    def left(self, foreign_id: str) -> None:
        """Take note that nobody goes on with a session; what still comes for it stands elsewhere."""
        self._line.places.forget(foreign_id)

    def observe(self, direction: Direction, frame: bytes, note: Note | None = None) -> Observation:
        """Return what *frame* means; `HELD` if that is not known yet (P-36)."""
        if not frame.strip():
            return Observation(unrecorded=Unrecorded.BLANK)
        read = read_frame(frame)
        if read is None:
            recorded: Recorded = [Entry(self._only_session(), _no_frame(direction, frame))]
        else:
            recorded = self._recorded(direction, read, note or Note())
        if isinstance(recorded, Unrecorded):
            return Observation(unrecorded=recorded)
        return Observation(recorded, None if recorded else Unrecorded.HELD)

    def ended(self, payload: Mapping[str, Any]) -> Sequence[Entry]:
        """Return `agent.exited` for every session that the process had a part in.

        What it left open is closed by whoever goes on with the session (P-40), or by the fold.
        """
        return self._line.gone(payload)

    def remaining(self) -> Sequence[Entry]:
        """Return what was held for sessions that no answer has named, and the ends of replays."""
        return self._line.places.remaining()

    def _recorded(self, direction: Direction, frame: Frame, note: Note) -> Recorded:
        return self._sent(frame, note) if direction == "in" else self._received(frame)

    def _sent(self, frame: Frame, note: Note) -> Recorded:
        match frame:
            case Call():
                return client.asks(self._line, frame, note)
            case Answer():
                return agent.answered(self._line, frame, note)
            case Notification(method="session/cancel"):
                return client.interrupts(self._line, frame, note)
            case Notification():
                return self._line.told("in", frame, note)

    def _received(self, frame: Frame) -> Recorded:
        match frame:
            case Call():
                return agent.asks(self._line, frame)
            case Answer():
                return client.answered(self._line, frame)
            case Notification(method="session/update"):
                return agent.updated(self._line, frame)
            case Notification():
                return self._line.told("out", frame, Note())

    def _only_session(self) -> SessionId:
        """Return the session a line without an id belongs to, if there can be no doubt."""
        live = list(self._line.places.live)
        return live[0] if len(live) == 1 else self._line.places.home


def _no_frame(direction: Direction, text: bytes) -> Event:
    return noise(text) if direction == "out" else noise_of_client(text)
