"""Streams of records as agents and gateways might send them, and ways to tamper with one.

Ids are drawn from small pools, so that events meet: a tool that starts twice, an answer to a
question that is gone, an end of a prompt that waits.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from eventlog import Envelope, Seq
from replay import AnyEntry, System, Transcript

Event = tuple[str, dict[str, Any]]
Cut = Callable[[str], list[str]]

WORDS = st.text(alphabet="ab \n\x1bé🚀", max_size=6)
HALVES = st.sampled_from(["\ud83d", "\ude80", "x\ud83d", "\ude80y"])
TEXT = WORDS | HALVES
MID = st.sampled_from([None, None, "m1", "m2"])
TOOL = st.sampled_from(["t1", "t2", "t3"])
ASK = st.sampled_from(["srq-1", "srq-2", "srq-3"])
STATUS = st.sampled_from([None, "pending", "in_progress", "completed", "failed", "odd"])
PROMPTS = ["Do it", "ab", "🚀"]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def numbered(events: Iterable[Event]) -> list[Envelope]:
    """Return *events* as records; a prompt is referred to by its place among the events."""
    return [
        Envelope(seq=Seq(seq), ts=seq * 1000 % 7919, type=type_, payload=payload)
        for seq, (type_, payload) in enumerate(events, start=1)
    ]


def update(kind: str, **members: Any) -> Event:
    """Return an ACP update."""
    known = {name: value for name, value in members.items() if value is not None}
    return "acp.session_update", {"update": {"sessionUpdate": kind, **known}}


def text_block(text: str) -> dict[str, str]:
    """Return a content block."""
    return {"type": "text", "text": text}


@st.composite
def _chunks(draw: st.DrawFn) -> Event:
    kind = draw(
        st.sampled_from(["agent_message_chunk"] * 3 + ["agent_thought_chunk", "user_message_chunk"])
    )
    text = draw(
        TEXT if kind != "user_message_chunk" else TEXT | st.sampled_from(["Do", " it", "Do it"])
    )
    return update(kind, content=text_block(text), messageId=draw(MID))


@st.composite
def _tools(draw: st.DrawFn) -> Event:
    tool = draw(TOOL)
    match draw(st.integers(0, 5)):
        case 0:
            return update("tool_call", toolCallId=tool, title=draw(WORDS), status=draw(STATUS))
        case 1 | 2:
            pieces = [{"type": "content", "content": text_block(draw(WORDS))}]
            meta = {"terminal_output_delta": {"data": draw(TEXT), "terminal_id": "term"}}
            return update(
                "tool_call_update",
                toolCallId=tool,
                status=draw(STATUS),
                content=draw(st.none() | st.just(pieces)),
                rawInput=draw(st.none() | JSON),
                _meta=draw(st.none() | st.just(meta)),
            )
        case 3:
            return "tool.start", {"tool_id": tool, "name": "terminal", "args": {"command": "ls"}}
        case 4:
            result = draw(st.sampled_from([None, "r", {"exit_code": 1}, {"error": "no"}]))
            return "tool.complete", {"tool_id": tool, "name": "terminal", "result": result}
    data = base64.b64encode(draw(TEXT).encode("utf-8", "replace")).decode()
    return update("terminal_output_chunk", terminalId="term", data=data)


@st.composite
def _asks(draw: st.DrawFn) -> Event:
    ask, tool = draw(ASK), draw(TOOL)
    option = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
    permission = {"toolCall": {"toolCallId": tool, "title": "x"}, "options": [option]}
    clarify = {"questions": [{"qid": "q0", "question": "?", "choices": ["a"]}]}
    picked = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    events: list[Event] = [
        ("request.opened", {"id": ask, "method": "session/request_permission", "params": permission}),
        ("request.opened", {"id": ask, "method": "clarify", "params": clarify}),
        ("request.locked", {"id": ask, "question_id": "q0", "answer": "a"}),
        ("request.answered", {"id": ask, "result": picked}),
        ("request.answered", {"id": ask, "result": {"answers": {"q0": "a"}}}),
        ("request.cancel", {"id": ask, "method": "x", "reason": "timeout"}),
        ("request.late", {"id": ask, "value": 1}),
    ]  # fmt: skip
    return draw(st.sampled_from(events))


@st.composite
def _hermes(draw: st.DrawFn) -> Event:
    text = draw(TEXT)
    status = draw(st.sampled_from(["complete", "error", "interrupted"]))
    events: list[Event] = [
        ("message.start", {}),
        ("message.delta", {"text": text}),
        ("message.delta", {"text": text}),
        ("reasoning.delta", {"text": text}),
        ("reasoning.available", {"text": text}),
        ("thinking.delta", {"text": text}),
        ("message.interim", {"text": text}),
        ("message.complete", {"text": text, "status": status}),
        ("todo.updated", {"todos": [{"content": text}], "revision": 1}),
        ("session.info", {"running": False, "model": draw(st.sampled_from(["m", "n"]))}),
        ("notification.show", {"text": text, "key": "k"}),
        ("notification.clear", {"key": "k"}),
        ("error", {"message": text}),
        ("subagent.tool", {"subagent_id": "a", "goal": "g", "task_index": 0, "text": text}),
    ]
    return draw(st.sampled_from(events))


@st.composite
def _session(draw: st.DrawFn) -> Event:
    mode = draw(st.sampled_from(["a", "b"]))
    plan = [{"content": step} for step in draw(st.lists(WORDS, max_size=2))]
    call = {"id": 1, "by": "agent", "method": "terminal/create", "params": {"command": "ls"}}
    events: list[Event] = [
        update("plan", entries=plan),
        update("current_mode_update", currentModeId=mode),
        update("usage_update", used=1, size=2),
        update("from_the_future", x=1),
        ("turn.interrupted", {"by": "client"}),
        ("acp.replay", {"method": "session/load", "state": "started"}),
        ("acp.replay", {"method": "session/load", "state": "finished"}),
        ("acp.call", call),
        ("acp.result", {"id": 1, "by": "agent", "result": {"terminalId": "term"}}),
        ("agent.exited", {"code": 1}),
        ("session.closed", {"reason": "client"}),
        ("session.opened", {"agent": {"name": "hermes-agent"}, "modes": {"currentModeId": mode}}),
        ("log.gap", {"lost": 1}),
        ("from.the.future", {"x": 1}),
    ]  # fmt: skip
    return draw(st.sampled_from(events))


@st.composite
def streams(draw: st.DrawFn, max_size: int = 40) -> list[Envelope]:
    """Return a session's records, of ACP and Hermes events mixed."""
    events: list[Event] = []
    prompts: list[int] = []
    one = st.one_of(
        _chunks(),
        _chunks(),
        _tools(),
        _tools(),
        _asks(),
        _hermes(),
        _hermes(),
        _session(),
        st.none(),
    )
    for event in draw(st.lists(one, max_size=max_size)):
        if event is not None:
            events.append(event)
            continue
        kind = draw(st.sampled_from(["submitted", "submitted", "finished", "started", "rejected"]))
        if kind == "submitted" or not prompts:
            prompts.append(len(events) + 1)
            internal = draw(st.integers(0, 5)) == 0
            content = [text_block(draw(st.sampled_from(PROMPTS)))]
            events.append(("prompt.submitted", {"content": content, "internal": internal}))
        else:
            stop = draw(st.sampled_from(["end_turn", "cancelled", "refusal"]))
            about = {"prompt": draw(st.sampled_from(prompts))}
            ended = {**about, "result": {"stopReason": stop}} if kind == "finished" else about
            events.append((f"prompt.{kind}", ended))
    return numbered(events)  # fmt: skip


