r"""JSON in and JSON out, and every hard case of it decided once.

Above this module: everything that reads or writes JSON. Below it: orjson, and the standard
library's `json` for what orjson cannot hold.

The decisions (R150, P-2, P-34):

- A lone surrogate is kept: `"\ud83d"` comes in as one code point and goes out as its escape.
- An integer of any size is kept exactly; orjson alone would turn it into a float.
- NaN, infinities and numbers beyond a double (`1e400`) are refused in both directions.
- Nesting is limited, so no reader of the log meets a text that its parser cannot take.
- A payload's own `$blob` keys are doubled, so that a reference to a blob cannot be forged.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, Final, NoReturn

import orjson

from eventlog.errors import Malformed

MAX_DEPTH: Final = 64
"""Containers inside containers that a frame from a client may have (P-3)."""

DEEPEST: Final = 200
"""The same for an agent's frames and stored lines; orjson itself writes at most 254."""

_AS_ZEROS: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG: Final = b"0" * 19
"""So many digits in a row may be an integer that orjson would make a float."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BLOB_KEY: Final = re.compile(r"\$+blob\Z")


def loads(data: bytes | str, *, max_depth: int = DEEPEST) -> Any:
    """Read one JSON text.

    Raises:
        Malformed: it is not JSON, holds a number that is none, or nests deeper than *max_depth*.

    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        # seven times as fast as a regular expression, and every line of every log comes by here
        long = _LONG in raw.translate(_AS_ZEROS)
        value = _exact(raw) if long else orjson.loads(raw)
    except orjson.JSONDecodeError:
        value = _exact(raw)  # a lone surrogate, or no JSON at all
    if raw.count(b"[") + raw.count(b"{") > max_depth and _deeper_than(value, max_depth):
        raise Malformed(f"nesting is deeper than {max_depth}")
    return value


def dumps(value: Any) -> bytes:
    """Write *value* as JSON in UTF-8, on one line, without spaces, members in their order.

    Raises:
        Malformed: *value* holds something JSON has no word for (NaN, a Decimal, an integer key).

    """
    try:
        text = orjson.dumps(value)
    except TypeError:  # orjson.JSONEncodeError: a surrogate, a large integer, or a foreign type
        return _dumps_exact(value)
    if b"null" in text:  # orjson writes NaN as null: look again only where a null was written
        _refuse_foreign(value)
    return text


def escape_blobs(value: Any) -> Any:
    """Double the `$` of every key that looks like a blob reference (P-34)."""
    return _rename_keys(value, lambda key: f"${key}" if _BLOB_KEY.match(key) else key)


def restore_blobs(value: Any) -> Any:
    """Undo `escape_blobs`."""
    return _rename_keys(
        value, lambda key: key[1:] if _BLOB_KEY.match(key) and key.startswith("$$") else key
    )


def _exact(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise Malformed(f"{error.msg} at character {error.pos}") from None
    except RecursionError:
        raise Malformed(f"nesting is deeper than {DEEPEST}") from None
    except ValueError as error:  # an integer of more digits than Python will read
        raise Malformed(str(error)) from None


def _refuse_constant(name: str) -> NoReturn:
    raise Malformed(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise Malformed(f"{text[:40]} is beyond the range of a double")
    return number


def _dumps_exact(value: Any) -> bytes:
    _refuse_foreign(value)
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError) as error:
        raise Malformed(str(error)) from None
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def _refuse_foreign(value: Any) -> None:
    """Raise for the first member that JSON cannot hold; iterative, so depth is no matter."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        match item:
            case str() | int() | None:
                pass
            case float():
                if not math.isfinite(item):
                    raise Malformed(f"{item} is not JSON")
            case dict():
                if bad := next((key for key in item if not isinstance(key, str)), None):
                    raise Malformed(f"the key {bad!r} is not a string")
                waiting.extend(item.values())
            case list() | tuple():
                waiting.extend(item)
            case _:
                raise Malformed(f"a {type(item).__name__} is not JSON")


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(item: Any) -> list[Any]:
    match item:
        case dict():
            return [child for child in item.values() if isinstance(child, dict | list)]
        case list():
            return [child for child in item if isinstance(child, dict | list)]
    return []


def _rename_keys(value: Any, rename: Callable[[str], str]) -> Any:
    match value:
        case dict():
            return {rename(key): _rename_keys(item, rename) for key, item in value.items()}
        case list():
            return [_rename_keys(item, rename) for item in value]
    return value
