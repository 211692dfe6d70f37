"""The ACP recorder, frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import GATEWAY, Seq, SessionId, codec
from eventlog.recorders import AcpRecorder, Note, Slot, Unrecorded
from tests.eventlog.recorders.conversation import Conversation, Json

A = "acp-a"
AGENT = {
    "protocolVersion": 1,
    "agentInfo": {"name": "echo", "version": "1.0"},
    "agentCapabilities": {"loadSession": True},
}
INITIALIZE: Json = {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


def conversation(
    *,
    has_history: Callable[[SessionId], bool] = lambda _: False,
    known: dict[str, SessionId] | None = None,
) -> Conversation:
    """Return a conversation whose sessions are called s-1, s-2, … and requests srq-…1, …2."""
    sessions, requests = count(1), count(1)
    recorder = AcpRecorder(
        lambda _, __: SessionId(f"s-{next(sessions)}"),
        lambda: f"srq-{next(requests):012x}",
        {"kind": "hosted", "name": "echo"},
        has_history=has_history,
        known=known,
    )
    return Conversation(recorder)


def initialized(**options: Any) -> Conversation:
    """Return a conversation with an agent that has introduced itself."""
    talk = conversation(**options)
    talk.send(INITIALIZE)
    talk.receive({"id": 0, "result": AGENT})
    return talk


def opened(**options: Any) -> Conversation:
    """Return a conversation with one session, `acp-a`, which is `s-1`."""
    talk = initialized(**options)
    talk.send({"id": 1, "method": "session/new", "params": {"cwd": "/p", "mcpServers": []}})
    talk.receive({"id": 1, "result": {"sessionId": A}})
    return talk


def prompt(id_: int, text: str, session: str = A) -> Json:
    """Return a prompt."""
    content = [{"type": "text", "text": text}]
    return {
        "id": id_,
        "method": "session/prompt",
        "params": {"sessionId": session, "prompt": content},
    }


def update(kind: str, session: str = A, **members: Any) -> Json:
    """Return a session update."""
    return {
        "method": "session/update",
        "params": {"sessionId": session, "update": {"sessionUpdate": kind, **members}},
    }


def chunk(text: str, session: str = A) -> Json:
    """Return a piece of the agent's message."""
    return update("agent_message_chunk", session, content={"type": "text", "text": text})


def permission(id_: int | str = 7) -> Json:
    """Return an agent's question for permission."""
    params = {"sessionId": A, "toolCall": {"toolCallId": "t"}, "options": []}
    return {"id": id_, "method": "session/request_permission", "params": params}


ALLOW: Json = {"outcome": {"outcome": "selected", "optionId": "yes"}}


# Opening.


def test_the_answer_that_names_a_session_opens_it_with_what_the_agent_told_of_itself() -> None:
    """`session.opened` and `session.alias` stand first, with agent, protocol, modes and cwd."""
    talk = initialized()
    talk.send({"id": 1, "method": "session/new", "params": {"cwd": "/p", "mcpServers": []}})
    assert talk.unrecorded is Unrecorded.OPENING
    modes = {"currentModeId": "plan", "availableModes": []}
    result = {"sessionId": A, "modes": modes, "configOptions": [], "_meta": {"x": 1}}
    assert talk.receive({"id": 1, "result": result}) == [
        (
            "session.opened",
            {
                "source": {"kind": "hosted", "name": "echo"},
                "agent": {"name": "echo", "version": "1.0"},
                "protocol": 1,
                "capabilities": {"loadSession": True},
                "cwd": "/p",
                "method": "session/new",
                "modes": modes,
                "config_options": [],
                "result": {"_meta": {"x": 1}},
            },
        ),
        ("session.alias", {"scope": "acp:echo", "id": A}),
    ]


def test_a_refused_session_new_is_kept_with_the_gateway() -> None:
    """What belongs to no session goes to `@gateway`: the call and why it failed."""
    talk = initialized()
    talk.send({"id": 1, "method": "session/new", "params": {"cwd": "/p"}})
    error = {"code": -32000, "message": "Authentication required"}
    assert [type_ for type_, _ in talk.receive({"id": 1, "error": error})] == [
        "acp.call",
        "acp.result",
    ]
    assert talk.payloads(GATEWAY, "acp.result")[0]["error"] == error


