"""An agent that does as its prompts say, for any number of sessions at once.

    python actor.py ABILITIES

ABILITIES is the JSON of its `agentCapabilities`; `hangs` among them names methods that it never
answers, `crashes` those over which it ends, `refuses` those that it answers with an error (as it does whatever is about a folder called
`forbidden`; one called `late` is answered when the next one is asked for), `punctual` keeps it from that; `early` lets it ask for a file before it answers `session/new`.

    say WORDS             says them
    tell SESSION WORDS    says them in another session
    ask                   asks for a permission, and says what it was answered
    call METHOD PARAMS    calls its client, and says what it was answered
    drop METHOD PARAMS    calls its client, takes that back, and says what it was answered
    calls                 says which methods it was called
    regret                asks for a permission, takes that back, and says what it was answered
    wait                  goes on until it is told to stop
    hang                  goes on whatever it is told
    crash                 ends, with code 3
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

Json = dict[str, Any]

able: Json = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
names, ids = count(1), count(1)
calls: list[str] = []
waiting: dict[str, Any] = {}
"""Sessions that wait to be told to stop, and the prompts that they do it for."""
late: list[Callable[[Json], None]] = []
asked: dict[int, Callable[[Json], None]] = {}


def send(**frame: Any) -> None:
    """Say a frame."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
    sys.stdout.flush()


def say(session: str, words: str, kind: str = "agent_message_chunk") -> None:
    """Say words in a session."""
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": words}}
    send(method="session/update", params={"sessionId": session, "update": update})


def ask(method: str, params: Json, then: Callable[[Json], None]) -> int:
    """Ask the client; *then* hears its answer. Return the question's id."""
    id_ = next(ids)
    asked[id_] = then
    send(id=id_, method=method, params=params)
    return id_


def end(prompt: Any, reason: str = "end_turn") -> None:
    """End a turn."""
    send(id=prompt, result={"stopReason": reason})


def perform(prompt: Any, session: str, text: str) -> None:
    """Do as a prompt says."""
    word, _, rest = text.partition(" ")

    def tell(answer: Json) -> None:
        say(session, json.dumps(answer.get("result", answer.get("error")), sort_keys=True))
        end(prompt)

    if word in ("ask", "regret"):
        options = [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        tool = {"toolCallId": f"t-{prompt}", "title": rest or "rm"}
        params = {"sessionId": session, "toolCall": tool, "options": options}
        id_ = ask("session/request_permission", params, tell)
        if word == "regret":
            send(method="$/cancel_request", params={"requestId": id_})
    elif word in ("call", "drop"):
        method, _, given = rest.partition(" ")
        id_ = ask(method, {"sessionId": session, **json.loads(given)}, tell)
        if word == "drop":
            send(method="$/cancel_request", params={"requestId": id_})
    elif word == "tell":
        say(*rest.split(" ", 1))
        end(prompt)
    elif word == "wait":
        waiting[session] = prompt
    elif word == "hang":
        say(session, "no")
    elif word == "crash":
        sys.stderr.write("the stage is on fire\n")
        sys.stderr.flush()
        os._exit(3)
    else:
        say(session, json.dumps(calls) if word == "calls" else rest)
        end(prompt)


def open_session(id_: Any, method: str, params: Json) -> None:
    """Begin a session, or take one up."""
    session = params["sessionId"] if method in ("session/load", "session/resume") else None
    session = session or f"a-{os.getpid()}-{next(names)}"
    if method == "session/fork":
        say(session, f"as in {params['sessionId']}", "user_message_chunk")

    def answer(_: Json) -> None:
        send(id=id_, result={"sessionId": session})

    if params["cwd"].endswith("/late") and not able.get("punctual"):
        late.append(answer)
        return
    while late:
        late.pop()({})
    if able.get("early"):
        path = f"{params['cwd']}/AGENTS.md"
        ask("fs/read_text_file", {"sessionId": session, "path": path}, answer)
    else:
        answer({})


def breaks_down(method: str) -> bool:
    """Crash over a method, or return whether it is never answered."""
    if method in able.get("crashes", ()):
        os._exit(3)
    return method in able.get("hangs", ())


def hear(frame: Json) -> None:
    """Attend to a frame of the client's."""
    id_, method, params = frame.get("id"), frame.get("method"), frame.get("params") or {}
    if method is None:
        asked.pop(frame["id"])(frame)
        return
    calls.append(method)
    if breaks_down(method):
        return
    if method in able.get("refuses", ()) or str(params.get("cwd")).endswith("/forbidden"):
        send(id=id_, error={"code": -32000, "message": "no", "data": {"details": "not today"}})
    elif method == "initialize":
        send(id=id_, result={"protocolVersion": 1, "agentCapabilities": able})
    elif method in ("session/new", "session/load", "session/resume", "session/fork"):
        open_session(id_, method, params)
    elif method == "session/prompt":
        perform(id_, params["sessionId"], params["prompt"][0]["text"])
    elif method == "session/cancel":
        if params["sessionId"] in waiting:
            end(waiting.pop(params["sessionId"]), "cancelled")
    elif id_ is not None:
        send(id=id_, result={})


if __name__ == "__main__":
    for line in sys.stdin:
        hear(json.loads(line))
