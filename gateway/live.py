"""One live session: its agent, its queue of prompts, and how it ends.

Above this module: `sessions`. Below it: `host`, `recording`, a process.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Final

import anyio

from eventlog import AcpRecorder, Event, EventLogError, Log, SessionId, Slot
from gateway.closing import catch_up, closing_events
from gateway.errors import CannotStart, Code, PeerGone, RpcError
from gateway.host import Host
from gateway.patience import PatientRecording
from gateway.peer import Peer
from gateway.prompt import Prompt
from gateway.recording import recorded
from gateway.state import Receipt, SessionState
from gateway.transports import Exit, Transport, run_process

log = logging.getLogger("gateway")

STDERR_KEPT: Final = 20
"""Last lines of an agent's stderr that `agent.exited` quotes, at most `STDERR_LENGTH` of them."""

STDERR_LENGTH: Final = 4096

GRACE: Final = 2.0
"""Seconds that an agent has to end its turn before it is stopped."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent that can be started: `--agent NAME=COMMAND`."""

    name: str
    argv: tuple[str, ...]


class LiveSession:
    """Runs from `run` until its agent exits or it is told to `stop`.

    *known_as* is the id by which its agent knew it in an earlier life, if there was one.
    *turned* hears when a turn has ended.
    """

    def __init__(
        self,
        session_id: SessionId,
        events: Log,
        spec: AgentSpec,
        state: SessionState,
        *,
        known_as: str | None = None,
        turned: Callable[[SessionId], None] = lambda _session: None,
    ) -> None:
        self.session_id = session_id
        self.spec = spec
        self.failure: Exception | None = None
        """Why the agent could not be made ready, if it could not."""
        self.ready = anyio.Event()
        """Set when the agent is ready, or has failed to be."""
        self.ending = False
        """Nothing is taken any more; `gone` will be set soon."""
        self.gone = anyio.Event()
        """Set when the agent has ended and that is in the log."""
        self.unrecorded = False
        """Whether its end could not be recorded: the next opening of the log must (P-40)."""
        self._state = state
        self._log = events
        self._known_as = known_as
        self._turned = turned
        self._stop = anyio.Event()
        self._reason = "agent_gone"
        self._closed = False
        self._idle = anyio.Event()
        self._prompts: deque[Prompt] = deque()
        self._arrived = anyio.Event()
        self._stderr: deque[str] = deque(maxlen=STDERR_KEPT)
        recorder = AcpRecorder(
            name_session=lambda _foreign, _call: session_id,
            new_request_id=lambda: f"srq-{token_hex(6)}",
            source={"kind": "hosted", "name": spec.name},
            scope=spec.name,
            known={known_as: session_id} if known_as else {},
            has_history=lambda _session: known_as is not None,
            home=session_id,
        )
        self._recording = PatientRecording(events, recorder, session_id)
        self.host = Host(session_id, recorder, self._recording)

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
        return "\n".join(self._stderr)[-STDERR_LENGTH:]

    async def run(self, cwd: str) -> None:
        """Live: start the agent, work on prompts, record the end."""
        try:
            async with (
                run_process(self.spec.argv, cwd=cwd, complain=self._stderr.append) as process,
                recorded(process, self._recording, self.host.remark) as line,
            ):
                await self._converse(line, cwd)
                with anyio.CancelScope(shield=True):
                    await process.aclose()
                    await self._record_end(await process.exited())
        except CannotStart as error:
            self.failure = error
        finally:
            self.gone.set()
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
        """Stop the turn; return whether there was one. Its questions are withdrawn (P-31)."""
        return await self._cancel(by=by, reason="user", withdrawing="interrupted")

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

    async def _cancel(self, *, by: str, reason: str, withdrawing: str) -> bool:
        if not self.running:
            return False
        self._recording.check()
        await self.host.cancel(by=by, reason=reason, withdrawing=withdrawing)
        return True

    async def _converse(self, line: Transport, cwd: str) -> None:
        peer = self.host.speak(line)
        hung_up = anyio.Event()

        async def listen() -> None:
            try:
                await peer.run()
            except* (EventLogError, PeerGone):
                # What cannot be recorded must not pass on: better no agent than an unseen one.
                log.exception("%s: its agent is stopped", self.session_id)
            hung_up.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            try:
                await self.host.open(cwd, self._known_as)
            except (RpcError, PeerGone, TimeoutError) as error:
                self.failure = error
                self._stop.set()
            else:
                tasks.start_soon(self._work)
                self.ready.set()
            tasks.start_soon(self._hang_up_when_told, peer)
            await hung_up.wait()
            tasks.cancel_scope.cancel()
        self.host.lost()

    async def _hang_up_when_told(self, peer: Peer) -> None:
        await self._stop.wait()
        await peer.hang_up()

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
                    slot = Slot(prompt.seq)
                    await self.host.prompt(prompt.content, slot, waited=prompt.waited)
                self._prompts.popleft()
                self._turned(self.session_id)

    async def _record_end(self, end: Exit) -> None:
        self.ending = True  # before anything is awaited: what was taken until now is ended below
        try:
            await self._recording.ended(self._exited(end))
            await catch_up(self._log, self.session_id, self._state)
            error = {"code": int(Code.GOING_AWAY), "message": self._last_words(end)}
            events = closing_events(self._state, reason=self._reason, error=error)
            if self._closed:
                events.append(Event.of("session.closed", {"reason": self._reason}))
            if events:
                await self._recording.append(self.session_id, *events, asked=False)
        except EventLogError:
            self.unrecorded = True
            log.exception("%s: its end could not be recorded", self.session_id)

    def _exited(self, end: Exit) -> dict[str, Any]:
        how: dict[str, Any] = {"signal": end.signal} if end.signal else {"code": end.code}
        if self._stop.is_set() and not self.failure:
            how["reason"] = self._reason
        if self.stderr:
            how["stderr"] = self.stderr
        return how

    def _last_words(self, end: Exit) -> str:
        if self._stop.is_set():
            return f"The agent was stopped before it had answered ({self._reason})."
        how = f"by {end.signal}" if end.signal else f"with code {end.code}"
        return f"The agent exited {how} before it had answered."
