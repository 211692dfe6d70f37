"""A log in memory that several gateways share, each with its own view of who may write what.

It is stricter than a log on a cluster: to write a session that one does not hold is refused at
once, so that a gateway which forgets to hold what it writes fails its tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, cast

import anyio

from eventlog import (
    GATEWAY,
    Event,
    Fenced,
    Lease,
    Log,
    LogUnavailable,
    MemoryStore,
    SessionId,
    Span,
)

DURATION = 5.0

AGENT = """
import json, sys
def say(**frame):
    print(json.dumps({"jsonrpc": "2.0", **frame}), flush=True)
def update(text):
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    say(method="session/update", params={"sessionId": "x", "update": chunk})
turn = None
for line in sys.stdin:
    frame = json.loads(line)
    match frame.get("method"):
        case "initialize":
            say(id=frame["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
        case "session/new":
            say(id=frame["id"], result={"sessionId": "x"})
        case "session/prompt":
            turn, text = frame["id"], frame["params"]["prompt"][0]["text"]
            for number in range(20):
                update(f"{number} ")
            if text == "ask":
                call = {"toolCallId": "t", "title": "run"}
                yes = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
                asked = {"sessionId": "x", "toolCall": call, "options": [yes]}
                say(id=77, method="session/request_permission", params=asked)
            elif text != "wait":
                say(id=turn, result={"stopReason": "end_turn"})
        case "session/cancel" if turn is not None:
            say(id=turn, result={"stopReason": "cancelled"})
"""
"""An agent that starts at once: it says a little, then ends its turn, asks, or waits to be stopped."""


@dataclass
class Table:
    """The log, its leases and its clock, which only a test moves."""

    store: MemoryStore = field(default_factory=MemoryStore)
    now: float = 0.0
    leases: dict[SessionId, Lease] = field(default_factory=dict)
    until: dict[str, float] = field(default_factory=dict)
    """By owner: when it is dead unless it is heard of again."""
    views: list[View] = field(default_factory=list)
    _revisions: count[int] = field(default_factory=lambda: count(1))

    def view(self, owner: str) -> Log:
        """Open the log as *owner*."""
        view = View(self, owner)
        self.views.append(view)
        return cast("Log", view)

    def pass_(self, seconds: float) -> None:
        """Let time pass: who is not paused is heard of."""
        self.now += seconds
        for view in self.views:
            if not view.paused:
                self.until[view.owner] = self.now + DURATION
            view.look()

    def alive(self, lease: Lease) -> bool:
        return self.until[lease.owner] > self.now

    def grant(self, session_id: SessionId, owner: str) -> Lease:
        lease = self.leases[session_id] = Lease(session_id, owner, next(self._revisions))
        for view in self.views:
            view.look()
        return lease


class View:
    """The log as one gateway has it, and at the same time its `Leases`."""

    duration = DURATION

    def __init__(self, table: Table, owner: str) -> None:
        self.owner = owner
        self.paused = False
        """Stopped, or cut off: nobody hears of it, while it may believe what it likes."""
        self.heard_of_loss = True
        """Whether it looks at the clock when it wakes up, before it does anything else."""
        self.unreachable: set[SessionId] = set()
        """Sessions about which nothing can be known at present."""
        self._table = table
        self._held: dict[SessionId, Lease] = {}
        self._losses: dict[SessionId, anyio.Event] = {}
        table.until[owner] = table.now + DURATION

    @property
    def leases(self) -> View:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table.store, name)

    async def append(
        self,
        session_id: SessionId,
        events: Sequence[Event],
        *,
        expected: int | None = None,
        at: Sequence[int] | None = None,
    ) -> Span:
        await anyio.lowlevel.checkpoint()
        current = self._table.leases.get(session_id)
        if session_id != GATEWAY and (current is None or self._held.get(session_id) != current):
            raise Fenced(session_id, current.owner if current else "")
        return await self._table.store.append(session_id, events, expected=expected, at=at)

    async def acquire(self, session_id: SessionId) -> Lease:
        await anyio.lowlevel.checkpoint()
        if session_id in self.unreachable:
            raise LogUnavailable("the table", "it cannot be seen")
        current = self._table.leases.get(session_id)
        if current and current.owner != self.owner and self._table.alive(current):
            raise Fenced(session_id, current.owner)
        if not self.holds(session_id):
            self._held[session_id] = self._table.grant(session_id, self.owner)
            self._losses[session_id] = anyio.Event()
        return self._held[session_id]

    async def release(self, session_id: SessionId) -> None:
        await anyio.lowlevel.checkpoint()
        held = self._held.pop(session_id, None)
        if held and self._table.leases.get(session_id) == held:
            del self._table.leases[session_id]

    def holds(self, session_id: SessionId) -> bool:
        held = self._held.get(session_id)
        if held is None:
            return False
        return not self.heard_of_loss or (
            self._table.alive(held) and self._table.leases.get(session_id) == held
        )

    async def lost(self, session_id: SessionId) -> None:
        if self.holds(session_id):
            await self._losses[session_id].wait()

    async def find(self, session_id: SessionId) -> Lease | None:
        await anyio.lowlevel.checkpoint()
        return self._table.leases.get(session_id)

    async def orphans(self) -> Sequence[SessionId]:
        await anyio.lowlevel.checkpoint()
        return [key for key, lease in self._table.leases.items() if not self._table.alive(lease)]

    def look(self) -> None:
        """Notice what is lost."""
        for session_id in tuple(self._held):
            if not self.paused and not self.holds(session_id):
                del self._held[session_id]
                self._losses[session_id].set()
