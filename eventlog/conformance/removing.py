"""What every log promises about kept states, pruning and deleting (S-10, S-14, P-20a)."""

from __future__ import annotations

from contextlib import aclosing

from eventlog.conformance.opening import (
    OTHER,
    SESSION,
    Open,
    Promise,
    counted,
    lines,
    refusal,
    span,
)
from eventlog.errors import HistoryTruncated, WrongExpectedVersion
from eventlog.event import Event, Seq, SessionId, seq_of
from eventlog.store import Checkpoint, Log
from eventlog.subscription import subscribe


def _state(seq: int, *, version: int = 1, body: bytes = b'{"a":1}') -> Checkpoint:
    return Checkpoint(Seq(seq), version, body)


async def _prune(log: Log, to: int, session_id: SessionId = SESSION) -> int:
    """Prune as far as that; return the new floor."""
    reach = await log.prunable(session_id, to=to)
    await log.prune(session_id, _state(reach.seq))
    return reach.seq


async def a_kept_state_is_found_again(open_log: Open) -> None:
    """The last state of its kind and version, or the last one before a place (S-14)."""
    async with open_log() as log:
        await log.append(SESSION, counted(9))
        for seq in (3, 5, 8):
            await log.keep(SESSION, "k", _state(seq, body=b'{"at":%d}' % seq))
        await log.keep(SESSION, "other", _state(9))
        await log.keep(OTHER, "k", _state(2))
    async with open_log() as log:
        assert await log.checkpoint(SESSION, "k", 1) == _state(8, body=b'{"at":8}')
        assert await log.checkpoint(SESSION, "k", 1, at=7) == _state(5, body=b'{"at":5}')
        assert await log.checkpoint(SESSION, "k", 1, at=2) is None
        assert await log.checkpoint(SESSION, "k", 2) is None
        assert await log.checkpoint(OTHER, "k", 1) is None


async def a_cache_can_be_forgotten(open_log: Open) -> None:
    """Deleting every kept state changes nothing that is read; a base is no cache (S-14)."""
    async with open_log() as log:
        await log.append(SESSION, counted(4))
        await log.append(SESSION, counted(4))
        floor = await _prune(log, 4)
        await log.keep(SESSION, "k", _state(8))
        before = await log.read(SESSION)
        await log.forget()
        assert await log.checkpoint(SESSION, "k", 1) is None
        assert await log.read(SESSION) == before
        assert await log.base(SESSION) == _state(floor)


async def pruning_leaves_a_base(open_log: Open) -> None:
    """What comes up to the base is gone, the rest as it was; numbering goes on (S-10, R005)."""
    async with open_log() as log:
        for _ in range(5):
            await log.append(SESSION, counted(10))
        whole = await lines(log)
        floor = await _prune(log, 25)
        assert 15 < floor <= 25
    async with open_log() as log:
        page = await log.read(SESSION, after=floor)
        assert (page.floor, page.head, page.lines) == (floor, 50, whole[floor:])
        assert await log.base(SESSION) == _state(floor)
        row = await log.session(SESSION)
        assert row is not None
        assert (row.floor, row.head) == (floor, 50)
        assert await log.append(SESSION, counted(1), expected=50) == span(51, 51)


async def a_reader_before_the_floor_is_told(open_log: Open) -> None:
    """A cursor before the floor does not continue; one at the floor or after it does (R005).

    It neither loops nor is it given again what it has.
    """
    async with open_log() as log:
        for _ in range(3):
            await log.append(SESSION, counted(10))
        floor = await _prune(log, 20)
        for after in (0, floor - 1):
            page = await log.read(SESSION, after=after)
            assert not page.continues(after)
            assert seq_of(page.lines[0]) == floor + 1
            async with aclosing(subscribe(log, SESSION, after=after)) as items:
                error = await refusal(HistoryTruncated, anext(items))
            assert (error.after, error.floor, error.head) == (after, floor, 30)
        for after in (floor, 25):
            page = await log.read(SESSION, after=after)
            assert page.continues(after)
            assert [seq_of(text) for text in page.lines] == list(range(after + 1, 31))


async def a_session_can_be_pruned_whole(open_log: Open) -> None:
    """With its last event gone it is still listed, by what was known of it, and can go on."""
    named = Event.of("session.opened", {"title": "t", "cwd": "/x"})
    alias = Event.of("session.alias", {"scope": "acp", "id": "theirs"})
    async with open_log() as log:
        await log.append(SESSION, [named, alias], at=[5, 6])
        await log.append(OTHER, counted(1), at=[9])
        before = await log.session(SESSION)
        assert before is not None
        assert await _prune(log, 99) == 2
    async with open_log() as log:
        row = await log.session(SESSION)
        assert row is not None
        assert (row.floor, row.head, row.title, row.opened) == (2, 2, "t", before.opened)
        assert (row.created, row.updated) == (5, 6)
        assert [one.id for one in await log.sessions()] == [OTHER, SESSION]
        assert await log.resolve("theirs") == [SESSION]
        assert (await log.read(SESSION)).body == b""
        assert await log.append(SESSION, counted(1)) == span(3, 3)


async def age_is_a_border(open_log: Open) -> None:
    """Only what is older than the time given can be pruned, from the beginning on (S-10)."""
    async with open_log() as log:
        for at in (10, 20, 30):
            await log.append(SESSION, counted(2), at=[at, at])
        for before, seq in ((5, 0), (10, 0), (11, 2), (30, 4), (99, 6)):
            assert (await log.prunable(SESSION, before=before)).seq == seq
        reach = await log.prunable(SESSION, before=30, to=3)
        assert reach.seq in {2, 3}
        assert reach.events == reach.seq
        assert reach.size > 0
        assert await log.prunable(SessionId("unknown"), before=99) == (0, 0, 0)


