"""An ACP agent that works, and remembers nothing from one process to the next.

    python forgetful.py CAPABILITIES

CAPABILITIES is the JSON text of its `agentCapabilities`. What it is asked goes to stderr.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def say(**frame: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
    sys.stdout.flush()


def update(session: str, **members: Any) -> None:
    say(method="session/update", params={"sessionId": session, "update": members})


def message(session: str, text: str, kind: str = "agent_message_chunk") -> None:
    update(session, sessionUpdate=kind, content={"type": "text", "text": text}, messageId="m-1")


def turn(session: str, text: str) -> dict[str, Any]:
    update(
        session,
        sessionUpdate="plan",
        entries=[{"content": text, "priority": "high", "status": "pending"}],
    )
    update(
        session,
        sessionUpdate="tool_call",
        toolCallId="call-7",
        title="Look",
        kind="read",
        status="pending",
    )
    update(session, sessionUpdate="tool_call_update", toolCallId="call-7", status="completed")
    update(session, sessionUpdate="current_mode_update", currentModeId="plan")
    message(session, f"you said {text}")
    return {"stopReason": "end_turn"}


def lossy_replay(session: str) -> None:
    message(session, "something like it", "user_message_chunk")
    update(session, sessionUpdate="tool_call", toolCallId="other-id", title="Look")
    message(session, "lossy")


def answer(method: str, params: dict[str, Any], able: Any, known: list[str]) -> Any:
    session = str(params.get("sessionId"))
    if method == "initialize":
        return {
            "protocolVersion": 1,
            "agentCapabilities": able,
            "agentInfo": {"name": "forgetful", "version": "1"},
        }
    if method == "session/new":
        known.append(f"agent-{os.getpid()}-{len(known)}")
        return {"sessionId": known[-1], "modes": {"currentModeId": "ask", "availableModes": []}}
    if method == "session/load":
        known.append(session)
        if not able.get("_late"):
            lossy_replay(session)
        return {}
    if method == "session/resume":
        known.append(session)
        return {}
    if method == "session/prompt" and session in known:
        return turn(session, params["prompt"][0]["text"])
    return None


def main() -> None:
    able = json.loads(sys.argv[1])
    known: list[str] = []
    for line in sys.stdin:
        frame = json.loads(line)
        if "id" in frame:
            result = answer(frame["method"], frame.get("params") or {}, able, known)
            if result is None:
                say(id=frame["id"], error={"code": -32602, "message": f"cannot {frame['method']}"})
            else:
                say(id=frame["id"], result=result)
                if frame["method"] == "session/load" and able.get("_late"):
                    lossy_replay(frame["params"]["sessionId"])


main()
