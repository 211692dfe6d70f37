"""A session as an older gateway's snapshot holds it, told again as events (R056).

Above this module: `elder`. Below it: nothing of ours. Pure.

Such a gateway keeps rows: what was asked, what was said, which tools ran. Of those a transcript
can be made that reads like the one that was seen live, only poorer: rows hold no results of tools,
no questions, no plans. What runs just now is in no row but in `inflight`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

Json = dict[str, Any]
Told = tuple[float | None, str, Json]
"""When, in seconds since the Unix epoch, if that is known; an event's type; its payload."""

_NAMES: Final = ("stored_session_id", "session_key", "resumed")
"""What versions call the id under which they keep a session."""


def stored_id(snapshot: Mapping[str, Any]) -> str | None:
    """Return the id that outlives the gateway's process, if a snapshot names it."""
    return next((snapshot[name] for name in _NAMES if isinstance(snapshot.get(name), str)), None)


def told(snapshot: Mapping[str, Any]) -> Iterator[Told]:
    """Yield the events that a snapshot (of create, resume or activate) stands for."""
    yield None, "session.opened", _opened(snapshot)
    turns = _turns(_objects(snapshot.get("messages")))
    inflight = snapshot.get("inflight")
    flying = inflight if isinstance(inflight, dict) else {}
    runs = bool(snapshot.get("running") or flying.get("streaming"))
    begun = bool(turns) and (runs or bool(flying)) and _same(turns[-1][0], flying, runs=runs)
    for number, turn in enumerate(turns, 1):
        yield from _turn(turn, over=not (begun and number == len(turns)))
    if runs or flying:
        yield from _flying(flying, turns[-1] if begun else None, runs=runs)
    for item in _objects(snapshot.get("open_requests")):
        yield None, "request.opened", {key: item.get(key) for key in ("id", "method", "params")}


def _opened(snapshot: Mapping[str, Any]) -> Json:
    info = snapshot.get("info") if isinstance(snapshot.get("info"), dict) else {}
    assert isinstance(info, dict)  # noqa: S101 - by construction
    version, cwd = info.get("version"), info.get("cwd")
    title = snapshot.get("title") or info.get("title")
    return {
        "source": {"kind": "wrapped"},
        "agent": {"name": "hermes-agent", **({"version": version} if version else {})},
        "protocol": "hermes",
        **({"cwd": cwd} if isinstance(cwd, str) else {}),
        **({"title": title} if isinstance(title, str) else {}),
    }


def _turns(rows: Sequence[Json]) -> list[list[Json]]:
    """Return the rows of each turn: one begins with what a user said."""
    turns: list[list[Json]] = []
    for row in rows:
        if row.get("role") == "user" or not turns:
            turns.append([])
        turns[-1].append(row)
    return turns


def _turn(rows: Sequence[Json], *, over: bool) -> Iterator[Told]:
    asked = rows[0] if rows[0].get("role") == "user" else None
    yield _when(rows[0]), "message.start", {"inputs": [{"text": _text(asked)}]} if asked else {}
    rest = rows[1:] if asked else rows
    last = rest[-1] if over and rest and rest[-1].get("role") == "assistant" else None
    for row in rest:
        yield from _row(row, final=row is last)
    if over and last is None:
        yield _when(rows[-1]), "message.complete", {"text": ""}


def _row(row: Json, *, final: bool) -> Iterator[Told]:
    when, text, thought = _when(row), _text(row), row.get("reasoning")
    match row.get("role"):
        case "assistant":
            if isinstance(thought, str) and thought:
                yield when, "reasoning.delta", {"text": thought}
            if final:
                yield when, "message.complete", {"text": text}
            elif text:
                yield when, "message.interim", {"text": text}
        case "tool":
            id_ = str(row.get("tool_call_id") or f"row-{row.get('row_id')}")
            tool = {"tool_id": id_, "name": str(row.get("name") or "tool")}
            more = {key: row[key] for key in ("context", "args") if row.get(key)}
            yield when, "tool.start", {**tool, **more}
            yield when, "tool.complete", {**tool, **({"result": text} if text else {})}
        case _:
            if text:
                yield when, "notice", {"message": text}


def _flying(flying: Json, begun: Sequence[Json] | None, *, runs: bool) -> Iterator[Told]:
    """Yield what is said of the turn that runs, or failed last, behind its rows if it has some."""
    user = flying.get("user")
    if begun is None:
        yield None, "message.start", {"inputs": [{"text": user}]} if user else {}
    said = str(flying.get("assistant") or "")
    for row in begun or ():
        if row.get("role") == "assistant" and (known := _text(row)) and said.startswith(known):
            said = said[len(known) :].lstrip()
    if said:
        yield None, "message.delta", {"text": said}
    if not runs:
        error = flying.get("error")
        failed = {"status": "error", "text": str(error)}
        yield None, "message.complete", failed if error else {"text": said}


def _same(asked: Json, flying: Json, *, runs: bool) -> bool:
    """Whether the last turn that has rows is the one in flight."""
    if asked.get("role") != "user" or not isinstance(user := flying.get("user"), str):
        return runs and not flying
    return _text(asked).split() == user.split()


def _text(row: Mapping[str, Any]) -> str:
    match row:
        case {"text": str(text)} | {"content": str(text)}:
            return text
        case {"content": [*blocks]}:
            texts = (block.get("text") for block in blocks if isinstance(block, dict))
            return "".join(text for text in texts if isinstance(text, str))
    return ""


def _when(row: Mapping[str, Any]) -> float | None:
    when = row.get("timestamp")
    return float(when) if isinstance(when, int | float) and when > 0 else None


def _objects(value: Any) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
