"""Sessions: which are live here, and how one becomes live and ends.

Above this module: `server`. Below it: `live`, `state`, the log.

A session is live while its agent runs. All its clients may leave, and it stays live (P-23); it
ends when it is closed, when its agent exits, or with the gateway, and the log says which. What
is not live is dormant, and can be resumed if it was hosted here (P-38, P-40).
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Final

import anyio
from anyio.abc import TaskGroup

from eventlog import GATEWAY, Event, EventLogError, Log, LogUnavailable, SessionId
from gateway.agent_spec import AgentSpec
from gateway.agents import Agents
from gateway.background import background
from gateway.closing import IMPORTED, begun, catch_up
from gateway.errors import Code, RpcError
from gateway.live import LiveSession
from gateway.ownership import Ownership
from gateway.past import NEW, Past
from gateway.questions import Questions
from gateway.starting import folder_of, not_started
from gateway.state import SessionState

log = logging.getLogger("gateway")

STATES_KEPT: Final = 512
"""Dormant sessions whose open work is remembered; any other is folded again when asked for."""


class Sessions:
    """Made by `sessions_of`, which also ends what is live when the gateway stops."""

    def __init__(self, events: Log, agents: Mapping[str, AgentSpec], tasks: TaskGroup) -> None:
        self.questions = Questions(events)
        """What the gateway itself asks."""
        self.ownership = Ownership(events, self.state)
        """Which sessions may be written here, if several gateways share the log."""
        self.turned: Callable[[SessionId], None] = lambda _session: None
        """Hears when a live session's turn has ended."""
        self._log = events
        self._agents = Agents(events, agents)
        self._tasks = tasks
        self._live: dict[SessionId, LiveSession] = {}
        self._states: OrderedDict[SessionId, SessionState] = OrderedDict()
        self._starting: dict[SessionId, anyio.Event] = {}
        self.unsettled = False
        """Whether an end could not be recorded, so that the log's next opening has to (P-40)."""

    @property
    def live(self) -> Mapping[SessionId, LiveSession]:
        """The sessions whose agent runs."""
        return self._live

    @property
    def held(self) -> bool:
        """Whether an agent waits for the log to record again (S-9)."""
        return any(live.held for live in self._live.values())

    async def find(self, name: str) -> SessionId:
        """Return the session that *name* is the id or the alias of (P-22).

        Raises:
            RpcError: 4007 there is none; -32602 there are several.

        """
        match await self._log.resolve(name):
            case [only]:
                return only
            case [own, *_] if own == name:
                return own
            case []:
                told = {"session_id": name}
                raise RpcError(Code.SESSION_NOT_FOUND, f"session not found: {name}", told)
            case several:
                raise RpcError(
                    Code.INVALID_PARAMS,
                    f"{name} is an alias of {len(several)} sessions",
                    {"path": "session_id", "candidates": list(several)},
                )

    async def state(self, session_id: SessionId) -> SessionState:
        """Return what is open in a session, as of the log's head."""
        if (state := self._states.get(session_id)) is None:
            state = self._states.setdefault(session_id, await begun(self._log, session_id))
        self._states.move_to_end(session_id)
        if len(self._states) > STATES_KEPT + len(self._live):
            oldest = next((key for key in self._states if key not in self._live), None)
            if oldest and oldest != session_id:
                del self._states[oldest]
        return await catch_up(self._log, session_id, state)

    async def state_at(self, session_id: SessionId, seq: int) -> SessionState:
        """Return what was open in a session at *seq*."""
        state = await self.state(session_id)
        if state.seq == seq:
            return state
        return await catch_up(self._log, session_id, await begun(self._log, session_id), until=seq)

    async def get_live(self, session_id: SessionId) -> LiveSession:
        """Return a live session.

        Raises:
            RpcError: 4001, it is dormant: `session.resume` starts its agent.
            Fenced: it is live on another gateway.

        """
        if live := self._live.get(session_id):
            return live
        await self.ownership.check(session_id)
        raise RpcError(
            Code.NOT_LIVE,
            f"session {session_id} is not live here; session.resume starts its agent",
            {"session_id": session_id},
        )

    async def create(self, agent: str | None, cwd: str | None, title: str | None) -> LiveSession:
        """Start an agent for a new session.

        Raises:
            RpcError: there is no such agent, or it cannot be started.

        """
        session_id = self.new_id()
        spec, folder = self._agents.spec(agent), folder_of(cwd)
        async with self.ownership.writing(session_id):
            live = await self._start(session_id, spec, folder, NEW)
        if title:
            await live.note(Event.of("session.title", {"session_id": session_id, "title": title}))
        return live

    def new_id(self) -> SessionId:
        """Return an id that no session has."""
        return SessionId(f"s-{token_hex(6)}")

    async def resume(
        self, session_id: SessionId, *, fork_of: str | None = None
    ) -> LiveSession | None:
        """Make a hosted session live again if it is not; return None if it is none of ours.

        *fork_of* is the agent's id of the session of whose whole past this one is made.

        Raises:
            RpcError: its agent is not configured any more, or cannot be started.
            Fenced: it is live on another gateway.

        """
        while waiting := self._changing(session_id):
            await waiting.wait()
        if live := self._live.get(session_id):
            return live
        row = None if session_id.startswith(IMPORTED) else await self._log.session(session_id)
        match row and row.opened:
            case {"source": {"kind": "hosted", "name": str(name)}, **opened}:
                async with self.ownership.writing(session_id):
                    state = await self.state(session_id)
                    cwd = opened.get("cwd")
                    return await self._start(
                        session_id,
                        self._agents.spec(name),
                        folder_of(cwd if isinstance(cwd, str) else None),
                        Past(state.foreign_id, fork_of, recorded=state.told),
                    )
        return None

    async def close(self, session_id: SessionId) -> bool:
        """End a live session; return whether it was live.

        Raises:
            Fenced: it is live on another gateway.

        """
        await self.questions.withdraw(session_id, "session_closed")
        live = self._live.get(session_id)
        if live is None:
            await self.ownership.check(session_id)
            return False
        await live.stop(reason="session_closed", closed=True)
        return True

    async def delete(self, session_id: SessionId) -> None:
        """Remove a dormant session from the log; only its numbers stay.

        Raises:
            RpcError: 4023, it is live; 4100, it is the gateway's own (P-12).
            Fenced: it is live on another gateway.

        """
        if session_id == GATEWAY:
            raise RpcError(Code.NOT_ALLOWED, f"{GATEWAY} holds what belongs to no session")
        if session_id in self._live or session_id in self._starting:
            told = {"session_id": session_id}
            why = f"{session_id} is live: close it first"
            raise RpcError(Code.DELETE_OF_LIVE_SESSION, why, told)
        async with self.ownership.writing(session_id):
            await self._log.delete(session_id)
        self._states.pop(session_id, None)

    async def stop_all(self) -> None:
        """End every live session and every question, because the gateway stops."""
        try:
            await self.questions.withdraw_all("shutdown")
        except EventLogError as error:
            self.unsettled = True
            log.warning("questions could not be withdrawn: %s", error)
        async with anyio.create_task_group() as ending:
            for live in tuple(self._live.values()):
                ending.start_soon(_stop, live)

    def _changing(self, session_id: SessionId) -> anyio.Event | None:
        """Return what to wait for while the session is on its way to live, or to its end."""
        live = self._live.get(session_id)
        return live.gone if live and live.ending else self._starting.get(session_id)

    async def _start(
        self, session_id: SessionId, spec: AgentSpec, cwd: str, past: Past
    ) -> LiveSession:
        started = self._starting[session_id] = anyio.Event()
        try:
            await self._check_log()
            state = await self.state(session_id)
            agent = self._agents.take(spec, session_id)
            live = LiveSession(session_id, self._log, agent, state, past=past, turned=self.turned)
            # Whoever asks may hang up while the agent starts: it starts all the same.
            with anyio.CancelScope(shield=True):
                self._tasks.start_soon(self._run, live, cwd)
                await live.ready.wait()
        finally:
            del self._starting[session_id]
            started.set()
        if live.failure:
            raise not_started(spec, live.failure, live.stderr)
        return live

    async def _check_log(self) -> None:
        """Raise LogUnavailable if nothing of a new agent could be recorded (S-9)."""
        if self._log.degraded:
            await self._log.probe()
        if reason := self._log.degraded:
            raise LogUnavailable("the log", reason)

    async def _run(self, live: LiveSession, cwd: str) -> None:
        session_id = live.session_id
        self._live[session_id] = live
        try:
            with live.agent.kept():
                async with self.ownership.writing(session_id), background() as tasks:
                    tasks.start_soon(self._stop_when_lost, live)
                    await live.run(self._tasks, cwd)
        except Exception as error:
            # One session's fault must not end the others. Whoever started it hears of it.
            log.exception("%s ended in disorder", live.session_id)
            live.failure, live.unrecorded = error, True
        finally:
            live.ready.set()  # also if its session could not be held
            del self._live[session_id]
            live.gone.set()
            if live.unrecorded:
                self.unsettled = True
                self.ownership.look_after(session_id)

    async def _stop_when_lost(self, live: LiveSession) -> None:
        await self.ownership.lost(live.session_id)
        log.warning("%s is not held here any more; its agent is stopped", live.session_id)
        live.abandon()


@asynccontextmanager
async def sessions_of(
    events: Log, agents: Mapping[str, AgentSpec]
) -> AsyncGenerator[Sessions, None]:
    """Keep sessions live for as long as the context is open, then end them in order."""
    async with background() as tasks:
        sessions = Sessions(events, agents, tasks)
        try:
            yield sessions
        finally:
            with anyio.CancelScope(shield=True):
                await sessions.stop_all()


async def _stop(live: LiveSession) -> None:
    await live.stop(reason="shutdown", closed=False)
