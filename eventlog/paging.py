"""Pages: how many lines fit, and large strings put back into them.

Above this module: the adapters. Below it: `blobs`, `store`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

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