# -- ways to tamper --------------------------------------------------------------------------------


def rechunked(records: Sequence[Envelope], cut: Cut) -> list[Envelope]:
    """Return the same session with its texts cut otherwise, numbered anew.

    A replayed prompt without an id is left whole: there a chunk is a message (ADR 0007).
    """
    places: dict[int, int] = {}
    pieces: list[Envelope] = []
    replaying = False
    for record in records:
        places[record["seq"]] = len(pieces) + 1
        if record["type"] == "acp.replay":
            replaying = record["payload"].get("state") == "started"
        whole = replaying and _is_prompt_without_id(record)
        pieces.extend([record] if whole else _pieces(record, cut))
    renumbered = []
    for seq, piece in enumerate(pieces, start=1):
        payload = dict(piece["payload"])
        if isinstance(prompt := payload.get("prompt"), int):
            payload["prompt"] = places.get(prompt, prompt)
        if isinstance(to_seq := payload.get("to_seq"), int):
            payload["to_seq"] = places.get(to_seq + 1, len(pieces) + 1) - 1
        renumbered.append(
            Envelope(seq=Seq(seq), ts=piece["ts"], type=piece["type"], payload=payload)
        )
    return renumbered  # fmt: skip


def _is_prompt_without_id(record: Envelope) -> bool:
    match record["payload"]:
        case {"update": {"sessionUpdate": "user_message_chunk", "messageId": str()}}:
            return False
        case {"update": {"sessionUpdate": "user_message_chunk"}}:
            return True
    return False


def _pieces(record: Envelope, cut: Cut) -> list[Envelope]:
    match record["type"], record["payload"]:
        case "message.delta" | "reasoning.delta", {"text": str(text)}:
            return [_with(record, {"text": part}) for part in cut(text)]
        case "acp.session_update", {
            "update": {"content": {"type": "text", "text": str(text)}} as told
        }:
            return [
                _with(record, {"update": {**told, "content": text_block(p)}}) for p in cut(text)
            ]
        case "agent.terminal.output", {"chunk": str(text)}:
            return [_with(record, {"chunk": part}) for part in cut(text)]
    return [record]  # fmt: skip


def _with(record: Envelope, members: dict[str, Any]) -> Envelope:
    payload = {**record["payload"], **members}
    return Envelope(seq=record["seq"], ts=record["ts"], type=record["type"], payload=payload)


def halves(text: str) -> list[str]:
    """Return *text* cut at every UTF-16 unit: inside characters too."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return [
        raw[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(raw), 2)
    ] or [""]


def said(transcript: Transcript) -> list[tuple[object, ...]]:
    """Return what a person reads: kinds, words and order, no ids and numbers."""
    shown = [
        (entry.kind, _words(entry), entry.superseded, entry.hidden, entry.turn)
        for entry in transcript.entries
    ]
    ends = [(turn.outcome, len(turn.prompts)) for turn in transcript.turns]
    screens = [(terminal.id, terminal.output) for terminal in transcript.terminals]
    return [*shown, *ends, *screens]


def _words(entry: AnyEntry) -> str | None:
    """Return an entry's text, but for a line that names a number of the log."""
    if isinstance(entry, System) and entry.tag == "rewind":
        return None
    text: str | None = getattr(entry, "text", None)
    return text
