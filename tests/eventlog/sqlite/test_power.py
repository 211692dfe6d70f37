"""The power fails, or the disk does: what was acknowledged at full durability is there."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from eventlog import Event, SessionId, SqliteStore
from tests.eventlog.sqlite.powerless import Disk, Operation, built, operations, under_shim

pytestmark = pytest.mark.anyio

MOMENTS = 60

VICTIM = """
import os, random, sys, anyio
from pathlib import Path
from eventlog import Event, SessionId, SqliteStore

async def main(path, durability, journal):
    acks = os.open(f"{path}/acks", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    chance = random.Random(1)
    async with SqliteStore.open(Path(path), durability=durability, journal=journal) as store:
        os.write(acks, f"epoch {store.epoch} 0 0\\n".encode())
        await store._writer.execute("pragma wal_autocheckpoint=150")

        async def append(session, task):
            for number in range(6):
                size = chance.choice([1, 3, 300])
                text = chance.choice(["", "x" * 3_000, "y" * 70_000 + str((task, number))])
                events = [
                    Event.of("x", {"key": f"{task}.{number}", "of": size, "text": text if not i else ""})
                    for i in range(size)
                ]
                span = await store.append(SessionId(session), events)
                os.write(acks, f"{session} {span.first} {span.last} {task}.{number}\\n".encode())

        async with anyio.create_task_group() as tasks:
            for task in range(9):
                tasks.start_soon(append, "abc"[task % 3] + str(task // 6), task)

anyio.run(main, *sys.argv[1:])
"""


class Told:
    """What had been acknowledged by some moment."""

    def __init__(self) -> None:
        self.epoch = ""
        self.spans: list[tuple[str, int, int, str]] = []

    def hear(self, operation: Operation) -> None:
        for line in operation.data.decode().splitlines():
            session, first, last, key = line.split()
            if session == "epoch":
                self.epoch = first
            else:
                self.spans.append((session, int(first), int(last), key))

    async def is_missed(self, store: SqliteStore) -> list[tuple[str, int, int, str]]:
        """Return what is not there any more; what is there is whole, and without a hole."""
        found: dict[tuple[str, int], str] = {}
        for session in {span[0] for span in self.spans} | {"a0", "b0", "c0", "a1"}:
            whole: dict[str, list[int]] = {}
            cursor = 0
            while (page := await store.read(SessionId(session), after=cursor)).body:
                for envelope in page.envelopes():
                    cursor += 1
                    assert envelope["seq"] == cursor
                    if envelope["type"] == "x":
                        found[session, cursor] = envelope["payload"]["key"]
                        whole.setdefault(envelope["payload"]["key"], []).append(
                            envelope["payload"]["of"]
                        )
            assert all(len(sizes) == sizes[0] for sizes in whole.values())
            assert (await store.append(SessionId(session), [Event.of("after")])).first == cursor + 1
        return [
            span
            for span in self.spans
            if any(found.get((span[0], at)) != span[3] for at in range(span[1], span[2] + 1))
        ]


def recorded(folder: Path, durability: str, journal: str) -> tuple[Path, Sequence[Operation]]:
    """Let a victim write to a log; return the log as it was before, and what was done to it."""
    log = folder / "log"
    before = folder / "before"
    shutil.copytree(log, before)
    done, trace = under_shim(built(folder), VICTIM, log, durability, journal)
    assert (done.stderr, done.returncode) == ("", 0)
    return before, list(operations(trace))


@pytest.mark.timeout(150)
@pytest.mark.parametrize(
    ("durability", "journal"), [("full", "wal"), ("full", "delete"), ("normal", "wal")]
)
async def test_the_power_fails(durability: str, journal: str, tmp_path: Path) -> None:
    """At random moments, with unsynced writes dropped and torn: nothing acknowledged is lost.

    No hole, nothing torn, no number used again, the same epoch (S-8, P-18). At normal the last
    events may be gone; then the epoch is over, so that nobody takes new ones for them.
    """
    async with SqliteStore.open(tmp_path / "log") as store:
        await store.append(SessionId("a0"), [Event.of("before")])
    before, done = recorded(tmp_path, durability, journal)
    chance = random.Random(7)  # noqa: S311 - which moments is no secret
    begun = next(at for at, operation in enumerate(done) if operation.data.startswith(b"epoch"))
    moments = sorted(
        {
            *chance.sample(range(begun), MOMENTS // 6),
            *chance.choices(range(begun, len(done)), k=MOMENTS),
        }
    )
    disk, told, lost = Disk(before), Told(), 0
    for number, operation in enumerate(done):
        if operation.name == "acks":
            if operation.data:
                told.hear(operation)
        else:
            disk.do(operation)
        if moments and number == moments[0]:
            moments.pop(0)
            after = tmp_path / f"after-{number}"
            disk.fail(after, chance)
            async with SqliteStore.open(after) as store:
                missed = await told.is_missed(store)
                damages = [damage async for damage in store.verify()]
                same = told.epoch in {"", store.epoch}
            assert damages == []
            assert not missed or not same
            if durability == "full":
                assert (missed, same) == ([], True)
            lost += bool(missed)
            shutil.rmtree(after)
    assert len(told.spans) == 54
    assert (lost > 0) is (durability == "normal")