def test_updates_before_the_answer_are_held_and_recorded_in_arrival_order() -> None:
    """P-36: they stand behind `session.opened`, in the order in which they came."""
    talk = initialized()
    talk.send({"id": 1, "method": "session/new", "params": {"cwd": "/p"}})
    for text in "abc":
        talk.receive(chunk(text))
        assert talk.unrecorded is Unrecorded.HELD
    talk.receive({"id": 1, "result": {"sessionId": A}})
    assert talk.types("s-1")[:2] == ["session.opened", "session.alias"]
    held = talk.payloads("s-1", "acp.session_update")
    assert [item["update"]["content"]["text"] for item in held] == ["a", "b", "c"]


def test_what_is_held_for_a_session_that_never_comes_to_be_goes_to_the_gateway() -> None:
    """Nothing stays held: with its id, as a notification, once no answer can name it."""
    talk = initialized()
    talk.send({"id": 1, "method": "session/new", "params": {"cwd": "/p"}})
    talk.receive(chunk("lost", "other"))
    talk.receive({"id": 1, "result": {"sessionId": A}})
    assert [told["params"]["sessionId"] for told in talk.payloads(GATEWAY, "acp.notification")] == [
        "other"
    ]


def test_more_than_can_be_held_is_kept_with_the_gateway_and_the_session_says_so() -> None:
    """No silent limit: over 4 MiB the updates stand in `@gateway`, and a `log.gap` counts them."""
    talk = initialized()
    talk.send({"id": 1, "method": "session/new", "params": {"cwd": "/p"}})
    for _ in range(5):
        talk.receive(chunk("x" * 1024 * 1024))
    talk.receive({"id": 1, "result": {"sessionId": A}})
    assert talk.types("s-1") == [
        "session.opened",
        "session.alias",
        "log.gap",
        "acp.session_update",
    ]
    assert talk.payloads("s-1", "log.gap")[0]["lost"] == 4
    assert len(talk.payloads(GATEWAY, "acp.notification")) == 4


def test_a_long_replay_finds_its_place_before_the_answer() -> None:
    """A load names its session in the call, so a history over 4 MiB is not lost to it."""
    talk = initialized()
    talk.send({"id": 1, "method": "session/load", "params": {"sessionId": A, "cwd": "/p"}})
    for number in range(9):
        talk.receive(chunk(f"{number}" * 1024 * 1024))
    talk.receive({"id": 1, "result": None})
    texts = [
        item["update"]["content"]["text"][0] for item in talk.payloads("s-1", "acp.session_update")
    ]
    assert texts == list("012345678")
    assert talk.log[GATEWAY] == []


# Prompts.


def test_a_prompt_and_its_end_are_recorded_and_refer_to_each_other() -> None:
    """P-35: the user's words exist in no update; the end names the prompt's seq."""
    talk = opened()
    assert talk.send(prompt(2, "hi"), Note({"ref": "r1"})) == [
        ("prompt.submitted", {"content": [{"type": "text", "text": "hi"}], "ref": "r1"})
    ]
    assert talk.receive({"id": 2, "result": {"stopReason": "end_turn"}}) == [
        ("prompt.finished", {"prompt": 3, "result": {"stopReason": "end_turn"}})
    ]


def test_a_prompt_behind_another_is_queued_and_starts_when_that_one_ends() -> None:
    """`queued`, then `prompt.started` with its seq, in the same breath as the end before it."""
    talk = opened()
    talk.send(prompt(2, "one"))
    assert talk.send(prompt(3, "two"))[0][1]["queued"] is True
    assert talk.receive({"id": 2, "result": {"stopReason": "end_turn"}}) == [
        ("prompt.finished", {"prompt": 3, "result": {"stopReason": "end_turn"}}),
        ("prompt.started", {"prompt": 4}),
    ]
    assert talk.receive({"id": 3, "error": {"code": 1, "message": "x"}}) == [
        ("prompt.finished", {"prompt": 4, "error": {"code": 1, "message": "x"}})
    ]


