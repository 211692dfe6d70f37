"""Prompts and the turns that they begin and end.

Above this module: `view`. Below it: `scene`, `usage`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from eventlog import Envelope
from gateway.hermes_view.scene import Json, Scene, Told
from gateway.hermes_view.usage import of_turn

STATUS: Final = {"cancelled": "interrupted"}
"""ACP's stop reasons that are no completion."""

REMARKABLE: Final = {
    "refusal": "The agent refused to go on.",
    "max_tokens": "The answer was cut: the most tokens were reached.",
    "max_turn_requests": "The turn was cut: the most requests were made.",
}
"""Stop reasons that a person should hear of."""


def words_of(content: Any) -> str:
    """Return the text of content blocks; what is no text is named."""
    match content:
        case str(text):
            return text
        case dict(block):
            return word_of(block)
        case list(blocks):
            return "\n".join(word_of(block) for block in blocks)
    return ""


def word_of(block: Any) -> str:
    """Return the text of one content block, or a name for it."""
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "resource", "resource": {"uri": str(uri)}}:
            return f"[resource {uri}]"
        case {"type": "resource_link", "uri": str(uri)}:
            return f"[link {uri}]"
        case {"type": str(kind), "mimeType": str(mime)}:
            return f"[{kind} {mime}]"
        case {"type": str(kind)}:
            return f"[{kind}]"
    return ""


def started(scene: Scene, words: Iterable[str]) -> Told:
    """Begin a turn; return what is told of it."""
    scene.begin()
    inputs = list(words)
    return "message.start", {
        "input": "\n".join(inputs),
        "inputs": [{"text": text} for text in inputs],
        "inputs_complete": True,
    }


def _submitted(scene: Scene, envelope: Envelope) -> Told | None:
    payload = envelope["payload"]
    scene.hearing_user = scene.replaying = False
    if payload.get("internal") is True:
        scene.internal.add(envelope["seq"])
        return None
    words = words_of(payload.get("content", payload.get("text")))
    if payload.get("queued") is True:
        scene.prompts[envelope["seq"]] = words
        return None
    return started(scene, [words])


def _started(scene: Scene, envelope: Envelope) -> Told | None:
    words = scene.prompts.pop(envelope["payload"].get("prompt") or 0, None)
    return None if words is None else started(scene, [words])


def _corrected(_: Scene, envelope: Envelope) -> Told | None:
    payload = envelope["payload"]
    if payload.get("prompt") is not None:
        return None  # it waits for a turn of its own, which will tell its words
    told = {"kind": payload.get("kind"), "input": payload.get("text")}
    return "message.input", {**told, "inputs": [{"text": payload.get("text")}]}


def _finished(scene: Scene, envelope: Envelope) -> Told | None:
    payload = envelope["payload"]
    prompt = payload.get("prompt") or 0
    if prompt in scene.internal:
        scene.internal.remove(prompt)
        return None
    scene.prompts.pop(prompt, None)
    failure = payload.get("error")
    if not scene.turn:
        return None if failure is None else ("error", {"message": message_of(failure)})
    text = scene.end()
    result = payload.get("result")
    usage = of_turn(scene, result)
    if failure is not None:
        return "message.complete", {**_failed(text, message_of(failure)), "usage": usage}
    return "message.complete", {**_completed(text, result), "usage": usage}


def _failed(text: str, message: str) -> Json:
    partial = {"partial": True} if text else {}
    return {"text": text or message, "status": "error", "error": message, **partial}


def _completed(text: str, result: Any) -> Json:
    stop = result.get("stopReason") if isinstance(result, dict) else None
    warning = {"warning": REMARKABLE[stop]} if stop in REMARKABLE else {}
    return {"text": text, "status": STATUS.get(stop or "", "complete"), **warning}


def _rejected(scene: Scene, envelope: Envelope) -> Told:
    scene.prompts.pop(envelope["payload"].get("prompt") or 0, None)
    return "error", {"message": message_of(envelope["payload"].get("error"))}


def message_of(error: Any) -> str:
    """Return the words of an error, as JSON-RPC has it or as a string."""
    match error:
        case {"message": str(message)} | str(message):
            return message
    return "The agent answered with an error."


def replayed(scene: Scene, envelope: Envelope) -> Told | None:
    """Begin or end what an agent tells of the past."""
    scene.replaying = envelope["payload"].get("state") == "started"
    scene.hearing_user = False
    if scene.replaying or not scene.turn:
        return None
    return "message.complete", {"text": scene.end(), "status": "complete"}


STEPS: Final = {
    "prompt.submitted": _submitted,
    "prompt.started": _started,
    "prompt.corrected": _corrected,
    "prompt.finished": _finished,
    "prompt.rejected": _rejected,
    "acp.replay": replayed,
}
