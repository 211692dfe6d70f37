"""Text: joining chunks, comparing, and cutting what is too long to keep.

Above this module: `text`, `tools`, `terminals`, `final`. Below it: `pieces`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any, Final

from replay.fold.values import made
from replay.pieces import Excerpt, Json

LONGEST: Final = 65_536
"""Bytes of a tool's string that are kept whole; of a longer one `HEAD` and `TAIL` bytes are."""
HEAD: Final = 4_096
TAIL: Final = 1_024

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SPLIT_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def joined(head: str, chunks: list[str]) -> str:
    """Return *head* and *chunks* as one text, and character halves that met as characters (F-L5)."""
    tail = "".join(chunks)
    if tail.isascii() or not _SURROGATE.search(tail):
        return head + tail
    return _SPLIT_PAIR.sub(_whole, head + tail)


def normal(text: str) -> str:
    """Return *text* as it is compared: white space collapsed and trimmed."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """Return *text* without ANSI escape sequences."""
    return _ESCAPE.sub("", text)


def excerpt(text: str) -> Excerpt:
    """Return *text*, or its ends with size and hash if it is over `LONGEST` bytes."""
    if len(text) * 4 <= LONGEST:
        return made(Excerpt, {"text": text})
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= LONGEST:
        return Excerpt(text=text)
    return Excerpt(
        text=raw[: _start_of_character(raw, HEAD)].decode("utf-8", "surrogatepass"),
        size=len(raw),
        sha256=hashlib.sha256(raw).hexdigest(),
        tail=_end_of(raw, TAIL),
    )


def end_of(text: str, length: int) -> str:
    """Return the last *length* bytes of *text*, and what makes their first character whole."""
    raw = text.encode("utf-8", "surrogatepass")
    return text if len(raw) <= length else _end_of(raw, length)


def _end_of(raw: bytes, length: int) -> str:
    return raw[_start_of_character(raw, len(raw) - length) :].decode("utf-8", "surrogatepass")


def shortened(value: Json) -> Json:
    """Return *value* with every string over `LONGEST` bytes replaced by its `Excerpt`'s members."""
    return _shortened(value) if _may_be_long((value,)) else value


def _may_be_long(values: Iterable[Json]) -> bool:
    """Tell whether any string in *values* may be over `LONGEST` bytes."""
    for value in values:
        kind = type(value)
        if kind is str:
            if len(value) * 4 > LONGEST:
                return True
        elif (kind is dict and _may_be_long(value.values())) or (
            kind is list and _may_be_long(value)
        ):
            return True
    return False


def _shortened(value: Json) -> Json:
    match value:
        case str() if (cut := excerpt(value)).size is not None:
            return {"text": cut.text, "size": cut.size, "sha256": cut.sha256, "tail": cut.tail}
        case dict():
            return {key: _shortened(item) for key, item in value.items()}
        case list():
            return [_shortened(item) for item in value]
    return value


def _start_of_character(raw: bytes, at: int) -> int:
    while raw[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _whole(pair: re.Match[Any]) -> str:
    high, low = map(ord, pair[0])
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
