"""Where one connection stands in one session, and the loop that moves it on.

Above this module: `connection`. Below it: the log's `subscribe`, and a way to send bytes.

History and live are the same loop (design §1, rule 3): pages of the log become frames, each sent
once, in order, only as fast as the connection takes them (P-9, P-20). A question is sent as a
request after the event that says it was opened; while history is delivered questions wait for
the border, where those still open are asked again (P-19, P-28).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from eventlog import (
    CaughtUp,
    EventSource,
    HistoryTruncated,
    Page,
    Seq,
    SessionId,
    parse,
    seq_of,
    subscribe,
)
from gateway.hermes_view import View
from gateway.jsonrpc import Notification, Request, dump
from gateway.state import OpenRequest, SessionState
from gateway.wire import framer

Say = Callable[[bytes], Awaitable[None]]
"""Sends one frame; waits while the connection's buffer is full."""

_OPENED: Final = b'"type":"request.opened"'


async def _unheard(_session: SessionId) -> None:
    """Hear nothing."""


@dataclass(slots=True)
class Attachment:
    """One reader of one session. *position* is the last event given to the connection."""

    session_id: SessionId
    position: Seq
    source: EventSource
    state: Callable[[SessionId], Awaitable[SessionState]]
    """The session's open work, as it is now."""
    say: Say
    asks: Callable[[], bool]
    """Whether this connection is sent questions (P-6); it may say so at any time."""
    show: Callable[[OpenRequest, SessionId], tuple[str, dict[str, Any]] | None]
    """Method and params of a question as this client knows it; None: it cannot be shown."""
    view: View | None = None
    """What the log is translated by, standing at *position*; None: this client reads it as it is."""
    blobs: bool = False
    """The client knows what a reference is."""
    by_reference: bool = False
    """It fetches large strings itself (P-34)."""
    history: bool = False
    """Catching up after a subscribe: the border will be told."""
    listed: set[str] = field(default_factory=set)
    """Questions that a snapshot has listed meanwhile: they are not asked at the border, too (P-28)."""
    asked: Callable[[str, SessionId], None] = lambda _id, _session: None
    removed: Callable[[SessionId], Awaitable[None]] = field(default=_unheard)
    """Hears that events of the session were removed while it was followed."""
    say_at_once: Callable[[bytes], bool] = lambda _frame: False
    """Sends a frame if nothing is in its way, and says whether that was so: most often it is."""
    _moved: anyio.Event | None = None
    """What somebody waits for who wants to know that *position* has changed."""
    _frame: Callable[[bytes], bytes] = field(init=False)

    def __post_init__(self) -> None:
        """Make what is the same for every event."""
        self._frame = framer(self.session_id, blobs=self.blobs)

    async def deliver(self) -> None:
        """Send what follows *position*, for ever.

        Raises:
            HistoryTruncated: pruning has overtaken this reader; and what *removed* does.

        """
        pages = subscribe(
            self.source,
            self.session_id,
            after=self.position,
            by_reference=self.by_reference,
            removed=lambda _floor: self.removed(self.session_id),
        )
        async with aclosing(pages):
            async for item in pages:
                match item:
                    case Page():
                        await self._send(item)
                        self._wake()
                    case CaughtUp(seq):
                        await self._border(seq)

    async def advance(self, until: int) -> None:
        """Send what stands between *position* and *until*, while nobody else delivers.

        Raises:
            HistoryTruncated: pruning has overtaken this reader.

        """
        while self.position < until:
            page = await self.source.read(
                self.session_id,
                after=self.position,
                limit=min(512, until - self.position),
                by_reference=self.by_reference,
            )
            if not page.body:
                raise HistoryTruncated(self.session_id, self.position, page.floor, page.head)
            await self._send(page)

    async def reached(self, seq: int) -> None:
        """Return when everything up to *seq* has been given to the connection."""
        while self.position < seq:
            self._moved = self._moved or anyio.Event()
            await self._moved.wait()

    def _wake(self) -> None:
        if self._moved is not None:
            self._moved.set()
            self._moved = None

    async def _send(self, page: Page) -> None:
        frame, view = self._frame, self.view
        for text in page.lines:
            told = text if view is None else view.told(text)  # it never runs ahead
            if told is not None and not self.say_at_once(sent := frame(told)):
                await self.say(sent)
            self.position = seq_of(text)
            if not self.history and _OPENED in text[:120] and self.asks():
                await self._ask_if_open(str(parse(text)["payload"].get("id")))

    async def _border(self, seq: Seq) -> None:
        if not self.history:
            return
        self.history = False
        params = {"session_id": self.session_id, "seq": seq}
        await self.say(dump(Notification("session.caught_up", params)))
        if self.asks():
            for request in tuple((await self.state(self.session_id)).requests.values()):
                told = request.opened > seq or request.id in self.listed  # with its event, if later
                if not told:
                    await self._ask(request, replayed=True)

    async def _ask_if_open(self, id_: str) -> None:
        if request := (await self.state(self.session_id)).requests.get(id_):
            await self._ask(request)

    async def _ask(self, request: OpenRequest, *, replayed: bool = False) -> None:
        shown = self.show(request, self.session_id)
        if shown is None:
            return
        method, params = shown
        self.asked(request.id, self.session_id)
        again = {"replayed": True} if replayed else {}
        await self.say(dump(Request(request.id, method, {**params, **again})))
