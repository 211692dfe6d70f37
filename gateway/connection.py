"""One client: what it can do, which sessions it follows, what it was asked.

Above this module: `server` and its methods. Below it: attachments, sessions, a peer.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskGroup

from eventlog import (
    Fenced,
    HistoryTruncated,
    Log,
    LogUnavailable,
    Seq,
    SessionId,
    lean,
)
from gateway.answers import approve, foreign_answer, settle
from gateway.attachment import Attachment
from gateway.errors import PeerGone
from gateway.hermes_view import View, Views, shown
from gateway.jsonrpc import Failure, Reply, Request, dump
from gateway.peer import Peer
from gateway.places import Deleted, Places
from gateway.sessions import Sessions
from gateway.state import OpenRequest, SessionState

log = logging.getLogger("gateway")


@dataclass(slots=True)
class Capabilities:
    """What the client said of itself (P-6)."""

    server_requests: bool
    acp_updates: bool = False
    """It reads the log as it is; else ACP sessions are shown as Hermes's (protocol §8)."""
    blobs: bool = False
    compact: bool = False
    limit_bytes: int | None = None


class Connection:
    """Lives in *tasks*, which end with the line."""

    def __init__(
        self,
        name: str,
        events: Log,
        sessions: Sessions,
        views: Views,
        tasks: TaskGroup,
        *,
        asks: bool,
        forget: Callable[[SessionId], None] = lambda _session: None,
    ) -> None:
        self.name = name
        self.can = Capabilities(server_requests=asks)
        self.introduced = False
        """Whether `client.capabilities` has been called."""
        self.peer: Peer
        self._log = events
        self._sessions = sessions
        self._views = views
        self._tasks = tasks
        self._forget = forget
        self.places = Places(tasks, self._ended)
        """Where it stands in the sessions that it follows."""
        self._asked: dict[str, SessionId] = {}
        self._unheard: dict[str, SessionId] = {}
        """Questions whose answer could not be taken, because it could not be recorded."""

    async def attachment(
        self, session_id: SessionId, position: int, *, history: bool
    ) -> Attachment:
        """Return a new place in a session, behind *position*; nothing is delivered before `places.go`."""
        view = await self.view(session_id, position)
        return Attachment(
            session_id=session_id,
            position=Seq(position),
            source=self._log,
            state=self._sessions.state,
            say=self.peer.send_raw,
            say_at_once=self.peer.send_at_once,
            # An answer is of use only where the agent is: elsewhere nobody is asked.
            asks=lambda: self.can.server_requests and self._sessions.ownership.holds(session_id),
            show=self.show,
            view=view,
            blobs=self.can.blobs,
            by_reference=self.by_reference(view),
            history=history,
            asked=self._asked.__setitem__,
            removed=self._check,
        )

    async def _check(self, session_id: SessionId) -> None:
        """Raise Deleted if a session of which events were removed was not pruned: that leaves some.

        Another process may have done so, which tells nobody.
        """
        if await self._log.base(session_id) is None:
            raise Deleted

    async def view(self, session_id: SessionId, seq: int) -> View | None:
        """Return what translates a session for this client from *seq* on, if anything does."""
        return None if self.can.acp_updates else await self._views.at(session_id, seq)

    def by_reference(self, view: View | None) -> bool:
        """Whether large strings are left for this client to fetch: a translation needs them."""
        return self.can.blobs and (view is None or view.passes)

    def show(
        self, request: OpenRequest, session_id: SessionId
    ) -> tuple[str, dict[str, Any]] | None:
        """Return method and params of a question as this client knows it; None: it is not asked."""
        if request.joins:
            return None  # it is being asked that already (R088)
        params = request.frame_params(session_id)
        if self.can.acp_updates:
            return request.method, lean(params) if self.can.blobs else params
        return shown(request.id, request.method, params)

    def open_requests(self, state: SessionState, session_id: SessionId) -> list[dict[str, Any]]:
        """Return `open_requests` as this client gets it: oldest first, original ids (P-17)."""
        known = ((item.id, self.show(item, session_id)) for item in state.requests.values())
        return [{"id": id_, "method": seen[0], "params": seen[1]} for id_, seen in known if seen]

    def asked_in_answer(self, session_id: SessionId, requests: Iterable[str]) -> None:
        """Remember the questions that a snapshot holds: their answers come back here."""
        self._asked.update(dict.fromkeys(requests, session_id))

    def session_asked(self, request_id: str) -> SessionId | None:
        """Return the session in which this client was asked something."""
        return self._asked.get(request_id)

    async def bereave(self, session_id: SessionId) -> None:
        """Hear that a session is deleted: it is followed no more, and the client is told."""
        asked = [id_ for id_, known in self._asked.items() if known == session_id]
        for id_ in asked:  # an answer must not bring the session back
            del self._asked[id_]
        if await self.places.drop(session_id):
            self._tasks.start_soon(self._tell_deleted, session_id)

    async def _tell_deleted(self, session_id: SessionId) -> None:
        with suppress(PeerGone):
            await self.peer.notify("session.deleted", {"session_id": session_id})

    async def watch(self) -> None:
        """Tell the client when nothing can be recorded, and when recording goes on (S-9)."""
        known: str | None = None
        with suppress(PeerGone):
            while True:
                known = await self._log.turned(known)
                if known is None:
                    await self.peer.notify("log.recovered")
                    await self._ask_again()
                else:
                    await self.peer.notify("log.degraded", {"reason": known})

    async def _ask_again(self) -> None:
        """Ask once more what was answered while answers could not be taken."""
        unheard, self._unheard = self._unheard, {}
        for id_, session_id in unheard.items():
            request = (await self._sessions.state(session_id)).requests.get(id_)
            if request and (seen := self.show(request, session_id)):
                params = {**seen[1], "replayed": True}
                await self.peer.send_raw(dump(Request(id_, seen[0], params)))

    async def flush(self) -> None:
        """Return when everything that is in the log has been sent and has left."""
        for attachment in self.places.attachments:
            head = (await self._log.read(attachment.session_id, limit=1)).head
            await attachment.reached(head)
        await self.peer.flushed()

    async def answered(self, answer: Reply | Failure) -> None:
        """Hear what the client says to something it was asked.

        Returns when that is in the log; while nothing can be recorded it holds up no other frame.
        """
        taken = anyio.Event()
        self._tasks.start_soon(self._try_to_take, answer, taken)
        async with anyio.create_task_group() as either:

            async def first(awaited: Callable[[], Awaitable[object]]) -> None:
                await awaited()
                either.cancel_scope.cancel()

            either.start_soon(first, taken.wait)
            either.start_soon(first, lambda: self._log.turned(None))

    async def _try_to_take(self, answer: Reply | Failure, taken: anyio.Event) -> None:
        try:
            await self._take(answer)
        except Fenced as error:
            log.warning("an answer of %s was not taken: %s", self.name, error)
        except LogUnavailable as error:
            log.warning("an answer of %s was not taken: %s", self.name, error)
            if isinstance(answer.id, str) and (session_id := self._asked.get(answer.id)):
                self._unheard[answer.id] = session_id
        finally:
            taken.set()

    async def _take(self, answer: Reply | Failure) -> None:
        if not isinstance(answer.id, str):
            log.info("%s answered %r, which nobody asked", self.name, answer.id)
        elif session_id := self._asked.get(answer.id):
            acp = self.can.acp_updates
            verdict = await settle(
                self._sessions, self._log, session_id, answer, by=self.name, acp=acp
            )
            match answer:
                case Reply(result={"choice": str(choice), "all": True}) if verdict == "accepted":
                    await approve(
                        self._sessions, session_id, choice, only=None, every=True, by=self.name
                    )
        else:
            await foreign_answer(self._log, answer.id)

    async def _ended(self, attachment: Attachment, failure: Exception) -> None:
        """Hear why a session cannot be delivered any further, and tell the client."""
        session_id = attachment.session_id
        match failure:
            case PeerGone():
                log.debug("%s left %s", self.name, session_id)
            case Deleted():
                self._forget(session_id)
                await self.bereave(session_id)
            case HistoryTruncated():
                await self.places.drop(session_id)
                told: dict[str, Any] = {
                    "session_id": session_id,
                    "floor": failure.floor,
                    "snapshot_required": True,
                }
                with suppress(PeerGone):
                    await self.peer.notify("session.events.reset", told)
            case _:
                # Better no line than one on which events are missing: the client comes back.
                log.error("%s cannot be served %s", self.name, session_id, exc_info=failure)
                await self.peer.hang_up()
