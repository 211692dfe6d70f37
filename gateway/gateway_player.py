"""A recorded Hermes gateway that lives again: it tells, asks and answers what it did then.

Above this module: `hermes-gateway play --as gateway`, tests. Below it: `gateway_script`, a transport.

It goes through the recording from front to back. Where a client called, it waits for a client to
call the same method, and goes on with what followed. Calls by which clients look after their line
(`session.events.since`, pings, capabilities, activations) may come at any time: they are answered
from what has been played, with the limits of the real gateway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

from eventlog import codec
from gateway.errors import BadFrame, Code
from gateway.gateway_script import declines, is_ready, read_steps
from gateway.jsonrpc import parse
from gateway.transports import HUNG_UP, Transport

RING: Final = 512
"""Events of a session that a real gateway keeps."""

_BY_ITSELF: Final = frozenset(
    {
        "client.capabilities",
        "gateway.ping",
        "ping",
        "session.activate",
        "session.events.since",
        "session.events.stats",
    }
)
"""Calls that are answered whenever they come."""

Json = dict[str, Any]


@dataclass
class _Played:
    """What has been told of one session."""

    events: list[Json] = field(default_factory=list)
    questions: dict[str, Json] = field(default_factory=dict)


class GatewayPlayer:
    """Plays one recording, to one client after the other; each goes on where the last one left.

    Where the recorded gateway was started anew, the client is hung up on.
    """

    def __init__(self, data: bytes) -> None:
        """Read a capture of a Hermes gateway.

        Raises:
            Malformed: it is none.

        """
        self._steps = list(read_steps(data))
        self._next = 0
        self._ready: Json = {}
        self._sessions: dict[str, _Played] = {}
        self._names: dict[str, str] = {}
        """Stored ids -> the runtime ids of now."""
        self._asked: dict[Any, Any] = {}
        """Recorded ids of calls that a client has made -> its own."""
        self._answers: dict[str, anyio.Event] = {}
        self.answered: dict[str, Json] = {}
        """What clients answered to questions, by id: the first answer."""
        self.heard: list[tuple[str, Any]] = []
        """Calls that clients made, but for those about their line: methods and params."""
        self.deaf = False
        """Whether answers of clients are lost on their way."""
        self._early: Json | None = None
        """A call that the recording is not ready for yet."""
        self._break: tuple[int, int] | None = None

    def __len__(self) -> int:
        """Return how many frames the recording has."""
        return len(self._steps)

    def line_breaks_after(self, played: int, *, unheard: int) -> None:
        """Hang up once *played* frames have been played; play *unheard* more to nobody."""
        self._break = (played, unheard)

    def forget_questions(self) -> None:
        """Settle every open question in a way that no client hears of."""
        for session in self._sessions.values():
            session.questions.clear()

    async def serve(self, line: Transport) -> None:
        """Be the gateway at this end of *line* until either end hangs up."""
        put, calls = anyio.create_memory_object_stream[Json](1024)
        async with put, calls, anyio.create_task_group() as tasks:
            self._asked.clear()
            self._early = None

            async def hear() -> None:
                try:
                    while True:
                        await self._hear(await line.receive(), line, put.send_nowait)
                except HUNG_UP:
                    tasks.cancel_scope.cancel()

            try:
                await self._greet(line)
                tasks.start_soon(hear)
                await self._play(line, calls)
            except HUNG_UP:
                pass
            tasks.cancel_scope.cancel()

    @property
    def over(self) -> bool:
        """Whether everything has been played."""
        return self._next >= len(self._steps)

    async def _greet(self, line: Transport) -> None:
        if self._next == 0 or is_ready(self._steps[min(self._next, len(self._steps) - 1)]):
            return  # the recording does it
        await line.send(codec.dumps(self._ready))

    async def _play(self, line: Transport, calls: MemoryObjectReceiveStream[Json]) -> None:
        greeted = self._next > 0 and not (not self.over and is_ready(self._steps[self._next]))
        while not self.over:
            if self._break and self._next >= self._break[0]:
                (_, unheard), self._break = self._break, None
                for direction, frame in self._steps[self._next : self._next + unheard]:
                    self._played(frame) if direction == "out" else None
                self._next += unheard
                return
            direction, frame = self._steps[self._next]
            if is_ready((direction, frame)):
                if greeted:
                    return
                greeted, self._ready = True, frame
                self._begin_anew()
            if direction == "in":
                await self._await_client(frame, line, calls)
            else:
                await self._say(frame, line)
            self._next += 1
        await anyio.sleep_forever()

    def _begin_anew(self) -> None:
        self._sessions.clear()
        self._names.clear()

    async def _say(self, frame: Json, line: Transport) -> None:
        """Say a frame of the recording, if it is anybody's business now."""
        if "method" not in frame:
            id_ = self._asked.pop(codec.dumps(frame.get("id")), None)
            if id_ is None:
                return
            self._learn(frame.get("result"))
            await line.send(codec.dumps({**frame, "id": id_}))
            return
        if self._played(frame):
            await line.send(codec.dumps(frame))

    def _played(self, frame: Json) -> bool:
        """Take note of an event or a question; return whether it is new."""
        params = frame.get("params") or {}
        played = self._sessions.setdefault(str(params.get("session_id") or ""), _Played())
        if frame["method"] != "event":
            new = frame["id"] not in self._answers
            if new:
                played.questions[frame["id"]] = frame
                self._answers[frame["id"]] = anyio.Event()
            return new
        if params.get("type") == "request.cancel":
            self._withdraw(str((params.get("payload") or {}).get("id")))
        if "seq" in params:
            if any(item["seq"] == params["seq"] for item in played.events):
                return False  # the same event on another recorded socket
            played.events.append(params)
        return True

    def _withdraw(self, id_: str) -> None:
        """Wait no more for the answer to a question."""
        if event := self._answers.get(id_):
            event.set()
        for played in self._sessions.values():
            played.questions.pop(id_, None)

    def _learn(self, result: Any) -> None:
        match result:
            case {"session_id": str(runtime)}:
                stored = result.get("stored_session_id") or result.get("resumed")
                self._names[str(stored or runtime)] = runtime

    async def _await_client(
        self, frame: Json, line: Transport, calls: MemoryObjectReceiveStream[Json]
    ) -> None:
        """Wait until a client does what a client did here; nothing else can be answered."""
        method = frame.get("method")
        if method is None:
            if (event := self._answers.get(str(frame.get("id")))) and not declines(frame):
                await event.wait()
        elif method not in _BY_ITSELF and "id" in frame:
            await self._await_call(method, frame["id"], line, calls)

    async def _await_call(
        self, method: str, id_: Any, line: Transport, calls: MemoryObjectReceiveStream[Json]
    ) -> None:
        """Wait for a call of *method*, or for one that was made later: then this one is left out."""
        while True:
            call = self._early or await calls.receive()
            self._early = None
            if call["method"] == method:
                self._asked[codec.dumps(id_)] = call["id"]
                return
            if self._comes(call["method"]):
                self._early = call
                return
            told = f"the recording goes on with {method}"
            error = {"code": int(Code.METHOD_NOT_FOUND), "message": told}
            await line.send(codec.dumps({"jsonrpc": "2.0", "id": call["id"], "error": error}))

    def _comes(self, method: str) -> bool:
        """Whether *method* is called before the recorded gateway is started anew."""
        for step in self._steps[self._next + 1 :]:
            if is_ready(step):
                return False
            if step[0] == "in" and step[1].get("method") == method:
                return True
        return False

    async def _hear(self, data: bytes, line: Transport, put: Any) -> None:
        try:
            parse(data, max_depth=codec.DEEPEST)
        except BadFrame:
            return
        frame = codec.loads(data)
        method = frame.get("method")
        if method is None:
            self._take_answer(str(frame.get("id")), frame)
        elif method in _BY_ITSELF:
            answer = self._by_itself(method, frame.get("params") or {})
            await line.send(codec.dumps({"jsonrpc": "2.0", "id": frame.get("id"), **answer}))
        elif "id" in frame:
            self.heard.append((method, frame.get("params")))
            put(frame)

    def _take_answer(self, id_: str, frame: Json) -> None:
        if id_ in self._answers and id_ not in self.answered and not self.deaf:
            self.answered[id_] = frame
            self._withdraw(id_)

    def _by_itself(self, method: str, params: Mapping[str, Any]) -> Json:
        name = str(params.get("session_id"))
        played = self._sessions.get(name)
        if method == "session.events.since":
            return {"result": self._since(played or _Played(), params)}
        if method == "session.activate":
            if name not in self._names.values():
                return {"error": {"code": 4001, "message": "session not found"}}
            return {
                "result": {"session_id": name, "running": False, "open_requests": _open(played)}
            }
        return {"result": {"ok": True}}

    def _since(self, played: _Played, params: Mapping[str, Any]) -> Json:
        last_seen = params.get("last_seen") or 0
        kept = played.events[-RING:]
        events = [item for item in kept if item["seq"] > last_seen]
        gone = played.events[-RING - 1]["seq"] if len(played.events) > RING else 0
        return {
            "events": events,
            "count": len(events),
            "latest_seq": played.events[-1]["seq"] if played.events else 0,
            "truncated": last_seen < gone,
            "epoch": self._ready["params"]["payload"]["replay_epoch"],
            "open_requests": _open(played),
        }


async def play_gateway(data: bytes, line: Transport) -> None:
    """Behave as the Hermes gateway that was recorded in *data*, until the client hangs up.

    Raises:
        Malformed: it is no capture of one.

    """
    await GatewayPlayer(data).serve(line)


def _open(played: _Played | None) -> list[Json]:
    questions = played.questions if played else {}
    return [
        {"id": item["id"], "method": item["method"], "params": item["params"]}
        for item in questions.values()
    ]
