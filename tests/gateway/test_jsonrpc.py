"""Frames in, frames out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog import codec
from gateway.errors import BadFrame, Code, RpcError
from gateway.jsonrpc import Failure, Frame, Notification, Raw, Reply, Request, dump, parse

ids = st.integers() | st.text(st.characters(codec="utf-8"), max_size=20)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(names, values, max_size=4)
frames: st.SearchStrategy[Frame] = (
    st.builds(Request, ids, names, objects)
    | st.builds(Notification, names, objects)
    | st.builds(Reply, ids, values)
)


@given(frames)
def test_a_frame_survives_the_line(frame: Frame) -> None:
    """What is written is read as the same, on one line, big integers and surrogates included."""
    text = dump(frame)
    assert b"\n" not in text
    assert parse(text) == frame


def test_members_stand_in_the_order_of_the_specification() -> None:
    """A person who reads a recording finds who, what and with what in this order."""
    assert dump(Request("r1", "m", {"a": 1})) == (
        b'{"jsonrpc":"2.0","id":"r1","method":"m","params":{"a":1}}'
    )
    assert dump(Notification("m")) == b'{"jsonrpc":"2.0","method":"m","params":{}}'
    assert dump(Reply(1, None)) == b'{"jsonrpc":"2.0","id":1,"result":null}'
    assert dump(Failure(None, RpcError(Code.PARSE_ERROR, "no"))) == (
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}'
    )


def test_an_error_keeps_its_data() -> None:
    """What a client can act on arrives with the refusal."""
    answer = parse(dump(Failure(1, RpcError(4007, "not found", {"session_id": "s"}))))
    assert isinstance(answer, Failure)
    assert (answer.error.code, answer.error.data) == (4007, {"session_id": "s"})


@pytest.mark.parametrize("id_", ["1", 0, -7, "", 2**70, "ä\n"])
def test_an_id_is_echoed_exactly(id_: int | str) -> None:
    """Ids are strings or integers of any size; 1 and "1" are two of them (P-2)."""
    asked = parse(codec.dumps({"jsonrpc": "2.0", "id": id_, "method": "m"}))
    assert isinstance(asked, Request)
    assert type(asked.id) is type(id_)
    assert codec.loads(dump(Reply(asked.id, 1)))["id"] == id_


REFUSED = {
    "not JSON": (b"{not json", Code.PARSE_ERROR, None),
    "an empty text": (b"", Code.PARSE_ERROR, None),
    "NaN": (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":NaN}}', Code.PARSE_ERROR, None),
    "1e400": (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":1e400}}', -32700, None),
    "not UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', Code.PARSE_ERROR, None),
    "cut off": (b'{"jsonrpc":"2.0","id":1,"method":"m"', Code.PARSE_ERROR, None),
    "two on a line": (b'{"jsonrpc":"2.0","method":"m"}{}', Code.PARSE_ERROR, None),
    "too deep": (
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":' + b"[" * 63 + b"]" * 63 + b"}}",
        Code.PARSE_ERROR,
        None,
    ),
    "a batch": (b'[{"jsonrpc":"2.0","id":1,"method":"m"}]', Code.INVALID_REQUEST, None),
    "an empty batch": (b"[]", Code.INVALID_REQUEST, None),
    "a string": (b'"m"', Code.INVALID_REQUEST, None),
    "a number": (b"1", Code.INVALID_REQUEST, None),
    "null": (b"null", Code.INVALID_REQUEST, None),
    "an empty object": (b"{}", Code.INVALID_REQUEST, None),
    "no method": (b'{"jsonrpc":"2.0","id":"x1"}', Code.INVALID_REQUEST, "x1"),
    "an empty method": (b'{"jsonrpc":"2.0","id":2,"method":""}', Code.INVALID_REQUEST, 2),
    "a method that is a number": (b'{"jsonrpc":"2.0","id":2,"method":3}', -32600, 2),
    "no version": (b'{"id":2,"method":"m"}', Code.INVALID_REQUEST, 2),
    "another version": (b'{"jsonrpc":"1.0","id":2,"method":"m"}', Code.INVALID_REQUEST, 2),
    "a boolean id": (b'{"jsonrpc":"2.0","id":true,"method":"m"}', Code.INVALID_REQUEST, None),
    "a float id": (b'{"jsonrpc":"2.0","id":1.0,"method":"m"}', Code.INVALID_REQUEST, None),
    "a null id": (b'{"jsonrpc":"2.0","id":null,"method":"m"}', Code.INVALID_REQUEST, None),
    "an object id": (b'{"jsonrpc":"2.0","id":{},"method":"m"}', Code.INVALID_REQUEST, None),
    "an answer without an id": (b'{"jsonrpc":"2.0","result":1}', Code.INVALID_REQUEST, None),
    "params in a list": (b'{"jsonrpc":"2.0","id":2,"method":"m","params":[1]}', -32602, 2),
    "params in a string": (b'{"jsonrpc":"2.0","id":2,"method":"m","params":"x"}', -32602, 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_nonsense_has_its_code_and_goes_back_to_its_caller(name: str) -> None:
    """Each kind of bad frame has one code, and the caller's id if one can be seen (P-2, P-3)."""
    text, code, id_ = REFUSED[name]
    with pytest.raises(BadFrame) as refused:
        parse(text)
    assert (refused.value.code, refused.value.id) == (code, id_)


def test_params_may_be_left_out() -> None:
    """No params, null and an empty object are the same."""
    for params in (b"", b',"params":null', b',"params":{}'):
        assert parse(b'{"jsonrpc":"2.0","method":"m"%b}' % params) == Notification("m", {})


def test_sixty_four_levels_are_allowed() -> None:
    """The limit is 64 levels, the frame's own object the first of them (P-3)."""
    text = b'{"jsonrpc":"2.0","method":"m","params":{"x":' + b"[" * 62 + b"]" * 62 + b"}}"
    assert isinstance(parse(text), Notification)


@pytest.mark.parametrize("error", [1, "no", [], {}, {"message": "no"}, {"code": "x"}])
def test_a_misshapen_refusal_still_ends_its_request(error: object) -> None:
    """Whoever asked learns that the answer was no, however badly that was said."""
    answer = parse(codec.dumps({"jsonrpc": "2.0", "id": 3, "error": error}))
    assert isinstance(answer, Failure)
    assert answer.id == 3


def test_an_answer_with_a_null_error_is_an_answer() -> None:
    """JSON-RPC 1.0 peers write both members; the one that is not null counts."""
    assert parse(b'{"id":1,"result":2,"error":null}') == Reply(1, 2)
    assert isinstance(parse(b'{"id":1,"result":null,"error":{"code":1,"message":""}}'), Failure)


def test_history_is_spliced_not_printed_again() -> None:
    """The bytes of the log are the bytes on the wire, spaces and all (P-11)."""
    stored = b'{"seq":1, "x":1.50}'
    assert dump(Notification("event", Raw(stored))).endswith(b'"params":' + stored + b"}")
    page = Raw.object({"events": Raw.array([stored, stored]), "count": 2})
    assert dump(Reply(1, page)) == (
        b'{"jsonrpc":"2.0","id":1,"result":{"events":[%b,%b],"count":2}}' % (stored, stored)
    )
