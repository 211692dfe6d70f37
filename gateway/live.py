"""One live session: its agent, its queue of prompts, and how it ends.

Above this module: `sessions`. Below it: `host`, and the `agent` that it talks to.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from eventlog import Event, EventLogError, Fenced, Log, SessionId, Slot
from gateway.agent import GRACE, Agent
from gateway.background import background
from gateway.closing import catch_up, closing_events
from gateway.errors import CannotStart, Code, PeerGone, RpcError
from gateway.host import Host
from gateway.past import NEW, Past
from gateway.prompt import Prompt
from gateway.state import Receipt, SessionState
from gateway.workspace import workspace_of

log = logging.getLogger("gateway")

IGNORED: Final = "cancel_ignored"
"""Why an agent is ended that does not end a turn."""


class LiveSession:
    """Runs from `run` until its agent exits or it is told to `stop`.

    *past* is what its agent may know of it. *turned* hears when a turn has ended.
    """

    def __init__(
        self,
        session_id: SessionId,
        events: Log,
        agent: Agent,
        state: SessionState,
        *,
        past: Past = NEW,
        turned: Callable[[SessionId], None] = lambda _session: None,
    ) -> None:
        self.session_id = session_id
        self.spec = agent.spec
        self.agent = agent
        self.host = Host(session_id, agent)
        self.failure: Exception | None = None
        """Why the agent could not be made ready, if it could not."""
        self.ready = anyio.Event()
        """Set when the agent is ready, or has failed to be."""
        self.gone = anyio.Event()
        """Set when the agent has ended, that is in the log, and the session is nobody's."""
        self.unrecorded = False
        """Whether its end could not be recorded: the next opening of the log must (P-40)."""
        self._recording = agent.recording
        self._state = state
        self._log = events
        self._past = past
        self._turned = turned
        self._ending = False
        self._abandoned = False
        self._stop = anyio.Event()
        self._reason = "agent_gone"
        self._closed = False
        self._idle = anyio.Event()
        self._cancelled = anyio.Event()
        self._prompts: deque[Prompt] = deque()
        self._arrived = anyio.Event()

    @property
    def ending(self) -> bool:
        """Nothing is taken any more; `gone` will be set soon."""
        return self._ending or self.agent.ending

    @property
    def running(self) -> bool:
        """Whether the agent works on a prompt."""
        return bool(self._prompts)

    @property
    def held(self) -> bool:
        """Whether its agent waits for the log (S-9)."""
        return self._recording.held

    @property
    def stderr(self) -> str:
        """The last words that the agent wrote to its stderr."""
        return self.agent.stderr

    async def run(self, tasks: TaskGroup, cwd: str) -> None:
        """Live: have the agent, which runs in *tasks*, work on prompts; record the end."""
        try:
            self.agent.start(tasks, cwd)
            async with workspace_of(cwd, self.spec.offers) as self.host.workspace:
                await self._converse(cwd)
            with anyio.CancelScope(shield=True):
                await self._part()
                await self._record_end()
        finally:
            self.ready.set()

    async def submit(self, content: Any, *, ref: str | None = None) -> Receipt:
        """Take a prompt; return its receipt once it is durable (P-24).

        Raises:
            RpcError: the session ends just now.
            LogUnavailable: it was not taken.

        """
        return (await self._take(content, ref, next_=False))[1]

    async def correct(self, kind: str, text: str, *, ref: str | None, by: str) -> bool:
        """Give words to the turn that runs; return whether there is one.

        ACP has no way to do so: the words wait for the turn's end (`steer`), or the turn is
        stopped and they come next (`redirect`).
        """
        if not self.running:
            return False
        content = [{"type": "text", "text": text}]
        prompt, receipt = await self._take(content, ref, next_=kind == "redirect")
        told = {"kind": kind, "text": text, "prompt": receipt.seq}
        await self.note(Event.of("prompt.corrected", told))
        if kind == "redirect" and self._prompts and self._prompts[0] is not prompt:
            await self.interrupt(by=by)
        return True

    async def _take(self, content: Any, ref: str | None, *, next_: bool) -> tuple[Prompt, Receipt]:
        if self.ending:
            raise RpcError(Code.NOT_LIVE, f"the agent of {self.session_id} is gone")
        same = next((item for item in self._prompts if ref and item.ref == ref), None)
        prompt = same or Prompt(content, ref, waited=self.running)
        if not same:
            self._prompts.insert(1 if next_ else len(self._prompts), prompt)
            self._arrived.set()
            # Whoever asked may hang up meanwhile: the prompt is taken all the same, or the queue
            # would wait for ever for a place in the log that nobody tells it.
            with anyio.CancelScope(shield=True):
                try:
                    slot = await self._recording.append(self.session_id, prompt.event())
                    prompt.seq = slot.seq
                finally:
                    prompt.durable.set()
        await prompt.durable.wait()
        if prompt.seq is None:  # the same ref was sent twice at once, and the first was not taken
            raise RpcError(Code.LOG_UNAVAILABLE, "the prompt could not be recorded")
        return prompt, Receipt(prompt.seq, "queued" if prompt.waited else "streaming")

    async def interrupt(self, *, by: str) -> bool:
        """Stop the turn; return whether there was one. Its questions are withdrawn (P-31).

        An agent is stopped although nothing can be recorded now: all of it will be (S-9).
        """
        if not (self.running and self._recording.blocked):
            return await self._cancel(by=by, reason="user", withdrawing="interrupted")
        if not self._cancelled.is_set():
            self._cancelled.set()
            await self.host.cancel_unrecorded(by=by, reason="user")
        return True

    async def note(self, event: Event) -> None:
        """Record something about this session that is in no frame of its agent."""
        await self._recording.append(self.session_id, event)

    async def stop(self, *, reason: str, closed: bool) -> None:
        """End the session: its turn, its agent; return when that is in the log.

        *reason* is one of P-27's. *closed* says whether `session.closed` is recorded, too.

        Raises:
            LogUnavailable: it cannot be recorded now. A shutdown does not wait for that.

        """
        if reason == "shutdown":
            self._recording.give_up()
        else:
            self._recording.check()
        self._reason, self._closed = reason, closed
        with anyio.move_on_after(GRACE), suppress(PeerGone, EventLogError):
            if await self._cancel(by="gateway", reason=reason, withdrawing=reason):
                await self._idle.wait()
        self._stop.set()
        await self.gone.wait()

    def abandon(self) -> None:
        """End the agent, and write nothing: the session is another gateway's now."""
        if not self.spec.shared:
            self._recording.give_up()
        self._abandoned = True
        self._stop.set()

    async def _cancel(self, *, by: str, reason: str, withdrawing: str) -> bool:
        if not self.running:
            return False
        self._recording.check()
        self._cancelled.set()
        await self.host.cancel(by=by, reason=reason, withdrawing=withdrawing)
        return True

    async def _converse(self, cwd: str) -> None:
        """Have the agent until it is gone, or we are told to stop."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._end_with_agent, tasks.cancel_scope)
            try:
                await self.host.open(cwd, self._past)
            except (RpcError, CannotStart, PeerGone, TimeoutError) as error:
                self.failure = error
            else:
                tasks.start_soon(self._work)
                self.ready.set()
                await self._stop.wait()
            tasks.cancel_scope.cancel()
        if not self.ready.is_set() and self.failure is None:
            self.failure = self.agent.failure or PeerGone("session/new")

    async def _end_with_agent(self, scope: anyio.CancelScope) -> None:
        await self.agent.gone.wait()
        scope.cancel()

    async def _part(self) -> None:
        """End the agent, or leave it to the other sessions that have it."""
        self._ending = True  # what was taken until now is in the log when its end is
        if self._abandoned and self.spec.shared and not self.agent.ending:
            with anyio.move_on_after(GRACE), suppress(PeerGone, EventLogError):
                await self._cancel(by="gateway", reason=self._reason, withdrawing=self._reason)
        if self.agent.users > 1 and self._reason != "shutdown" and not self.agent.ending:
            with suppress(PeerGone, EventLogError):
                await self.host.leave(self._reason)
                return
        stopped = self._stop.is_set() and not self.failure
        await self.agent.finish(self._reason if stopped else None)

    async def _work(self) -> None:
        """Give the agent one prompt after the other."""
        with suppress(PeerGone):  # `_record_end` ends what is still open
            while True:
                while not self._prompts:
                    self._idle.set()
                    await self._arrived.wait()
                    self._arrived = anyio.Event()
                self._idle = anyio.Event()
                prompt = self._prompts[0]
                await prompt.durable.wait()
                if prompt.seq is not None:
                    await self._turn(prompt, Slot(prompt.seq))
                self._prompts.popleft()
                self._turned(self.session_id)

    async def _turn(self, prompt: Prompt, slot: Slot) -> None:
        self._cancelled = anyio.Event()
        async with background() as tasks:
            tasks.start_soon(self._insist, self._cancelled)
            await self.host.prompt(prompt.content, slot, waited=prompt.waited)
        if self._cancelled.is_set():  # what it has asked since, or could not be told of
            await self.host.withdraw_all("interrupted")

    async def _insist(self, cancelled: anyio.Event) -> None:
        """End an agent that does not end its turn when it is told to."""
        await cancelled.wait()
        if self._recording.blocked:  # who is not heard cannot end anything
            await self._recording.recorded()
            await self.host.withdraw_all("interrupted")
        await anyio.sleep(self.spec.stopping)
        log.warning("%s: its agent does not end its turn, and is stopped", self.session_id)
        self.agent.stop(IGNORED)

    async def _record_end(self) -> None:
        try:
            await self._recording.append(self.session_id, asked=False)  # behind what was taken
            await catch_up(self._log, self.session_id, self._state)
            error = {"code": int(Code.GOING_AWAY), "message": self._last_words()}
            events = closing_events(self._state, reason=self._reason, error=error)
            if self._closed:
                events.append(Event.of("session.closed", {"reason": self._reason}))
            if events:
                await self._recording.append(self.session_id, *events, asked=False)
        except Fenced as error:
            log.warning("its agent has ended here: %s", error)
        except (EventLogError, PeerGone):
            self.unrecorded = True
            log.exception("%s: its end could not be recorded", self.session_id)
        self.unrecorded = self.unrecorded or self.agent.unrecorded

    def _last_words(self) -> str:
        if self._stop.is_set():
            return f"The agent was stopped before it had answered ({self._reason})."
        if self.agent.reason == IGNORED:
            told = f"{self.spec.stopping:g} s of being told to: it was stopped."
            return f"The agent did not end a turn within {told}"
        end = self.agent.exit
        how = f" by {end.signal}" if end and end.signal else f" with code {end.code}" if end else ""
        return f"The agent exited{how} before it had answered."
