"""Pages: how many lines fit, and large strings put back into them.

Above this module: the adapters. Below it: `batch`, `blobs`, `store`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from eventlog.batch import Run
from eventlog.blobs import MARK, Fetch, restored
from eventlog.event import seq_of
from eventlog.page import Page

ENOUGH: Final = 8 << 20
"""Bytes of a page with large strings put back, where no limit was given."""


async def put_back(page: Page, fetch: Fetch, limit_bytes: int | None) -> Page:
    """Return *page* with large strings put back, as many of its events as then fit."""
    if b"$" not in page.body or MARK not in page.body:  # one character is found at once
        return page
    room = ENOUGH if limit_bytes is None else limit_bytes
    lines = page.lines
    taken: list[bytes] = []
    size = 0
    for text in lines:
        whole = await restored(text, fetch)
        size += len(whole) + 1
        if taken and size > room:
            break
        taken.append(whole)
    cursor = page.next if len(taken) == len(lines) else seq_of(taken[-1])
    return replace(page, body=b"\n".join(taken), next=cursor)


def within(lines: Sequence[bytes], limit_bytes: int) -> Sequence[bytes]:
    """Return the first of *lines* that fit *limit_bytes* together, and at least one."""
    total = 0
    for index, text in enumerate(lines):
        total += len(text) + 1
        if total > limit_bytes and index:
            return lines[:index]
    return lines


def cut_page(runs: Iterable[Run], after: int, limit: int, room: int) -> tuple[int, bytes]:
    """Return where the page ends, and its lines: what of *runs* follows *after* and fits."""
    cursor, body, _ = cut(runs, after, limit, room)
    return cursor, body


def cut(runs: Iterable[Run], after: int, limit: int, room: int) -> tuple[int, bytes, Run | None]:
    """Return the same, and what is left of the run that the page ends inside of.

    Texts are cut where a line ends, and no line is looked at: a page is a join of few pieces.
    """
    cursor, parts, size, left = after, list[bytes](), 0, limit
    rest = None
    for run in runs:
        if run.last <= cursor:
            continue
        start = run.begin(cursor + 1)
        lines = 1 if run.lost else run.last - max(run.first, cursor + 1) + 1
        length = len(run.text) - start
        if lines <= left and (size + length < room or (lines == 1 and not parts)):
            parts.append(run.text[start:])
            size, left, cursor = size + length + 1, left - lines, run.last
            continue
        end = _end(run.text, start, left if lines > left else None, room - size, needed=not parts)
        if end > start:
            parts.append(run.text[start:end])
            cursor = seq_of(run.text[run.text.rfind(b"\n", start, end) + 1 or start : end])
            start = end + 1
        if start < len(run.text) and not run.lost:
            rest = Run(max(run.first, cursor + 1), run.last, run.text[start:])
        break
    return cursor, b"\n".join(parts), rest


def _end(text: bytes, start: int, limit: int | None, room: int, *, needed: bool) -> int:
    """Return where the last line ends that fits, or *start*; one does if it is *needed*.

    Lines are only counted where there are more than the *limit*.
    """
    if limit is not None and limit < 1:
        return start
    end = text.rfind(b"\n", start, start + max(room, 0))
    if end < 0:
        if not needed:
            return start
        end = text.find(b"\n", start)
        return len(text) if end < 0 else end
    if limit is not None and text.count(b"\n", start, end) >= limit:
        end = start - 1
        for _ in range(limit):
            end = text.find(b"\n", end + 1)
    return end
