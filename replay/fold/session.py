"""The session itself: how it opened, its model, mode, configuration, title, use, and its end.

Above this module: `fold`. Below it: `draft`, `notes`, `turns`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from replay.entries import Gap
from replay.fold import shape
from replay.fold.draft import Draft
from replay.fold.notes import error, system
from replay.fold.shape import Payload
from replay.fold.step import Step
from replay.fold.turns import end_replay, finish_turn, give_up_tools, withdraw_asks

_NOTHING: Final = "—"


def opened(draft: Draft, payload: Payload) -> None:
    """Take what is known of the agent and the session; a session opens again when resumed."""
    agent = shape.maybe_mapping(payload, "agent") or {}
    source = shape.maybe_mapping(payload, "source") or {}
    parent = shape.maybe_mapping(payload, "parent") or {}
    known = {
        "agent": shape.maybe_text(agent, "name"),
        "agent_version": shape.maybe_text(agent, "version"),
        "source": shape.maybe_text(source, "kind"),
        "name": shape.maybe_text(source, "name"),
        "protocol": _protocol(payload),
        "cwd": shape.maybe_text(payload, "cwd"),
        "parent": shape.maybe_text(parent, "session_id"),
        "quirks": tuple(shape.texts(payload, "quirks")) or None,
    }
    title = shape.maybe_text(payload, "title")
    options = read_setup(payload)
    _learn(draft, known)
    draft.title = title or draft.title
    draft.closed = False
    take_setup(draft, options)


def _protocol(payload: Payload) -> str | None:
    return None if payload.get("protocol") is None else shape.name(payload, "protocol")


def _learn(draft: Draft, known: Mapping[str, Any]) -> None:
    draft.learn(**{key: value for key, value in known.items() if value})


# -- mode, model, configuration ------------------------------------------------------------------


def read_setup(said: Payload) -> Payload:
    """Return mode, model and options of an answer or an opening: nothing is written (F-L8).

    Codex names its model twice, `gpt[medium]` among the models and `gpt` among the options; later
    it tells only of the option.
    """
    modes = shape.maybe_mapping(said, "modes") or {}
    models = shape.maybe_mapping(said, "models") or {}
    key = "config_options" if "config_options" in said else "configOptions"
    options = read_options(said, key)
    model = next((value for _, category, value in options if category == "model"), None)
    return {
        "mode": shape.maybe_text(modes, "currentModeId"),
        "model": None if model else shape.maybe_text(models, "currentModelId"),
        "options": options,
    }


def read_options(said: Payload, key: str) -> list[tuple[str, str | None, Any]]:
    """Return (id, category, value) of each option."""
    return [
        (
            shape.text(option, "id"),
            shape.maybe_text(option, "category"),
            option.get("currentValue"),
        )
        for option in shape.objects(said, key)
    ]


def take_setup(draft: Draft, setup: Payload) -> None:
    """Take mode, model and options that a session starts with, or has when loaded."""
    if setup["mode"] is not None:
        change_mode(draft, setup["mode"], quiet=draft.mode is None)
    if setup["model"] is not None:
        change_model(draft, setup["model"])
    take_options(draft, setup["options"])


def take_options(draft: Draft, options: list[tuple[str, str | None, Any]]) -> None:
    """Take the whole set of options; one that stands for the mode or model is that."""
    for name, category, value in options:
        known = draft.config.get(name)
        draft.config[name] = value
        if category == "mode" and isinstance(value, str):
            change_mode(draft, value, quiet=draft.mode is None)
        elif category == "model" and isinstance(value, str):
            change_model(draft, value)
        elif known is not None and known != value:
            system(draft, "config", f"{name} {known} → {value}")


def change_mode(draft: Draft, mode: str, *, quiet: bool = False) -> None:
    """Note the mode; a change is a system line."""
    if mode == draft.mode:
        return
    if not quiet:
        system(draft, "mode", f"{draft.mode or _NOTHING} → {mode}")
    draft.mode = mode


def change_model(draft: Draft, model: str) -> None:
    """Note the model; a change after the first is a system line."""
    known = draft.info.model
    if model == known:
        return
    if known:
        system(draft, "model", f"{known} → {model}")
    draft.learn(model=model)


# -- Hermes's session events ---------------------------------------------------------------------


def info(draft: Draft, payload: Payload) -> None:
    """Merge what the gateway says of the session; it may tell that a turn is over."""
    known = {
        "provider": shape.maybe_text(payload, "provider"),
        "cwd": shape.maybe_text(payload, "cwd"),
        "branch": shape.maybe_text(payload, "branch"),
        "agent_version": shape.maybe_text(payload, "version"),
    }
    model = shape.maybe_text(payload, "model")
    title = shape.maybe_text(payload, "title")
    used = shape.maybe_mapping(payload, "usage")
    _learn(draft, known)
    if model:
        change_model(draft, model)
    draft.title = title or draft.title
    draft.usage |= used or {}
    if payload.get("running") is False and draft.lively:
        finish_turn(draft, "settled")


def title(draft: Draft, payload: Payload) -> None:
    """Take the title."""
    draft.title = shape.text(payload, "title")


def usage(draft: Draft, payload: Payload) -> None:
    """Take what has been used."""
    draft.usage |= shape.mapping(payload, "usage")


def reclaimed(draft: Draft, payload: Payload) -> None:
    """Note that the gateway has given the session up."""
    reason = shape.maybe_text(payload, "reason")
    _end(draft, reason)
    system(draft, "session", f"reclaimed: {reason}" if reason else "reclaimed")


# -- our own session events ----------------------------------------------------------------------


def closed(draft: Draft, payload: Payload) -> None:
    """Close the session: a turn that runs is interrupted."""
    _end(draft, shape.maybe_text(payload, "reason"))


def _end(draft: Draft, reason: str | None) -> None:
    end_replay(draft)
    finish_turn(draft, "interrupted", reason)
    withdraw_asks(draft, "session closed")
    draft.closed = True


def agent_exited(draft: Draft, payload: Payload) -> None:
    """End what the agent's process leaves open."""
    code = shape.maybe_integer(payload, "code")
    signal = payload.get("signal")
    reason = shape.maybe_text(payload, "reason")
    told = [
        *([f"code {code}"] if code is not None else []),
        *([f"signal {signal}"] if signal is not None else []),
        *([reason] if reason else []),
    ]
    text = "The agent's process ended" + (f" ({', '.join(told)})" if told else "")
    give_up_tools(draft, "aborted")
    withdraw_asks(draft, "agent gone")
    draft.calls.clear()
    end_replay(draft)
    if draft.turn is None:
        draft.count("agent.exited")
    else:
        error(draft, text)
        finish_turn(draft, "error", reason)


