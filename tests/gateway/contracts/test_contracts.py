"""The wire's shapes: strict where they must be, and complete both ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.contracts import CONTRACTS, NOTIFICATIONS, SERVER_REQUESTS, read_params
from gateway.errors import Code, RpcError
from gateway.methods import METHODS

HERMES = json.loads((Path(__file__).parent / "hermes.json").read_text(encoding="utf-8"))
SAMPLES: dict[str, Any] = {
    "string": "x",
    "integer": 1,
    "boolean": True,
    "null": None,
    "any": {"x": 1},
}
WRONG: dict[str, Any] = {"string": 7, "integer": "7", "boolean": "true", "array": "x"}
BARE: dict[str, dict[str, Any]] = {
    name: {key: "s" for key, field in contract.params.model_fields.items() if field.is_required()}
    for name, contract in CONTRACTS.items()
}
"""The least that each method is called with."""

OF_SESSION = [name for name in CONTRACTS if "session_id" in BARE[name]]


def _refusal(method: str, params: dict[str, Any]) -> tuple[int, str]:
    with pytest.raises(RpcError) as refused:
        read_params(method, params)
    return refused.value.code, refused.value.data["path"]


def test_every_method_has_a_contract_and_every_contract_a_method() -> None:
    """Nothing is served that is not described, and nothing is described that is not served."""
    assert set(METHODS) == set(CONTRACTS)


def test_every_contract_says_what_it_does() -> None:
    """The first line of a model's docstring is its description on the wire."""
    for contract in [*CONTRACTS.values(), *SERVER_REQUESTS.values(), *NOTIFICATIONS.values()]:
        assert contract.params.__doc__
    for contract in [*CONTRACTS.values(), *SERVER_REQUESTS.values()]:
        assert contract.result


def test_every_question_of_hermes_may_be_asked() -> None:
    """What a wrapped gateway asks is known here, and so are an ACP agent's own questions."""
    acp = {"session/request_permission", "elicitation/create"}
    assert set(SERVER_REQUESTS) == set(HERMES["questions"]) | acp


@pytest.mark.parametrize("method", CONTRACTS)
def test_a_key_that_nobody_knows_is_4000(method: str) -> None:
    """The path says which (P-2)."""
    assert _refusal(method, {**BARE[method], "colz": 3}) == (Code.UNKNOWN_KEY, "colz")


def test_an_unknown_key_is_told_before_a_wrong_value() -> None:
    """A client of another version learns that first, as from Hermes."""
    wrong = {"session_id": 7, "last_seen": "x", "bogus": 1}
    assert _refusal("session.events.since", wrong) == (4000, "bogus")


def test_a_method_that_nobody_knows_is_refused() -> None:
    """It has no contract to be read by."""
    with pytest.raises(RpcError, match=r"no\.such\.method") as refused:
        read_params("no.such.method", {})
    assert refused.value.code == Code.METHOD_NOT_FOUND


@pytest.mark.parametrize("method", HERMES["methods"])
def test_every_key_that_hermes_knows_is_taken(method: str) -> None:
    """Its clients are understood, whether a key means anything here or not (P-2)."""
    for key, kinds in HERMES["methods"][method]["keys"].items():
        for kind in kinds:
            if (
                key != "session_id"
                and kind in SAMPLES
                and (method, key) != ("prompt.submit", "text")
            ):
                read_params(method, {**BARE[method], key: SAMPLES[kind]})


@pytest.mark.parametrize("method", HERMES["methods"])
def test_a_wrong_type_is_told_with_its_path(method: str) -> None:
    """Nothing is converted, so nothing is guessed (P-2)."""
    for key, kinds in HERMES["methods"][method]["keys"].items():
        wrong = next((WRONG[kind] for kind in kinds if kind in WRONG), None)
        if wrong is not None:
            assert _refusal(method, {**BARE[method], key: wrong}) == (Code.INVALID_PARAMS, key)


@pytest.mark.parametrize("method", OF_SESSION)
def test_a_missing_session_is_told(method: str) -> None:
    """A method of a session needs one."""
    assert _refusal(method, {}) == (Code.INVALID_PARAMS, "session_id")


@pytest.mark.parametrize("last_seen", ["x", -1, 1.5, 1.0, True, 10**30, "0", [], {}])
@pytest.mark.parametrize("method", ["session.events.since", "session.events.subscribe"])
def test_a_cursor_is_a_number_from_zero(method: str, last_seen: object) -> None:
    """Anything else is refused, not read as something near (P-14, R011)."""
    params = {"session_id": "s", "last_seen": last_seen}
    assert _refusal(method, params) == (Code.INVALID_PARAMS, "last_seen")


@pytest.mark.parametrize("params", [{}, {"last_seen": None}, {"last_seen": 0}])
def test_no_cursor_is_the_start(params: dict[str, Any]) -> None:
    """Absent and null are 0 (P-14)."""
    read = read_params("session.events.since", {"session_id": "s", **params})
    assert (read.last_seen or 0) == 0


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "../x",
        "/etc/passwd",
        "..\\x",
        "a/b",
        "x" * 129,
        "%2e%2e",
        "a\x00",
        "id\n",
        "ıd",
        "-",
    ],
)
@pytest.mark.parametrize("method", OF_SESSION)
def test_what_is_no_session_id_is_refused_unseen(method: str, name: str) -> None:
    """Neither a file nor a query is touched by it (P-25, R141)."""
    assert _refusal(method, {**BARE[method], "session_id": name}) == (
        Code.INVALID_PARAMS,
        "session_id",
    )


@pytest.mark.parametrize("wrong", [-1, 1.5, "5", True])
@pytest.mark.parametrize("key", ["limit", "limit_bytes"])
def test_a_limit_is_a_number(key: str, wrong: object) -> None:
    """Of events from 0, which only asks where the head is; of bytes from 1 (P-15)."""
    params = {"session_id": "s", key: wrong}
    assert _refusal("session.events.since", params) == (Code.INVALID_PARAMS, key)


def test_a_page_of_no_bytes_is_refused() -> None:
    """It would hold no event, and so would the next (P-15)."""
    params = {"session_id": "s", "limit_bytes": 0}
    assert _refusal("session.events.since", params) == (Code.INVALID_PARAMS, "limit_bytes")
    assert read_params("session.events.since", {"session_id": "s", "limit": 0}).limit == 0


@pytest.mark.parametrize(
    ("content", "path"), [("x", "content"), ([1], "content.0"), ([{"text": "x"}], "content.0")]
)
def test_content_is_a_list_of_blocks(content: object, path: str) -> None:
    """Blocks are open, but each has a type."""
    params = {"session_id": "s", "content": content}
    assert _refusal("prompt.submit", params) == (Code.INVALID_PARAMS, path)
    block = {"type": "from_the_future", "x": [1, None]}
    kept = read_params("prompt.submit", {"session_id": "s", "content": [block]})
    assert kept.content == [block]


@pytest.mark.parametrize("ref", ["", "x" * 65, "ä", "a\n"])
def test_a_reference_is_short_and_printable(ref: str) -> None:
    """1 to 64 printable ASCII characters, as in Hermes (P-24)."""
    params = {"session_id": "s", "text": "x", "submission_ref": ref}
    assert _refusal("prompt.submit", params) == (Code.INVALID_PARAMS, "submission_ref")


def test_a_refusal_does_not_repeat_what_was_said() -> None:
    """A token in the wrong place comes back in no error."""
    with pytest.raises(RpcError) as refused:
        read_params("gateway.authenticate", {"token": ["s3cret"]})
    assert "s3cret" not in f"{refused.value} {refused.value.data}"
