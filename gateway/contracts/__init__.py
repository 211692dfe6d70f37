"""The wire's shapes: every method, question and notification, in one registry.

Above this package: the methods, which get params that have been read. Below it: pydantic. Checked
both ways: nothing is served without a contract, no contract stands for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gateway.contracts.contract import Contract
from gateway.contracts.events import (
    Extent,
    SessionBlob,
    SessionBlobResult,
    SessionEventsSince,
    SessionEventsSinceResult,
    SessionEventsSubscribe,
    SessionEventsUnsubscribe,
    SessionEventsUnsubscribeResult,
    SessionTranscript,
    SessionTranscriptResult,
)
from gateway.contracts.line import (
    Alive,
    ClientCapabilities,
    ClientCapabilitiesResult,
    GatewayAuthenticate,
    GatewayPing,
)
from gateway.contracts.lookups import (
    SessionActiveList,
    SessionActiveListResult,
    SessionBranch,
    SessionBranchResult,
    SessionDelete,
    SessionDeleteResult,
    SessionEventsStats,
    SessionEventsStatsResult,
    SessionHistory,
    SessionHistoryResult,
    SessionMostRecent,
    SessionMostRecentResult,
    SessionStatus,
    SessionStatusResult,
    SessionTitle,
    SessionTitleResult,
    SessionUsage,
    SessionUsageResult,
)
from gateway.contracts.notifications import (
    EventNotification,
    GatewayReady,
    LogDegraded,
    LogRecovered,
    SessionCaughtUp,
    SessionDeleted,
    SessionEventsReset,
)
from gateway.contracts.prompts import (
    PromptSubmit,
    PromptSubmitResult,
    SessionCorrectionResult,
    SessionRedirect,
    SessionSteer,
)
from gateway.contracts.requests import (
    HERMES_QUESTIONS,
    NOT_VALUES,
    ApprovalRequest,
    ApprovalResult,
    ClarifyRequest,
    ClarifyResult,
    ElicitationResult,
    FreeResult,
    PermissionRequest,
    PermissionResult,
    Question,
    ValueResult,
)
from gateway.contracts.sessions import (
    SessionActivate,
    SessionClose,
    SessionCloseResult,
    SessionCreate,
    SessionInterrupt,
    SessionInterruptResult,
    SessionList,
    SessionListResult,
    SessionResume,
    Snapshot,
)
from gateway.contracts.settings import SessionConfigure, SessionConfigureResult
from gateway.contracts.settling import (
    ApprovalPending,
    ApprovalPendingResult,
    ApprovalReceived,
    ApprovalReceivedResult,
    ApprovalRespond,
    ApprovalRespondResult,
    ClarifyLock,
    ClarifyLockResult,
)
from gateway.errors import Code, RpcError


def _named(*contracts: Contract) -> Mapping[str, Contract]:
    return {contract.name: contract for contract in contracts}


_KNOWN: Final = frozenset({Code.SESSION_NOT_FOUND, Code.LOG_UNAVAILABLE})
"""What every method that names a session may answer."""

_LIVE: Final = _KNOWN | {Code.NOT_LIVE}

_PEOPLES: Final = frozenset({Code.BAD_ARGUMENT, Code.NOT_ALLOWED})
"""What a method that changes a conversation may answer: `@gateway` is none (P-12)."""

COMMON_ERRORS: Final = frozenset(
    {
        Code.INVALID_PARAMS,
        Code.UNKNOWN_KEY,
        Code.INTERNAL_ERROR,
        Code.GOING_AWAY,
        Code.LIMIT_REACHED,
    }
)
"""What every method may answer."""

CONTRACTS: Final = _named(
    Contract("approval.pending", ApprovalPending, ApprovalPendingResult, _KNOWN),
    Contract("approval.received", ApprovalReceived, ApprovalReceivedResult, _KNOWN),
    Contract(
        "approval.respond", ApprovalRespond, ApprovalRespondResult, _LIVE | {Code.BAD_ARGUMENT}
    ),
    Contract(
        "clarify.lock",
        ClarifyLock,
        ClarifyLockResult,
        frozenset({Code.BAD_ARGUMENT, Code.LOG_UNAVAILABLE, Code.NOT_LIVE}),
    ),
    Contract(
        "client.capabilities",
        ClientCapabilities,
        ClientCapabilitiesResult,
        frozenset({Code.BAD_ARGUMENT}),
    ),
    Contract("gateway.authenticate", GatewayAuthenticate, Alive),
    Contract("gateway.ping", GatewayPing, Alive),
    Contract(
        "prompt.submit",
        PromptSubmit,
        PromptSubmitResult,
        _LIVE | {Code.BAD_ARGUMENT, Code.BUSY},
    ),
    Contract("session.activate", SessionActivate, Snapshot, _LIVE),
    Contract(
        "session.active_list",
        SessionActiveList,
        SessionActiveListResult,
        frozenset({Code.LOG_UNAVAILABLE}),
    ),
    Contract("session.blob", SessionBlob, SessionBlobResult, _KNOWN | {Code.BAD_ARGUMENT}),
    Contract("session.branch", SessionBranch, SessionBranchResult, _LIVE | _PEOPLES),
    Contract("session.close", SessionClose, SessionCloseResult, _LIVE),
    Contract("session.configure", SessionConfigure, SessionConfigureResult, _LIVE | _PEOPLES),
    Contract(
        "session.create",
        SessionCreate,
        Snapshot,
        frozenset({Code.BAD_ARGUMENT, Code.LIMIT_REACHED, Code.LOG_UNAVAILABLE, Code.NOT_LIVE}),
    ),
    Contract(
        "session.delete",
        SessionDelete,
        SessionDeleteResult,
        _LIVE | {Code.DELETE_OF_LIVE_SESSION, Code.NOT_ALLOWED},
    ),
    Contract("session.events.since", SessionEventsSince, SessionEventsSinceResult, _KNOWN),
    Contract(
        "session.events.stats",
        SessionEventsStats,
        SessionEventsStatsResult,
        frozenset({Code.LOG_UNAVAILABLE}),
    ),
    Contract("session.events.subscribe", SessionEventsSubscribe, Extent, _KNOWN),
    Contract(
        "session.events.unsubscribe",
        SessionEventsUnsubscribe,
        SessionEventsUnsubscribeResult,
        _KNOWN,
    ),
    Contract("session.history", SessionHistory, SessionHistoryResult, _KNOWN),
    Contract("session.interrupt", SessionInterrupt, SessionInterruptResult, _LIVE),
    Contract("session.list", SessionList, SessionListResult, frozenset({Code.LOG_UNAVAILABLE})),
    Contract(
        "session.most_recent",
        SessionMostRecent,
        SessionMostRecentResult,
        frozenset({Code.LOG_UNAVAILABLE}),
    ),
    Contract("session.redirect", SessionRedirect, SessionCorrectionResult, _LIVE),
    Contract("session.resume", SessionResume, Snapshot, _LIVE | {Code.BAD_ARGUMENT}),
    Contract("session.status", SessionStatus, SessionStatusResult, _KNOWN),
    Contract("session.steer", SessionSteer, SessionCorrectionResult, _LIVE),
    Contract("session.title", SessionTitle, SessionTitleResult, _LIVE | _PEOPLES),
    Contract("session.transcript", SessionTranscript, SessionTranscriptResult, _KNOWN),
    Contract("session.usage", SessionUsage, SessionUsageResult, _KNOWN),
)
"""The methods that a client may call."""

SERVER_REQUESTS: Final = _named(
    Contract("approval", ApprovalRequest, ApprovalResult),
    Contract("clarify", ClarifyRequest, ClarifyResult),
    Contract("elicitation/create", Question, ElicitationResult),
    Contract("session/request_permission", PermissionRequest, PermissionResult),
    *(
        Contract(name, Question, FreeResult if name in NOT_VALUES else ValueResult)
        for name in HERMES_QUESTIONS
    ),
)
"""What a client may be asked."""

NOTIFICATIONS: Final = _named(
    Contract("event", EventNotification),
    Contract("log.degraded", LogDegraded),
    Contract("log.recovered", LogRecovered),
    Contract("session.caught_up", SessionCaughtUp),
    Contract("session.deleted", SessionDeleted),
    Contract("session.events.reset", SessionEventsReset),
)
"""What a client is told. The event `gateway.ready` has the payload `GatewayReady`."""


def read_params(method: str, params: Mapping[str, Any]) -> Any:
    """Return a call's params as the model of its contract.

    Raises:
        RpcError: -32601, 4000 or -32602 (P-2).

    """
    contract = CONTRACTS.get(method)
    if contract is None:
        raise RpcError(Code.METHOD_NOT_FOUND, f"Method not found: {method[:100]}")
    return contract.read(params)


__all__ = [
    "COMMON_ERRORS",
    "CONTRACTS",
    "NOTIFICATIONS",
    "SERVER_REQUESTS",
    "ApprovalPending",
    "ApprovalReceived",
    "ApprovalRespond",
    "ClarifyLock",
    "ClientCapabilities",
    "Contract",
    "GatewayAuthenticate",
    "GatewayPing",
    "GatewayReady",
    "PromptSubmit",
    "SessionActivate",
    "SessionActiveList",
    "SessionBlob",
    "SessionBranch",
    "SessionClose",
    "SessionConfigure",
    "SessionCreate",
    "SessionDelete",
    "SessionEventsSince",
    "SessionEventsStats",
    "SessionEventsSubscribe",
    "SessionEventsUnsubscribe",
    "SessionHistory",
    "SessionInterrupt",
    "SessionList",
    "SessionMostRecent",
    "SessionRedirect",
    "SessionResume",
    "SessionStatus",
    "SessionSteer",
    "SessionTitle",
    "SessionTranscript",
    "SessionUsage",
    "read_params",
]