async def only_what_is_there_is_pruned(open_log: Open) -> None:
    """Pruning again, or to an earlier place, changes nothing; beyond the head is refused."""
    async with open_log() as log:
        for _ in range(2):
            await log.append(SESSION, counted(3))
        await log.prune(SESSION, _state(3))
        await log.prune(SESSION, _state(3, body=b'{"b":2}'))
        await log.prune(SESSION, _state(2))
        await refusal(ValueError, log.prune(SESSION, _state(7)))
        assert await log.base(SESSION) == _state(3)
        assert (await log.read(SESSION, after=3)).floor == 3


async def pruning_takes_what_belongs_to_it(open_log: Open) -> None:
    """Kept states and large strings of what was removed go with it; later ones stay."""
    async with open_log() as log:
        for text in ("a", "b"):
            await log.append(SESSION, [Event.of("x", {"text": text * 100_000})])
        early, late = [
            str(envelope["payload"]["text"]["$blob"])
            for envelope in (await log.read(SESSION, by_reference=True)).envelopes()
        ]
        await log.keep(SESSION, "k", _state(1))
        await log.keep(SESSION, "k", _state(2))
        await log.prune(SESSION, _state(1))
        assert await log.checkpoint(SESSION, "k", 1, at=1) is None
        assert await log.checkpoint(SESSION, "k", 1) == _state(2)
        assert await log.read_blob(SESSION, early) is None
        assert await log.read_blob(SESSION, late) is not None


async def a_deleted_session_leaves_its_numbers(open_log: Open) -> None:
    """It is neither listed, found nor read any more, and no number is used twice (P-20a, R171)."""
    opened = Event.of("session.opened", {"title": "t"})
    alias = Event.of("session.alias", {"scope": "acp", "id": "theirs"})
    async with open_log() as log:
        await log.append(SESSION, [opened, alias, *counted(3)])
        await log.append(OTHER, counted(1))
        await log.keep(SESSION, "k", _state(2))
        await log.prune(SESSION, _state((await log.prunable(SESSION, to=2)).seq))
        assert await log.delete(SESSION)
        assert not await log.delete(SESSION)
        assert not await log.delete(SessionId("unknown"))
    async with open_log() as log:
        assert await log.session(SESSION) is None
        assert [row.id for row in await log.sessions()] == [OTHER]
        assert await log.resolve("theirs") == []
        assert await log.resolve(SESSION) == []
        assert await log.base(SESSION) is None
        assert await log.checkpoint(SESSION, "k", 1) is None
        page = await log.read(SESSION)
        assert (page.floor, page.head, page.body) == (5, 5, b"")
        assert await log.append(SESSION, counted(1)) == span(6, 6)
        row = await log.session(SESSION)
        assert row is not None
        assert (row.title, row.opened) == (None, {})
        await log.prune(SESSION, _state((await log.prunable(SESSION, to=6)).seq))
    async with open_log() as log:
        row = await log.session(SESSION)
        assert row is not None  # it lives on behind its base
        assert (row.floor, row.head) == (6, 6)
        assert await log.resolve(SESSION) == [SESSION]
        assert (await log.base(SESSION)) is not None


async def a_session_can_begin_behind_a_base(open_log: Open) -> None:
    """What was pruned elsewhere is brought in with its base and its numbers; once only."""
    async with open_log() as log:
        await log.append(OTHER, [Event.of("session.opened", {"title": "t"})], at=[5])
        row = await log.session(OTHER)
        assert row is not None
        await log.begin(SESSION, _state(7), row)
        await refusal(WrongExpectedVersion, log.begin(SESSION, _state(7), row))
        await refusal(WrongExpectedVersion, log.begin(OTHER, _state(7), row))
    async with open_log() as log:
        assert await log.base(SESSION) == _state(7)
        listed = await log.session(SESSION)
        assert listed is not None
        assert (listed.floor, listed.head, listed.title, listed.created) == (7, 7, "t", 5)
        assert await log.append(SESSION, counted(2), expected=7) == span(8, 9)


async def compaction_changes_nothing(open_log: Open) -> None:
    """Whatever small batches become, every page, row and large string is what it was (S-11).

    What is appended after it stands behind it, and may be compacted again.
    """
    blob = Event.of("x", {"text": "large" * 20_000})
    async with open_log() as log:
        for key in (SESSION, OTHER):
            for number in range(150):
                await log.append(key, counted(number % 7 + 1), at=[number] * (number % 7 + 1))
            await log.append(key, [blob], at=[200])
        before = {key: await lines(log, key) for key in (SESSION, OTHER)}
        rows = await log.sessions()
        await log.compact(before=200)
        await log.compact(before=201)
    async with open_log() as log:
        assert await log.sessions() == rows
        for key, whole in before.items():
            assert await lines(log, key) == whole
            for after in range(0, len(whole), 37):
                page = await log.read(key, after=after, limit=5, limit_bytes=300)
                assert page.lines == whole[after : page.next]
            last = (await log.read(key, limit=0)).head
            assert await log.append(key, counted(1), expected=last) == span(last + 1, last + 1)
        await log.compact(before=2**62)
        assert (await lines(log))[:-1] == before[SESSION]


PROMISES: tuple[Promise, ...] = (
    a_kept_state_is_found_again,
    a_cache_can_be_forgotten,
    pruning_leaves_a_base,
    a_reader_before_the_floor_is_told,
    a_session_can_be_pruned_whole,
    age_is_a_border,
    only_what_is_there_is_pruned,
    pruning_takes_what_belongs_to_it,
    a_deleted_session_leaves_its_numbers,
    a_session_can_begin_behind_a_base,
    compaction_changes_nothing,
)
