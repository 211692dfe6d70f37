"""Answering questions by call: locks and approvals (P-30, P-31).

Above this module: the registry. Below it: rows, shapes.
"""

from __future__ import annotations

from typing import Any, Literal

from gateway.contracts.rows import PendingApproval
from gateway.contracts.shapes import OfSession, Params, Result

Choice = Literal["once", "session", "always", "deny"]


class ClarifyLock(Params):
    """Settle one answer of a batch until all are; null skips the question."""

    request_id: str
    question_id: str
    answer: Any = ""
    profile: str | None = None


class ClarifyLockResult(Result):
    """`ok` with the questions that are left, or `expired`: the request is over."""

    status: Literal["ok", "expired"]
    remaining: list[str] | None = None


class ApprovalRespond(OfSession):
    """Answer an approval by its id, or the oldest one, or all."""

    choice: str | None = None
    all: bool | None = None
    request_id: str | None = None


class ApprovalRespondResult(Result):
    """How many were settled by it, durably."""

    resolved: int


class ApprovalPending(OfSession):
    """List the approvals that wait, oldest first."""


class ApprovalPendingResult(Result):
    """Those approvals."""

    approvals: list[PendingApproval]


class ApprovalReceived(OfSession):
    """Say that an approval is on the screen."""

    request_id: str


class ApprovalReceivedResult(Result):
    """Whether it still waits for its answer."""

    acknowledged: bool