def test_a_prompt_that_its_sender_has_recorded_is_not_recorded_again() -> None:
    """A gateway acknowledges prompts before the agent has them; if one waited, its turn starts."""
    talk = opened()
    assert talk.send(prompt(2, "hi"), Note(prompt=Slot(Seq(17)))) == []
    assert talk.unrecorded is Unrecorded.RECORDED
    assert talk.receive({"id": 2, "result": {}})[0][1]["prompt"] == 17
    waited = Note(prompt=Slot(Seq(18)), waited=True)
    assert talk.send(prompt(3, "on"), waited) == [("prompt.started", {"prompt": 18})]
    assert talk.receive({"id": 3, "result": {}})[0][1]["prompt"] == 18


def test_a_prompt_to_an_id_that_no_answer_names_is_kept_with_the_gateway() -> None:
    """With its error, and without touching any session."""
    talk = opened()
    before = len(talk.log[SessionId("s-1")])
    talk.send(prompt(2, "hi", "nobody"))
    talk.receive({"id": 2, "error": {"code": -32602, "message": "no session"}})
    assert talk.types(GATEWAY) == ["acp.call", "acp.result"]
    assert len(talk.log[SessionId("s-1")]) == before


def test_a_cancel_is_recorded_with_who_cancelled() -> None:
    """`turn.interrupted`, with no reason, as none was given; what still comes is taken (P-37)."""
    talk = opened()
    talk.send(prompt(2, "hi"))
    cancel: Json = {"method": "session/cancel", "params": {"sessionId": A}}
    assert talk.send(cancel, Note({"by": "desktop"})) == [("turn.interrupted", {"by": "desktop"})]
    assert talk.receive(chunk("late"))[0][0] == "acp.session_update"


# Questions and other calls.


def test_a_question_gets_an_id_of_ours_and_ends_once() -> None:
    """P-27: opened, answered; a second answer is late and changes nothing (P-28)."""
    talk = opened()
    assert talk.receive(permission()) == [
        (
            "request.opened",
            {
                "id": "srq-000000000001",
                "method": "session/request_permission",
                "params": permission()["params"],
            },
        )
    ]
    recorder = talk.recorder
    assert isinstance(recorder, AcpRecorder)
    assert recorder.open_requests == {7: "srq-000000000001"}
    assert talk.send({"id": 7, "result": ALLOW}, Note({"by": "tui"})) == [
        (
            "request.answered",
            {
                "id": "srq-000000000001",
                "method": "session/request_permission",
                "result": ALLOW,
                "by": "tui",
            },
        )
    ]
    assert recorder.open_requests == {}
    assert talk.send({"id": 7, "result": ALLOW}) == [
        ("request.late", {"id": "srq-000000000001", "value": ALLOW})
    ]


def test_an_answer_that_withdraws_a_question_is_a_cancel() -> None:
    """P-37: the client's note says why."""
    talk = opened()
    talk.receive(permission())
    answer: Json = {"id": 7, "result": {"outcome": {"outcome": "cancelled"}}}
    assert talk.send(answer, Note(cancelled="interrupted")) == [
        (
            "request.cancel",
            {
                "id": "srq-000000000001",
                "method": "session/request_permission",
                "reason": "interrupted",
            },
        )
    ]


def test_an_answer_to_an_unknown_id_is_late_and_its_value_is_not_kept() -> None:
    """P-28: the value only if the request is known."""
    talk = opened()
    assert talk.send({"id": 99, "result": {"value": "hunter2"}}) == [("request.late", {"id": 99})]


def test_ids_of_the_two_directions_are_independent() -> None:
    """The same id, asked by both ends and once as a string, are three calls."""
    talk = opened()
    talk.send(prompt(7, "hi"))
    talk.receive(permission(7))
    talk.receive(permission("7"))
    assert talk.send({"id": "7", "result": ALLOW})[0][1]["id"] == "srq-000000000002"
    assert talk.receive({"id": 7, "result": {"stopReason": "end_turn"}})[0][0] == "prompt.finished"
    assert talk.send({"id": 7, "result": ALLOW})[0][1]["id"] == "srq-000000000001"


