"""Views at any place in a session, made from the log's beginning and kept where they stand.

Above this module: methods, connections. Below it: `view`, the log.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from eventlog import LogReader, SessionId
from gateway.hermes_view.view import View

KEPT: Final = 64
"""Views that are kept, so that the next page or the next client goes on from one."""


class Views:
    """Makes views of sessions. One is a cache: it can always be made again from the log."""

    def __init__(self, source: LogReader) -> None:
        self._source = source
        self._kept: OrderedDict[SessionId, View] = OrderedDict()

    async def at(self, session_id: SessionId, seq: int) -> View:
        """Return a view that has seen everything up to *seq*, and belongs to the caller."""
        row = await self._source.session(session_id)
        opened = row.opened if row else {}
        if opened.get("protocol") == "hermes":
            return View(session_id, seq, opened)  # it translates nothing, so it remembers nothing
        known = self._kept.get(session_id)
        # One that has seen one line more tells that line again: a page may have ended before it.
        view = known.copy() if known and known.seq <= seq + 1 else View(session_id)
        while view.seq < seq:
            page = await self._source.read(
                session_id, after=view.seq, limit=min(512, seq - view.seq), limit_bytes=1 << 20
            )
            if page.floor > view.seq:
                view = View(session_id, page.floor, opened)
            if not page.body:
                break
            view.see(page.lines)
        self.keep(session_id, view.copy())
        return view

    def forget(self, session_id: SessionId) -> None:
        """Drop what is kept of a session."""
        self._kept.pop(session_id, None)

    def keep(self, session_id: SessionId, view: View) -> None:
        """Keep a view that nobody moves any more, for whoever comes to its place."""
        self._kept[session_id] = view
        self._kept.move_to_end(session_id)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
