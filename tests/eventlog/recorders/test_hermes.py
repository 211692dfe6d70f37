"""The Hermes recorder, frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import GATEWAY, SessionId, codec
from eventlog.recorders import HermesRecorder, Note, Unrecorded
from eventlog.recorders.hermes.methods import CALLS, OPENING, READS, WITHHELD, unrecorded
from eventlog.recorders.hermes.seen import Seen
from tests.eventlog.recorders.conversation import Conversation, Json

RUNTIME = "9f8fda35"
STORED = "20261130_145819_8eda98"
EPOCH = "aaaaaaaa1111"


def conversation(*, has_history: Callable[[SessionId], bool] = lambda _: False) -> Conversation:
    """Return a conversation whose sessions are called s-1, s-2, …."""
    sessions = count(1)
    recorder = HermesRecorder(
        lambda _, __: SessionId(f"s-{next(sessions)}"),
        {"kind": "wrapped", "name": "up"},
        has_history=has_history,
    )
    return Conversation(recorder)


def opened(**options: Any) -> Conversation:
    """Return a conversation with a gateway that has announced itself and one session, s-1."""
    talk = conversation(**options)
    talk.receive(event("gateway.ready", None, None, replay_epoch=EPOCH))
    talk.send({"id": "r1", "method": "session.create", "params": {"cols": 80, "cwd": "/p"}})
    talk.receive({"id": "r1", "result": named()})
    return talk


def named(runtime: str = RUNTIME, stored: str | None = STORED, **more: Any) -> Json:
    """Return an answer that names a session."""
    info = {"model": "m", "cwd": "/p", "version": "0.22"}
    return {"session_id": runtime, "stored_session_id": stored, "info": info, **more}


def event(type_: str, runtime: str | None, seq: int | None, **payload: Any) -> Json:
    """Return an event."""
    params: Json = {"type": type_, "payload": payload}
    if runtime is not None:
        params["session_id"] = runtime
    if seq is not None:
        params["seq"] = seq
    return {"method": "event", "params": params}


def delta(seq: int, text: str = "x") -> Json:
    """Return a piece of an answer."""
    return event("message.delta", RUNTIME, seq, text=text)


def ask(talk: Conversation, method: str, params: Json, answer: Json) -> list[tuple[str, Json]]:
    """Let a client call, and the gateway answer; return what both recorded."""
    sent = talk.send({"id": "q", "method": method, "params": params})
    return sent + talk.receive({"id": "q", **answer})


def approval(id_: str = "srq-1", request_id: str = "a1") -> Json:
    """Return a server request for approval."""
    params = {"session_id": RUNTIME, "request_id": request_id, "command": "rm"}
    return {"id": id_, "method": "approval", "params": params}


# Sessions and events.


def test_an_answer_that_names_a_session_opens_it_under_both_its_ids() -> None:
    """P-22: the stored id lasts, the runtime id is an alias of one process of the gateway."""
    talk = opened()
    assert talk.types("s-1") == ["session.opened", "session.alias", "session.alias"]
    first = talk.payloads("s-1", "session.opened")[0]
    assert first["source"] == {"kind": "wrapped", "name": "up"}
    assert first["agent"] == {"name": "hermes-agent", "version": "0.22"}
    assert (first["cwd"], first["protocol"]) == ("/p", "hermes")
    assert talk.payloads("s-1", "session.alias") == [
        {"scope": "hermes:up/aaaaaaaa", "id": RUNTIME},
        {"scope": "hermes:up", "id": STORED},
    ]


def test_events_are_recorded_verbatim_with_their_origin() -> None:
    """Type and payload as sent, further members behind it, then where it stood upstream."""
    talk = opened()
    frame = delta(4, "hi")
    frame["params"]["turn"] = {"id": "t1"}
    frame["params"]["replay_epoch"] = EPOCH
    assert talk.receive(frame) == [("message.delta", {"text": "hi"})]
    kept = talk.log[SessionId("s-1")][-1]
    assert kept.rest == b',"turn":{"id":"t1"},"origin":"aaaaaaaa.9f8fda35:4"'
    talk.receive({"method": "event", "params": {"type": "message.start", "session_id": RUNTIME}})
    assert talk.log[SessionId("s-1")][-1].payload == b"{}"


def test_events_of_no_session_go_to_the_gateway() -> None:
    """P-12: `session_id:""` or none at all."""
    talk = opened()
    talk.receive(event("sessions.changed", "", None))
    assert talk.types(GATEWAY) == ["gateway.ready", "sessions.changed"]


def test_copies_on_other_connections_and_events_sent_again_are_recorded_once() -> None:
    """Each number of a session once, wherever it comes from."""
    talk = opened()
    talk.receive(delta(1))
    talk.receive(delta(2))
    for seq in (1, 2):
        talk.receive(delta(seq))
        assert talk.unrecorded is Unrecorded.COPY
    assert talk.types("s-1").count("message.delta") == 2


def test_an_event_of_a_session_that_nobody_opened_opens_it() -> None:
    """A recording may begin in the middle; its stored id is learnt when it is told."""
    talk = conversation()
    talk.receive(delta(7))
    assert talk.types("s-1")[0] == "session.opened"
    talk.receive(event("session.info", RUNTIME, 8, stored_session_id=STORED))
    assert talk.payloads("s-1", "session.alias")[-1] == {"scope": "hermes:up", "id": STORED}


def since(*events: Json, **more: Any) -> Json:
    """Return the answer of `session.events.since`."""
    told = [item["params"] for item in events]
    return {"result": {"events": told, "epoch": EPOCH, "truncated": False, **more}}


def test_events_that_only_a_catch_up_brings_are_recorded_like_live_ones() -> None:
    """P-39: those seen are not recorded again, the rest are, with their origin."""
    talk = opened()
    talk.receive(delta(1))
    found = ask(
        talk,
        "session.events.since",
        {"session_id": RUNTIME, "last_seen": 0},
        since(delta(1), delta(2, "b"), delta(3, "c")),
    )
    assert [payload["text"] for _, payload in found] == ["b", "c"]
    talk.receive(delta(3))
    assert talk.unrecorded is Unrecorded.COPY


def test_what_the_gateway_no_longer_has_is_a_gap() -> None:
    """P-39: only what this log lacks is lost, and only once."""
    talk = opened()
    for seq in (1, 2, 9):
        talk.receive(delta(seq))
    answer = since(delta(6), delta(7), delta(8), delta(9), truncated=True, latest_seq=9)
    found = ask(talk, "session.events.since", {"session_id": RUNTIME}, answer)
    assert found[0] == ("log.gap", {"lost": 3, "reason": "the gateway no longer had them"})
    assert len(found) == 4
    assert ask(talk, "session.events.since", {"session_id": RUNTIME}, answer) == []


def test_a_new_epoch_is_a_new_process() -> None:
    """`agent.exited`; numbers start anew; the stored id finds the session again."""
    talk = opened()
    talk.receive(delta(1))
    assert talk.receive(event("gateway.ready", None, None, replay_epoch="bbbbbbbb"))[0] == (
        "agent.exited",
        {"reason": "a new process of the gateway began"},
    )
    ask(talk, "session.resume", {"session_id": STORED}, {"result": named("0ddba11")})
    talk.receive(event("message.delta", "0ddba11", 1, text="y"))
    assert talk.types("s-1")[-1] == "message.delta"
    assert talk.log[SessionId("s-1")][-1].rest == b',"origin":"bbbbbbbb.0ddba11:1"'


def test_a_resume_on_another_connection_opens_nothing() -> None:
    """It attaches a socket; the session goes on."""
    talk = opened()
    assert ask(talk, "session.resume", {"session_id": STORED}, {"result": named()}) == []
    assert talk.unrecorded is Unrecorded.READ


@pytest.mark.parametrize("known", [False, True])
def test_messages_of_the_past_are_kept_only_where_the_log_has_none(*, known: bool) -> None:
    """A resumed session's history exists in the answer alone, unless it was recorded."""
    talk = conversation(has_history=lambda _: known)
    answer = {"result": named(messages=[{"role": "user", "text": "hi"}])}
    ask(talk, "session.resume", {"session_id": STORED}, answer)
    assert ("messages" in talk.payloads("s-1", "session.opened")[0]) is not known