def test_every_other_call_is_kept_with_its_answer_in_both_directions() -> None:
    """P-35: `acp.call` and `acp.result`, paired by id and who asked."""
    talk = opened()
    read = {"sessionId": A, "path": "/p/x"}
    assert talk.receive({"id": 0, "method": "fs/read_text_file", "params": read}) == [
        ("acp.call", {"id": 0, "by": "agent", "method": "fs/read_text_file", "params": read})
    ]
    assert talk.send({"id": 0, "result": {"content": "x"}}) == [
        (
            "acp.result",
            {"id": 0, "by": "agent", "method": "fs/read_text_file", "result": {"content": "x"}},
        )
    ]
    mode = {"sessionId": A, "modeId": "plan"}
    talk.send({"id": 0, "method": "session/set_mode", "params": mode})
    assert talk.receive({"id": 0, "error": {"code": 5, "message": "no"}})[0][1]["by"] == "client"
    assert set(talk.types("s-1")[2:]) == {"acp.call", "acp.result"}


def test_extensions_and_unknown_updates_pass_whole() -> None:
    """What is not understood is kept verbatim, `_meta` and foreign members included."""
    talk = opened()
    frame = update("brand_new", deep={"a": [1, None]})
    frame["params"]["_meta"] = {"m": 1}
    assert talk.receive(frame) == [
        (
            "acp.session_update",
            {
                "update": {"sessionUpdate": "brand_new", "deep": {"a": [1, None]}},
                "_meta": {"m": 1},
            },
        )
    ]
    told = {"method": "_vendor/thing", "params": {"sessionId": A, "n": 1}}
    assert talk.receive(told)[0][0] == "acp.notification"
    assert talk.types("s-1")[-1] == "acp.notification"


# Replays.


def loaded(talk: Conversation, id_: int, *texts: str, answer_first: bool = False) -> None:
    """Let a client load session A, and the agent replay *texts* and a state update."""
    talk.send({"id": id_, "method": "session/load", "params": {"sessionId": A, "cwd": "/p"}})
    answer: Json = {"id": id_, "result": None}
    if answer_first:
        talk.receive(answer)
    for text in texts:
        talk.receive(chunk(text))
    talk.receive(update("current_mode_update", currentModeId="plan"))
    if not answer_first:
        talk.receive(answer)


@pytest.mark.parametrize("answer_first", [False, True])
def test_a_replay_is_recorded_where_the_log_knows_nothing_of_the_session(
    *, answer_first: bool
) -> None:
    """Marked from the call to the next prompt, wherever the answer stands (gemini's is first)."""
    talk = initialized()
    loaded(talk, 1, "a", "b", answer_first=answer_first)
    talk.send(prompt(2, "go on"))
    types = talk.types("s-1")
    assert types.count("acp.session_update") == 3
    assert types.index("acp.replay") < types.index("acp.session_update")
    assert types[-2:] == ["acp.replay", "prompt.submitted"]
    assert [item["state"] for item in talk.payloads("s-1", "acp.replay")] == [
        "started",
        "finished",
    ]


@pytest.mark.parametrize("answer_first", [False, True])
def test_a_replay_is_counted_and_dropped_where_the_log_holds_the_session(
    *, answer_first: bool
) -> None:
    """R121: conversation updates are dropped with count and digest, state updates are kept."""
    talk = initialized(has_history=lambda _: True)
    loaded(talk, 1, "a", "b", answer_first=answer_first)
    talk.send(prompt(2, "go on"))
    kept = talk.payloads("s-1", "acp.session_update")
    assert [item["update"]["sessionUpdate"] for item in kept] == ["current_mode_update"]
    finished = talk.payloads("s-1", "acp.replay")[-1]
    assert finished["dropped"]["count"] == 2
    assert len(finished["dropped"]["sha256"]) == 64


def test_ten_loads_grow_the_log_by_their_markers_only() -> None:
    """R121: the history of a session that this recorder has seen itself is not taken again."""
    talk = opened()
    talk.send(prompt(2, "hi"))
    talk.receive(chunk("hello"))
    talk.receive({"id": 2, "result": {"stopReason": "end_turn"}})
    for number in range(10):
        loaded(talk, 10 + number, "hi", "hello")
    talk.end({"code": 0})
    texts = [
        item
        for item in talk.payloads("s-1", "acp.session_update")
        if item["update"]["sessionUpdate"] == "agent_message_chunk"
    ]
    assert len(texts) == 1
    assert len(talk.payloads("s-1", "acp.replay")) == 20


