"""The sessions that a client follows, on the line that it has at present (protocol §10).

Above this module: `client`. Below it: followers, `elder` for gateways that keep no log, `fetching`,
`transcript_pages`, a peer.

An event with a large string in it waits until that is fetched, and what comes behind it waits,
too; what is too much to wait is let go, and asked for again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from anyio.abc import TaskGroup

from eventlog import Envelope, SessionId
from gateway.elder import Elder, Put
from gateway.errors import Code, PeerGone, RpcError
from gateway.fetching import refers, whole
from gateway.follower import Follower, Verdict
from gateway.peer import Peer
from gateway.transcript_pages import assembled

log = logging.getLogger("gateway")


class Followed:
    """Followers by session. They outlive any line.

    *put* asks the user what an older gateway tells of as still open.
    """

    def __init__(self, put: Put) -> None:
        self.older: bool | None = None
        """Whether the gateway keeps no log, so that much has to be done here; None: not known yet."""
        self.elder = Elder(put)
        self._followers: dict[SessionId, Follower] = {}
        self._peer: Peer | None = None
        self._tasks: TaskGroup

    async def add(self, follower: Follower) -> None:
        """Follow another session; subscribed if there is a line, else the next line does it."""
        self._followers[follower.session_id] = follower
        if self._peer:
            await self._subscribe_again(self._peer, follower)

    async def begin(self, peer: Peer, tasks: TaskGroup) -> None:
        """Go on with every session on a new line; *tasks* end with it.

        Raises:
            PeerGone: it has dropped already.

        """
        self._peer, self._tasks, self.older = peer, tasks, None
        for follower in tuple(self._followers.values()):
            await self._subscribe(peer, follower)

    def end(self) -> None:
        """Hear that the line is gone."""
        self._peer = None

    def hear(self, params: Any) -> None:
        """Take an event of the wire."""
        if params.get("type") == "gateway.ready":
            self.elder.ready(params.get("payload") or {})
            return
        if self.older:
            self.elder.hear(params)
            return
        follower = self._followers.get(params.get("session_id", ""))
        if follower is None or "seq" not in params:
            return
        envelope: Envelope = params  # the wire's event is one
        if follower.parked or refers(envelope["payload"]):
            self._park(follower, envelope)
        else:
            self._apply(follower, envelope)

    def asked(self, id_: str, method: str, params: dict[str, Any]) -> SessionId:
        """Return the session that a question is about."""
        if self.older:
            return self.elder.asked(id_, method, params)
        return SessionId(params.get("session_id", ""))

    def answered(self, id_: str, answer: Any) -> None:
        """Hear what the user has answered: an older gateway tells it nobody."""
        if self.older:
            self.elder.answered(id_, answer)

    def start(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        """Do *work*, of a peer and *arguments*, beside the rest, for as long as there is this line."""
        if self._peer:
            self._tasks.start_soon(work, self._peer, *arguments)

    def reached(self, session_id: str, seq: int) -> None:
        """Take the border of a session's history (P-19)."""
        if follower := self._followers.get(SessionId(session_id)):
            if follower.parked:
                follower.parked.put(seq)
            else:
                follower.reached(seq)

    def again(self, session_id: str) -> None:
        """Subscribe anew; not waited for here, where the answer would be heard."""
        follower = self._followers.get(SessionId(session_id))
        if follower and self._peer:
            follower.subscribing = True
            self._tasks.start_soon(self._subscribe_again, self._peer, follower)

    def deleted(self, session_id: str) -> None:
        """Hear that a session has been deleted (P-20a); it is followed no more."""
        if follower := self._followers.pop(SessionId(session_id), None):
            follower.lose("it was deleted")

    def _apply(self, follower: Follower, envelope: Envelope) -> None:
        if follower.hear(envelope) is Verdict.GAP and not follower.subscribing:
            self.again(follower.session_id)

    def _park(self, follower: Follower, envelope: Envelope) -> None:
        idle = not follower.parked
        follower.parked.put(envelope, len(str(envelope["payload"])))
        if idle and self._peer:
            self._tasks.start_soon(self._unpark, self._peer, follower)

    async def _unpark(self, peer: Peer, follower: Follower) -> None:
        parked = follower.parked
        with suppress(PeerGone):  # the next line begins where the follower stands
            while parked:
                item = parked.first()
                if isinstance(item, int):
                    follower.reached(item)
                else:
                    self._apply(follower, await self._whole(peer, follower, item))
                if parked and parked.first() is item:
                    parked.drop_first()
            if parked.overflowed:
                await self._subscribe(peer, follower)

    async def _whole(self, peer: Peer, follower: Follower, item: Envelope) -> Envelope:
        """Return an event with what is large in it; one that is known already as it is."""
        if item["seq"] <= follower.seq or not refers(item["payload"]):
            return item
        payload = await whole(peer.request, follower.session_id, item["payload"])
        return {**item, "payload": payload}

    async def _subscribe(self, peer: Peer, follower: Follower) -> None:
        """Ask for everything after the follower's cursor, from a snapshot if it must be."""
        follower.subscribing, follower.caught_up = True, False
        follower.parked.clear()
        try:
            if not self.older:
                await self._ask_for_events(peer, follower)
            if self.older:
                await self.elder.take_up(peer, follower)
            follower.gone = None
        except RpcError as error:
            log.warning("%s cannot be followed: %s", follower.session_id, error)
            follower.lose(error.message)
        finally:
            follower.subscribing = False

    async def _ask_for_events(self, peer: Peer, follower: Follower) -> None:
        """Subscribe, or find out that this gateway knows no such thing."""
        params: dict[str, Any] = {"session_id": follower.session_id, "last_seen": follower.seq}
        if follower.epoch:
            params["replay_epoch"] = follower.epoch
        try:
            answer = await peer.request("session.events.subscribe", params)
        except RpcError as error:
            if error.code != Code.METHOD_NOT_FOUND:
                raise
            self.older = True
            return
        self.older = False
        if answer["snapshot_required"]:
            await self._start_over(peer, follower, answer["epoch"])
        else:
            follower.epoch = answer["epoch"]

    async def _subscribe_again(self, peer: Peer, follower: Follower) -> None:
        with suppress(PeerGone):  # the next line subscribes every follower anyway
            await self._subscribe(peer, follower)

    async def _start_over(self, peer: Peer, follower: Follower, epoch: str) -> None:
        named = {"session_id": follower.session_id}

        async def ask(params: dict[str, Any]) -> dict[str, Any]:
            page: dict[str, Any] = await peer.request("session.transcript", {**named, **params})
            return page

        transcript, _ = await assembled(ask)
        follower.replace(transcript, epoch)
        await self._subscribe(peer, follower)
