"""The view of one session: lines of the log in, lines for a Hermes client out.

Above this module: `views`, attachments. Below it: the translations, one module a family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from eventlog import Envelope, Event, line, parse, seq_of
from gateway.hermes_view import asides, questions, turns, updates
from gateway.hermes_view.scene import Scene, Told

Step = Callable[[Scene, Envelope], Told | None]
"""Returns what a Hermes client is told of an event; None: nothing."""

HIDDEN: Final = frozenset(
    {
        "session.alias",
        "session.closed",
        "session.rewound",
        "client.call",
        "turn.interrupted",
        "request.locked",
        "request.declined",
        "request.late",
        "acp.call",
        "acp.result",
        "acp.notification",
        "agent.noise",
        "log.forked",
    }
)
"""Types of our own that have no counterpart."""

STEPS: Final[Mapping[str, Step]] = {
    **turns.STEPS,
    **questions.STEPS,
    **asides.STEPS,
    "acp.session_update": updates.told,
    **dict.fromkeys(HIDDEN, lambda _scene, _envelope: None),
}
"""Every type of our own; whatever else stands in the log is Hermes's own and passes as it is."""

_OPENED: Final = b'"type":"session.opened"'
_ACP: Final = b'"type":"acp.'


class View:
    """Folded up to *seq*; `see` what follows, in order.

    One that begins behind what was pruned is told by *opened* how the session began.
    """

    def __init__(
        self, session_id: str, seq: int = 0, opened: Mapping[str, Any] | None = None
    ) -> None:
        self.seq = seq
        self._last: bytes | None = None
        self._scene = Scene(session_id)
        if opened:
            self._open(opened)
        self.passes = opened is not None and not self._scene.acp
        """A Hermes gateway's own session: its lines are what its clients know."""

    def copy(self) -> View:
        """Return a view that goes on from here by itself."""
        other = View(self._scene.session_id)
        other.seq, other._last, other._scene = self.seq, self._last, self._scene.copy()
        other.passes = self.passes
        return other

    def see(self, lines: Iterable[bytes]) -> list[bytes]:
        """Return the lines that a Hermes client gets for *lines* of the log."""
        told = (self.told(text) for text in lines)
        return [text for text in told if text is not None]

    def told(self, text: bytes) -> bytes | None:
        """Return the line that stands for one line of the log, of the same number, or None.

        The last line again gives the same again: whoever was to send it may not have come to it.
        """
        if (seq := seq_of(text)) != self.seq:
            self.seq, self._last = seq, self._translated(text)
        return self._last

    def _translated(self, text: bytes) -> bytes | None:
        scene, head = self._scene, text[:120]
        if not scene.acp and _OPENED not in head:
            if _ACP not in head:
                return text
            scene.acp = True
        envelope = parse(text)
        if envelope["type"] == "session.opened":
            self._open(envelope["payload"])
            return None if scene.acp else text
        step = STEPS.get(envelope["type"])
        if step is None:
            return text
        told = step(scene, envelope)
        return line(envelope["seq"], envelope["ts"], Event.of(*told)) if told else None

    def _open(self, opened: Mapping[str, Any]) -> None:
        self._scene.acp = of_an_acp_agent(opened)
        self._scene.agent = _agent(opened) or self._scene.agent


def of_an_acp_agent(opened: Mapping[str, Any]) -> bool:
    """Tell an ACP agent's session from a Hermes gateway's, which speaks for itself."""
    match opened:
        case {"protocol": int()} | {"source": {"kind": "hosted"}}:
            return True
        case {"protocol": str(protocol)}:
            return protocol != "hermes"
    return False


def _agent(opened: Mapping[str, Any]) -> str | None:
    match opened:
        case {"agent": {"name": str(name)}}:
            return name
    return None
