"""Large strings on the wire: by reference for those who fetch them, put back for all others."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from eventlog import Event, SessionId
from gateway.errors import RpcError
from tests.gateway.stage import RawClient, bare, staged

pytestmark = pytest.mark.anyio

SESSION = SessionId("s-1")
FRAME = 1 << 20


def ref_of(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


async def fetched(client: RawClient, ref: str, **how: Any) -> str:
    """Fetch a large string, piece by piece."""
    text, offset = "", 0
    while True:
        params = {"session_id": SESSION, "ref": ref, "offset": offset, **how}
        piece = await client.ask("session.blob", params)
        text += str(piece["text"])
        offset = piece["next"]
        if not piece["has_more"]:
            assert offset == piece["size"] == len(text.encode())
            return text


async def test_a_large_string_is_fetched_in_pieces() -> None:
    """P-34: a client with blobs gets a reference, and the string in pieces, whatever is in it."""
    texts = ["plain " * 200_000, "é丽\U0001f600" * 100_000, "\x1b\0" * 300_000]
    events = [Event.of("message.delta", {"text": text}) for text in texts]
    async with bare(*events) as stage, stage.near(blobs=True, acp_updates=True) as client:
        page = await client.ask("session.events.since", {"session_id": SESSION, "limit": 9})
        given = [event["payload"]["text"] for event in page["events"]]
        assert [item["$blob"] for item in given] == [ref_of(text) for text in texts]
        for text, item in zip(texts, given, strict=True):
            assert item["size"] == len(text.encode())
            assert await fetched(client, item["$blob"]) == text
            assert await fetched(client, item["$blob"], length=99_999) == text
        assert max(map(len, client.frames)) < FRAME


async def test_no_frame_is_larger_than_a_client_can_take() -> None:
    """P-3, R147: paged or live, no frame of events reaches 1 MiB, though there is much more to say."""
    image = "iVBORw0KGgo" * 500_000
    many: dict[str, Any] = {
        "rows": [f"{n} " * 2_000 for n in range(400)],
        "numbers": list(range(200_000)),
    }
    payloads: list[dict[str, Any]] = [
        {"image": image},
        many,
        *({"text": f"{n}" * 60_000} for n in range(40)),
    ]
    events = [Event.of("message.delta", payload) for payload in payloads]
    async with bare(*events) as stage, stage.near(blobs=True, acp_updates=True) as client:
        cursor, count = 0, 0
        while True:
            asked = {"session_id": SESSION, "last_seen": cursor, "limit_bytes": 1 << 30}
            page = await client.ask("session.events.since", asked)
            cursor, count = page["next"], count + page["count"]
            if not page["has_more"]:
                break
        assert count == len(payloads)

        await client.ask("session.events.subscribe", {"session_id": SESSION})
        await client.events(until=lambda params: params["seq"] == len(payloads))
        await stage.gateway.log.append(SESSION, [Event.of("message.delta", {"text": image})])
        (live,) = await client.events(until=lambda _: True)
        assert live["payload"]["text"]["$blob"] == ref_of(image)
        assert max(map(len, client.frames)) < FRAME


async def test_a_client_without_blobs_gets_everything() -> None:
    """P-34: who does not know references sees none: neither paged, nor live, nor from history."""
    text = "all of it " * 20_000
    event = Event.of("message.delta", {"text": text, "own": {"$blob": "mine"}})
    async with bare(event) as stage, stage.near(acp_updates=True) as client:
        page = await client.ask("session.events.since", {"session_id": SESSION})
        assert page["events"][0]["payload"] == {"text": text, "own": {"$blob": "mine"}}
        await client.ask("session.events.subscribe", {"session_id": SESSION})
        (history,) = await client.events(until=lambda _: True)
        await stage.gateway.log.append(SESSION, [event])
        (live,) = await client.events(until=lambda _: True)
        assert history["payload"] == live["payload"] == page["events"][0]["payload"]
        folded = await client.ask("session.transcript", {"session_id": SESSION})
        assert "$blob" not in json.dumps(folded["transcript"]["entries"]).replace('"mine"', "")


async def test_both_kinds_of_client_have_one_digest() -> None:
    """P-26: the transcript is folded over what was said, not over references."""
    text = "long " * 30_000
    async with bare(Event.of("message.delta", {"text": text})) as stage:
        digests = set()
        for blobs in (True, False):
            async with stage.near(blobs=blobs, acp_updates=True) as client:
                answer = await client.ask("session.transcript", {"session_id": SESSION})
                assert answer["transcript"]["entries"][0]["text"] == text
                digests.add(answer["digest"])
    assert len(digests) == 1


async def test_only_readers_of_a_session_get_its_strings() -> None:
    """P-34: a reference is good in a session whose events hold it, and nowhere else."""
    text = "secret " * 20_000
    other = SessionId("s-2")
    async with bare(Event.of("message.delta", {"text": text})) as stage, stage.near() as client:
        await stage.gateway.log.append(other, [Event.of("x", {"forged": {"$blob": ref_of(text)}})])
        for session, ref, offset, code in (
            (other, ref_of(text), 0, 4002),
            (SESSION, ref_of("unknown"), 0, 4002),
            (SESSION, ref_of(text), 10**9, 4002),
            (SESSION, "sha256:short", 0, -32602),
            (SESSION, "../../etc/passwd", 0, -32602),
            ("s-3", ref_of(text), 0, 4007),
        ):
            asked = {"session_id": session, "ref": ref, "offset": offset}
            with pytest.raises(RpcError) as error:
                await client.ask("session.blob", asked)
            assert error.value.code == code


async def test_a_piece_begins_at_a_character() -> None:
    """An offset inside a character is refused, not turned into another text."""
    text = "é" * 50_000
    async with bare(Event.of("x", {"text": text})) as stage, stage.near() as client:
        with pytest.raises(RpcError) as error:
            await client.ask(
                "session.blob", {"session_id": SESSION, "ref": ref_of(text), "offset": 3}
            )
    assert error.value.data == {"path": "offset"}


async def test_a_string_outlives_a_restart(tmp_path: Any) -> None:
    """R036: a large image and a folder in another script come back equal, over a real socket."""
    payload = {"image": "iVBORw0KGgo" * 300_000, "cwd": "D:\\丽爱说"}
    async with staged(tmp_path) as stage:
        await stage.gateway.log.append(SESSION, [Event.of("image", payload)])
    async with staged(tmp_path) as stage, stage.client() as client:
        page = await client.ask("session.events.since", {"session_id": SESSION})
        assert page["events"][0]["payload"] == payload
