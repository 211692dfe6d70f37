"""The writer dies without warning, again and again; the log knows everything it acknowledged."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import pytest

from eventlog import Envelope, Event, SessionId, SqliteStore, parse
from tests.eventlog.sqlite.victim import SESSIONS

pytestmark = pytest.mark.anyio

ROUNDS = 20

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


def run_and_kill(path: Path, number: int, seconds: float) -> list[str]:
    """Let a victim append for that long after its first acknowledgement; return what it said."""
    victim = Path(__file__).with_name("victim.py")
    with subprocess.Popen(
        [sys.executable, victim, path, str(number)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = [process.stdout.readline()]
        end = monotonic() + seconds
        while monotonic() < end:
            said.append(process.stdout.readline())
        process.kill()
        said += process.stdout.readlines()
    return said


def show_and_kill(path: Path) -> None:
    """Let a process ask, and die when the question has been shown."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "shown\n"
        process.kill()


@pytest.mark.timeout(120)
async def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    """After each of 20 kills: all that was acknowledged is there, where it was said to be.

    No hole, no number twice, nothing torn, and appending goes on (S-8, R033).
    """
    chance = random.Random(20)  # noqa: S311 - which moments is no secret
    histories = {session: History(SessionId(session)) for session in SESSIONS}
    epochs: set[str] = set()
    for number in range(ROUNDS):
        for line in run_and_kill(tmp_path, number, chance.uniform(0, 0.15)):
            session, first, last, key = line.split()
            histories[session].acked.append((int(first), int(last), key))
        async with SqliteStore.open(tmp_path) as store:
            epochs.add(store.epoch)
            for history in histories.values():
                await history.check(store)
            head = (await store.read(SessionId("a"), limit=0)).head
            assert (await store.append(SessionId("a"), [Event.of("between")])).first == head + 1
    async with SqliteStore.open(tmp_path) as store:
        assert [damage async for damage in store.verify()] == []
        for history in histories.values():
            assert len(history.acked) > 5 * ROUNDS
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
