"""A gateway of before: no log, no `subscribe`; what else it lacks is a test's to say (R056).

It speaks on a real socket, and what it tells are the frames of a recorded Hermes gateway.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from eventlog import codec
from gateway.errors import Closing
from gateway.transports import HUNG_UP, Transport, hang_up, serve_websocket
from tests.gateway.stage import TOKEN

CAPTURES = Path(__file__).parents[1] / "captures" / "hermes"
CAPTURE = CAPTURES / "10_restart_resume.jsonl"
STORED = "20261130_150834_7f82b7"
PROMPT = "Please count the files in this project"
Json = dict[str, Any]


def recorded(first: int, last: int) -> Iterator[Json]:
    """Yield the events of a stretch of the capture."""
    for text in CAPTURE.read_bytes().splitlines()[first : last + 1]:
        frame = codec.loads(text)["frame"]
        if frame.get("method") == "event" and frame["params"].get("seq"):
            yield frame["params"]


TURN = list(recorded(10, 52))
"""One turn, with a tool in it: from `session.info` to the end."""
ROWS: list[Json] = codec.loads(CAPTURE.read_bytes().splitlines()[65])["frame"]["result"]["messages"]
"""What the recorded gateway kept of it."""
ANSWER: str = ROWS[-1]["text"]


class OldGateway:
    """One session, any number of windows. *replays*: it has a ring; *numbers*: its events do."""

    def __init__(self, *, replays: bool, numbers: bool) -> None:
        self.replays, self.numbers = replays, numbers
        self.epoch = "a" * 32
        self.runtime = "81de3882"
        self.messages: list[Json] = []
        self.inflight: Json | None = None
        self.questions: list[Json] = []
        self.ring: list[Json] = []
        self.forgotten = 0
        """Events that the ring no longer has."""
        self.calls: list[tuple[str, Json]] = []
        self.answers: list[Json] = []
        self.url = ""
        self._windows: list[Transport] = []
        self._attached: list[Transport] = []

    @asynccontextmanager
    async def served(self) -> AsyncGenerator[None, None]:
        async with serve_websocket("127.0.0.1", 0, TOKEN, self._converse) as address:
            self.url = address.url
            yield

    async def tell(self, events: list[Json]) -> None:
        """Let something happen: in the session, and on the lines that are attached to it."""
        for event in events:
            self._keep(event)
            params = {**event, "session_id": self.runtime}
            params.pop("seq", None)
            if self.numbers:
                params["seq"] = self.forgotten + len(self.ring) + 1
            self.ring.append(params)
            for line in self._attached:
                await _say(line, {"method": "event", "params": params})

    async def ask(self, id_: str, method: str, params: Json) -> None:
        question = {"id": id_, "method": method, "params": {**params, "session_id": self.runtime}}
        self.questions.append(question)
        for line in self._attached:
            await _say(line, question)

    def forget(self) -> None:
        """Lose the ring's events, as when there were too many."""
        self.forgotten += len(self.ring)
        self.ring.clear()

    async def drop(self) -> None:
        """Break every line."""
        for line in tuple(self._windows):
            await hang_up(line, Closing.GOING_AWAY, "going away")

    async def restart(self, epoch: str, runtime: str) -> None:
        """Be another process: what it kept is there, what it had in memory is not."""
        self.epoch, self.runtime = epoch, runtime
        self.ring.clear()
        self.forgotten, self.inflight = 0, None
        await self.drop()

    def _keep(self, event: Json) -> None:
        payload = event.get("payload") or {}
        match event["type"]:
            case "message.delta" if self.inflight:
                self.inflight["assistant"] += payload["text"]
            case "message.complete":
                self.messages, self.inflight = [*self.messages, *ROWS], None

    async def _converse(self, line: Transport) -> None:
        self._windows.append(line)
        payload = {"skin": {}, "replay_epoch": self.epoch}
        await _say(
            line, {"method": "event", "params": {"type": "gateway.ready", "payload": payload}}
        )
        try:
            with suppress(*HUNG_UP):
                while True:
                    frame = codec.loads(await line.receive())
                    if "method" in frame:
                        await _say(line, {"id": frame["id"], **self._answer(line, frame)})
                    else:
                        self.answers.append(frame)
                        self.questions = [it for it in self.questions if it["id"] != frame["id"]]
        finally:
            self._windows.remove(line)
            if line in self._attached:
                self._attached.remove(line)

    def _answer(self, line: Transport, frame: Json) -> Json:
        method, params = frame["method"], frame.get("params") or {}
        self.calls.append((method, params))
        snapshot = {"session.activate": self.runtime, "session.resume": STORED}
        match method, params:
            case "client.capabilities", _:
                unknown = params.keys() - {"server_requests"}
                answer = _no(4000, f"unknown key {min(unknown)}") if unknown else {"result": {}}
            case "session.list" | "session.active_list", _:
                id_ = STORED if method == "session.list" else self.runtime
                rows = [{"id": id_, "title": "", "session_key": STORED}]
                answer = {"result": {"sessions": rows}}
            case "session.activate" | "session.resume", {"session_id": str(name)}:
                known = name == snapshot[method]
                answer = (
                    {"result": self._snapshot(line)} if known else _no(4001, "session not found")
                )
            case "prompt.submit", _:
                answer = self._submit(params)
            case "session.events.since", _ if self.replays:
                answer = {"result": self._since(params)}
            case _:
                answer = _no(-32601, f"unknown method: {method}")
        return answer

    def _submit(self, params: Json) -> Json:
        if params["session_id"] != self.runtime:
            return _no(4001, "session not found")
        if unknown := params.keys() - {"session_id", "text"}:
            return _no(4000, f"unknown key {min(unknown)}")
        self.inflight = {"user": params["text"], "assistant": "", "streaming": True}
        return {"result": {"status": "streaming", "user_row_id": 1}}

    def _snapshot(self, line: Transport) -> Json:
        if line not in self._attached:
            self._attached.append(line)
        return {
            "session_id": self.runtime,
            "session_key": STORED,
            "info": {"cwd": "/home/user/project"},
            "messages": self.messages,
            "running": self.inflight is not None,
            "inflight": self.inflight,
            "open_requests": self.questions,
        }

    def _since(self, params: Json) -> Json:
        last = params["last_seen"]
        known = params["session_id"] == self.runtime
        events = [item for item in self.ring if known and item.get("seq", 0) > last]
        return {
            "events": events,
            "count": len(events),
            "latest_seq": self.forgotten + len(self.ring),
            "truncated": last < self.forgotten,
            "epoch": self.epoch,
            "open_requests": self.questions,
        }


async def _say(line: Transport, frame: Json) -> None:
    with suppress(*HUNG_UP):
        await line.send(codec.dumps({"jsonrpc": "2.0", **frame}))


def _no(code: int, message: str) -> Json:
    return {"error": {"code": code, "message": message}}
