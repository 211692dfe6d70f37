"""What keeping events safe costs: checksums, and the trigger that refuses a hole.

Above this module: the command line. Below it: the log.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from bench.harness import Contender, Goal
from eventlog import Event, SessionId, SqliteStore
from eventlog.checksum import Checksum

EVENTS = 60_000
EVENT = Event.of("message.delta", {"text": "x" * 240})


class _None(Checksum):
    def of(self, *parts: bytes) -> int:
        """Return nothing of a checksum."""
        return len(parts)


async def written_and_read(folder: Path, *, checked: bool) -> dict[str, float]:
    """Append and read, with or without checksums and the trigger."""
    async with SqliteStore.open(folder) as store:
        if not checked:
            store._checksum = store._writer._checksum = _None("crc32c")  # noqa: SLF001
            await store._writer.execute("drop trigger gapless")  # noqa: SLF001
        begun = perf_counter()
        for _ in range(EVENTS // 256):
            await store.append(SessionId("s"), [EVENT] * 256)
        middle = perf_counter()
        cursor = 0
        while (page := await store.read(SessionId("s"), after=cursor, limit_bytes=65_536)).body:
            cursor = page.next
        end = perf_counter()
    return {"events/s written": cursor / (middle - begun), "events/s read": cursor / (end - middle)}


def contenders() -> tuple[list[Contender], list[Goal]]:
    """Return what is measured, and what should come out."""
    checked = Contender("ours", lambda at: written_and_read(at, checked=True))
    without = Contender(
        "ours, without checksum and trigger", lambda at: written_and_read(at, checked=False)
    )
    return [checked, without], [
        *(
            Goal(
                f"B-9: {figure} without checksum and gap check, over with (≤ 1.12)",
                lambda figure=figure: without.median(figure) / checked.median(figure),  # type: ignore[misc]
                lambda ratio: ratio <= 1.12,
            )
            for figure in ("events/s written", "events/s read")
        ),
    ]
