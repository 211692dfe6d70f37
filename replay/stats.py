"""What a session took: turns, time, tokens, cost, tools, and how long it waited for a person.

Above this module: `program`. Below it: `transcript`, the table of display verbs. Times in µs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from replay.entries import Ask, Error, Subagent, Tool, User
from replay.pieces import Json
from replay.render.clean import clean_line
from replay.render.figures import counted, grouped, seconds
from replay.render.head import totals
from replay.render.verbs import verb_of
from replay.transcript import Transcript

_ENDED: Final = frozenset({"completed", "failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStats:
    """One tool: how often, how it went, and how long it took (p50 and p95, nearest rank)."""

    name: str
    calls: int
    failed: int
    stopped: int
    p50_us: int | None
    p95_us: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A session in numbers."""

    session: str
    title: str | None
    events: int
    duration_us: int
    working_us: int
    """Time within turns."""
    waiting_us: int
    """Time that questions stood open until a person had answered."""
    waits: int
    turns: dict[str, int]
    """Turns by outcome."""
    prompts: int
    errors: int
    subagents: int
    usage: dict[str, Json]
    tools: Sequence[ToolStats]

    def json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def stats_of(transcript: Transcript) -> Stats:
    """Count what is in *transcript*."""
    entries = [entry for entry in transcript.entries if not entry.superseded]
    waits = [entry for entry in entries if isinstance(entry, Ask) and entry.state == "answered"]
    return Stats(
        session=transcript.session,
        title=transcript.title,
        events=transcript.seq,
        duration_us=max(0, transcript.t1 - transcript.t0),
        working_us=sum(max(0, turn.t1 - turn.t0) for turn in transcript.turns if not turn.replayed),
        waiting_us=sum(max(0, ask.t1 - ask.t0) for ask in waits),
        waits=len(waits),
        turns=dict(sorted(Counter(turn.outcome for turn in transcript.turns).items())),
        prompts=sum(isinstance(entry, User) and not entry.internal for entry in entries),
        errors=sum(isinstance(entry, Error) for entry in entries),
        subagents=sum(isinstance(entry, Subagent) for entry in entries),
        usage=transcript.usage,
        tools=_tools([entry for entry in entries if isinstance(entry, Tool)]),
    )


def stats_text(stats: Stats, transcript: Transcript) -> str:
    """Return *stats* as text."""
    rows = [
        ("session", f"{stats.session} · {clean_line(stats.title or 'untitled')}"),
        ("turns", _listed(sum(stats.turns.values()), stats.turns)),
        ("events", grouped(stats.events)),
        ("time", f"{seconds(stats.duration_us)}, {seconds(stats.working_us)} of it in turns"),
        ("waits", f"{counted(stats.waits, 'answer')}, {seconds(stats.waiting_us)}"),
        ("used", " · ".join(part for part in totals(transcript) if _is_use(part)) or "unknown"),
        ("errors", grouped(stats.errors)),
        ("tools", _tools_told(stats.tools)),
    ]
    lines = [f"{name:<8} {value}" for name, value in rows]
    return "\n".join([*lines, *_table(stats.tools)]) + "\n"


def _is_use(part: str) -> bool:
    return part.endswith((" tokens", " context")) or part.startswith("$") or part[-3:].isupper()


def _listed(total: int, counts: dict[str, int]) -> str:
    told = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
    return f"{total} · {told}" if told else str(total)


def _tools_told(tools: Sequence[ToolStats]) -> str:
    calls, failed = sum(tool.calls for tool in tools), sum(tool.failed for tool in tools)
    return f"{counted(calls, 'call')}, {failed} failed" if calls else "none"


def _table(tools: Sequence[ToolStats]) -> list[str]:
    if not tools:
        return []
    wide = max(8, *(len(clean_line(tool.name)) for tool in tools))
    head = f"  {'':<{wide}} {'calls':>6} {'failed':>7} {'stopped':>8} {'p50':>8} {'p95':>8}"
    return [
        head,
        *(
            f"  {clean_line(tool.name):<{wide}} {tool.calls:>6} {tool.failed:>7} {tool.stopped:>8}"
            f" {_time(tool.p50_us):>8} {_time(tool.p95_us):>8}"
            for tool in tools
        ),
    ]


def _time(micros: int | None) -> str:
    return "—" if micros is None else seconds(micros)


def _tools(tools: Sequence[Tool]) -> list[ToolStats]:
    by_name: defaultdict[str, list[Tool]] = defaultdict(list)
    for tool in tools:
        if not tool.permission_only:
            by_name[verb_of(tool) or tool.title or "tool"].append(tool)
    found = [_one(name, calls) for name, calls in by_name.items()]
    return sorted(found, key=lambda tool: (-tool.calls, tool.name))


def _one(name: str, calls: Sequence[Tool]) -> ToolStats:
    took = sorted(_took(tool) for tool in calls if tool.status in _ENDED and not tool.orphan)
    failed = sum(tool.status == "failed" for tool in calls)
    ended = sum(tool.status in _ENDED for tool in calls)
    working = sum(tool.status in {"pending", "waiting", "in_progress"} for tool in calls)
    return ToolStats(
        name=name,
        calls=len(calls),
        failed=failed,
        stopped=len(calls) - ended - working,
        p50_us=_rank(took, 50),
        p95_us=_rank(took, 95),
    )


def _took(tool: Tool) -> int:
    if tool.duration_s is not None:
        return max(0, round(tool.duration_s * 1_000_000))
    return max(0, tool.t1 - tool.t0)


def _rank(values: Sequence[int], percent: int) -> int | None:
    return values[-(-len(values) * percent // 100) - 1] if values else None
