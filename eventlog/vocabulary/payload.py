"""What all payloads of our own types have in common.

Above this module: the families. Below it: pydantic.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

Json = Any
"""A value as its sender wrote it."""


class Payload(BaseModel):
    """A payload; further members are allowed, as a later version may know more."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


class Outcome(Payload):
    """A payload that ends something: with `result` or with `error`, verbatim, never both."""

    result: Json = None
    error: Json = None

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        given = {"result", "error"} & self.model_fields_set
        if len(given) > 1:
            raise ValueError("a result or an error, not both")
        return self