def test_nothing_is_dropped_while_a_turn_is_running() -> None:
    """What comes then may be the turn's own."""
    talk = opened()
    talk.send(prompt(2, "hi"))
    loaded(talk, 3, "of the turn")
    assert "of the turn" in str(talk.payloads("s-1", "acp.session_update"))


def test_a_load_that_fails_leaves_no_session() -> None:
    """The call and its error go to `@gateway`, without a replay's marks."""
    talk = initialized()
    talk.send({"id": 1, "method": "session/load", "params": {"sessionId": A, "cwd": "/p"}})
    assert talk.unrecorded is Unrecorded.HELD
    talk.receive({"id": 1, "error": {"code": -32602, "message": "no such session"}})
    assert talk.types(GATEWAY) == ["acp.call", "acp.result"]
    assert talk.types("s-1") == []


def test_a_fork_is_a_session_that_names_its_parent() -> None:
    """History that comes under the new id before it is named is recorded and marked (opencode)."""
    talk = opened()
    talk.send({"id": 5, "method": "session/fork", "params": {"sessionId": A, "cwd": "/p"}})
    talk.receive(chunk("again", "acp-b"))
    talk.receive({"id": 5, "result": {"sessionId": "acp-b"}})
    assert talk.types("s-2") == [
        "session.opened",
        "session.alias",
        "acp.replay",
        "acp.session_update",
    ]
    assert talk.payloads("s-2", "session.opened")[0]["parent"] == {"session_id": "s-1", "seq": 3}
    assert talk.types("s-1")[-2:] == ["acp.call", "acp.result"]


def test_an_id_that_an_agent_gives_instead_is_a_second_name_of_the_session() -> None:
    """R110: a resume that answers another id opens no second session."""
    talk = opened()
    talk.send({"id": 5, "method": "session/resume", "params": {"sessionId": A, "cwd": "/p"}})
    talk.receive({"id": 5, "result": {"sessionId": "acp-new"}})
    talk.receive(chunk("hi", "acp-new"))
    assert [item["id"] for item in talk.payloads("s-1", "session.alias")] == [A, "acp-new"]
    assert talk.types("s-1")[-1] == "acp.session_update"


def test_a_known_session_is_in_its_place_before_the_answer() -> None:
    """A host that resumes a session of the log waits for nobody to name it."""
    talk = initialized(known={A: SessionId("mine")}, has_history=lambda _: True)
    loaded(talk, 1, "old")
    assert talk.types("mine") == [
        "acp.call",
        "acp.replay",
        "acp.session_update",
        "session.opened",
        "acp.result",
    ]


def test_what_is_held_back_remains_when_nothing_more_comes() -> None:
    """A capture ends where it ends: no update is lost, and what was dropped is counted."""
    talk = opened()
    loaded(talk, 2, "again")
    talk.send({"id": 3, "method": "session/new", "params": {"cwd": "/q"}})
    talk.receive(chunk("held", "acp-b"))
    remaining = [(entry.session_id, entry.event.type) for entry in talk.recorder.remaining()]
    assert remaining == [("s-1", "acp.replay"), (GATEWAY, "acp.notification")]
    assert talk.recorder.remaining() == []


# Processes, noise, secrets.


def test_the_end_of_the_process_is_told_to_each_of_its_open_sessions() -> None:
    """A session that the agent had closed is not concerned; a held update is not lost."""
    talk = opened()
    talk.send({"id": 2, "method": "session/new", "params": {"cwd": "/q"}})
    talk.receive({"id": 2, "result": {"sessionId": "acp-b"}})
    talk.send({"id": 3, "method": "session/close", "params": {"sessionId": A}})
    talk.receive({"id": 3, "result": {}})
    talk.send({"id": 4, "method": "session/new", "params": {"cwd": "/r"}})
    talk.receive(chunk("held", "acp-c"))
    talk.end({"code": 1})
    assert talk.types("s-1")[-1] != "agent.exited"
    assert talk.payloads("s-2", "agent.exited") == [{"code": 1}]
    assert talk.types(GATEWAY) == ["acp.notification"]


