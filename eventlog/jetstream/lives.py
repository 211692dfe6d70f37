"""That processes live: one entry each in a key-value bucket, for all the sessions that it holds.

Above this module: `leases`. Below it: `link`.

An entry is renewed, and gone when that ends. The process itself counts from before it asked, and
less, so it knows first that others may take it for dead.
"""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

import anyio
from anyio.abc import TaskGroup

from eventlog.jetstream.codes import NO_MESSAGE, WRONG_SEQUENCE
from eventlog.jetstream.link import Link, Refused, Silent, answered
from eventlog.jetstream.settings import IN_USE
from eventlog.jetstream.stored import EXPECTED
from eventlog.jetstream.timing import until

_SAFE: Final = 0.8
"""The part of a lease's duration in which its owner relies on it; the rest is for the clocks."""

_AGAIN: Final = 0.1
"""Seconds until what failed is tried again."""

_OFTEN: Final = 4
"""Renewals in a lease's duration."""


class _Entry(NamedTuple):
    """What is stored of a process, and where; without a body it was found dead."""

    at: int
    body: bytes


def clock() -> float:
    """Return seconds that also count while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Lives:
    """Says that this process lives, and knows which others do. *doubted* is called when it may not."""

    def __init__(
        self,
        link: Link,
        tasks: TaskGroup,
        *,
        process: str,
        owner: str,
        replicas: int,
        doubted: Callable[[], None],
    ) -> None:
        self._link = link
        self._tasks = tasks
        self._process = process
        self._owner = owner
        self._replicas = replicas
        self._doubted = doubted
        self._bucket = f"KV_{link.stream}"
        self.duration = link.address.lease
        self.until = 0.0
        """When, by `clock`, others may take this process for dead."""
        self._starting = anyio.Lock()
        self._renewing = False
        self.renewed = anyio.Lock()

    @property
    def is_certain(self) -> bool:
        """Whether nobody can take this process for dead, by the clock."""
        return clock() < self.until

    async def begin(self) -> None:
        """Say that this process lives, and go on saying so.

        Raises:
            LogUnavailable: it cannot be said within the deadline.

        """
        async with self._starting:
            if not self._renewing:
                await self._insist(self._make_bucket)
                await self.insist()
                self._renewing = True
                self._tasks.start_soon(self._go_on)
            elif not self.is_certain:
                await self.insist()

    async def insist(self) -> None:
        """Say now that this process lives.

        Raises:
            LogUnavailable: it cannot be said within the deadline.

        """
        await self._insist(self._beat)

    async def others(self, process: str) -> bool:
        """Whether another process says that it lives.

        That it does not is believed from a majority only, by storing so in the place of its entry:
        a server that was stopped has thrown away what it did not hear renewed.

        Raises:
            LogUnavailable: nobody knows.

        """
        key = f"$KV.{self._link.stream}.{process}"
        try:
            entry = await self._entry(key)
            if entry.body:
                return True
            answer = await self._link.ask(key, headers={EXPECTED: str(entry.at)})
            answered(answer.data)
        except Refused as refused:
            if refused.code in WRONG_SEQUENCE:
                return True  # it has been renewed, or another is about to say that it has not
            raise self._link.unavailable(f"no lease can be looked at: {refused}") from None
        except Silent as silent:
            raise self._link.unavailable(f"no lease can be looked at: {silent}") from None
        return False

    async def _entry(self, key: str) -> _Entry:
        try:
            found = await self._link.api(f"STREAM.MSG.GET.{self._bucket}", {"last_by_subj": key})
        except Refused as refused:
            if refused.code == NO_MESSAGE:
                return _Entry(0, b"")
            raise
        message = found["message"]
        return _Entry(int(message["seq"]), b64decode(message.get("data") or ""))

    async def _go_on(self) -> None:
        pause = self.duration / _OFTEN
        while True:
            await anyio.sleep(pause)
            try:
                async with self.renewed:
                    await self._beat()
            except (Silent, Refused):
                pause = self.duration / _OFTEN / 8  # the clock decides what that means
            else:
                pause = self.duration / _OFTEN

    async def _insist(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Ask until it is done: servers, or a bucket that is new, may have no leader yet."""
        end = until(self._link.address.deadline)
        while True:
            try:
                return await ask()
            except (Silent, Refused) as error:
                if anyio.current_time() > end:
                    raise self._link.unavailable(f"no lease can be had: {error}") from None
            await anyio.sleep(_AGAIN)

    async def _beat(self) -> None:
        begun = clock()
        within = self.duration / _OFTEN
        key = f"$KV.{self._link.stream}.{self._process}"
        answer = await self._link.ask(key, self._owner.encode(), within=within)
        answered(answer.data)
        if begun >= self.until:
            self._doubted()  # it was too late: others may have taken what was held
        self.until = begun + self.duration * _SAFE

    async def _make_bucket(self) -> None:
        """Make the bucket, or take the duration that is agreed on in it."""
        try:
            await self._link.api(f"STREAM.CREATE.{self._bucket}", self._config())
        except Refused as refused:
            if refused.code != IN_USE:
                raise
        found = await self._link.api(f"STREAM.INFO.{self._bucket}")
        self.duration = int(found["config"]["max_age"]) / 1e9

    def _config(self) -> dict[str, Any]:
        return {
            "name": self._bucket,
            "description": "Which processes that write the log live.",
            "subjects": [f"$KV.{self._link.stream}.>"],
            "max_msgs_per_subject": 1,
            "max_age": int(self.duration * 1e9),
            "duplicate_window": int(min(self.duration, 120) * 1e9),
            "storage": self._link.address.storage,
            "num_replicas": self._replicas,
            "discard": "new",
            "allow_rollup_hdrs": True,
            "allow_direct": False,
        }
