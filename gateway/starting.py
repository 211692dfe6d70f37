"""What can go wrong before an agent works, in words for whoever asked for it.

Above this module: `sessions`. Below it: errors.
"""

from __future__ import annotations

import os
from typing import Final

from eventlog import Fenced
from gateway.agent_spec import AgentSpec
from gateway.errors import CannotStart, Code, PeerGone, RpcError

AUTH_REQUIRED: Final = -32000
"""ACP's code of an agent that does not know whose it is."""


def folder_of(cwd: str | None) -> str:
    """Return where an agent works: as asked, or where the gateway stands."""
    folder = cwd or os.getcwd()  # noqa: PTH109 - the name of a folder is what goes over the wire
    if not os.path.isdir(folder):  # noqa: PTH112 - same
        raise RpcError(Code.BAD_ARGUMENT, f"no such folder: {folder}", {"path": "cwd"})
    return folder


def not_started(spec: AgentSpec, failure: Exception, stderr: str) -> Exception:
    """Return what whoever asked for an agent is told about *failure*."""
    match failure:
        case Fenced():
            return failure
        case RpcError():
            return _refused(spec, failure, stderr)
        case CannotStart():
            code, why = int(Code.INTERNAL_ERROR), failure.reason
        case PeerGone():
            code, why = int(Code.INTERNAL_ERROR), "it exited"
        case TimeoutError():
            code, why = int(Code.INTERNAL_ERROR), "it did not answer in time"
        case _:
            code, why = int(Code.INTERNAL_ERROR), f"{type(failure).__name__}: {failure}"
    return _not_started(spec, code, why, stderr)


def _refused(spec: AgentSpec, refusal: RpcError, stderr: str) -> RpcError:
    """Return what an agent's own refusal is here: its codes are not ours."""
    why = refusal.words
    if refusal.code == AUTH_REQUIRED:
        why = f"it wants somebody to sign in first, with {spec.argv[0]} itself: {why}"
    said = {"code": refusal.code, "message": refusal.message, "data": refusal.data}
    return _not_started(spec, int(Code.INTERNAL_ERROR), why, stderr, error=said)


def _not_started(spec: AgentSpec, code: int, why: str, stderr: str, **more: object) -> RpcError:
    told = {"agent": spec.name, **({"stderr": stderr} if stderr else {}), **more}
    return RpcError(code, f"agent {spec.name} could not be started: {why}", told)
