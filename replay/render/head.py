"""What frames the entries: the session's head, a rule a turn, a foot that says what is not shown.

Above this module: `text`. Below it: `layout`, `order`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from replay.entries import AnyEntry, Thought, User
from replay.pieces import Json
from replay.render.clean import clean_line
from replay.render.figures import clock, counted, grouped, offset, seconds, stamp
from replay.render.layout import Passage
from replay.render.order import is_of_a_kind, stands
from replay.render.scene import Scene
from replay.transcript import Info, Transcript, Turn

_OUTCOMES: Final = {
    "complete": None,
    "settled": None,
    "max_tokens": "token limit",
    "max_turn_requests": "request limit",
}

_DATED: Final = 86_400 * 365 * 1_000_000
"""Times before 1971 count from the start of a capture: they have no date."""


def head(scene: Scene) -> Iterator[Passage]:
    """Yield the lines above the first turn: what session, whose, when and how much."""
    layout, transcript = scene.layout, scene.transcript
    if not layout.options.profile.head:
        return
    info = transcript.info
    lines = [
        layout.facts(clean_line(transcript.session), clean_line(transcript.title or "untitled")),
        layout.facts(
            agent_name(info),
            *(clean_line(part or "") for part in (info.model, info.cwd, info.branch)),
        ),
        layout.facts(*totals(transcript)),
    ]
    yield Passage([line for line in lines if line])


def agent_name(info: Info) -> str:
    """Return what the agent is called."""
    parts = (info.name,) if info.name else (info.agent, info.agent_version)
    return " ".join(clean_line(part) for part in parts if part)


def turn_rule(turn: Turn, scene: Scene) -> Passage:
    """Return the rule above a turn: number, time, queued prompts that it answers, outcome."""
    return Passage(
        [scene.layout.rule(scene.layout.facts(f"turn {turn.n}", *turn_facts(turn, scene)))]
    )


def turn_facts(turn: Turn, scene: Scene) -> tuple[str | None, ...]:
    """Return when a turn began, which queued prompts it answers, how it ended."""
    options = scene.layout.options
    moment = None
    if options.profile.times and options.time != "none":
        start = scene.transcript.t0
        moment = clock(turn.t0) if options.time == "utc" else offset(turn.t0, start)
    outcome = _OUTCOMES.get(turn.outcome, turn.outcome)
    return moment, _queued(turn, scene), outcome


def foot(scene: Scene) -> Iterator[Passage]:
    """Yield what is not shown, if there is any such thing (render.md, rule 7)."""
    layout = scene.layout
    lines = [line for remark in remarks(scene) for line in layout.prose(remark, 0)]
    if lines:
        yield Passage([layout.rule(), *lines])


def remarks(scene: Scene) -> list[str]:
    """Return what is to be said below the last entry, whatever the format."""
    told = left_out(scene)
    hidden = f"{', '.join(told)} not shown" if told else ""
    return [remark for remark in (hidden, unfinished(scene)) if remark]


def unfinished(scene: Scene) -> str:
    """Return that the session goes on behind its last event, where nobody cut it there (R130)."""
    options, transcript = scene.layout.options, scene.transcript
    if options.until or transcript.status not in {"running", "waiting"}:
        return ""
    where = f": last event seq {transcript.seq}" if options.profile.numbers else ""
    return f"session incomplete{where}"


def left_out(scene: Scene) -> list[str]:
    """Return what is not shown, and how much of it."""
    layout, transcript = scene.layout, scene.transcript
    hidden = [entry for entry in transcript.entries if scene.hidden(entry)]
    internal = sum(_is_internal(entry) for entry in hidden)
    others = [
        entry
        for entry in transcript.entries
        if stands(entry, scene) and not is_of_a_kind(entry, scene)
    ]
    thoughts = sum(isinstance(entry, Thought) for entry in others)
    if layout.options.profile.kinds is not None:
        thoughts = 0
    counts = [
        (internal, "internal message", "internal messages"),
        (len(hidden) - internal, "replaced entry", "replaced entries"),
        (thoughts, "thought", "thoughts"),
        (len(others) - thoughts, "other entry", "other entries"),
        (layout.options.omitted.get(transcript.session, 0), "filtered entry", "filtered entries"),
    ]
    if layout.options.profile.transient:
        transient = sum(transcript.ephemeral.values())
        counts.insert(0, (transient, "transient event", "transient events"))
        counts.append((len(transcript.diag), "log warning", "log warnings"))
    return [counted(number, one, many) for number, one, many in counts if number]


def _is_internal(entry: AnyEntry) -> bool:
    return isinstance(entry, User) and entry.internal


def _queued(turn: Turn, scene: Scene) -> str | None:
    """Name the prompts that waited for this turn."""
    entries = [scene.entries.get(name) for name in turn.prompts]
    queued = [entry for entry in entries if isinstance(entry, User) and entry.queued]
    if not queued:
        return None
    numbers = (
        [f"#{entry.first}" for entry in queued] if scene.layout.options.profile.numbers else []
    )
    return " ".join(["queued prompt" if len(queued) == 1 else "queued prompts", *numbers])


def totals(transcript: Transcript) -> Iterator[str]:
    """Yield when a session was, how long it took, what it used."""
    if transcript.t0 >= _DATED:
        yield stamp(transcript.t0)
    yield counted(len(transcript.turns), "turn")
    yield counted(transcript.seq, "event")
    if transcript.t1 > transcript.t0:
        yield seconds(transcript.t1 - transcript.t0)
    yield from _usage(transcript.usage)


def _usage(usage: Mapping[str, Json]) -> Iterator[str]:
    """Yield tokens and cost: ACP's `used` of `size`, Hermes's `total`, either's cost."""
    match usage:
        case {"used": int(used), "size": int(size)}:
            yield f"{grouped(used)} of {grouped(size)} context"
        case {"total": int(total)}:
            yield f"{grouped(total)} tokens"
    match usage:
        case {"cost": {"amount": int() | float() as amount, "currency": str(currency)}}:
            yield f"${amount:.4f}" if currency == "USD" else f"{amount:.4f} {clean_line(currency)}"
        case {"cost_usd": int() | float() as amount}:
            yield f"${amount:.4f}"
