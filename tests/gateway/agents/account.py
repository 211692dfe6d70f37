"""What passed between a gateway and its agent, told twice: by the wire, and by the log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

Account = dict[str, list[Any]]
"""Kinds of frames, and their contents in order."""

QUESTIONS = ("session/request_permission", "elicitation/create")


def of_wire(file: Path) -> Account:
    """Return what the tee has seen."""
    account = _empty()
    asked: dict[tuple[str, Any], str] = {}
    for text in file.read_text(encoding="utf-8").splitlines():
        seen = json.loads(text)
        line = seen["line"].strip()
        try:
            frame = json.loads(line) if line else {}
        except ValueError:
            frame = None
        if not isinstance(frame, dict):
            account["noise"].append(line)
            continue
        _note(account, asked, seen["dir"], frame)
    return account


def _note(
    account: Account, asked: dict[tuple[str, Any], str], direction: str, frame: dict[str, Any]
) -> None:
    method, params = frame.get("method"), frame.get("params") or {}
    if method and "id" in frame:
        asked[direction, frame["id"]] = method
    match direction, method:
        case "out", "session/update":
            account["updates"].append(params["update"])
        case "out", str() if method in QUESTIONS:
            account["questions"].append(params)
        case "out", str():
            account["told" if "id" not in frame else "calls"].append([method, params])
        case "in", "session/prompt":
            account["prompts"].append(params["prompt"])
        case "in", "session/cancel":
            account["cancels"].append("cancel")
        case _, None if frame:
            other = "in" if direction == "out" else "out"
            outcome = frame.get("result", frame.get("error"))
            match asked.pop((other, frame["id"]), None):
                case "session/prompt":
                    account["ends"].append(outcome)
                case str() as question if question in QUESTIONS:
                    account["answers"].append(outcome)


def of_log(events: Iterable[Mapping[str, Any]]) -> Account:
    """Return what the log says; what it dropped of replays, it says, too."""
    account = _empty()
    for event in events:
        payload = event["payload"]
        match event["type"]:
            case "acp.notification" if payload["by"] == "agent":
                account["told"].append([payload["method"], payload["params"]])
            case "acp.call" if payload["by"] == "agent":
                account["calls"].append([payload["method"], payload["params"]])
            case kind if kind in OF_EVENT:
                name, contents = OF_EVENT[kind]
                account[name].append(contents(payload))
    return account


def _outcome(payload: Mapping[str, Any]) -> Any:
    return payload.get("result", payload.get("error"))


OF_EVENT: Final[Mapping[str, tuple[str, Callable[[Mapping[str, Any]], Any]]]] = {
    "acp.session_update": ("updates", lambda payload: payload["update"]),
    "request.opened": ("questions", lambda payload: payload["params"]),
    "request.answered": ("answers", _outcome),
    "prompt.submitted": ("prompts", lambda payload: payload["content"]),
    "prompt.finished": ("ends", _outcome),
    "turn.interrupted": ("cancels", lambda _: "cancel"),
    "agent.noise": ("noise", lambda payload: payload["text"].strip()),
}


def _empty() -> Account:
    kinds = (
        "updates",
        "questions",
        "answers",
        "prompts",
        "ends",
        "cancels",
        "told",
        "calls",
        "noise",
    )
    return {kind: [] for kind in kinds}
