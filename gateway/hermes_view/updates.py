"""What an ACP agent tells: words, thoughts, plans, tools.

Above this module: `view`. Below it: `scene`, `tools`, `turns`, `usage`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from eventlog import Envelope
from gateway.hermes_view import tools
from gateway.hermes_view.scene import Json, Scene, Told
from gateway.hermes_view.turns import started, word_of, words_of
from gateway.hermes_view.usage import of_update

Update = Callable[[Scene, Json, int], Told | None]
"""(scene, update, ts) -> what is told of it."""


def told(scene: Scene, envelope: Envelope) -> Told | None:
    """Return what a Hermes client is told of a `session/update`."""
    update = envelope["payload"].get("update")
    if not isinstance(update, dict):
        return None
    kind = update.get("sessionUpdate")
    if kind != "user_message_chunk":
        scene.hearing_user = False
    step = UPDATES.get(kind) if isinstance(kind, str) else None
    return step(scene, update, envelope["ts"]) if step else None


def _said(scene: Scene, update: Json, _: int) -> Told | None:
    text = word_of(update.get("content"))
    if not text:
        return None
    scene.said.append(text)
    return "message.delta", {"text": text}


def _thought(_: Scene, update: Json, __: int) -> Told | None:
    text = word_of(update.get("content"))
    return ("reasoning.delta", {"text": text}) if text else None


def _replaced(scene: Scene, update: Json, _: int) -> Told | None:
    """Take a message that came whole (ACP 2): what was streamed of it is replaced."""
    if "content" not in update:
        return None
    scene.said.clear()
    return "message.interim", {"text": words_of(update["content"]), "already_streamed": False}


def _user_said(scene: Scene, update: Json, _: int) -> Told | None:
    """Begin a turn of the past. Of a message in several chunks, the first begins it."""
    if scene.hearing_user or (scene.turn and not scene.replaying):
        return None
    scene.hearing_user = True
    return started(scene, [word_of(update.get("content"))])


def _plan(scene: Scene, update: Json, _: int) -> Told | None:
    entries = update.get("entries")
    if not isinstance(entries, list):
        return None
    scene.revision += 1
    return "todo.updated", {"todos": todos_of(entries), "revision": scene.revision}


def _plan_with_id(scene: Scene, update: Json, ts: int) -> Told | None:
    plan = update.get("plan")
    return _plan(scene, plan, ts) if isinstance(plan, dict) else None


def _plan_removed(scene: Scene, _: Json, ts: int) -> Told | None:
    return _plan(scene, {"entries": []}, ts)


def todos_of(entries: list[Any]) -> list[Json]:
    """Return a plan's entries as Hermes's todos."""
    return [
        {
            "id": str(number),
            "content": str(entry.get("content", "")),
            "status": str(entry.get("status") or "pending"),
        }
        for number, entry in enumerate(entries, 1)
        if isinstance(entry, dict)
    ]


def _title(scene: Scene, update: Json, _: int) -> Told | None:
    if "title" not in update:
        return None
    return "session.title", {"session_id": scene.session_id, "title": update["title"] or ""}


def _usage(scene: Scene, update: Json, _: int) -> Told:
    return "session.usage", {"usage": of_update(scene, update)}


def _notice(_: Scene, update: Json, __: int) -> Told:
    more = update.get("description")
    title = str(update.get("title", ""))
    return "notice", {"message": f"{title}\n{more}" if more else title}


def _error(_: Scene, update: Json, __: int) -> Told:
    words = (update.get(key) for key in ("message", "error", "content"))
    return "error", {"message": next((str(word) for word in words if word), "error")}


UPDATES: Final[Mapping[str, Update]] = {
    "agent_message_chunk": _said,
    "agent_thought_chunk": _thought,
    "agent_message": _replaced,
    "user_message_chunk": _user_said,
    "tool_call": tools.call,
    "tool_call_update": tools.update,
    "tool_call_content_chunk": tools.content_chunk,
    "plan": _plan,
    "plan_update": _plan_with_id,
    "plan_removed": _plan_removed,
    "session_info_update": _title,
    "usage_update": _usage,
    "notice": _notice,
    "error_message": _error,
}
"""Updates that have a counterpart. Modes, options and commands have none."""
