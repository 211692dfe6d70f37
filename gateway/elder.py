"""A gateway that keeps no log, as the reference client has to take it (R056).

Above this module: `followed`. Below it: `hydration`, a recorder of Hermes's wire, followers.

Such a gateway (every Hermes gateway is one) cannot `subscribe`. The best that it has is a ring of
its process's last events; older ones have not even that, and do not number their events. So each
session is numbered here: first what the gateway's snapshot holds, then what happens live. After a
break the ring is asked for the rest, if it is the same process's and reaches back so far.
Otherwise the session is read anew as a whole, never beside what was there: nothing is shown twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from time import time
from typing import Any, Final

from eventlog import Event, HermesRecorder, Observation, Question, Seq, SessionId, line, parse
from gateway.errors import Code, RpcError
from gateway.follower import Follower
from gateway.hydration import Json, stored_id, told
from gateway.jsonrpc import Failure, Notification, Reply, Request, dump
from gateway.peer import Peer

log = logging.getLogger("gateway")

Put = Callable[[str, str, Json], object]
"""Puts a question (id, method, params) to the user, if it is not before them; the answer is sent."""

AHEAD: Final = 2**53 - 1
"""Asked on from here, a gateway tells its latest number and no event."""

_STORED: Final = frozenset({"session.resume", "session.delete", "session.branch_stored"})
"""Calls that name a session by the id under which it is kept."""

_OPENING: Final = frozenset({"session.resume", "session.activate"})

_UNKNOWN: Final = frozenset(
    {Code.NOT_LIVE, Code.SESSION_NOT_FOUND, Code.INVALID_PARAMS, Code.METHOD_NOT_FOUND}
)


@dataclass
class Place:
    """A followed session, as the gateway's present process has it."""

    follower: Follower
    runtime: str
    """What that process calls it."""
    stored: str | None
    """What outlives the process."""
    held: list[Json] | None = None
    """Events that wait for those before them."""


