"""The first event of a session of an ACP agent: what it is and what it can do.

Above this module: `recorder`. Below it: `frames`, `withheld`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eventlog.event import Event
from eventlog.recorders.frames import Answer, Call, members, text_of, without
from eventlog.recorders.withheld import without_secrets


@dataclass
class Agent:
    """What an agent says of itself when it is initialized."""

    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        """Its `agentInfo.name`, by which its habits are known (fold.md)."""
        return text_of(self.told.get("agent"), "name")

    def introduced(self, answer: Answer) -> None:
        """Take the answer to `initialize`."""
        self.told = {
            "agent": members(answer.result.get("agentInfo")),
            "protocol": answer.result.get("protocolVersion"),
            "capabilities": members(answer.result.get("agentCapabilities")),
        }


def session_opened(
    agent: Agent,
    call: Call,
    answer: Answer,
    told: Mapping[str, Any],
) -> Event:
    """Return `session.opened` as *call* and its *answer* make it; *told* is known besides them."""
    asked, given = members(call.params), answer.result
    state = {
        "modes": given.get("modes"),
        "models": given.get("models"),
        "config_options": given.get("configOptions"),
    }
    payload = {
        **agent.told,
        "cwd": asked.get("cwd"),
        "method": call.method,
        **{name: value for name, value in state.items() if value is not None},
        **(_further(asked, given) if call.method == "session/new" else {}),
    }
    return Event.of("session.opened", {**told, **payload})


def _further(asked: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what else a `session/new` and its answer say: no other event keeps it."""
    params = without_secrets(without(asked, "cwd"))
    result = without(given, "sessionId", "modes", "models", "configOptions")
    return {
        name: kept
        for name, value in (("params", params), ("result", result))
        if (kept := {key: item for key, item in value.items() if item})
    }
