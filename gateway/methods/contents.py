"""Large strings for clients that fetch them (P-34).

Above this module: the table of methods. Below it: the log.
"""

from __future__ import annotations

from typing import Any, Final

from eventlog import Malformed, codec, text_of
from gateway.contracts import SessionBlob
from gateway.errors import Code, RpcError
from gateway.methods.call import Call

PIECE: Final = 512 << 10
"""Bytes of a large string in one answer at most."""

FRAME: Final = 960 << 10
"""Bytes of its JSON text at most, so that a frame stays under 1 MiB (P-3)."""


async def blob(call: Call, params: SessionBlob) -> Any:
    """Return a piece of a large string, to who may read a session that refers to it."""
    session_id = await call.session(params.session_id)
    length = min(params.length or PIECE, PIECE)
    piece = await call.log.read_blob(session_id, params.ref, offset=params.offset, length=length)
    if piece is None or params.offset > piece.size:
        told = {"session_id": session_id, "path": "ref" if piece is None else "offset"}
        why = f"{session_id} refers to no such {params.ref}" if piece is None else "beyond its end"
        raise RpcError(Code.BAD_ARGUMENT, why, told)
    try:
        text = text_of(piece.body, params.offset)
    except Malformed as error:
        raise RpcError(Code.BAD_ARGUMENT, str(error), {"path": "offset"}) from None
    while len(codec.dumps(text)) > FRAME:  # control characters are six times as long in JSON
        text = text[: len(text) // 2]
    end = params.offset + len(text.encode())
    return {
        "ref": params.ref,
        "size": piece.size,
        "offset": params.offset,
        "text": text,
        "next": end,
        "has_more": end < piece.size,
    }
