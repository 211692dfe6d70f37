"""What is open in a session: prompts and questions. A fold of the log, never a dict beside it.

Above this module: sessions, attachments, recovery. Below it: `eventlog`.

It is much smaller than a transcript, so that a gateway can hold it for every live session; what
is closed leaves nothing behind but the receipts of prompts that carry a `ref` (P-24).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eventlog import START, Envelope, Seq, seq_of
from gateway.heads import lines_of

Json = dict[str, Any]


@dataclass(slots=True)
class OpenRequest:
    """A question to the user that nobody has answered yet (P-17)."""

    id: str
    method: str
    params: Json
    opened: Seq
    deadline: int | None = None
    """When it is withdrawn, in µs since the Unix epoch; None: never."""
    locked: Json = field(default_factory=dict)
    joins: str | None = None
    """The open question that this one repeats word for word: its answer is the answer to both."""

    def frame_params(self, session_id: str) -> Json:
        """Return the params that clients see: with the durable id, and answers locked so far."""
        locked = {"answers": dict(self.locked)} if self.locked else {}
        return {**self.params, "session_id": session_id, **locked}


@dataclass(slots=True)
class OpenPrompt:
    """A prompt that has no end in the log."""

    seq: Seq
    queued: bool
    ref: str | None = None
    content: Any = None


@dataclass(slots=True)
class Receipt:
    """What became of a prompt with a `ref`: the same ref again gets this."""

    seq: Seq
    status: str
    outcome: str | None = None

    def answer(self) -> Json:
        """Return the result of `prompt.submit`."""
        outcome = {"outcome": self.outcome} if self.outcome else {}
        return {"status": self.status, "seq": self.seq, **outcome}


@dataclass(slots=True)
class SessionState:
    """Folded up to *seq*; call `apply` with what follows."""

    seq: Seq = START
    prompts: dict[Seq, OpenPrompt] = field(default_factory=dict)
    requests: dict[str, OpenRequest] = field(default_factory=dict)
    receipts: dict[str, Receipt] = field(default_factory=dict)
    settled: dict[str, str] = field(default_factory=dict)
    """Requests that have ended, and their methods: an answer to one is late, not foreign."""
    source: str | None = None
    """`hosted`, `wrapped` or `imported`."""
    protocol: Any = None
    """What is spoken with the agent: ACP's version, or `hermes`."""
    foreign_id: str | None = None
    """The id by which the agent last knew this session (`session.alias`)."""
    forked: bool = False
    """It has the past of another session, and no agent has known it yet."""
    closed: bool = False

    @property
    def process_is_ours(self) -> bool:
        """Whether the agent's process ends with ours: an upstream gateway's does not (P-40)."""
        return self.source == "hosted" or (self.source == "wrapped" and self.protocol != "hermes")

    @property
    def told(self) -> bool:
        """Whether an agent could remember something of it."""
        return self.foreign_id is not None or self.forked

    @property
    def running(self) -> bool:
        """Whether a prompt is being worked on or waits to be."""
        return bool(self.prompts)

    @property
    def open_work(self) -> bool:
        """Whether anything would stay open for ever if nobody went on with this session."""
        return bool(self.prompts or self.requests)

    def begin(self, floor: Seq, opened: Mapping[str, Any]) -> None:
        """Take what is known of a session whose events up to *floor* are pruned."""
        _opened(self, floor, dict(opened))
        self.seq = floor

    def wanted(self, body: bytes) -> list[bytes]:
        """Return the lines of a page that change anything here: few do, and only those are parsed."""
        return _WANTED(body)

    def apply(self, envelopes: Iterable[Envelope], ends: tuple[bytes, bytes]) -> None:
        """Fold *envelopes*, what is wanted of a page; *ends* are its first and its last line.

        What stands up to `seq` is ignored.
        """
        for envelope in envelopes:
            if envelope["seq"] > self.seq:
                _STEPS[envelope["type"]](self, envelope["seq"], envelope["payload"])
        self.seq = max(self.seq, seq_of(ends[1]))


