"""A contract: what one method is asked with, answered with and refused with.

Above this module: the registry, the server. Below it: pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from gateway.errors import Code, RpcError


@dataclass(frozen=True, slots=True)
class Contract:
    """One method, server request or notification. The first line of *params* says what it does."""

    name: str
    params: type[BaseModel]
    result: type[BaseModel] | None = None
    """None: it is a notification."""
    errors: frozenset[Code] = frozenset()
    """Codes beyond those of every method."""

    def read(self, params: Mapping[str, Any]) -> Any:
        """Return *params* as this contract's model.

        Raises:
            RpcError: 4000 for a key that nobody knows, -32602 for a value of the wrong type or a
                missing key; `data.path` says where (P-2).

        """
        try:
            return self.params.model_validate(params)
        except ValidationError as refused:
            problems = refused.errors(include_url=False, include_context=False, include_input=False)
        problem = next((item for item in problems if item["type"] == _UNKNOWN), problems[0])
        path = ".".join(str(step) for step in problem["loc"])
        known = problem["type"] != _UNKNOWN
        code = Code.INVALID_PARAMS if known else Code.UNKNOWN_KEY
        wrong = problem["msg"].removeprefix("Value error, ") if known else "no such key is known"
        raise RpcError(code, f"Invalid params for {self.name}: {path}: {wrong}", {"path": path})


_UNKNOWN = "extra_forbidden"
