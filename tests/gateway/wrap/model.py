"""A model server on loopback: chat completions as OpenAI's, with scripted answers.

    python model.py PORT_FILE

It writes its port to PORT_FILE. A user who says "run COMMAND" gets a call of the tool `terminal`;
anything else is answered with words. Whatever tool has answered, the next answer is "done".
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the assistant's next message."""
    last = messages[-1] if messages else {}
    text = last.get("content")
    if isinstance(text, list):
        text = " ".join(str(part.get("text", "")) for part in text)
    if last.get("role") == "tool":
        return {"role": "assistant", "content": "done"}
    if isinstance(text, str) and text.startswith("run "):
        arguments = json.dumps({"command": text.removeprefix("run ")})
        call = {"name": "terminal", "arguments": arguments}
        calls = [{"index": 0, "id": "call_1", "type": "function", "function": call}]
        return {"role": "assistant", "content": "", "tool_calls": calls}
    return {"role": "assistant", "content": "Hello from the model."}


class Handler(BaseHTTPRequestHandler):
    """Answers every POST as a completion, streamed if that is asked for."""

    def do_GET(self) -> None:
        self._send(
            json.dumps({"object": "list", "data": [{"id": "mock-model"}]}), "application/json"
        )

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        asked = json.loads(self.rfile.read(size) or b"{}")
        message = answer(asked.get("messages") or [])
        reason = "tool_calls" if "tool_calls" in message else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        if not asked.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self._send(json.dumps(self._body("chat.completion", choice, usage)), "application/json")
            return
        pieces = [self._piece(delta, None) for delta in deltas(message)]
        end = self._piece({}, reason, usage)
        body = "".join(f"data: {json.dumps(piece)}\n\n" for piece in [*pieces, end])
        self._send(f"{body}data: [DONE]\n\n", "text/event-stream")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's word
        """Say nothing."""

    def _piece(
        self, delta: dict[str, Any], reason: str | None, usage: Any = None
    ) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return self._body("chat.completion.chunk", choice, usage)

    def _body(self, kind: str, choice: dict[str, Any], usage: Any) -> dict[str, Any]:
        head = {"id": "c-1", "object": kind, "created": 1, "model": "mock-model"}
        return {**head, "choices": [choice], **({"usage": usage} if usage else {})}

    def _send(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def deltas(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a message in pieces."""
    if calls := message.get("tool_calls"):
        return [{"role": "assistant", "tool_calls": calls}]
    return [
        {"role": "assistant"},
        *({"content": f"{word} "} for word in message["content"].split()),
    ]


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Path(sys.argv[1]).write_text(str(server.server_port))
    server.serve_forever()