def test_a_branch_names_its_parent() -> None:
    """And is a session of its own."""
    talk = opened()
    params = {"session_id": RUNTIME, "name": "b"}
    ask(talk, "session.branch", params, {"result": named("beef", "stored-b")})
    assert talk.payloads("s-2", "session.opened")[0]["parent"] == {"session_id": "s-1"}


# What clients do.


def test_a_prompt_is_recorded_when_it_is_sent() -> None:
    """P-35: no event of the gateway holds the user's words."""
    talk = opened()
    params = {"session_id": RUNTIME, "text": "hi", "submission_ref": "r", "surface": "tui"}
    assert talk.send({"id": "p", "method": "prompt.submit", "params": params}) == [
        (
            "prompt.submitted",
            {
                "content": [{"type": "text", "text": "hi"}],
                "ref": "r",
                "params": {"surface": "tui"},
            },
        )
    ]
    assert talk.receive({"id": "p", "result": {"status": "streaming"}}) == []
    assert talk.unrecorded is Unrecorded.ACCEPTED


def test_a_refused_prompt_is_rejected() -> None:
    """The error names the prompt; one to an unknown session stays with the gateway."""
    talk = opened()
    error = {"code": 4009, "message": "busy"}
    params = {"session_id": RUNTIME, "text": "hi"}
    found = ask(talk, "prompt.submit", params, {"error": error})
    assert found[-1] == ("prompt.rejected", {"prompt": 4, "error": error})
    ask(talk, "prompt.submit", {"session_id": "nope", "text": "hi"}, {"error": error})
    assert talk.payloads(GATEWAY, "prompt.rejected") == [
        {"content": [{"type": "text", "text": "hi"}], "error": error}
    ]


