"""What every log promises about large strings: kept once, by reference, and put back (P-34)."""

from __future__ import annotations

import hashlib
from typing import Any

from eventlog import codec
from eventlog.blobs import LARGEST, LONGEST, refs
from eventlog.conformance.opening import OTHER, SESSION, Open, Promise, counted, refusal
from eventlog.errors import WrongExpectedVersion
from eventlog.event import Event, SessionId, parse, seq_of
from eventlog.store import Log


async def _stored(log: Log, session_id: SessionId = SESSION) -> list[Any]:
    page = await log.read(session_id, by_reference=True)
    return [codec.loads(text) for text in page.lines]


def _ref(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


async def a_large_string_is_kept_by_reference(open_log: Open) -> None:
    """A string over 64 KiB is stored as what it is: hash, size, ends; read, it is there (P-34).

    The limit counts bytes. What is not larger stays in the line.
    """
    fits, large = "é" * (LONGEST // 2), "é" * (LONGEST // 2) + "x"
    event = Event.of("x", {"a": [fits, {"b": large}]}, members={"turn": large}, origin="e:1")
    async with open_log() as log:
        await log.append(SESSION, [*counted(1), event, *counted(1)], at=[1, 2, 3])
    async with open_log() as log:
        stored = (await _stored(log))[1]
        assert stored["payload"]["a"][0] == fits
        reference = stored["payload"]["a"][1]["b"]
        assert (reference["$blob"], reference["size"]) == (_ref(large), LONGEST + 1)
        assert large.startswith(reference["head"])
        assert large.endswith(reference["tail"])
        assert stored["turn"] == reference
        text = (await log.read(SESSION, after=1, limit=1)).body
        assert text == b'{"seq":2,"ts":2,"type":"x","payload":%b%b}' % (event.payload, event.rest)


async def a_large_event_is_made_smaller(open_log: Open) -> None:
    """An event over 256 KiB loses its longest strings first, and then its payload (P-34)."""
    strings = {str(n): chr(97 + n) * (20_000 + 5_000 * n) for n in range(9)}
    numbers = {"n": list(range(100_000)), "large": "x" * 70_000}
    halves = {"half": "\ud83d" + "y" * 300_000}
    payloads = (strings, numbers, halves)
    async with open_log() as log:
        await log.append(SESSION, [Event.of("x", payload) for payload in payloads])
        found = await _stored(log)
        assert all(len(codec.dumps(line)) <= LARGEST for line in found)
        kept = [key for key, item in found[0]["payload"].items() if isinstance(item, str)]
        assert kept == [str(n) for n in range(len(kept))]
        assert 0 < len(kept) < 9
        assert [next(iter(line["payload"])) for line in found[1:]] == ["$blob", "$blob"]

        page = await log.read(SESSION)
        assert [envelope["payload"] for envelope in page.envelopes()] == list(payloads)


async def a_string_that_looks_like_a_reference_is_none(open_log: Open) -> None:
    """A payload's own `$blob` is doubled, beside real references as well (P-34)."""
    forged = {"$blob": _ref("secret"), "size": 1, "text": "z" * 300_000}
    async with open_log() as log:
        await log.append(SESSION, [Event.of("x", {"text": "secret" * 20_000})])
        await log.append(OTHER, [Event.of("x", {"forged": forged})])
        (line,) = await _stored(log, OTHER)
        assert line["payload"]["forged"]["$$blob"] == _ref("secret")
        assert list(refs(line)) == [_ref("z" * 300_000)]
        (text,) = (await log.read(OTHER)).lines
        assert parse(text)["payload"] == {"forged": forged}


async def a_large_string_is_read_in_pieces(open_log: Open) -> None:
    """Any part of it can be had, by those who read a session that refers to it and no other."""
    large = "0123456789" * 10_000
    ref = _ref(large)
    async with open_log() as log:
        await log.append(SESSION, [Event.of("x", {"text": large})])
        await log.append(OTHER, counted(1))
        for offset, length in ((0, None), (0, 7), (99_995, 100), (12_345, 0), (200_000, 5)):
            piece = await log.read_blob(SESSION, ref, offset=offset, length=length)
            assert piece is not None
            end = None if length is None else offset + length
            assert piece == (100_000, large[offset:end].encode())
        for session, name in ((OTHER, ref), (SESSION, _ref("other")), (SESSION, "sha256:x")):
            assert await log.read_blob(session, name) is None
        assert await log.read_blob(SessionId("unknown"), ref) is None


async def equal_strings_are_kept_once(open_log: Open) -> None:
    """The same string in many events and sessions goes when the last of them goes."""
    large = "same" * 30_000
    ref = _ref(large)
    async with open_log() as log:
        for key in (SESSION, OTHER, SESSION):
            await log.append(key, [Event.of("x", {"text": large})])
        assert await log.delete(SESSION)
        assert await log.read_blob(SESSION, ref) is None
        assert await log.read_blob(OTHER, ref) is not None
        await log.delete(OTHER)
        await log.append(SESSION, [Event.of("x", {"text": "short"})])
        assert await log.read_blob(SESSION, ref) is None


async def a_refused_append_leaves_no_string(open_log: Open) -> None:
    """Strings, references and events are one transaction: all of them, or none (P-34)."""
    large = "lost" * 30_000
    async with open_log() as log:
        event = Event.of("x", {"text": large})
        await refusal(WrongExpectedVersion, log.append(SESSION, [event], expected=4))
        assert await log.read_blob(SESSION, _ref(large)) is None


async def pages_stay_within_their_limit(open_log: Open) -> None:
    """What is put back counts: a page of large strings holds few events, and at least one."""
    events = [Event.of("x", {"text": str(n) * 100_000}) for n in range(6)]
    async with open_log() as log:
        await log.append(SESSION, events)
        assert len((await log.read(SESSION, limit_bytes=60_000, by_reference=True)).lines) == 6
        cursor, sizes = 0, []
        while (page := await log.read(SESSION, after=cursor, limit_bytes=250_000)).body:
            assert [seq_of(text) for text in page.lines] == list(range(cursor + 1, page.next + 1))
            sizes.append(len(page.lines))
            cursor = page.next
        assert sizes == [2, 2, 2]


async def very_large_strings_come_back(open_log: Open) -> None:
    """A base64 image of 12 MB, and 50 MB of text, are what they were, after a restart too (R036).

    So are names in any script beside them.
    """
    image = {"cwd": "D:\\丽爱说", "image": "iVBORw0KGgo" * 1_100_000}
    text = {"text": "ä" * 25_000_000}
    async with open_log() as log:
        await log.append(SESSION, [Event.of("image", image)])
        await log.append(SESSION, [Event.of("text", text), *counted(1)])
    async with open_log() as log:
        page = await log.read(SESSION, by_reference=True)
        assert len(page.body) < 20_000
        for after, expected in ((0, image), (1, text)):
            (envelope,) = (await log.read(SESSION, after=after, limit=1)).envelopes()
            assert envelope["payload"] == expected


PROMISES: tuple[Promise, ...] = (
    a_large_string_is_kept_by_reference,
    a_large_event_is_made_smaller,
    a_string_that_looks_like_a_reference_is_none,
    a_large_string_is_read_in_pieces,
    equal_strings_are_kept_once,
    a_refused_append_leaves_no_string,
    pages_stay_within_their_limit,
    very_large_strings_come_back,
)