Step = Callable[[SessionState, Seq, Json], None]


def _opened(state: SessionState, _: Seq, payload: Json) -> None:
    match payload:
        case {"source": {"kind": str(kind)}}:
            state.source = kind
            state.protocol = payload.get("protocol")
    state.closed = False


def _alias(state: SessionState, _: Seq, payload: Json) -> None:
    match payload:
        case {"id": str(id_)}:
            state.foreign_id = id_
            state.forked = False


def _forked(state: SessionState, _: Seq, __: Json) -> None:
    state.foreign_id = None  # the agent knows the other session by it
    state.forked = True


def _closed(state: SessionState, _: Seq, __: Json) -> None:
    state.closed = True
    state.prompts.clear()


def _prompt_submitted(state: SessionState, seq: Seq, payload: Json) -> None:
    ref = payload.get("ref")
    queued = payload.get("queued") is True
    prompt = OpenPrompt(seq, queued, ref if isinstance(ref, str) else None, payload.get("content"))
    state.prompts[seq] = prompt
    if prompt.ref:
        state.receipts[prompt.ref] = Receipt(seq, "queued" if queued else "streaming")


def _prompt_started(state: SessionState, _: Seq, payload: Json) -> None:
    if prompt := state.prompts.get(payload.get("prompt", START)):
        prompt.queued = False


def _prompt_ended(state: SessionState, _: Seq, payload: Json) -> None:
    prompt = state.prompts.pop(payload.get("prompt", START), None)
    if prompt and prompt.ref:
        state.receipts[prompt.ref].outcome = _outcome(payload)


def _outcome(payload: Mapping[str, Any]) -> str:
    match payload:
        case {"result": {"stopReason": str(reason)}}:
            return reason
        case {"error": _}:
            return "error"
    return "complete"


def _request_opened(state: SessionState, seq: Seq, payload: Json) -> None:
    match payload:
        case {"id": str(id_), "method": str(method)} if id_ not in state.settled:
            params, deadline = payload.get("params"), payload.get("deadline")
            request = OpenRequest(
                id_,
                method,
                params if isinstance(params, dict) else {},
                seq,
                deadline if isinstance(deadline, int) else None,
            )
            request.joins = _asked_already(state, request)
            state.requests.setdefault(id_, request)


def _asked_already(state: SessionState, request: OpenRequest) -> str | None:
    """Return the open question that *request* repeats (R088): the same tool, input and options."""
    if (key := question_key(request.method, request.params)) is None:
        return None
    known = (item for item in state.requests.values() if item.joins is None)
    return next((item.id for item in known if question_key(item.method, item.params) == key), None)


def question_key(method: str, params: Any) -> Any:
    """Return what makes two permissions of an agent the same question; None: nothing does."""
    match method, params:
        case "session/request_permission", {"toolCall": {"toolCallId": str(tool), **call}}:
            return tool, call.get("rawInput"), params.get("options")
    return None


def _request_ended(state: SessionState, _: Seq, payload: Json) -> None:
    if request := state.requests.pop(str(payload.get("id")), None):
        state.settled[request.id] = request.method


def _request_locked(state: SessionState, _: Seq, payload: Json) -> None:
    match payload:
        case {"id": str(id_), "question_id": str(question)} if id_ in state.requests:
            state.requests[id_].locked[question] = payload.get("answer")


_STEPS: Final[Mapping[str, Step]] = {
    "session.opened": _opened,
    "session.alias": _alias,
    "session.closed": _closed,
    "log.forked": _forked,
    "prompt.submitted": _prompt_submitted,
    "prompt.started": _prompt_started,
    "prompt.finished": _prompt_ended,
    "prompt.rejected": _prompt_ended,
    "request.opened": _request_opened,
    "request.answered": _request_ended,
    "request.cancel": _request_ended,
    "request.locked": _request_locked,
}

_WANTED: Final = lines_of(_STEPS)
