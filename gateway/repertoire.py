"""Which scene of a recording answers a call: the one that fits best and was not played yet.

Above this module: `player`. Below it: `script`. No I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gateway.jsonrpc import Reply
from gateway.script import Say, Scene, Script, Step

STATE_UPDATES: Final = frozenset(
    {
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "session_info_update",
        "usage_update",
    }
)
"""Updates that are no part of a conversation: all that an empty replay holds."""

_PLAUSIBLE: Final[Mapping[str, Any]] = {
    "authenticate": {},
    "initialize": {
        "protocolVersion": 1,
        "agentCapabilities": {"loadSession": True},
        "authMethods": [],
    },
    "logout": {},
    "session/close": {},
    "session/delete": {},
    "session/list": {"sessions": []},
    "session/set_config_option": {"configOptions": []},
    "session/set_mode": {},
    "session/set_model": {},
}
"""What an agent might answer to what was never asked of this one."""


class Repertoire:
    """The scenes of a script, and which of them have been played."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._known = script.sessions
        self._turns = [scene for scene in script.of("session/prompt") if self._of_session(scene)]
        self._played: set[tuple[str, int]] = set()

    @property
    def name(self) -> str:
        """The id that a session is given if the recording names none."""
        return (*self._known, "played")[0]

    def opening(self) -> Scene:
        """Return how a session starts."""
        scene = self._succeeded("session/new")
        return scene or Scene("session/new", {}, answer=Reply(0, {"sessionId": self.name}))

    def reopening(self, method: str, id_: str) -> Scene:
        """Return how the session *id_* is taken up again, without its history.

        If that was never recorded, it is taken up with what a new session is told of modes.
        """
        for known in (method, "session/load", "session/resume"):
            if scene := self._succeeded(known):
                before, after = _state(scene.before), _state(scene.after)
                return Scene(method, scene.params, before, scene.answer, scene.pause, after)
        return Scene(method, {"sessionId": id_}, answer=Reply(0, without_session(self.opening())))

    def turn(self, session: str, content: Any) -> Scene:
        """Return the turn that began with *content*, else the next not played in *session*."""
        left = [
            (number, scene)
            for number, scene in enumerate(self._turns)
            if (session, number) not in self._played
        ]
        equal = [item for item in left if item[1].params.get("prompt") == content]
        for number, scene in equal or left:
            self._played.add((session, number))
            return scene
        return _nothing_left(session)

    def strange_turn(self) -> Scene | None:
        """Return how a prompt was answered that named no session of the agent's."""
        return next(
            (
                scene
                for scene in self._script.of("session/prompt")
                if not self._of_session(scene) and scene.answer
            ),
            None,
        )

    def other(self, method: str, params: Mapping[str, Any]) -> Scene | None:
        """Return the scene that answers any other call, or None if nobody knows how.

        What is set is only answered like the same setting: another would say another value.
        """
        scenes = [item for item in enumerate(self._script.scenes) if item[1].method == method]
        said = _unbound(params)
        equal = [item for item in scenes if _unbound(item[1].params) == said]
        candidates = equal if method.startswith("session/set_") else equal or scenes
        fresh = [item for item in candidates if ("", item[0]) not in self._played]
        for number, scene in fresh or candidates:
            self._played.add(("", number))
            return scene
        if method in _PLAUSIBLE:
            return Scene(method, params, answer=Reply(0, _PLAUSIBLE[method]))
        return None

    def _succeeded(self, method: str) -> Scene | None:
        scenes = self._script.of(method)
        return next((scene for scene in scenes if isinstance(scene.answer, Reply)), None)

    def _of_session(self, scene: Scene) -> bool:
        return scene.params.get("sessionId") in self._known


def without_session(scene: Scene) -> dict[str, Any]:
    """Return the members of a scene's answer but for the session's id."""
    return _unbound(scene.result)


def _unbound(members: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key != "sessionId"}


def _state(steps: Iterable[Step]) -> list[Step]:
    return [
        step
        for step in steps
        if isinstance(step, Say)
        and (step.params.get("update") or {}).get("sessionUpdate") in STATE_UPDATES
    ]


def _nothing_left(session: str) -> Scene:
    text = "The recording has no further turn."
    update = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": text},
    }
    say = Say(0, "session/update", {"sessionId": session, "update": update})
    end = Reply(0, {"stopReason": "end_turn"})
    return Scene("session/prompt", {"sessionId": session}, [say], end)
