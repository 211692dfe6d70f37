"""A recorded agent that lives again: it answers, tells and asks what it did then.

Above this module: `hermes-gateway play`, tests, the demo. Below it: `repertoire`, a peer.

It is an ACP agent like any other. What it was asked then it answers as then; what it was never
asked it answers as an agent might, so that any client gets on with it. It knows nothing of files:
whatever the client answers to its questions, it goes on with the recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from eventlog import codec
from gateway.errors import Code, PeerGone, RpcError
from gateway.jsonrpc import Failure, Notification, Request
from gateway.outbox import Outbox
from gateway.peer import Answer, Call, Peer
from gateway.repertoire import Repertoire
from gateway.script import Ask, Babble, Hear, Say, Scene, Script, Step, read_script
from gateway.transports import Transport

_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "elicitation/create": ("elicitation",),
    "fs/read_text_file": ("fs", "readTextFile"),
    "fs/write_text_file": ("fs", "writeTextFile"),
    "terminal/create": ("terminal",),
    "terminal/kill": ("terminal",),
    "terminal/output": ("terminal",),
    "terminal/release": ("terminal",),
    "terminal/wait_for_exit": ("terminal",),
}
"""What a client must have said it can before an agent may ask it."""

_Names = Mapping[str | None, str]
"""Recorded session ids, and those they have here."""


def _played_out() -> anyio.Event:
    over = anyio.Event()
    over.set()
    return over


@dataclass
class _Session:
    """A session of this process. Its scenes are played one after the other."""

    id: str
    turns: list[anyio.CancelScope] = field(default_factory=list)
    last: anyio.Event = field(default_factory=_played_out)
    """Set when the last scene that was begun is over."""


class Player:
    """Plays one script to one client.

    At full speed, unless *speed* is given: then the recorded pauses are kept, divided by it.
    *gap* is a pause of so many seconds before each update.
    """

    def __init__(self, script: Script, *, speed: float | None = None, gap: float = 0) -> None:
        self._script = script
        self._repertoire = Repertoire(script)
        self._speed = speed
        self._gap = gap
        self._sessions: dict[str, _Session] = {}
        self._client: Mapping[str, Any] = {}
        self._peer: Peer
        self._tasks: TaskGroup

    async def serve(self, transport: Transport) -> None:
        """Be the agent at this end of *transport*, until the client hangs up."""
        patient = Outbox.patient()
        async with anyio.create_task_group() as self._tasks:
            self._peer = Peer(transport, self._hear, max_depth=codec.DEEPEST, outbox=patient)
            self._tasks.start_soon(self._tell, self._script.overture, {})
            await self._peer.run()
            self._tasks.cancel_scope.cancel()

    async def _hear(self, call: Call) -> Any:
        params = call.params if isinstance(call.params, dict) else {}
        session = self._sessions.get(str(params.get("sessionId")))
        match call:
            case Notification(method):
                if method == "session/cancel" and session:
                    _cancel(session)
                return None
            case Request(_, "initialize"):
                self._client = params.get("clientCapabilities") or {}
            case Request(_, "session/new"):
                return await self._open(self._repertoire.opening())
            case Request(_, "session/load" | "session/resume" as method):
                id_ = str(params.get("sessionId"))
                session = self._sessions.setdefault(id_, session or _Session(id_))
                return await self._perform(self._repertoire.reopening(method, id_), session)
            case Request(_, "session/prompt"):
                return await self._turn(session, params)
        return await self._other(call.method, params, session)

    async def _turn(self, session: _Session | None, params: Mapping[str, Any]) -> Any:
        if session is None:
            scene = self._repertoire.strange_turn()
            if scene is None:
                unknown = f"Session not found: {params.get('sessionId')}"
                raise RpcError(Code.INVALID_PARAMS, unknown)
            return await self._perform(scene, None)
        scene = self._repertoire.turn(session.id, params.get("prompt"))
        with anyio.CancelScope() as turn:
            session.turns.append(turn)
            try:
                return await self._perform(scene, session)
            finally:
                session.turns.remove(turn)
        return {"stopReason": "cancelled"}

    async def _other(self, method: str, params: Mapping[str, Any], session: _Session | None) -> Any:
        scene = self._repertoire.other(method, params)
        if scene is None:
            raise RpcError(Code.METHOD_NOT_FOUND, f"Method not found: {method}")
        if method == "session/fork" and scene.result:
            return await self._open(scene)
        return await self._perform(scene, session)

    async def _open(self, scene: Scene) -> Any:
        """Start a session under its recorded id, if that is free here."""
        name = scene.session or self._repertoire.name
        numbered = (f"{name}-{number}" for number in range(2, len(self._sessions) + 3))
        id_ = next(free for free in (name, *numbered) if free not in self._sessions)
        session = self._sessions[id_] = _Session(id_)
        return await self._perform(scene, session)

    async def _perform(self, scene: Scene, session: _Session | None) -> Any:
        """Play a scene once the one before it in its session is over; return its answer.

        What follows the answer is told behind it.
        """
        names: _Names = {scene.session: session.id} if session else {}
        before, over = session.last if session else _played_out(), anyio.Event()
        if session:
            session.last = over
        try:
            await before.wait()
            await self._tell(scene.before, names)
            await self._pause(scene.pause)
        except BaseException:
            over.set()
            raise
        return Answer(
            _outcome(scene, names), partial(self._tasks.start_soon, self._end, scene, names, over)
        )

    async def _end(self, scene: Scene, names: _Names, over: anyio.Event) -> None:
        await self._tell(scene.after, names)
        over.set()

    async def _tell(self, steps: Iterable[Step], names: _Names) -> None:
        """Do what the agent did; an answer is waited for where it came then."""
        asked: dict[int | str, anyio.Event] = {}
        async with anyio.create_task_group() as asking:
            for step in steps:
                await self._pause(step.gap)
                match step:
                    case Say():
                        await self._say(step, names)
                    case Babble(_, text):
                        await self._peer.send_raw(text)
                    case Ask() if self._may_ask(step.method):
                        asked[step.id] = anyio.Event()
                        asking.start_soon(self._ask, step, names, asked[step.id])
                        await anyio.lowlevel.checkpoint()  # it is asked before the next step
                    case Hear(_, id_) if id_ in asked:
                        await asked[id_].wait()
            asking.cancel_scope.cancel()

    async def _say(self, step: Say, names: _Names) -> None:
        await anyio.sleep(self._gap)
        with suppress(PeerGone):
            await self._peer.notify(step.method, _renamed(step.params, names))

    async def _ask(self, step: Ask, names: _Names, heard: anyio.Event) -> None:
        with suppress(RpcError, PeerGone):  # whatever the client says, the recording goes on
            await self._peer.request(step.method, _renamed(step.params, names))
        heard.set()

    async def _pause(self, seconds: float) -> None:
        if self._speed:
            await anyio.sleep(seconds / self._speed)

    def _may_ask(self, method: str) -> bool:
        able: Any = self._client
        for key in _NEEDS.get(method, ()):
            able = able.get(key) if isinstance(able, dict) else None
        return able is not None and able is not False


async def play_acp(
    data: bytes, transport: Transport, *, speed: float | None = None, gap: float = 0
) -> None:
    """Behave as the ACP agent that was recorded in *data*, until the client hangs up.

    Raises:
        Malformed: it is no capture of an ACP agent.

    """
    await Player(read_script(data), speed=speed, gap=gap).serve(transport)


def _cancel(session: _Session) -> None:
    for turn in tuple(session.turns):
        turn.cancel()


def _outcome(scene: Scene, names: _Names) -> Any:
    """Return what the scene's call is answered with; a recording may end before that."""
    if scene.answer is None:
        return RpcError(Code.INTERNAL_ERROR, "The recording ends here")
    if isinstance(scene.answer, Failure):
        error = scene.answer.error
        return RpcError(error.code, error.message, error.data)
    return _renamed(scene.answer.result, names)


def _renamed(members: Any, names: _Names) -> Any:
    match members:
        case {"sessionId": str(name)} if name in names:
            return {**members, "sessionId": names[name]}
    return members
