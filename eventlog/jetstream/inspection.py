"""Looking at a log on servers as a whole: what is damaged, how much there is, what endangers it.

Above this module: the command line. Below it: `reader`, `settings`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from eventlog.address import LogAddress
from eventlog.event import SessionId
from eventlog.finding import Finding
from eventlog.jetstream.link import Link, Refused, Silent
from eventlog.jetstream.reader import JetStreamReader

_SMALL: Final = 1 << 20
"""Bytes that a message must be able to have."""


async def inspect(
    where: LogAddress,
    choose: Callable[[JetStreamReader], Awaitable[SessionId]] | None = None,
) -> AsyncGenerator[str, None]:
    """Read everything, or the session that *choose* names, and yield what is damaged or missing."""
    async with JetStreamReader.open(where) as reader:
        only = None if choose is None else await choose(reader)
        async with aclosing(reader.verify(only)) as damages:
            async for damage in damages:
                yield damage


async def figures(where: LogAddress) -> dict[str, int]:
    """Return how much there is of what: counts, and bytes as the servers count them."""
    async with JetStreamReader.open(where) as reader:
        rows = await reader.sessions(every=True)
        told = await _told(reader.link, {"subjects_filter": f"{where.name}.>"})
        kinds = _counted(told["state"].get("subjects") or {}, where.name)
        return {
            "sessions": len(rows),
            "events": sum(row.head - row.floor for row in rows),
            "pruned_events": sum(row.floor for row in rows),
            "batches": kinds.get("evt", 0),
            "large_strings": kinds.get("ref", 0),
            "pieces_of_large_strings": kinds.get("blob", 0),
            "messages": int(told["state"]["messages"]),
            "bytes_of_stream": int(told["state"]["bytes"]),
            "copies": int(told["config"]["num_replicas"]),
        }


async def examine(where: LogAddress) -> list[Finding]:
    """Look at the servers and at the stream of a log; no event is read."""
    async with JetStreamReader.open(where) as reader:
        told = await _told(reader.link, {})
        return [
            Finding("log", str(where)),
            Finding("server", f"nats-server {reader.link.version}"),
            *_copies(told),
            *_stream(told["config"]),
            _message_size(reader.link.largest),
            Finding("sync", "cannot be seen from here; the servers need sync_interval: always"),
        ]


def _copies(told: Mapping[str, Any]) -> Iterator[Finding]:
    count = int(told["config"]["num_replicas"])
    advice = "a disk that is lost is lost; docs/scale-out.md says how to run three"
    yield Finding("copies", str(count), advice if count < 3 else "")
    cluster = told.get("cluster") or {}
    yield Finding("leader", str(cluster.get("leader") or "none"))
    for peer in cluster.get("replicas") or []:
        behind = "" if peer.get("current") else "it is behind or gone; look at that server"
        lag = f"{peer.get('lag', 0)} behind" if peer.get("lag") else "current"
        yield Finding("copy", f"{peer['name']}, {lag}", behind)


def _stream(config: Mapping[str, Any]) -> Iterator[Finding]:
    storage = str(config["storage"])
    advice = "gone when the servers end; make another stream" if storage != "file" else ""
    yield Finding("storage", storage, advice)
    age = int(config.get("max_age") or 0)
    yield Finding(
        "max age",
        f"{age // 10**9} s" if age else "none",
        "events are removed when they are old; take it away" if age else "",
    )


def _message_size(largest: int) -> Finding:
    advice = "raise max_payload to 1 MiB at least" if largest < _SMALL else ""
    return Finding("max payload", f"{largest} bytes", advice)


async def _told(link: Link, wanted: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return await link.api(f"STREAM.INFO.{link.stream}", wanted)
    except (Silent, Refused) as error:
        raise link.unavailable(f"it cannot be looked at: {error}") from None


def _counted(subjects: Mapping[str, int], log: str) -> dict[str, int]:
    """Return how many messages there are of each kind."""
    found: dict[str, int] = {}
    for subject, count in subjects.items():
        kind = subject.removeprefix(f"{log}.").partition(".")[0]
        found[kind] = found.get(kind, 0) + count
    return found
