"""A recording of an ACP agent, cut into scenes: what was asked, and what the agent then did.

Above this module: `player`. Below it: `jsonrpc`. No I/O, no clock.

A scene begins with a call of the client and lasts until the next one. What the agent said after
its answer (commands, usage, late updates) belongs to the scene of the call before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from eventlog import Malformed, codec
from gateway.errors import BadFrame
from gateway.jsonrpc import Failure, Frame, Notification, Reply, Request, RequestId, parse


@dataclass(frozen=True, slots=True)
class Say:
    """The agent tells something, *gap* seconds after the line before in the recording."""

    gap: float
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """The agent asks something of the client."""

    gap: float
    id: RequestId
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hear:
    """The client's answer to what was asked under *id* came here."""

    gap: float
    id: RequestId


@dataclass(frozen=True, slots=True)
class Babble:
    """The agent wrote a line that was no frame."""

    gap: float
    text: bytes


Step = Say | Ask | Hear | Babble


@dataclass(slots=True)
class Scene:
    """A call, the steps before its answer, the answer, and the steps after it."""

    method: str
    params: Mapping[str, Any]
    before: list[Step] = field(default_factory=list)
    answer: Reply | Failure | None = None
    """None: the recording ends before it."""
    pause: float = 0
    """Seconds between the last step and the answer."""
    after: list[Step] = field(default_factory=list)

    @property
    def result(self) -> dict[str, Any]:
        """The members of the answer; none if it was a refusal or no object."""
        match self.answer:
            case Reply(_, dict(result)):
                return result
        return {}

    @property
    def session(self) -> str | None:
        """The session that the scene is about: one that its answer names, else the call's."""
        return self.result.get("sessionId") or self.params.get("sessionId")


@dataclass(slots=True)
class Script:
    """All scenes, in order, and what the agent said before any of them."""

    overture: list[Step] = field(default_factory=list)
    scenes: list[Scene] = field(default_factory=list)

    def of(self, *methods: str) -> list[Scene]:
        """Return the scenes of these methods."""
        return [scene for scene in self.scenes if scene.method in methods]

    @property
    def sessions(self) -> list[str]:
        """The sessions that the agent knew, in the order in which they were named."""
        opened = self.of("session/new", "session/load", "session/resume", "session/fork")
        known = [scene.session for scene in opened if isinstance(scene.answer, Reply)]
        return list(dict.fromkeys(name for name in known if name))


def read_script(data: bytes) -> Script:
    """Read a capture of an ACP agent: a line a frame, `{"t", "dir", "frame"}`.

    Raises:
        Malformed: there is no call of an ACP client in it.

    """
    script = Script()
    open_calls: dict[RequestId, Scene] = {}
    for gap, direction, frame in _frames(data):
        if direction == "in":
            _from_client(script, open_calls, gap, frame)
        else:
            _from_agent(script, open_calls, gap, frame)
    if not script.of("initialize", "session/new", "session/load", "session/prompt"):
        raise Malformed("no line of it is a call of an ACP client")
    return script


def _from_client(
    script: Script, open_calls: dict[RequestId, Scene], gap: float, frame: Frame | bytes
) -> None:
    match frame:
        case Request(id_, method, dict(params)):
            scene = open_calls[id_] = Scene(method, params)
            script.scenes.append(scene)
        case Reply(id_) | Failure(int() | str() as id_):
            _steps(script).append(Hear(gap, id_))


def _from_agent(
    script: Script, open_calls: dict[RequestId, Scene], gap: float, frame: Frame | bytes
) -> None:
    match frame:
        case Reply(id_) | Failure(int() | str() as id_) if id_ in open_calls:
            scene = open_calls.pop(id_)
            scene.answer, scene.pause = frame, gap
        case Notification(method, dict(params)):
            _steps(script).append(Say(gap, method, params))
        case Request(id_, method, dict(params)):
            _steps(script).append(Ask(gap, id_, method, params))
        case bytes():
            _steps(script).append(Babble(gap, frame))


def _steps(script: Script) -> list[Step]:
    """Return where the next step goes."""
    if not script.scenes:
        return script.overture
    scene = script.scenes[-1]
    return scene.after if scene.answer else scene.before


def _frames(data: bytes) -> Iterator[tuple[float, str, Frame | bytes]]:
    """Yield each frame with its direction, and the seconds since the line before."""
    before = None
    for line in data.splitlines():
        match codec.loads(line) if line.strip() else None:
            case {"dir": "in" | "out" as direction, "frame": frame, "t": int() | float() as at}:
                gap = max(0.0, at - (at if before is None else before))
                before = at
                yield gap, direction, _frame(frame)


def _frame(value: Any) -> Frame | bytes:
    match value:
        case {"_raw": str(raw)}:
            return raw.encode("utf-8", "surrogatepass")
    text = codec.dumps(value)
    try:
        return parse(text, max_depth=codec.DEEPEST)
    except BadFrame:
        return text
