"""An agent that can be started, as the command line names it.

Above this module: `agent`, the command line. Below it: `workspace`, what it is offered.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from shlex import split
from typing import Final

from gateway.workspace import NOTHING, Offers

OPENING: Final = 120.0
"""Seconds that an agent has for each step until a session is ready; some install themselves."""

STOPPING: Final = 30.0
"""Seconds that an agent has to end a turn that was cancelled."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """`--agent NAME=COMMAND`, and how it is treated."""

    name: str
    argv: tuple[str, ...]
    shared: bool = False
    """One process serves all of its sessions."""
    offers: Offers = NOTHING
    opening: float = OPENING
    """Seconds that it has for each step until a session is ready; then it is ended."""
    stopping: float = STOPPING
    """Seconds that it has to end a turn that was cancelled; then it is ended."""


def specs_of(
    given: Sequence[str],
    *,
    shared: Collection[str] = (),
    offers: Offers = NOTHING,
    opening: float = OPENING,
    stopping: float = STOPPING,
) -> dict[str, AgentSpec]:
    """Return the agents of texts like `claude='npx claude-agent'`, by their names.

    Raises:
        ValueError: one is not like that, or *shared* names none of them.

    """
    specs: dict[str, AgentSpec] = {}
    for text in given:
        name, equals, command = text.partition("=")
        argv = tuple(split(command))
        if not (name and equals and argv):
            raise ValueError(
                f"--agent {text!r}: write NAME=COMMAND, as in claude='npx claude-agent'"
            )
        specs[name] = AgentSpec(name, argv, offers=offers, opening=opening, stopping=stopping)
    for name in shared:
        if name not in specs:
            raise ValueError(f"--share-agent {name}: there is no --agent {name}=COMMAND")
        specs[name] = replace(specs[name], shared=True)
    return specs
