"""A model server on loopback for real agents: the script, in every dialect, over HTTP.

It is the agents' proxy, too: what they would send anywhere else ends here, is refused, and is
remembered in `strays`.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from tests.gateway.agents.dialects import CHAT, GEMINI, MESSAGES, RESPONSES, Dialect
from tests.gateway.agents.script import Asked, answer

PACE: Final = 0.002
"""Seconds between two pieces: a stream, not one burst. *Endless* ones take long enough to cancel."""

SLOW: Final = 0.05
"""Seconds between two pieces of a stream that has gone on for a while."""

ROUTES: Final[tuple[tuple[str, Dialect], ...]] = (
    (r"/v1/messages(\?.*)?$", MESSAGES),
    (r"/v1/responses(\?.*)?$", RESPONSES),
    (r"/v1/chat/completions(\?.*)?$", CHAT),
    (r"/v1(beta|alpha)?/models/[^:]+:(streamG|g)enerateContent(\?.*)?$", GEMINI),
)


@dataclass
class Model:
    """What the server was asked, and where else agents tried to go."""

    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    """Requests that the script knows no answer to."""
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def model_server() -> Iterator[Model]:
    """Serve for as long as the context is open."""
    model = Model()

    class Speaking(Handler):
        state = model

    server = ThreadingHTTPServer(("127.0.0.1", 0), Speaking)
    server.daemon_threads = True
    model.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    """Answers an agent's requests."""

    protocol_version = "HTTP/1.1"
    state: Model

    def do_CONNECT(self) -> None:
        """Refuse to be led anywhere else."""
        self.state.strays.append(self.path)
        self._send(403, {"error": "there is nothing but the script"})
        self.close_connection = True

    def do_GET(self) -> None:
        """List the one model there is."""
        if self._stray():
            return
        if re.search(r"/models(\?.*)?$", self.path):
            entry = {"id": "script", "object": "model", "type": "model", "display_name": "Script"}
            self._send(200, {"object": "list", "data": [entry], "has_more": False})
        else:
            self._unknown()

    def do_HEAD(self) -> None:
        """Say that somebody is there."""
        self._send(200, {})

    def do_POST(self) -> None:
        """Say what the script says."""
        body = self._body()
        if self._stray():
            return
        dialect = next((known for path, known in ROUTES if re.search(path, self.path)), None)
        if dialect is None:
            if re.search(r"(count_tokens|:countTokens)", self.path):
                self._send(200, {"input_tokens": 10, "totalTokens": 10})
            else:
                self._unknown()
            return
        asked = dialect.read(body)
        self.state.asked.append(asked)
        if asked.streams and ":generateContent" not in self.path:
            self._stream(dialect, asked)
        else:
            self._send(200, dialect.whole(answer(asked)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's word
        """Say nothing."""

    def _stray(self) -> bool:
        if not self.path.startswith("http"):
            return False
        self.state.strays.append(self.path.split("?", maxsplit=1)[0])
        self._send(403, {"error": "there is nothing but the script"})
        return True

    def _unknown(self) -> None:
        self.state.odd.append(f"{self.command} {self.path.split('?', maxsplit=1)[0]}")
        self._send(404, {"error": {"message": "the script does not say", "type": "not_found"}})

    def _body(self) -> Any:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        with suppress(ValueError):
            return json.loads(data or b"{}")
        return {}

    def _stream(self, dialect: Dialect, asked: Asked) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with suppress(OSError):  # the agent hangs up when it is told to stop
            for number, (name, event) in enumerate(dialect.write(answer(asked))):
                head = f"event: {name}\n" if name else ""
                self._chunk(f"{head}data: {json.dumps(event)}\n\n".encode())
                if self.state.closing.wait(PACE if number < 50 else SLOW):
                    return
            self._chunk(dialect.done)
            self._chunk(b"", last=True)

    def _chunk(self, data: bytes, *, last: bool = False) -> None:
        if data or last:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    def _send(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
