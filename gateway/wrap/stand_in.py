"""Answers an editor where its agent cannot: which sessions there were, and what was said in them.

Above this module: `relay`, which shows it every frame. Below it: `book`, `history`, the log.

The rule (docs/adr, wrap): what the agent can do is the agent's to do, and its frames pass as they
are. What it cannot do, it is said to be able to do, and is done here. `session/load` of a session
that this process of the agent does not know becomes `session/resume` if the agent has that;
otherwise a new session is opened in its place, under the old name, and the conversation says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any, Final

from eventlog import AcpRecorder, Event, EventLogError, SessionId, SessionRow, codec
from gateway.errors import BadFrame, Code, RpcError
from gateway.jsonrpc import Failure, Frame, Notification, Reply, Request, RequestId, dump, parse
from gateway.wrap.book import Book
from gateway.wrap.history import FORGOTTEN, History, Update, notice
from gateway.wrap.ledger import Ledger
from gateway.wrap.relay import Item, Out

PAGE: Final = 100
"""Sessions in one answer of `session/list`."""

NOT_FOUND: Final = -32002
"""ACP's code for a resource that is not there."""


class Mode(StrEnum):
    """Whose history an editor gets."""

    OFF = "off"
    """The agent's, if it has one: every frame passes as it is."""
    FILL = "fill"
    """The agent's, else the log's."""
    PREFER = "prefer"
    """The log's, else the agent's."""


@dataclass(slots=True)
class _Can:
    """What the agent can do, as far as it is asked of it; until it has said so, all of it."""

    load: bool = True
    list: bool = True
    resume: bool = False


_Look = Callable[[Reply], Reply]
"""Sees an agent's answer, and returns what the editor gets; the same one: its bytes as they are."""


