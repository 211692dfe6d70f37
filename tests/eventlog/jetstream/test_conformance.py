"""The adapter on servers keeps every promise of the shared suite."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from eventlog.conformance import PROMISES, Open, Promise, Reconnecting
from eventlog.jetstream import JetStreamStore


def opens(url: str) -> Open:
    """Open the log at *url*, each time over a connection of its own."""
    return lambda: JetStreamStore.open(url)


@pytest.mark.anyio
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
async def test_one_server_keeps_a_promise(promise: Promise, url: str) -> None:
    """What each promise says stands in the docstring of its function in eventlog/conformance."""
    await promise(opens(url))


@pytest.mark.cluster
@pytest.mark.anyio
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
async def test_three_servers_keep_a_promise(
    promise: Promise, fresh_on_three: Callable[[], str]
) -> None:
    """The same with three copies, each synced before an append is acknowledged."""
    await promise(opens(fresh_on_three()))


def test_a_reader_that_is_cut_off_ends_with_the_whole_log(fresh: Callable[[], str]) -> None:
    """Append, cut off, restart, wake for nothing: nothing is missing, twice or out of order.

    One machine, whose model is a list (P-8).
    """
    _run(fresh)


@pytest.mark.cluster
def test_three_servers_show_a_reader_the_whole_log(fresh_on_three: Callable[[], str]) -> None:
    """The same machine on three servers, any of which may answer a read (P-8)."""
    _run(fresh_on_three)


def _run(fresh: Callable[[], str]) -> None:
    class Machine(Reconnecting):
        def __init__(self) -> None:
            super().__init__(lambda: opens(fresh()))

    run_state_machine_as_test(
        Machine, settings=settings(max_examples=10, stateful_step_count=15, deadline=None)
    )
