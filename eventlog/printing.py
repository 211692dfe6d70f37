"""Rows and events as lines of text that no terminal can be harmed by.

Above this module: `cli`. Below it: `event`, `store`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from eventlog.event import Envelope
from eventlog.store import SessionRow

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - in UTC, without saying so each time
_MINUTE: Final = 60_000_000
"""µs."""
_PAYLOAD: Final = b',"payload":'


def listed(rows: Sequence[SessionRow]) -> Iterator[str]:
    """Yield a line for each session, in columns: id, events, last change, title."""
    keys = max((len(row.id) for row in rows), default=0)
    heads = max((len(str(row.head)) for row in rows), default=0)
    for row in rows:
        title = "" if row.title is None else f"  {printable(row.title)}"
        yield f"{row.id:<{keys}}  {row.head:>{heads}}  {when(row.updated)}{title}"


def figures(found: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each figure: its name, and the number."""
    width = max(map(len, found), default=0)
    for name, number in found.items():
        yield f"{name.replace('_', ' '):<{width}}  {number:>14,}".replace(",", " ")


def one_line(envelope: Envelope, text: bytes) -> str:
    """Return an event as a line: number, time, type, and the rest of its line as it stands."""
    rest = text[text.index(_PAYLOAD) + len(_PAYLOAD) : -1].decode()
    type_ = printable(envelope["type"])
    return f"{envelope['seq']:>6}  {when(envelope['ts'])}  {type_}  {printable(rest)}"


def when(ts: int) -> str:
    """Return a time in UTC, to the microsecond; the number itself if no calendar has it."""
    minutes, rest = divmod(ts, _MINUTE)
    try:
        return f"{_minute(minutes)}:{rest // 1_000_000:02}.{rest % 1_000_000:06}Z"
    except OverflowError:
        return str(ts)


@lru_cache(maxsize=1_024)
def _minute(number: int) -> str:
    """Return a minute; a list has many times of the same one, and the calendar takes its time."""
    return (_EPOCH + timedelta(minutes=number)).isoformat(timespec="minutes")


def printable(text: str) -> str:
    r"""Return *text* with every character that is not printable as its JSON escape (`\u001b`)."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
