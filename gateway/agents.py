"""The processes that run: one for each session, or one for all of an agent's.

Above this module: `sessions`. Below it: `agent`.
"""

from __future__ import annotations

from collections.abc import Mapping

from eventlog import GATEWAY, Log, SessionId
from gateway.agent import Agent
from gateway.agent_spec import AgentSpec
from gateway.errors import Code, RpcError


class Agents:
    """Finds the process for a session. It starts none."""

    def __init__(self, events: Log, specs: Mapping[str, AgentSpec]) -> None:
        self._log = events
        self._specs = specs
        self._shared: dict[str, Agent] = {}

    def spec(self, name: str | None) -> AgentSpec:
        """Return the agent of this name, or the first one.

        Raises:
            RpcError: 4002, there is none.

        """
        if name is None and self._specs:
            return next(iter(self._specs.values()))
        if name is not None and name in self._specs:
            return self._specs[name]
        known = ", ".join(self._specs) or "none: start the gateway with --agent NAME=COMMAND"
        raise RpcError(
            Code.BAD_ARGUMENT, f"no agent named {name!r} (there is: {known})", {"path": "agent"}
        )

    def take(self, spec: AgentSpec, session_id: SessionId) -> Agent:
        """Return the agent for a session, which has to keep it (`Agent.kept`)."""
        agent = self._shared.get(spec.name) if spec.shared else None
        if agent is None or agent.ending:
            agent = Agent(spec, self._log, GATEWAY if spec.shared else session_id)
            if spec.shared:
                self._shared[spec.name] = agent
        agent.users += 1
        return agent