def test_corrections_are_recorded_and_rejected() -> None:
    """`session.steer` and `session.redirect`."""
    talk = opened()
    params = {"session_id": RUNTIME, "text": "left"}
    steered = ask(talk, "session.steer", params, {"result": {"status": "queued"}})
    assert steered == [("prompt.corrected", {"kind": "steer", "text": "left"})]
    turned = ask(talk, "session.redirect", params, {"result": {"status": "rejected"}})
    assert turned[0] == ("prompt.corrected", {"kind": "redirect", "text": "left"})
    assert turned[1][0] == "prompt.rejected"


def test_interrupt_close_and_undo_are_recorded_when_accepted() -> None:
    """Undo takes the session back to before its last prompt."""
    talk = opened()
    here = {"session_id": RUNTIME}
    ask(talk, "prompt.submit", {**here, "text": "hi"}, {"result": {"status": "streaming"}})
    assert ask(talk, "session.interrupt", here, {"result": {"status": "interrupted"}}) == [
        ("turn.interrupted", {"by": "client"})
    ]
    assert ask(talk, "session.interrupt", here, {"error": {"code": 4001}}) == []
    assert talk.unrecorded is Unrecorded.REFUSED
    assert ask(talk, "session.undo", here, {"result": {"removed": 2}}) == [
        ("session.rewound", {"by": "client", "to_seq": 3, "removed": 2})
    ]
    assert ask(talk, "session.undo", here, {"result": {"removed": 2}})[0][0] == "client.call"
    assert ask(talk, "session.close", here, {"result": {"closed": True}}) == [
        ("session.closed", {"reason": "session.close", "by": "client"})
    ]


def test_calls_on_the_reviewed_list_are_recorded_with_their_answer() -> None:
    """`client.call`; reads, and methods that nobody has reviewed, are not."""
    talk = opened()
    params = {"session_id": RUNTIME, "title": "T"}
    assert ask(talk, "session.title", params, {"result": {"title": "T"}}) == [
        ("client.call", {"method": "session.title", "params": params, "result": {"title": "T"}})
    ]
    for method, reason in (
        ("session.title", Unrecorded.READ),
        ("session.history", Unrecorded.READ),
        ("gateway.ping", Unrecorded.PING),
        ("client.capabilities", Unrecorded.CAPABILITIES),
        ("brand.new", Unrecorded.UNLISTED),
    ):
        assert ask(talk, method, {"session_id": RUNTIME}, {"result": {}}) == []
        assert talk.unrecorded is reason


