"""Many clients at work on a log, all of whose calls are noted: what faults are tested with.

Above this module: tests under faults. Below it: `history`, a log.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from random import Random
from time import monotonic_ns
from typing import Final

import anyio
from anyio.abc import TaskGroup

from eventlog import (
    Event,
    Fenced,
    Log,
    LogUnavailable,
    Page,
    SessionId,
    WrongExpectedVersion,
    parse,
    subscribe,
)
from tests.nats.history import Operation, violations

HELD: Final = SessionId("s-held")
"""A session that the first log holds, so that only its clients write it, as a gateway's do."""

SESSIONS: Final = [HELD, SessionId("s-1"), SessionId("s-2")]
"""The others are written by whoever comes, which a log must bear, too."""

PATIENCE: Final = 40.0
"""Seconds that the whole may take to go on after a fault: an election, and then some."""


@dataclass
class Work:
    """What clients have done, and what came of it."""

    deadline: float
    """Seconds within which every call has to end, well or not."""
    histories: defaultdict[SessionId, list[Operation]] = field(
        default_factory=lambda: defaultdict(list)
    )
    acknowledged: int = 0
    errors: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    """Seconds that the longest call took."""
    followed: dict[tuple[int, SessionId], list[bytes]] = field(default_factory=dict)
    """What a follower of each session has heard over each connection."""
    _texts: count[int] = field(default_factory=count)
    _turned: anyio.Event = field(default_factory=anyio.Event)

    async def more(self, appends: int) -> None:
        """Return once so many more appends have been acknowledged than are now."""
        wanted = self.acknowledged + appends
        with anyio.fail_after(PATIENCE):
            while self.acknowledged < wanted:
                await self._turned.wait()

    async def failed(self, calls: int) -> None:
        """Return once so many more calls have ended with an error than have now."""
        wanted = self.errors + calls
        with anyio.fail_after(PATIENCE):
            while self.errors < wanted:
                await self._turned.wait()

    async def client(self, name: str, log: Log, random: Random, *, owner: bool) -> None:
        """Call the log in every way, one call after the other, until cancelled."""
        heads: dict[SessionId, int] = {}
        while True:
            session_id = random.choice(SESSIONS)
            head = heads.get(session_id, 0)
            if random.random() < 0.6 and (owner or session_id != HELD):
                texts = tuple(f"{name}.{next(self._texts)}" for _ in range(random.randint(1, 4)))
                expected = head if random.random() < 0.2 else None
                operation = Operation(name, "append", monotonic_ns(), texts, expected=expected)
            else:
                after = random.choice((0, head, head))
                operation = Operation(name, "read", monotonic_ns(), after=after)
            self.histories[session_id].append(operation)
            await self._call(log, session_id, operation)
            heads[session_id] = operation.head or head

    async def _call(self, log: Log, session_id: SessionId, operation: Operation) -> None:
        begun = anyio.current_time()
        try:
            with anyio.fail_after(self.deadline):
                if operation.kind == "append":
                    if session_id == HELD and not log.leases.holds(HELD):
                        await log.leases.acquire(HELD)
                    await _append(log, session_id, operation)
                else:
                    await _read(log, session_id, operation)
        except (LogUnavailable, Fenced) as error:
            self.reasons[type(error).__name__] += 1
            self.errors += 1
            await anyio.sleep(0.05)  # a client that was refused does not ask again at once
        else:
            operation.ended = monotonic_ns()
            self.acknowledged += operation.kind == "append" and operation.outcome == "done"
        self.longest = max(self.longest, anyio.current_time() - begun)
        self._wake()

    async def follow(self, number: int, log: Log, session_id: SessionId) -> None:
        """Follow a session; go on from the cursor when the log says that it is away."""
        heard = self.followed[number, session_id] = []
        while True:
            pages = subscribe(log, session_id, after=len(heard))
            try:
                async with aclosing(pages):
                    async for page in pages:
                        if isinstance(page, Page):
                            heard += page.lines
                            self._wake()
            except LogUnavailable:
                await anyio.sleep(0.05)

    async def caught_up(self, log: Log) -> None:
        """Return once every follower has heard all that there is."""
        heads = {key: (await log.read(key, limit=1)).head for key in SESSIONS}
        with anyio.fail_after(PATIENCE):
            while any(len(heard) < heads[key] for (_, key), heard in self.followed.items()):
                await self._turned.wait()

    def _wake(self) -> None:
        self._turned.set()
        self._turned = anyio.Event()

    async def check(self, log: Log) -> None:
        """Fail unless the log holds what the histories say, in an order that agrees with them."""
        for session_id, history in self.histories.items():
            page = await log.read(session_id, limit=1_000_000)
            envelopes = page.envelopes()
            numbers = [one["seq"] for one in envelopes]
            assert numbers == list(range(1, page.head + 1)), f"{session_id}: {numbers}"
            final = [one["payload"]["message"] for one in envelopes]
            found = violations(history, final)
            told = "\n".join(found[:10])
            assert not found, f"{session_id}: {len(found)} violations:\n{told}"
            for (number, key), heard in self.followed.items():
                same = key != session_id or heard == page.lines[: len(heard)]
                assert same, f"{session_id}: the follower on connection {number} heard otherwise"


async def _append(log: Log, session_id: SessionId, operation: Operation) -> None:
    events = [Event.of("notice", {"message": text}) for text in operation.texts]
    try:
        span = await log.append(session_id, events, expected=operation.expected)
    except WrongExpectedVersion as error:
        operation.outcome, operation.head = "refused", error.actual
    except Fenced:
        operation.outcome = "refused"
        raise
    else:
        operation.outcome, operation.after, operation.head = "done", span.first - 1, span.last


async def _read(log: Log, session_id: SessionId, operation: Operation) -> None:
    page = await log.read(session_id, after=operation.after, limit=100_000)
    operation.texts = tuple(parse(text)["payload"]["message"] for text in page.lines)
    operation.outcome, operation.head = "done", page.head


@asynccontextmanager
async def working(
    logs: Sequence[Log], *, deadline: float, clients: int = 6, seed: int = 0
) -> AsyncGenerator[Work, None]:
    """Let clients work on a log, spread over *logs*, which are it, for as long as the block runs."""
    work = Work(deadline)
    async with anyio.create_task_group() as followers:
        for number, log in enumerate(logs):
            for session_id in SESSIONS:
                followers.start_soon(work.follow, number, log, session_id)
        async with anyio.create_task_group() as tasks:
            _employ(tasks, work, logs, clients=clients, seed=seed)
            yield work
            tasks.cancel_scope.cancel()
        await work.caught_up(logs[0])
        followers.cancel_scope.cancel()


def _employ(tasks: TaskGroup, work: Work, logs: Sequence[Log], *, clients: int, seed: int) -> None:
    for number in range(clients):
        random = Random(f"{seed} {number}")  # noqa: S311 - choices, no secrets
        client = partial(work.client, owner=number % len(logs) == 0)
        tasks.start_soon(client, f"c{number}", logs[number % len(logs)], random)