class Elder:
    """One such gateway, over any number of lines."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self._epoch: str | None = None
        self._places: dict[SessionId, Place] = {}
        self._ids = count(1)
        self._recorder = self._new_recorder({})

    def ready(self, payload: Mapping[str, Any]) -> None:
        """Hear who the gateway is; another process numbers anew: no number of the old one holds."""
        epoch = payload.get("replay_epoch")
        if epoch != self._epoch:
            self._epoch = epoch if isinstance(epoch, str) else None
            self._recorder = self._new_recorder(self._recorder.stored)

    def hear(self, params: Json) -> None:
        """Take an event of the wire."""
        place = self._at(params.get("session_id"))
        if place is None:
            return
        if place.held is not None:
            place.held.append(params)
        else:
            self._tell(self._recorder.observe("out", dump(Notification("event", params))))

    async def take_up(self, peer: Peer, follower: Follower) -> None:
        """Have a session on this line, and go on with it.

        Raises:
            RpcError: the gateway does not know it.
            PeerGone: the line dropped.

        """
        place = self._places.get(follower.session_id)
        if place and await self._caught_up(peer, place):
            return
        try:
            await self._hydrate(peer, follower)
        except RpcError:
            if place:
                place.runtime, place.held = "", None  # it is nowhere, and its events nobody's
            raise

    async def request(self, peer: Peer, method: str, params: Json) -> Any:
        """Ask in the gateway's own words: followed sessions by the ids that it knows now."""
        place = self._places.get(params.get("session_id", ""))
        if place and method in _OPENING:
            return await self._hydrate(peer, place.follower)
        if place:
            name = self._stored(place.follower.session_id) if method in _STORED else None
            params = {**params, "session_id": name or place.runtime}
        id_ = f"c{next(self._ids)}"
        self._tell(self._recorder.observe("in", dump(Request(id_, method, params))))
        try:
            result = await peer.request(method, params, id=id_)
        except RpcError as error:
            self._tell(self._recorder.observe("out", dump(Failure(id_, error))))
            raise
        self._tell(self._recorder.observe("out", dump(Reply(id_, result))))
        return result

    def asked(self, id_: str, method: str, params: Json) -> SessionId:
        """Take note of a question; return the followed session that it is about."""
        self._tell(self._recorder.observe("out", dump(Request(id_, method, params))))
        place = self._at(params.get("session_id"))
        return place.follower.session_id if place else SessionId(params.get("session_id", ""))

    def answered(self, id_: str, answer: Any) -> None:
        """Take note of what the user has answered."""
        self._tell(self._recorder.observe("in", dump(Reply(id_, answer))))

    def lasting(self, session_id: SessionId) -> str:
        """Return the id under which a followed session is found again later."""
        return self._stored(session_id) or session_id

    async def _caught_up(self, peer: Peer, place: Place) -> bool:
        """Go on from the gateway's ring; return whether that could be done."""
        seen = self._recorder.highest.get(place.runtime, 0)
        if not seen:  # another process, or one that does not number
            return False
        place.held = []
        place.follower.caught_up = False
        params = {"session_id": place.runtime, "last_seen": seen}
        try:
            await peer.request("session.activate", {"session_id": place.runtime})
            answer = await peer.request("session.events.since", params)
        except RpcError as error:
            log.info("%s cannot be gone on with: %s", place.runtime, error)
            return False
        if not self._goes_on(answer, seen):
            return False
        id_ = f"c{next(self._ids)}"
        self._recorder.observe("in", dump(Request(id_, "session.events.since", params)))
        self._tell(self._recorder.observe("out", dump(Reply(id_, answer))))
        self._go_live(place, answer)
        return True

    def _goes_on(self, answer: Mapping[str, Any], seen: int) -> bool:
        """Whether nothing is missing between what was seen and what follows."""
        return (
            answer.get("epoch") == self._epoch
            and not answer.get("truncated")
            and not answer.get("snapshot_required")
            and answer.get("latest_seq", 0) >= seen
        )

    async def _hydrate(self, peer: Peer, follower: Follower) -> Json:
        """Read a session as a whole, from the snapshot that the gateway offers."""
        snapshot = await self._snapshot(peer, follower)
        runtime = str(snapshot["session_id"])
        stored = stored_id(snapshot) or self._stored(follower.session_id)
        place = self._places[follower.session_id] = Place(follower, runtime, stored, held=[])
        latest = await self._latest(peer, runtime)
        # Of what has come since the snapshot, all is new; of what came before it, nothing.
        first = min(_numbers(place.held or ()), default=None)
        seen = latest if first is None else first - 1
        asked = [
            Question(str(item["id"]), item["method"], item.get("params") or {}, follower.session_id)
            for item in snapshot.get("open_requests") or ()
        ]
        self._recorder.go_on(self._epoch or "", runtime, follower.session_id, seen, asked)
        records = [
            self._envelope(follower, number, Event.of(type_, payload), when)
            for number, (when, type_, payload) in enumerate(told(snapshot), 1)
        ]
        follower.begin_anew(records, f"elder:{self._epoch}")
        log.warning("%s: this gateway cannot replay it; it is read whole", follower.session_id)
        self._go_live(place, snapshot)
        return snapshot

    async def _snapshot(self, peer: Peer, follower: Follower) -> Json:
        name = self._stored(follower.session_id)
        snapshot: Json | None = None
        if name is None:
            try:
                named = {"session_id": follower.session_id}
                snapshot = await peer.request("session.activate", named)
            except RpcError as error:
                if error.code not in _UNKNOWN:
                    raise
        if snapshot is None:
            again = name or follower.session_id
            snapshot = await peer.request("session.resume", {"session_id": again})
        if snapshot.get("messages_omitted") or "messages" not in snapshot:
            snapshot = {**snapshot, "messages": await self._rows(peer, snapshot["session_id"])}
        return snapshot

    async def _rows(self, peer: Peer, runtime: str) -> Any:
        try:
            return (await peer.request("session.history", {"session_id": runtime})).get("messages")
        except RpcError as error:
            log.warning("%s: its past is not to be had: %s", runtime, error)
            return None

    async def _latest(self, peer: Peer, runtime: str) -> int:
        """Return the number of the last event so far; 0 if the gateway cannot say."""
        params = {"session_id": runtime, "last_seen": AHEAD}
        try:
            answer = await peer.request("session.events.since", params)
        except RpcError as error:
            log.info("no events can be asked for: %s", error)
            return 0
        latest = answer.get("latest_seq")
        return latest if isinstance(latest, int) else 0

    def _go_live(self, place: Place, answer: Mapping[str, Any]) -> None:
        """Let what has waited follow, and put what is still open to the user."""
        held, place.held = place.held or [], None
        place.follower.reached(place.follower.seq)
        for params in held:
            self.hear(params)
        for item in answer.get("open_requests") or ():
            self._put(str(item["id"]), item["method"], item.get("params") or {})

    def _tell(self, observed: Observation) -> None:
        """Give followers what a frame meant."""
        for entry in observed.entries:
            if place := self._places.get(entry.session_id):
                follower = place.follower
                number = follower.seq + 1
                if entry.slot is not None:
                    entry.slot.seq = Seq(number)
                follower.hear(self._envelope(follower, number, entry.event, None))

    def _envelope(self, follower: Follower, number: int, event: Event, when: float | None) -> Any:
        ts = int((time() if when is None else when) * 1e6)
        return {"session_id": follower.session_id, **parse(line(number, ts, event))}

    def _at(self, runtime: Any) -> Place | None:
        return next((one for one in self._places.values() if one.runtime == runtime), None)

    def _stored(self, session_id: SessionId) -> str | None:
        """Return what outlives the gateway's process, from a snapshot or from an event since."""
        place = self._places.get(session_id)
        told = (name for name, id_ in self._recorder.stored.items() if id_ == session_id)
        return (place and place.stored) or next(told, None)

    def _new_recorder(self, known: Mapping[str, SessionId]) -> HermesRecorder:
        """Return what dedupes events by their numbers, and knows what prompts and answers mean."""
        source = {"kind": "wrapped"}
        return HermesRecorder(lambda foreign, _: SessionId(foreign), source, known=known)


def _numbers(events: Any) -> list[int]:
    return [item["seq"] for item in events if isinstance(item.get("seq"), int)]