def test_a_second_initialize_is_a_new_process() -> None:
    """`agent.exited`, and call ids start anew: an answer of the old process finds no call."""
    talk = opened()
    talk.send(prompt(2, "hi"))
    assert talk.send({**INITIALIZE, "id": 50})[0][0] == "agent.exited"
    talk.receive({"id": 50, "result": AGENT})
    assert talk.unrecorded is Unrecorded.CAPABILITIES
    talk.receive({"id": 2, "result": {"stopReason": "end_turn"}})
    assert talk.types(GATEWAY) == ["acp.result"]


@pytest.mark.parametrize(
    "line",
    [
        b"Welcome!",
        b"\x1b[1mbanner\x1b[0m",
        b"\xef\xbb\xbf{}",
        b"\xff\xfe",
        b"[1,2]",
        b"42",
        b"null",
    ],
)
def test_lines_that_are_no_frames_are_kept_as_noise(line: bytes) -> None:
    """R119: the stream goes on, and the line is there to be looked at."""
    talk = opened()
    assert talk.receive(line)[0][0] == "agent.noise"
    assert talk.types("s-1")[-1] == "agent.noise"
    assert talk.receive(chunk("on"))[0][0] == "acp.session_update"


def test_noise_is_bounded_and_says_so() -> None:
    """No silent limit: the size of the whole line is told."""
    talk = opened()
    kept = talk.receive(b"x" * 10_000)[0][1]
    assert kept == {"text": "x" * 4096, "size": 10_000}
    talk.receive(b" \r")
    assert talk.unrecorded is Unrecorded.BLANK


def test_secrets_of_calls_are_never_recorded() -> None:
    """Design §1, rule 7: authenticate's params, and MCP servers' env and header values."""
    talk = initialized()
    servers = [
        {"name": "s", "command": "c", "args": [], "env": [{"name": "KEY", "value": "hunter2"}]},
        {"type": "http", "name": "h", "url": "u", "headers": [{"name": "X", "value": "hunter2"}]},
    ]
    credentials = {"methodId": "key", "_meta": {"api-key": {"key": "hunter2"}}}
    talk.send({"id": 1, "method": "authenticate", "params": credentials})
    talk.receive({"id": 1, "result": {}})
    for number, method in enumerate(["session/new", "session/load", "session/fork"], 2):
        params = {"sessionId": A, "cwd": "/p", "mcpServers": servers}
        talk.send({"id": number, "method": method, "params": params})
        talk.receive({"id": number, "error": {"code": 1, "message": "x"}})
    talk.send({"id": 9, "method": "session/new", "params": {"cwd": "/p", "mcpServers": servers}})
    talk.receive({"id": 9, "result": {"sessionId": A}})
    told = talk.everything()
    assert b"hunter2" not in told
    assert told.count(b'"env":[{"name":"KEY"}]') == 4


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
METHODS = st.sampled_from(
    [
        "initialize",
        "session/new",
        "session/load",
        "session/resume",
        "session/fork",
        "session/prompt",
        "session/cancel",
        "session/close",
        "session/update",
        "session/request_permission",
        "fs/read_text_file",
        "$/cancel_request",
        "_x",
    ]
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "sessionId": st.sampled_from(["a", "b"]) | JSON,
        "update": st.fixed_dictionaries({"sessionUpdate": st.sampled_from(["plan", "x"])}) | JSON,
        "prompt": JSON,
        "mcpServers": JSON,
        "requestId": JSON,
    },
)
FRAMES = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(0, 3) | JSON,
        "method": METHODS | JSON,
        "params": PARAMS | JSON,
        "result": st.fixed_dictionaries({"sessionId": st.sampled_from(["a", "b"])}) | JSON,
        "error": JSON,
    },
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.booleans(), FRAMES | JSON), max_size=12))
def test_no_sequence_of_frames_makes_it_raise_or_lose_one(
    frames: list[tuple[bool, Any]],
) -> None:
    """Every frame gives events or a reason, and nothing is held beyond the end."""
    talk = conversation()
    for inward, frame in frames:
        direction = talk.send if inward else talk.receive
        direction(codec.dumps(frame))
    talk.end({"code": 0})
    recorder = talk.recorder
    assert isinstance(recorder, AcpRecorder)
    assert recorder._line.places._held == []
