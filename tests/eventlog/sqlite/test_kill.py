"""The writer dies without warning, again and again; the log knows everything it acknowledged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import IO

import pytest

from eventlog import Envelope, Event, SessionId, SqliteStore, parse
from eventlog.sqlite.schema import Journal
from tests.eventlog.sqlite.victim import SESSIONS

pytestmark = pytest.mark.anyio

ROUNDS: dict[Journal, int] = {"wal": 500, "delete": 40}
EACH = 20
"""After so many kills somebody looks; a log that was not looked at is killed again."""

WAITING = """
import sys, anyio
from pathlib import Path
from eventlog import Envelope, Event, SessionId, SqliteStore
async def main():
    async with SqliteStore.open(Path(sys.argv[1])) as store:
        await store.append(SessionId("s"), [Event.of("prompt.submitted"), Event.of("request.opened")])
        print("shown", flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""


@dataclass
class History:
    """What was acknowledged of a session, and what was found of it."""

    session: SessionId
    acked: list[tuple[int, int, str]] = field(default_factory=list)
    found: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    cursor: int = 0

    def forget(self) -> None:
        """Look at everything again."""
        self.found.clear()
        self.cursor = 0

    async def check(self, store: SqliteStore) -> None:
        """Read on, and compare what is there with what was acknowledged."""
        while (page := await store.read(self.session, after=self.cursor)).body:
            for text in page.lines:
                self._note(parse(text))
        for first, last, key in self.acked:
            assert self.found[key] == list(range(first, last + 1))
        for key, numbers in self.found.items():
            assert len(numbers) == int(key.rpartition(".")[2]) % 5 + 1  # whole, or not at all

    def _note(self, envelope: Envelope) -> None:
        self.cursor += 1
        assert envelope["seq"] == self.cursor
        if envelope["type"] == "x":
            numbers = self.found[envelope["payload"]["key"]]
            assert envelope["payload"]["part"] == len(numbers)
            numbers.append(self.cursor)


@dataclass
class Victims:
    """Where victims come from (`victim.py`)."""

    ask: IO[str]
    hear: IO[str]

    def one(self, key: str, acks: int, seconds: float) -> list[str]:
        """Let a victim append until so many acknowledgements and seconds; return what it said."""
        self.ask.write(f"{key}\n")
        self.ask.flush()
        pid = int(self.hear.readline().split()[1])
        said = [self.hear.readline() for _ in range(acks)]
        end = monotonic() + seconds
        while monotonic() < end:
            pass
        os.kill(pid, signal.SIGKILL)
        while (line := self.hear.readline()) != "dead\n":
            said.append(line)
        return said


@contextmanager
def victims(path: Path) -> Iterator[Victims]:
    script = Path(__file__).with_name("victim.py")
    with subprocess.Popen(
        [sys.executable, script, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Victims(process.stdin, process.stdout)
        process.stdin.close()


def show_and_kill(path: Path) -> None:
    """Let a process ask, and die when the question has been shown."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "shown\n"
        process.kill()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("journal", list(ROUNDS))
async def test_nothing_acknowledged_is_lost(journal: Journal, tmp_path: Path) -> None:
    """Killed at 500 moments with two dozen appends in flight: all that was acknowledged is there.

    It is where it was said to be; no hole, no number twice, nothing torn, the same epoch, and
    appending goes on (S-8, P-18, R033); with either kind of journal (R042).
    """
    async with SqliteStore.open(tmp_path, journal=journal):
        pass
    chance = random.Random(20)  # noqa: S311 - which moments is no secret
    histories = {session: History(SessionId(session)) for session in SESSIONS}
    epochs: set[str] = set()
    with victims(tmp_path) as killed:
        for number in range(ROUNDS[journal]):
            acks, seconds = chance.choice([0, 1, chance.randrange(40)]), chance.uniform(0, 0.02)
            for line in killed.one(str(number), acks, seconds):
                session, first, last, key = line.split()
                histories[session].acked.append((int(first), int(last), key))
            if number % EACH == EACH - 1:
                async with SqliteStore.open(tmp_path) as store:
                    epochs.add(store.epoch)
                    for history in histories.values():
                        await history.check(store)
                    head = (await store.read(SessionId("a"), limit=0)).head
                    span = await store.append(SessionId("a"), [Event.of("between")])
                    assert span.first == head + 1
    async with SqliteStore.open(tmp_path) as store:
        assert [damage async for damage in store.verify()] == []
        for history in histories.values():
            assert len(history.acked) > ROUNDS[journal] / 4
            history.forget()
            await history.check(store)
    assert len(epochs) == 1


async def test_a_question_survives_the_one_who_asked_it(tmp_path: Path) -> None:
    """While somebody thinks about an answer the writer dies: the question is in the log (R044)."""
    show_and_kill(tmp_path)
    async with SqliteStore.open(tmp_path) as store:
        found = (await store.read(SessionId("s"))).envelopes()
        assert [envelope["type"] for envelope in found] == ["prompt.submitted", "request.opened"]
        assert await store.unsettled() == ["s"]
