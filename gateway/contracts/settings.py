"""How an agent works: its mode, its model, its options.

Above this module: the registry. Below it: shapes.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import model_validator

from gateway.contracts.shapes import OfSession, Result


class SessionConfigure(OfSession):
    """Set one thing of those that `session.opened` says the agent has: a mode, a model, an option."""

    mode: str | None = None
    model: str | None = None
    option: str | None = None
    value: Any = None
    """What *option* is set to: one of its values, or true or false."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(one is not None for one in (self.mode, self.model, self.option)) != 1:
            raise ValueError("name one of mode, model, option")
        if (self.value is None) != (self.option is None):
            raise ValueError("an option needs a value, and nothing else has one")
        return self


class SessionConfigureResult(Result):
    """How the agent was told, and what it answered."""

    method: str
    answer: Any
