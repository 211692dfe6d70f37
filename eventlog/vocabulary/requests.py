"""Questions to the user: asked, locked, answered, withdrawn (P-27 to P-33).

Above this module: `VOCABULARY`. Below it: `payload`.
"""

from __future__ import annotations

from typing import Any

from eventlog.vocabulary.payload import Json, Outcome, Payload


class RequestOpened(Payload):
    """An agent or gateway asks; *params* as it sent them."""

    id: str
    method: str
    params: dict[str, Any] | None = None
    deadline: int | None = None


class RequestLocked(Payload):
    """One answer of a batch is settled until it is locked again; null skips."""

    id: str
    question_id: str
    answer: Json


class RequestAnswered(Outcome):
    """The answer that counts. Of a secret question only that there was one: `redacted`."""

    id: str
    method: str
    by: str
    redacted: bool | None = None


class RequestCancel(Payload):
    """The question was withdrawn, or settled in another way; also Hermes's own event."""

    id: str
    method: str
    reason: str


class RequestDeclined(Payload):
    """A client cannot show the question; another may (P-29)."""

    id: str
    code: int


class RequestLate(Payload):
    """An answer that changes nothing; *value* only if the question is known and not secret.

    *id* is the question's, or what the answer gave as one.
    """

    id: str | int
    value: Json = None
