"""A session's own life: opened, known by other names, changed, taken back, closed.

Above this module: `VOCABULARY`. Below it: `payload`.
"""

from __future__ import annotations

from typing import Any, Literal

from eventlog.vocabulary.payload import Json, Outcome, Payload


class Source(Payload):
    """How the session came into this log, and the name of the agent or upstream there."""

    kind: Literal["hosted", "wrapped", "imported"]
    name: str | None = None


class Agent(Payload):
    """What the agent calls itself; empty if it did not say."""

    name: str | None = None
    version: str | None = None


class Parent(Payload):
    """The session that this one was forked from, and the last event that they share."""

    session_id: str
    seq: int | None = None


class ImportOf(Payload):
    """The content that was imported."""

    sha256: str


class SessionOpened(Payload):
    """A session begins, or goes on with a new process or connection: what is known of it.

    `method` is the call that opened it, absent if a recording begins in its middle. `params`
    and `result` hold what else a `session/new` and its answer say; `info` and `messages` are
    Hermes's, the latter only where this log holds nothing of the session's past.
    """

    source: Source
    agent: Agent | None = None
    cwd: str | None = None
    protocol: int | str | None = None
    capabilities: dict[str, Any] | None = None
    method: str | None = None
    modes: Json = None
    models: Json = None
    config_options: Json = None
    quirks: list[str] | None = None
    parent: Parent | None = None
    title: str | None = None
    params: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    info: dict[str, Any] | None = None
    messages: list[Any] | None = None


class SessionAlias(Payload):
    """Another id of the session, and where ids of that kind come from (P-22)."""

    scope: str
    id: str


class SessionClosed(Payload):
    """The session has ended, and why (P-23)."""

    reason: str
    by: str | None = None


class SessionRewound(Payload):
    """A client took the session back: what stands after *to_seq* no longer counts."""

    to_seq: int
    by: str
    removed: int | None = None


class ClientCall(Outcome):
    """A Hermes method on the reviewed list that changes a session, with its answer."""

    method: str
    params: dict[str, Any]