class AcpStandIn:
    """One editor, one agent. *book* is None if there is no log to answer from."""

    def __init__(
        self, mode: Mode, book: Book | None, ledger: Ledger, recorder: AcpRecorder, name: str | None
    ) -> None:
        """*name* is what the agent is called by whoever started it, if that is not its own name."""
        self._mode = mode
        self._book = book
        self._ledger = ledger
        self._recorder = recorder
        self._name = name
        self._can = _Can()
        self._looks: dict[RequestId, _Look] = {}
        self._here: dict[str, dict[str, Any]] = {}
        """The sessions of this process, by the editor's names, and how they were opened."""
        self._inner: dict[str, str] = {}
        """What the agent calls the sessions that it goes on with under another name."""
        self._outer: dict[str, str] = {}

    @property
    def replays(self) -> bool:
        """Whether the editor gets an agent's own replay of what the log holds."""
        return self._mode is not Mode.PREFER

    async def sent(self, frame: bytes, to_editor: Out) -> bytes | None:
        """Return what the agent gets instead of *frame*; None if it is answered here."""
        call = _read(frame)
        if not isinstance(call, Request):
            return _renamed(frame, call, self._inner)
        passed: bytes | Reply | Failure
        try:
            passed = await self._asked(call, frame, to_editor)
        except RpcError as error:
            passed = Failure(call.id, error)
        except EventLogError as error:
            told = f"the log cannot be read: {error}"
            passed = Failure(call.id, RpcError(Code.INTERNAL_ERROR, told))
        if isinstance(passed, bytes):
            return passed
        await to_editor.send([Item(dump(passed) + b"\n")])
        return None

    def told(self, frame: bytes) -> bytes:
        """Return what the editor gets instead of *frame*."""
        if not (self._looks or self._outer):
            return frame
        match call := _read(frame):
            case Reply(id_) if look := self._looks.pop(id_, None):
                seen = look(call)
                return frame if seen is call else dump(seen)
            case Failure(id_) if id_ is not None:
                self._looks.pop(id_, None)
        return _renamed(frame, call, self._outer)

    async def _asked(self, call: Request, frame: bytes, to_editor: Out) -> bytes | Reply:
        """Return what the agent gets instead of a call, or its answer."""
        params = call.params if isinstance(call.params, dict) else {}
        name = params.get("sessionId")
        if call.method in _LOOKED_AT:
            looks = {"initialize": self._introduced}
            self._looks[call.id] = looks.get(call.method, self._opened)
        if call.method == "session/list" and not self._can.list:
            return Reply(call.id, await self._list(params))
        if call.method in _CONTINUING and isinstance(name, str):
            known = await self._known(name)
            if call.method == "session/load":
                return await self._load(call, frame, name, known, to_editor)
        return _renamed(frame, call, self._inner)

    def _introduced(self, reply: Reply) -> Reply:
        """Hear what the agent can; what it cannot, say that it can."""
        if self._book is None or not isinstance(reply.result, dict):
            return reply
        result = reply.result
        self._book.scope = (
            f"acp:{self._name or _member(result, 'agentInfo').get('name') or 'agent'}"
        )
        able = _member(result, "agentCapabilities")
        more = _member(able, "sessionCapabilities")
        can = _Can(
            load=able.get("loadSession") is True,
            list=more.get("list") is not None,
            resume=more.get("resume") is not None,
        )
        if self._mode is Mode.OFF or result.get("protocolVersion") != 1 or (can.load and can.list):
            return reply
        self._can = can
        said = {**able, "loadSession": True, "sessionCapabilities": {"list": {}, **more}}
        return Reply(reply.id, {**result, "agentCapabilities": said})

    def _opened(self, reply: Reply) -> Reply:
        match reply.result:
            case {"sessionId": str(name)}:
                self._here[name] = _without_session(reply.result)
        return reply

    async def _known(self, foreign: str) -> SessionId | None:
        """Return the session that the log holds under this name; the recorder goes on with it."""
        if self._book is None or foreign in self._recorder.sessions:
            return self._recorder.sessions.get(foreign)
        session_id = await self._book.find(foreign)
        if session_id:
            self._book.hold(session_id)
            self._recorder.know(foreign, session_id)
        return session_id

    async def _list(self, params: dict[str, Any]) -> dict[str, Any]:
        assert self._book  # noqa: S101 - without one the agent's own word stands
        start, cwd = _start(params.get("cursor")), params.get("cwd")
        found = await self._book.sessions(cwd if isinstance(cwd, str) else None)
        more = {"nextCursor": str(start + PAGE)} if start + PAGE < len(found) else {}
        return {"sessions": [_info(*item) for item in found[start : start + PAGE]], **more}

    async def _load(
        self, call: Request, frame: bytes, name: str, known: SessionId | None, to_editor: Out
    ) -> bytes | Reply:
        if self._can.load:
            if known and self._mode is Mode.PREFER:
                await self._replay(known, name, to_editor)
            return frame
        if known is None:
            told = f"No session {name} is recorded here"
            raise RpcError(NOT_FOUND, told, {"sessionId": name})
        await self._replay(known, name, to_editor)
        if name in self._here:
            return Reply(call.id, self._here[name])
        params = call.params if isinstance(call.params, dict) else {}
        if self._can.resume:
            self._looks[call.id] = partial(self._resumed, name)
            return dump(Request(call.id, "session/resume", params))
        return await self._begin_anew(call.id, params, name, known, to_editor)

    async def _begin_anew(
        self, id_: RequestId, params: dict[str, Any], name: str, known: SessionId, to_editor: Out
    ) -> bytes:
        """Open a session in the place of one that the agent does not remember (P-38)."""
        assert self._book  # noqa: S101 - it is where *known* was found
        self._book.continues(id_, known)
        self._looks[id_] = partial(self._replaced, name, known)
        await to_editor.send([Item(_update(name, notice(FORGOTTEN), {}))])
        return dump(Request(id_, "session/new", _without_session(params)))

    def _resumed(self, name: str, reply: Reply) -> Reply:
        self._here[name] = reply.result if isinstance(reply.result, dict) else {}
        return reply

    def _replaced(self, name: str, known: SessionId, reply: Reply) -> Reply:
        match reply.result:
            case {"sessionId": str(inner)}:
                rest = _without_session(reply.result)
                if inner != name:
                    self._inner[name], self._outer[inner] = inner, name
                self._here[name] = rest
                self._ledger.note(known, Event.of("notice", {"message": FORGOTTEN}))
                return Reply(reply.id, rest)
        return reply

    async def _replay(self, session_id: SessionId, name: str, to_editor: Out) -> None:
        """Tell the editor a session's history, as far as it is recorded now."""
        assert self._book  # noqa: S101 - it is where the session was found
        await self._ledger.flush()
        history = History()
        page = await self._book.log.read(session_id, limit=0)
        cursor, head = page.floor, page.head
        if cursor:
            pruned = notice(f"The events up to number {cursor} are no longer kept.")
            await to_editor.send([Item(_update(name, pruned, {}))])
        while cursor < head:
            page = await self._book.log.read(session_id, after=cursor, limit_bytes=1 << 18)
            if not page.body:
                break
            cursor = page.next
            told = history.updates(page.envelopes())
            await to_editor.send([Item(_update(name, update, rest)) for update, rest in told])


def _read(frame: bytes) -> Frame | None:
    try:
        return parse(frame, max_depth=codec.DEEPEST)
    except BadFrame:
        return None


def _renamed(frame: bytes, call: Frame | None, names: Mapping[str, str]) -> bytes:
    """Return *frame* with its session's other name, if it has one."""
    match call:
        case Request(_, _, {"sessionId": str(name)}) | Notification(_, {"sessionId": str(name)}):
            if name in names and isinstance(call.params, dict):
                return dump(replace(call, params={**call.params, "sessionId": names[name]}))
    return frame


def _without_session(members: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in members.items() if key != "sessionId"}


def _update(name: str, update: Update, rest: Mapping[str, Any]) -> bytes:
    params = {"sessionId": name, "update": update, **rest}
    return dump(Notification("session/update", params)) + b"\n"


def _info(name: str, row: SessionRow) -> dict[str, Any]:
    """Return a session as ACP lists it."""
    updated = datetime.fromtimestamp(row.updated / 1_000_000, UTC)
    title = {"title": row.title} if row.title else {}
    when = updated.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"sessionId": name, "cwd": row.opened.get("cwd") or "", **title, "updatedAt": when}


def _start(cursor: Any) -> int:
    match cursor:
        case None:
            return 0
        case str() if cursor.isdecimal():
            return int(cursor)
    raise RpcError(Code.INVALID_PARAMS, "this cursor was not given here", {"path": "cursor"})


def _member(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    item = value.get(name)
    return item if isinstance(item, dict) else {}


_LOOKED_AT: Final = frozenset({"initialize", "session/new", "session/fork", "session/resume"})
_CONTINUING: Final = frozenset({"session/load", "session/resume", "session/fork"})
