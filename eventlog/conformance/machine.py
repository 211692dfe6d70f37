"""A writer, a log and a reader that loses its connection; what they should hold is a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, aclosing
from typing import Any

import anyio
from anyio.from_thread import start_blocking_portal
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from eventlog.conformance.opening import OTHER, SESSION, Open, refusal, said, span
from eventlog.errors import WrongExpectedVersion
from eventlog.event import Seq, SessionId, parse
from eventlog.page import Page
from eventlog.store import Log
from eventlog.subscription import CaughtUp, subscribe

_TEXTS = st.lists(st.text(max_size=8), min_size=1, max_size=5)
_SESSIONS = st.sampled_from([SESSION, OTHER])


class Reconnecting(RuleBasedStateMachine):
    """Append, cut off, restart, wake for nothing: the reader holds a prefix of what was written.

    *fresh* makes the function that opens a new, empty log.
    """

    def __init__(self, fresh: Callable[[], Open]) -> None:
        super().__init__()
        self._open = fresh()
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._opened = self._enter()
        self.log: Log = self._opened.__enter__()
        self._epoch = self.log.epoch
        self.written: dict[SessionId, list[str]] = {SESSION: [], OTHER: []}
        self.applied: dict[SessionId, list[str]] = {SESSION: [], OTHER: []}

    @rule(session=_SESSIONS, texts=_TEXTS, expect=st.booleans())
    def append(self, session: SessionId, texts: list[str], *, expect: bool) -> None:
        """Append, sometimes with the right expectation."""
        head = len(self.written[session])
        expected = head if expect else None
        given = self._call(lambda: self.log.append(session, said(*texts), expected=expected))
        assert given == span(head + 1, head + len(texts))
        self.written[session] += texts

    @rule(session=_SESSIONS, texts=_TEXTS, error=st.integers(1, 9))
    def append_too_late(self, session: SessionId, texts: list[str], error: int) -> None:
        """Append with an expectation that is wrong."""
        stale = len(self.written[session]) + error
        self._call(
            lambda: refusal(
                WrongExpectedVersion, self.log.append(session, said(*texts), expected=stale)
            )
        )

    @rule(session=_SESSIONS, limit=st.integers(0, 4), limit_bytes=st.integers(1, 300))
    def read_some(self, session: SessionId, limit: int, limit_bytes: int) -> None:
        """Read one page and apply it."""
        after = len(self.applied[session])
        page: Page = self._call(
            lambda: self.log.read(session, after=after, limit=limit, limit_bytes=limit_bytes)
        )
        assert page.continues(after)
        assert page.head == len(self.written[session])
        self._apply(session, page)

    @rule(session=_SESSIONS, texts=_TEXTS, wakings=st.integers(0, 3), limit=st.integers(1, 3))
    def follow(self, session: SessionId, texts: list[str], wakings: int, limit: int) -> None:
        """Catch up, be woken for nothing, receive one live append, and lose the connection."""
        self._call(lambda: self._follow(session, texts, wakings, limit))

    @rule(session=_SESSIONS, kept=st.integers(0, 20))
    def lose_what_was_not_saved(self, session: SessionId, kept: int) -> None:
        """Cut the reader off: it comes back with what it had saved before."""
        del self.applied[session][kept:]

    @rule()
    def restart(self) -> None:
        """Close the log and open it again."""
        self._opened.__exit__(None, None, None)
        self._opened = self._enter()
        self.log = self._opened.__enter__()
        assert self.log.epoch == self._epoch

    @invariant()
    def the_reader_holds_a_prefix(self) -> None:
        """Compare what was applied with what was written."""
        for session, applied in self.applied.items():
            assert applied == self.written[session][: len(applied)]

    def teardown(self) -> None:
        """Close the log."""
        self._opened.__exit__(None, None, None)
        self._stack.close()

    async def _follow(
        self, session: SessionId, texts: Sequence[str], wakings: int, limit: int
    ) -> None:
        after = len(self.applied[session])
        source = _Restless(self.log, wakings)
        with anyio.fail_after(10):
            async with aclosing(subscribe(source, session, after=after, limit=limit)) as items:
                async for item in items:
                    if isinstance(item, Page):
                        self._apply(session, item)
                    else:
                        assert item == CaughtUp(Seq(len(self.written[session])))
                        await self.log.append(session, said(*texts))
                        self.written[session] += texts
                    if len(self.applied[session]) == len(self.written[session]) > after:
                        return

    def _apply(self, session: SessionId, page: Page) -> None:
        for text in page.lines:
            envelope = parse(text)
            assert envelope["seq"] == len(self.applied[session]) + 1
            self.applied[session].append(envelope["payload"]["text"])

    def _enter(self) -> AbstractContextManager[Log]:
        return self._portal.wrap_async_context_manager(self._open())

    def _call(self, function: Callable[[], Any]) -> Any:
        return self._portal.call(function)


class _Restless:
    """A log whose first *wakings* waits return for nothing."""

    def __init__(self, log: Log, wakings: int) -> None:
        self._log = log
        self._wakings = wakings
        self.read = log.read

    @property
    def epoch(self) -> str:
        """Identity of the log's numbering."""
        return self._log.epoch

    async def wait(self, session_id: SessionId, *, after: int) -> None:
        """Return for nothing, or as the log does."""
        if self._wakings:
            self._wakings -= 1
            await anyio.lowlevel.checkpoint()
        else:
            await self._log.wait(session_id, after=after)
