"""ACP content blocks: text stays text, everything else becomes a `Block` without its bytes.

Above this module: `acp`, `prompts`, `tools`. Below it: `pieces`, `shape`, `strings`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from replay.fold import shape
from replay.fold.shape import Misshapen, Payload
from replay.pieces import Block, Json


def text_or_block(content: Any) -> str | Block:
    """Return a content block as text, or as what is known of it."""
    if type(content) is dict and content.get("type") == "text":
        text = content.get("text")
        return text if type(text) is str else shape.text(content, "text")
    match content:
        case {"type": "image" | "audio", "data": str(data)}:
            return _bytes_block(content, content["type"], data)
        case {"type": "resource_link", "uri": str()}:
            return Block(
                type="resource_link",
                mime=shape.maybe_text(content, "mimeType"),
                uri=content["uri"],
                name=shape.maybe_text(content, "name"),
                size=shape.maybe_integer(content, "size"),
            )
        case {"type": "resource", "resource": {"uri": str()} as resource}:
            return _resource(resource)
        case {"type": "image" | "audio" | "resource_link" | "resource"}:
            raise Misshapen(f"a content block of type {content['type']} lacks what it needs")
        case {"type": str(kind)}:
            return Block(type=kind, text=as_json(content))
    raise Misshapen("a content block is no object with a type")


def content_of(blocks: Sequence[Any]) -> tuple[str, tuple[Block, ...]]:
    """Return the texts of *blocks* put together, and the blocks that are no text."""
    if len(blocks) == 1 and isinstance(text := text_or_block(blocks[0]), str):
        return text, ()
    read = [text_or_block(block) for block in blocks]
    text = "".join(part for part in read if isinstance(part, str))
    return text, tuple(part for part in read if isinstance(part, Block))


def as_json(value: Json) -> str:
    """Return *value* as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _resource(resource: Payload) -> Block:
    match resource:
        case {"blob": str(data)}:
            return _bytes_block(resource, "resource", data)
        case {"text": str(text)}:
            return Block(
                type="resource",
                mime=shape.maybe_text(resource, "mimeType"),
                uri=resource["uri"],
                size=len(text.encode("utf-8", "surrogatepass")),
                text=text,
            )
    raise Misshapen("a resource has neither text nor blob")


def _bytes_block(content: Payload, kind: str, data: str) -> Block:
    raw = _decoded(data)
    return Block(
        type=kind,
        mime=shape.maybe_text(content, "mimeType"),
        uri=shape.maybe_text(content, "uri"),
        size=None if raw is None else len(raw),
        sha256=None if raw is None else hashlib.sha256(raw).hexdigest(),
    )


def _decoded(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None  # shown as a block of no known size; the log has it as it came (R115)
