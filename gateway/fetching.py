"""Put large strings back, as a client: they are fetched in pieces (P-34).

Above this module: `client`. Below it: `eventlog`, a way to ask.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from eventlog import codec, parse, restored
from gateway.errors import RpcError

Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Asks the gateway: method and params."""


def refers(value: Any) -> bool:
    """Whether a payload holds a reference, or a key that only looks like one's."""
    match value:
        case dict():
            return any(key.endswith("$blob") or refers(item) for key, item in value.items())
        case list():
            return any(map(refers, value))
    return False


async def whole(ask: Ask, session_id: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload as its sender wrote it; what the log no longer has stays a reference.

    Raises:
        PeerGone: the line dropped.

    """

    async def fetch(ref: str) -> bytes | None:
        pieces: list[str] = []
        offset, more = 0, True
        while more:
            wanted = {"session_id": session_id, "ref": ref, "offset": offset}
            try:
                piece = await ask("session.blob", wanted)
            except RpcError:
                return None
            pieces.append(piece["text"])
            offset, more = piece["next"], piece["has_more"]
        return "".join(pieces).encode()

    line = codec.dumps({"seq": 0, "ts": 0, "type": "", "payload": payload})
    return parse(await restored(line, fetch))["payload"]