def test_the_reviewed_lists_do_not_overlap() -> None:
    """But for the title, which is a read without one; and no secret method is on any."""
    assert {"session.title"} == CALLS & READS
    assert not CALLS & OPENING
    assert not (CALLS | READS | OPENING) & WITHHELD
    assert not any(name.startswith(("vault.", "mcp.servers.")) for name in CALLS | READS)


# Server requests.


def test_a_server_request_is_recorded_once_and_answered_once() -> None:
    """P-27, P-28: sent to two windows and re-sent; the first answer counts, the next is late."""
    talk = opened()
    assert talk.receive(approval())[0] == (
        "request.opened",
        {"id": "srq-1", "method": "approval", "params": approval()["params"]},
    )
    talk.receive(approval())
    assert talk.unrecorded is Unrecorded.COPY
    answer: Json = {"id": "srq-1", "result": {"choice": "once"}}
    assert talk.send(answer, Note({"by": "tui"})) == [
        (
            "request.answered",
            {"id": "srq-1", "method": "approval", "result": {"choice": "once"}, "by": "tui"},
        )
    ]
    assert talk.send(answer) == [("request.late", {"id": "srq-1", "value": {"choice": "once"}})]


@pytest.mark.parametrize("code", [-32601, 4404])
def test_a_client_that_cannot_show_a_question_declines_it(code: int) -> None:
    """P-29: another may answer."""
    talk = opened()
    talk.receive(approval())
    declined: Json = {"id": "srq-1", "error": {"code": code, "message": "no"}}
    assert talk.send(declined) == [("request.declined", {"id": "srq-1", "code": code})]
    assert talk.send({"id": "srq-1", "result": {"choice": "deny"}})[0][0] == "request.answered"


def test_a_question_that_only_a_snapshot_shows_is_opened() -> None:
    """It was asked while nobody was attached: `open_requests` brings it, with its id."""
    talk = opened()
    waiting = [approval()]
    answer = {"result": named(open_requests=waiting)}
    found = ask(talk, "session.resume", {"session_id": STORED}, answer)
    assert [type_ for type_, _ in found] == ["request.opened"]
    again = since(open_requests=waiting)
    assert ask(talk, "session.events.since", {"session_id": RUNTIME}, again) == []


def test_approval_respond_is_recorded_only_when_accepted() -> None:
    """P-31: as the answer of the approval that it names, before the gateway's own cancel."""
    talk = opened()
    talk.receive(approval("srq-1", "a1"))
    talk.receive(approval("srq-2", "a2"))
    params = {"session_id": RUNTIME, "request_id": "a2", "choice": "session"}
    assert ask(talk, "approval.respond", params, {"result": {"resolved": 0}}) == []
    found = ask(talk, "approval.respond", params, {"result": {"resolved": 1}})
    assert found == [
        (
            "request.answered",
            {"id": "srq-2", "method": "approval", "result": {"choice": "session"}, "by": "client"},
        )
    ]


def test_an_answer_to_a_question_that_was_not_seen_is_kept_as_a_call() -> None:
    """A recording may begin while a question is open; the choice is not lost."""
    talk = opened()
    params = {"session_id": RUNTIME, "request_id": "a9", "choice": "deny"}
    found = ask(talk, "approval.respond", params, {"result": {"resolved": 1}})
    assert found == [
        (
            "client.call",
            {"method": "approval.respond", "params": params, "result": {"resolved": 1}},
        )
    ]
    lock = {"request_id": "srq-9", "question_id": "q0", "answer": "a"}
    taken: Json = {"result": {"status": "ok", "remaining": []}}
    assert ask(talk, "clarify.lock", lock, taken)[0][0] == "client.call"


