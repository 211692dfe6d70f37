"""`hermes-gateway wrap acp`: between an editor and its agent, unnoticed, and everything recorded.

Above this module: the command line. Below it: `relay`, `ledger`, `stand_in`, `journal`.

The agent stays in this process's group and keeps its standard error; it gets the signals that
this process gets, and its end is this process's end.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from shlex import join
from typing import Any, Final

import anyio
from anyio.abc import Process

from eventlog import (
    GATEWAY,
    AcpRecorder,
    EventLogError,
    EventStore,
    Log,
    LogUnavailable,
    MemoryStore,
    SessionId,
    Span,
)
from gateway.background import background
from gateway.beside import take_in
from gateway.closing import catch_up, closing_events, recover
from gateway.errors import CannotStart, Code
from gateway.state import SessionState
from gateway.transports import Exit
from gateway.wrap import streams
from gateway.wrap.book import Book, new_name
from gateway.wrap.journal import journal
from gateway.wrap.ledger import Ledger, Tell
from gateway.wrap.relay import Ends, Relay
from gateway.wrap.stand_in import AcpStandIn, Mode

PASSED_ON: Final = (signal.SIGTERM, signal.SIGHUP)
"""Signals that the agent gets, too; a terminal's Ctrl-C reaches it by itself."""

GRACE: Final = 2.0
"""Seconds that an agent has to end when this program is interrupted."""


@dataclass(frozen=True, slots=True)
class Wrapping:
    """What is wrapped, and how."""

    command: Sequence[str]
    log: Path
    mode: Mode = Mode.FILL
    name: str | None = None
    """What to call the agent, if its own name will not do."""


async def wrap_acp(wrapping: Wrapping, editor: Ends, tell: Tell) -> Exit:
    """Stand between *editor* and the agent until the agent exits; return how it did.

    Raises:
        CannotStart: there is no such program, or it may not be run.

    """
    async with AsyncExitStack() as stack:
        log: Log | None = None
        store: EventStore
        try:
            store = log = await stack.enter_async_context(journal(wrapping.log, tell))
            await recover(log)
        except EventLogError as error:
            tell(f"nothing is recorded: {error}")
            store = NoLog(str(error))
        async with _agent(wrapping.command) as (process, agent):
            line = _Line(wrapping, log, store, tell)
            return await line.run(process, editor, agent)


class _Line:
    """One editor, one agent, one recording."""

    def __init__(self, wrapping: Wrapping, log: Log | None, store: EventStore, tell: Tell) -> None:
        self._where = wrapping.log
        self._log = log
        self._tell = tell
        book = Book(log) if log else None
        self._recorder = AcpRecorder(
            name_session=book.name if book else new_name,
            new_request_id=lambda: f"srq-{token_hex(6)}",
            source={"kind": "wrapped", **({"name": wrapping.name} if wrapping.name else {})},
            has_history=book.has_history if book else lambda _: False,
        )
        self._ledger = Ledger(store, self._recorder, GATEWAY, tell)
        self._stand_in = AcpStandIn(
            wrapping.mode, book, self._ledger, self._recorder, wrapping.name
        )

    async def run(self, process: Process, editor: Ends, agent: Ends) -> Exit:
        relay = Relay(editor, agent, self._ledger, self._stand_in)
        async with background() as tasks:
            tasks.start_soon(self._ledger.run)
            if self._log:
                tasks.start_soon(take_in, self._where, self._log, self._tell)
            async with anyio.create_task_group() as passing:
                passing.start_soon(_pass_signals_on, process)
                passing.start_soon(relay.run)
                end = _exit(await process.wait())
                relay.exited()
                await relay.spoken.wait()
                passing.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await self._record_end(end)
        return end

    async def _record_end(self, end: Exit) -> None:
        how: dict[str, Any] = {"signal": end.signal} if end.signal else {"code": end.code}
        told = f"by {end.signal}" if end.signal else f"with code {end.code}"
        error = {
            "code": int(Code.GOING_AWAY),
            "message": f"The agent exited {told} before it had answered.",
        }
        sessions = dict.fromkeys(self._recorder.sessions.values())
        await self._ledger.ended(how)
        try:
            for session_id in sessions if self._log else ():
                await self._close(session_id, error)
            await self._ledger.settle()
            if self._log:
                await self._log.settle()
        except EventLogError as failure:
            self._tell(f"the end of this conversation is not recorded: {failure}")
        if self._ledger.lost:
            self._tell(f"{self._ledger.lost} events were not recorded")

    async def _close(self, session_id: SessionId, error: dict[str, Any]) -> None:
        assert self._log  # noqa: S101 - without one nothing is open in it
        state = await catch_up(self._log, session_id, SessionState())
        if events := closing_events(state, reason="agent_gone", error=error):
            await self._ledger.append(session_id, *events)


class NoLog(MemoryStore):
    """What is written to when there is no log: it says why each time."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    async def append(self, *_: object, **__: object) -> Span:
        """Refuse."""
        raise LogUnavailable("the log", self._reason)


@asynccontextmanager
async def _agent(command: Sequence[str]) -> AsyncGenerator[tuple[Process, Ends], None]:
    """Run the agent, with pipes for its standard input and output."""
    (hears, speak), (hear, says) = os.pipe(), os.pipe()
    try:
        process = await anyio.open_process(list(command), stdin=hears, stdout=says, stderr=None)
    except (OSError, ValueError) as error:
        streams.close(speak)
        streams.close(hear)
        raise CannotStart(join(command), str(error)) from error
    finally:
        os.close(hears)
        os.close(says)
    try:
        yield process, Ends(hear, speak)
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _end(process: Process) -> None:
    """See that the process is gone: it is, unless this program is interrupted itself."""
    for stop in (process.terminate, process.kill):
        if process.returncode is not None:
            break
        with suppress(ProcessLookupError):
            stop()
        with anyio.move_on_after(GRACE):
            await process.wait()
    await process.aclose()


async def _pass_signals_on(process: Process) -> None:
    with anyio.open_signal_receiver(*PASSED_ON, signal.SIGINT) as signals:
        async for number in signals:
            if number in PASSED_ON:
                with suppress(ProcessLookupError):
                    process.send_signal(number)


def _exit(code: int) -> Exit:
    return Exit(code) if code >= 0 else Exit(signal=signal.Signals(-code).name)
