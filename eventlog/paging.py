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
from eventlog.store import Page

ENOUGH: Final = 8 << 20
"""Bytes of a page with large strings put back, where no limit was given."""


async def put_back(page: Page, fetch: Fetch, limit_bytes: int | None) -> Page:
    """Return *page* with large strings put back, as many of its events as then fit."""
    if MARK not in page.body:
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
    cursor, texts, size, left = after, list[bytes](), 0, limit
    for run in runs:
        if run.last <= cursor:
            continue
        if run.first > cursor and run.size <= left and size + len(run.text) < room:
            lines = fitting = [run.text]  # whole, as it was stored
            left -= run.size
        else:
            lines = run.after(cursor)
            fitting = list(within(lines[:left], room - size))
            left -= len(fitting)
            if not fitting or (texts and size + len(fitting[0]) >= room):
                break
        texts += fitting
        size += sum(map(len, fitting)) + len(fitting)
        if len(fitting) < len(lines):
            cursor += len(fitting)
            break
        cursor = run.last
    return cursor, b"\n".join(texts)