def test_a_prompt_that_became_a_correction_says_so() -> None:
    """The gateway may take a prompt as a word to the running turn."""
    talk = opened()
    params = {"session_id": RUNTIME, "text": "hi"}
    found = ask(talk, "prompt.submit", params, {"result": {"status": "steered"}})
    assert found[1] == (
        "client.call",
        {"method": "prompt.submit", "params": {"prompt": 4}, "result": {"status": "steered"}},
    )


def test_locks_are_recorded_only_when_accepted_and_the_last_one_is_the_answer() -> None:
    """P-30, P-31: relocked, skipped; a refused or expired lock is nothing."""
    talk = opened()
    questions = [{"qid": "q0", "question": "?"}, {"qid": "q1", "question": "?"}]
    params = {"session_id": RUNTIME, "questions": questions}
    talk.receive({"id": "srq-1", "method": "clarify", "params": params})

    def lock(question: str, answer: str | None, result: Json) -> list[tuple[str, Json]]:
        told = {"request_id": "srq-1", "question_id": question, "answer": answer}
        return ask(talk, "clarify.lock", told, result)

    assert lock("q0", "a", {"result": {"status": "ok", "remaining": ["q1"]}}) == [
        ("request.locked", {"id": "srq-1", "question_id": "q0", "answer": "a"})
    ]
    assert lock("x", "a", {"error": {"code": 4002}}) == []
    lock("q0", "b", {"result": {"status": "ok", "remaining": ["q1"]}})
    last = lock("q1", None, {"result": {"status": "ok", "remaining": []}})
    assert last == [
        (
            "request.answered",
            {
                "id": "srq-1",
                "method": "clarify",
                "result": {"answers": {"q0": "b", "q1": None}},
                "by": "client",
            },
        )
    ]
    assert lock("q1", "late", {"result": {"status": "expired"}}) == []


def test_a_cancelled_question_takes_no_answer() -> None:
    """What comes after `request.cancel` is late."""
    talk = opened()
    talk.receive(approval())
    talk.receive(event("request.cancel", RUNTIME, 1, id="srq-1", method="approval", reason="t"))
    assert talk.send({"id": "srq-1", "result": {"choice": "once"}})[0][0] == "request.late"


SECRET = "hunter2"  # noqa: S105 - planted, to be found nowhere


@pytest.mark.parametrize(
    "method",
    ["sudo", "display.install.sudo", "secret", "vault.code", "vault.unlock_prompt", "vault.new"],
)
def test_answers_to_secret_questions_are_never_recorded(method: str) -> None:
    """P-33: by frame, late, by `request.answer`, as an error; only that an answer was given."""
    talk = opened()
    for number in range(4):
        params = {"session_id": RUNTIME, "prompt": "password?"}
        talk.receive({"id": f"srq-{number}", "method": method, "params": params})
    assert talk.send({"id": "srq-0", "result": {"value": SECRET}}) == [
        (
            "request.answered",
            {"id": "srq-0", "method": method, "redacted": True, "by": "client"},
        )
    ]
    talk.send({"id": "srq-0", "result": {"value": SECRET}})
    talk.send({"id": "srq-1", "error": {"code": 1, "message": SECRET}})
    ask(
        talk,
        "request.answer",
        {"id": "srq-2", "result": {"value": SECRET}},
        {"result": {"status": "ok"}},
    )
    talk.send({"id": "srq-9", "result": {"value": SECRET}})
    talk.send(b'{"id":"srq-3","result":{"value":"' + SECRET.encode())
    assert SECRET.encode() not in talk.everything()
    assert talk.types("s-1").count("request.answered") == 3


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("vault.unlock", {"password": SECRET}),
        ("model.save_key", {"slug": "x", "api_key": SECRET}),
        ("mcp.servers.set_api_key", {"name": "x", "api_key": SECRET}),
        ("connection.respond", {"owner": {}, "op_id": "1", "result": {"value": SECRET}}),
        ("gateway.authenticate", {"token": SECRET}),
        ("config.set", {"key": "openai_api_key", "value": SECRET, "session_id": RUNTIME}),
        ("unheard.of", {"password": SECRET, "session_id": RUNTIME}),
    ],
)
def test_calls_that_carry_secrets_are_never_recorded(method: str, params: Json) -> None:
    """P-33: neither what is asked nor what is answered."""
    talk = opened()
    ask(talk, method, params, {"result": {"echo": SECRET, "value": SECRET}})
    ask(talk, method, params, {"error": {"code": 4002, "message": f"bad value {SECRET}"}})
    talk.receive({"id": "unknown", "result": {"value": SECRET}})
    assert SECRET.encode() not in talk.everything()
    if method != "config.set":
        assert unrecorded(method) in {Unrecorded.WITHHELD, Unrecorded.UNLISTED}


