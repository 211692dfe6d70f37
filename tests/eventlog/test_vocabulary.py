"""The vocabulary: what recorders write is in it, and it says what they write."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from eventlog import Event, MemoryStore, SessionId, codec, read_capture
from eventlog.vocabulary import HERMES, VOCABULARY
from tests.eventlog.accounting import CAPTURES

FILES = sorted(CAPTURES.glob("*/*.jsonl"))


@pytest.fixture(scope="module")
def recorded() -> list[Event]:
    """Every event that the captures give."""
    sessions = [session for path in FILES for session in read_capture(path.read_bytes())]
    return [event for session in sessions for event in session.events]


def test_recorders_write_only_types_of_the_vocabulary_and_of_hermes(recorded: list[Event]) -> None:
    """Nothing is written under a name that no document explains."""
    types = {event.type for event in recorded}
    assert types <= VOCABULARY.keys() | HERMES.keys()


def test_payloads_have_the_members_that_the_vocabulary_names(recorded: list[Event]) -> None:
    """All that the models require, of the types they say."""
    for event in recorded:
        if model := VOCABULARY.get(event.type):
            model.model_validate(codec.loads(event.payload))


def test_our_payloads_hold_nothing_that_the_vocabulary_does_not_name(
    recorded: list[Event],
) -> None:
    """But for what a note of a sender, or a foreign `_meta`, may add."""
    for event in recorded:
        if model := VOCABULARY.get(event.type):
            names = {field.alias or name for name, field in model.model_fields.items()}
            told = set(codec.loads(event.payload)) - {"import", "_meta"}
            assert told <= names, event


@pytest.mark.parametrize("type_", ["prompt.finished", "acp.result", "request.answered"])
def test_an_end_has_a_result_or_an_error_and_not_both(type_: str) -> None:
    """What ends, ends one way."""
    payload = {"id": "1", "by": "client", "method": "m", "prompt": 1, "result": 1, "error": 2}
    with pytest.raises(ValidationError, match="not both"):
        VOCABULARY[type_].model_validate(payload)


def test_the_two_vocabularies_meet_only_where_a_name_is_shared() -> None:
    """`request.cancel` is Hermes's own name for what ours means."""
    assert VOCABULARY.keys() & HERMES.keys() == {"request.cancel"}


@pytest.mark.anyio
async def test_a_type_that_nobody_knows_passes_whole() -> None:
    """Design §1, rule 5: kept verbatim, never refused."""
    log = MemoryStore()
    await log.append(SessionId("s"), [Event.of("future.thing", {"deep": [None, {"a": 1}]})])
    (envelope,) = (await log.read(SessionId("s"))).envelopes()
    assert envelope["type"] == "future.thing"
    assert envelope["payload"] == {"deep": [None, {"a": 1}]}
