"""The event types that the log knows, for documents, contracts and tests; never on the way in.

Above this module: whoever describes or checks events. Below it: one module per family of types.
The log takes any type: what is not here is kept verbatim and shown generically (design §1, rule
5). Nothing validates on append; tests hold the recorders to these models.
"""

from collections.abc import Mapping
from typing import Final

from eventlog.vocabulary.acp import (
    AcpCall,
    AcpNotification,
    AcpReplay,
    AcpResult,
    AcpSessionUpdate,
    AgentExited,
    AgentNoise,
)
from eventlog.vocabulary.hermes import HERMES
from eventlog.vocabulary.log import LogForked, LogGap
from eventlog.vocabulary.payload import Payload
from eventlog.vocabulary.prompts import (
    PromptCorrected,
    PromptFinished,
    PromptRejected,
    PromptStarted,
    PromptSubmitted,
    TurnInterrupted,
)
from eventlog.vocabulary.requests import (
    RequestAnswered,
    RequestCancel,
    RequestDeclined,
    RequestLate,
    RequestLocked,
    RequestOpened,
)
from eventlog.vocabulary.sessions import (
    ClientCall,
    SessionAlias,
    SessionClosed,
    SessionOpened,
    SessionRewound,
)

VOCABULARY: Final[Mapping[str, type[Payload]]] = {
    "session.opened": SessionOpened,
    "session.alias": SessionAlias,
    "session.closed": SessionClosed,
    "session.rewound": SessionRewound,
    "client.call": ClientCall,
    "prompt.submitted": PromptSubmitted,
    "prompt.started": PromptStarted,
    "prompt.corrected": PromptCorrected,
    "prompt.finished": PromptFinished,
    "prompt.rejected": PromptRejected,
    "turn.interrupted": TurnInterrupted,
    "request.opened": RequestOpened,
    "request.locked": RequestLocked,
    "request.answered": RequestAnswered,
    "request.cancel": RequestCancel,
    "request.declined": RequestDeclined,
    "request.late": RequestLate,
    "acp.session_update": AcpSessionUpdate,
    "acp.call": AcpCall,
    "acp.result": AcpResult,
    "acp.notification": AcpNotification,
    "acp.replay": AcpReplay,
    "agent.noise": AgentNoise,
    "agent.exited": AgentExited,
    "log.gap": LogGap,
    "log.forked": LogForked,
}
"""Our own types, and `request.cancel`, which is also Hermes's."""

__all__ = ["HERMES", "VOCABULARY", "Payload"]