def test_ids_of_two_connections_are_independent() -> None:
    """Both windows may call `1`."""
    talk = opened()
    here = {"session_id": RUNTIME}
    one, two = Note(connection="one"), Note(connection="two")
    talk.send({"id": 1, "method": "session.close", "params": here}, one)
    talk.send({"id": 1, "method": "session.interrupt", "params": here}, two)
    recorder = talk.recorder
    answer = codec.dumps({"id": 1, "result": {"status": "interrupted"}})
    found = recorder.observe("out", answer, two)
    assert [entry.event.type for entry in found.entries] == ["turn.interrupted"]


def test_what_is_no_frame_is_noise_and_a_client_is_not_quoted() -> None:
    """R119; a torn frame of a client may hold a secret."""
    talk = opened()
    assert talk.receive(b"Traceback")[0] == ("agent.noise", {"text": "Traceback"})
    assert talk.send(b"{torn") == [("agent.noise", {"text": "", "size": 5, "by": "client"})]
    assert talk.receive({"method": "event", "params": {"session_id": "x"}})[0][0] == "agent.noise"


# Properties.


@given(st.lists(st.integers(1, 12), max_size=30), st.integers(1, 14))
def test_every_number_is_new_once_and_lost_once(seqs: list[int], floor: int) -> None:
    """Whatever the order; giving up counts exactly what was never seen below."""
    seen = Seen()
    fresh = [seq for seq in seqs if seen.take(seq)]
    assert sorted(fresh) == sorted(set(seqs))
    assert seen.give_up(floor) == len(set(range(1, floor)) - set(seqs))
    assert seen.give_up(floor) == 0
    assert [seq for seq in range(1, 15) if seen.take(seq)] == [
        seq for seq in range(floor, 15) if seq not in set(seqs)
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
METHODS = st.sampled_from(
    sorted(
        (CALLS | OPENING)
        | {
            "event",
            "prompt.submit",
            "session.steer",
            "session.undo",
            "session.close",
            "session.interrupt",
            "session.events.since",
            "clarify.lock",
            "approval.respond",
            "request.answer",
            "approval",
            "secret",
        }
    )
)
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["message.delta", "gateway.ready", "request.cancel"]) | JSON,
        "session_id": st.sampled_from(["a", "b", ""]) | JSON,
        "stored_session_id": st.sampled_from(["sa"]) | JSON,
        "seq": st.integers(-1, 5) | JSON,
        "payload": JSON,
        "events": st.lists(JSON, max_size=2),
        "truncated": st.booleans(),
        "open_requests": st.lists(
            st.fixed_dictionaries({"id": JSON, "method": st.just("secret")}), max_size=1
        )
        | JSON,
        "status": st.sampled_from(["ok", "rejected", "interrupted", "steered"]),
        "remaining": JSON,
        "removed": JSON,
        "closed": st.booleans(),
        "resolved": JSON,
        "id": JSON,
        "request_id": JSON,
        "text": JSON,
        "all": st.booleans(),
    },
)
FRAMES = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(0, 2) | JSON,
        "method": METHODS | JSON,
        "params": MEMBERS | JSON,
        "result": MEMBERS | JSON,
        "error": JSON,
    },
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.booleans(), FRAMES | JSON), max_size=12))
def test_no_sequence_of_frames_makes_it_raise(frames: list[tuple[bool, Any]]) -> None:
    """Every frame gives events or a reason."""
    talk = conversation()
    for inward, frame in frames:
        direction = talk.send if inward else talk.receive
        direction(codec.dumps(frame))
    talk.end({"code": 0})
