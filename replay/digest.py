r"""One number for a transcript: equal events over an equal base give it to every client (P-26).

Above this module: the gateway, the CLI, tests. Below it: `dump`, `plain`.

It is the SHA-256 of the transcript's JSON in RFC 8785's form, with two differences: integers of
any size are their digits, and lone surrogates are `\udxxx`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from replay.dump import dump
from replay.entries import AnyEntry
from replay.plain import plain
from replay.transcript import Transcript

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_OWN: Final = ("session", "diag")
"""What differs between equal conversations: the session's id, and what was odd about the log."""

_quoted: Final = json.JSONEncoder(ensure_ascii=False).encode


def digest(transcript: Transcript) -> str:
    """Return the SHA-256 of *transcript*, in hex, without its own id and diagnostics."""
    values = dump(replace(transcript, entries=()))
    for name in _OWN:
        del values[name]
    found = hashlib.sha256()
    before = b"{"
    for name, value in sorted(values.items(), key=_utf16):
        found.update(before + canonical_json(name) + b":")
        for piece in _listed(transcript.entries) if name == "entries" else [canonical_json(value)]:
            found.update(piece)
        before = b","
    found.update(b"}")
    return found.hexdigest()


def _listed(entries: Iterable[AnyEntry]) -> Iterator[bytes]:
    """Yield the entries' JSON one by one: that of a long session is as long as the session."""
    before = b"["
    for entry in entries:
        yield before + canonical_json(plain(entry))
        before = b","
    yield b"]" if before == b"," else b"[]"


def canonical_json(value: Any) -> bytes:
    """Return *value* in RFC 8785's form, in UTF-8."""
    return _canonical(value).encode("utf-8")


def _canonical(value: Any) -> str:
    match value:
        case str():
            return _string(value)
        case bool() | None:
            return _quoted(value)
        case int():
            return str(value)
        case float():
            return _number(value)
        case list() | tuple():
            return f"[{','.join(map(_canonical, value))}]"
    members = sorted(value.items(), key=_utf16)
    return f"{{{','.join(f'{_string(key)}:{_canonical(item)}' for key, item in members)}}}"


def _utf16(member: tuple[str, Any]) -> bytes:
    return member[0].encode("utf-16-be", "surrogatepass")


def _string(text: str) -> str:
    quoted = _quoted(text)
    if quoted.isascii():
        return quoted
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _number(number: float) -> str:
    """Return *number* as ECMAScript writes it (RFC 8785, section 3.2.2.3)."""
    if number == 0:
        return "0"
    sign, digits, exponent = _parts(number)
    point = exponent + len(digits)
    if 0 < point <= 21:
        whole = digits[:point].ljust(point, "0")
        rest = digits[point:]
        return f"{sign}{whole}.{rest}" if rest else f"{sign}{whole}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = f"{digits[0]}.{digits[1:]}" if digits[1:] else digits
    return f"{sign}{mantissa}e{point - 1:+d}"


def _parts(number: float) -> tuple[str, str, int]:
    """Return sign, shortest digits without zeros at the ends, and their power of ten."""
    text = repr(number)
    sign = "-" if text.startswith("-") else ""
    mantissa, _, power = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = int(power or 0) - len(fraction)
    stripped = digits.rstrip("0")
    return sign, stripped, exponent + len(digits) - len(stripped)
