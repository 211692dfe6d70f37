"""What contracts are made of: strict models, and the values that many of them share.

Above this module: one module a family of methods. Below it: pydantic.

Params hold every key that Hermes's contract knows, whether it means anything here or not, so that
its clients are understood; a key that neither knows is refused (P-2).
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from eventlog import InvalidSessionId, valid_session_id

LARGEST_SEQ: Final = (1 << 63) - 1
"""What the log can count to."""


class Params(BaseModel):
    """What a caller says. Nothing is converted: `"1"` and `true` are no numbers."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, populate_by_name=False, defer_build=True
    )


class Result(BaseModel):
    """What the caller is told."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class Open(BaseModel):
    """A shape of which only a part is ours: further members are kept (design §1, rule 5)."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, defer_build=True)


def _well_formed(text: str) -> str:
    try:
        return valid_session_id(text)
    except InvalidSessionId as error:
        raise ValueError(str(error)) from None


def _block(value: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value.get("type"), str):
        raise ValueError("a content block needs a type")  # noqa: TRY004 - pydantic's own error
    return value


Name = Annotated[str, AfterValidator(_well_formed)]
"""A session's id, or another name of the same form (P-22, P-25)."""

Cursor = Annotated[int, Field(ge=0, le=LARGEST_SEQ)]
"""A sequence number, or 0 for the start (P-14)."""

Seq = Annotated[int, Field(ge=1, le=LARGEST_SEQ)]
"""The number of an event."""

Amount = Annotated[int, Field(ge=1, le=LARGEST_SEQ)]
"""A limit: of events, rows or bytes."""

Content = list[Annotated[dict[str, Any], AfterValidator(_block)]]
"""ACP content blocks, open."""


class OfSession(Params):
    """Params that name a session, the way Hermes's do."""

    session_id: Name
    profile: str | None = None


class OpenRequest(Result):
    """A question that nobody has answered yet (P-17)."""

    id: str
    method: str
    params: dict[str, Any]
