"""Hermes: the events of its gateway, one row an event (fold.md, Hermes table).

Above this module: `fold`. Below it: `text`, `hermes_tools`, `subagents`, `final`, `notes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from replay.entries import Agent, Thought, User
from replay.fold import plans, shape, terminals
from replay.fold.draft import Draft
from replay.fold.final import complete, thought_rows
from replay.fold.notes import clear_notices, error, notice, system, unknown
from replay.fold.shape import Misshapen, Payload
from replay.fold.step import Step, counted
from replay.fold.strings import normal
from replay.fold.text import agent_rows, repeats, rewrite, say
from replay.fold.turns import end_replay, start_turn, take_queued
from replay.pieces import Reaction


def _start(draft: Draft, payload: Payload) -> None:
    """Start a turn unless one runs; it answers all prompts that wait."""
    inputs = _inputs(payload)
    end_replay(draft)
    if draft.turn is None:
        start_turn(draft)
        take_queued(draft, list(draft.queued.values()))
    for text, ref in inputs:
        _take_input(draft, text, ref)
    draft.lively = True


def _input(draft: Draft, payload: Payload) -> None:
    """Show words that go into the turn that runs (a name of later gateways, and of our own)."""
    inputs, kind = _inputs(payload), shape.maybe_text(payload, "kind")
    if not inputs:
        raise Misshapen("there is no text among its inputs")
    for text, ref in inputs:
        draft.add(User, text=text, ref=ref, correction=kind)


def _inputs(payload: Payload) -> list[tuple[str, str | None]]:
    """Return (text, ref) of what a newer gateway says that the turn answers."""
    said = payload.get("inputs") or ([payload["input"]] if payload.get("input") else [])
    inputs: list[tuple[str, str | None]] = []
    for one in said if isinstance(said, list) else []:
        match one:
            case str(text):
                inputs.append((text, None))
            case {"text": str(text)}:
                ref = one.get("ref", one.get("submission_ref"))
                inputs.append((text, ref if isinstance(ref, str) else None))
    return inputs


def _take_input(draft: Draft, text: str, ref: str | None) -> None:
    assert draft.turn is not None  # noqa: S101 - it has been started
    prompts = draft.turns[draft.turn].prompts
    for row in (draft.users[name] for name in prompts):
        if (ref is not None and row.entry.ref == ref) or normal(row.text) == normal(text):
            return
    row = draft.add(User, text=text, ref=ref)
    draft.set_turn(prompts=(*prompts, row.entry.id))


def _delta(draft: Draft, payload: Payload) -> None:
    text = payload.get("text")
    say(draft, Agent, text if type(text) is str else shape.text(payload, "text"))


def _reasoning(draft: Draft, payload: Payload) -> None:
    say(draft, Thought, shape.text(payload, "text"))


def _reasoning_available(draft: Draft, payload: Payload) -> None:
    """Take a thought only where it is one: nearly always it is the answer once more."""
    text = shape.text(payload, "text")
    said = agent_rows(draft)
    if not normal(text) or thought_rows(draft) or repeats(text, said):
        draft.count("reasoning.available")
        return
    draft.seal()
    say(draft, Thought, text)
    draft.offered = [*draft.offered, draft.rows[-1].entry.id]
    draft.seal()


def _moa_reference(draft: Draft, payload: Payload) -> None:
    text, model = shape.text(payload, "text"), shape.text(payload, "label")
    index, count = shape.maybe_integer(payload, "index"), shape.maybe_integer(payload, "count")
    place = f" {index}/{count}" if index is not None and count is not None else ""
    draft.seal()
    draft.lively = True
    draft.add(Thought, text=text, label=f"reference{place} {model}")


def _interim(draft: Draft, payload: Payload) -> None:
    """Seal what has been said as a message of its own."""
    text = shape.text(payload, "text")
    row = draft.tail
    if row is None or type(row.entry) is not Agent:
        said = agent_rows(draft)[-1:]
        row = said[0] if said and normal(said[0].text) == normal(text) else None
    if row is not None:
        streamed = row.text
        kept = {} if normal(streamed) == normal(text) else {"draft": streamed}
        rewrite(draft, row, text, interim=True, **kept)
    elif normal(text):
        draft.seal()
        draft.add(Agent, text=text, interim=True, late=draft.turn is None and bool(draft.turns))
    draft.seal()


# -- beside the conversation ---------------------------------------------------------------------


def _status(draft: Draft, payload: Payload) -> None:
    kind, text = shape.text(payload, "kind"), shape.maybe_text(payload, "text") or ""
    if kind in _COMPACTION:
        _compaction(draft, kind, text)
    elif kind in _SYSTEM_KINDS:
        system(draft, kind, text)
    elif kind in _NOTICE_KINDS:
        notice(draft, text, _NOTICE_KINDS[kind])
    else:
        draft.count("status.update")


_COMPACTION: Final = frozenset({"compacting", "compressing", "compacted"})
_SYSTEM_KINDS: Final = frozenset({"goal", "loop", "heartbeat", "process"})
_NOTICE_KINDS: Final = {"warn": "warn", "error": "error", "approval": "info"}


def _compaction(draft: Draft, kind: str, text: str) -> None:
    row = draft.systems.get("compaction")
    done = kind == "compacted"
    if row is None or row.entry.done:
        system(draft, "compaction", text, key="compaction", done=done)
    else:
        draft.edit(row, text=text or row.entry.text, done=done)


def _show(draft: Draft, payload: Payload) -> None:
    text, level = shape.text(payload, "text"), shape.maybe_text(payload, "level") or "info"
    notice(draft, text, level, shape.maybe_text(payload, "key"))


def _clear(draft: Draft, payload: Payload) -> None:
    clear_notices(draft, shape.text(payload, "key"))


def _notice(draft: Draft, payload: Payload) -> None:
    notice(draft, shape.text(payload, "message"))


def _error(draft: Draft, payload: Payload) -> None:
    error(draft, shape.text(payload, "message"))


def _task_done(tag: str) -> Step:
    def done(draft: Draft, payload: Payload) -> None:
        text = shape.text(payload, "text")
        question = shape.maybe_text(payload, "question")
        system(draft, tag, f"{question}\n{text}" if question else text)

    return done


def _verification(draft: Draft, payload: Payload) -> None:
    url, code = shape.text(payload, "verification_url"), shape.text(payload, "user_code")
    system(draft, "billing", f"Verify at {url} with the code {code}")


def _progress(draft: Draft, payload: Payload) -> None:
    system(draft, "browser", shape.text(payload, "message"))


def _connection(draft: Draft, payload: Payload) -> None:
    target, to = shape.maybe_text(payload, "target"), shape.maybe_text(payload, "to")
    detail = shape.maybe_text(payload, "detail")
    words = [target or "connection", *([f"→ {to}"] if to else []), *([detail] if detail else [])]
    system(draft, "connection", " ".join(words))


def _reaction(draft: Draft, payload: Payload) -> None:
    """Replace the reactions to a message that the gateway has numbered."""
    number = shape.integer(payload, "row_id")
    given = tuple(
        Reaction(emoji=shape.text(one, "emoji"), author=shape.text(one, "author"))
        for one in shape.objects(payload, "reactions")
    )
    row = draft.messages.get(number)
    if row is None:
        unknown(draft, "message.reaction", payload, "no such message")
    else:
        draft.edit(row, reactions=given)


_EPHEMERAL: Final = (
    "bot_relay.outbox.pending",
    "browser.controller.cancel",
    "browser.controller.command",
    "connection.request",
    "cron.changed",
    "display.install.done",
    "display.install.log",
    "display.lease",
    "display.status",
    "free_tier.challenge",
    "gateway.ready",
    "layout.apply",
    "moa.aggregating",
    "moa.phase",
    "moa.progress",
    "onboarding.ended",
    "pairing.changed",
    "pane.reveal",
    "pet.changed",
    "pet.generate.progress",
    "pet.hatch.progress",
    "platforms.changed",
    "preview.close",
    "preview.open",
    "preview.restart.complete",
    "preview.restart.progress",
    "projects.changed",
    "reaction",
    "session.control.update",
    "session.resume_progress",
    "sessions.changed",
    "setup.ready",
    "skin.changed",
    "thinking.delta",
    "tip.show",
    "tool.generating",
    "voice.interrupted",
    "voice.partial",
    "voice.status",
    "voice.transcript",
    "wake.detected",
)
"""Events that are counted: they move what is on a screen, and say nothing of the conversation."""

STEPS: Final[Mapping[str, Step]] = {
    "message.start": _start,
    "message.input": _input,
    "message.delta": _delta,
    "message.interim": _interim,
    "message.complete": complete,
    "message.reaction": _reaction,
    "reasoning.delta": _reasoning,
    "reasoning.available": _reasoning_available,
    "moa.reference": _moa_reference,
    "todo.updated": plans.todos,
    "status.update": _status,
    "notification.show": _show,
    "notification.clear": _clear,
    "notice": _notice,
    "error": _error,
    "background.complete": _task_done("background"),
    "btw.complete": _task_done("btw"),
    "review.summary": _task_done("review"),
    "billing.step_up.verification": _verification,
    "browser.progress": _progress,
    "connection.update": _connection,
    "agent.terminal.output": terminals.output,
    "terminal.close": terminals.closed,
    **{name: counted(name) for name in _EPHEMERAL},
}