def replay(draft: Draft, payload: Payload) -> None:
    """Begin or end the agent's own telling of its history."""
    started = shape.text(payload, "state") == "started"
    dropped = shape.maybe_mapping(payload, "dropped") or {}
    count = shape.maybe_integer(dropped, "count") or 0
    end_replay(draft)
    draft.seal()
    draft.replaying = started
    draft.count("acp.replay")
    if count:
        draft.count("acp.replay dropped", count)


def gap(draft: Draft, payload: Payload) -> None:
    """Show that events are missing."""
    lost = shape.maybe_integer(payload, "lost")
    begin = shape.maybe_integer(payload, "first")
    end = shape.maybe_integer(payload, "last")
    reason = shape.maybe_text(payload, "reason")
    draft.add(Gap, lost=lost, begin=begin, end=end, reason=reason)


def forked(draft: Draft, payload: Payload) -> None:
    """Note where the session branched off."""
    origin = shape.mapping(payload, "from")
    session, seq = shape.name(origin, "session_id"), shape.integer(origin, "seq")
    draft.learn(parent=session)
    system(draft, "fork", f"forked from {session} at {seq}")


def rewound(draft: Draft, payload: Payload) -> None:
    """Supersede what stands after the point that the session was taken back to."""
    to_seq = shape.integer(payload, "to_seq")
    finish_turn(draft, "interrupted", "rewound")
    draft.seal()
    for row in draft.all_rows():
        if row.entry.first > to_seq and not row.entry.superseded:
            draft.mark(row, superseded=True)
    system(draft, "rewind", f"rewound to {to_seq}")


STEPS: Final[Mapping[str, Step]] = {
    "session.opened": opened,
    "session.info": info,
    "session.title": title,
    "session.usage": usage,
    "session.reclaimed": reclaimed,
    "session.closed": closed,
    "session.rewound": rewound,
    "agent.exited": agent_exited,
    "acp.replay": replay,
    "log.gap": gap,
    "log.forked": forked,
}
