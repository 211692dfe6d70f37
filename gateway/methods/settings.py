"""The method that sets how an agent works; the agent says what it understands.

Above this module: the table of methods. Below it: sessions.
"""

from __future__ import annotations

from typing import Any

from gateway.contracts import SessionConfigure
from gateway.errors import Code, PeerGone, RpcError
from gateway.methods.call import Call


async def configure(call: Call, params: SessionConfigure) -> Any:
    """Pass a mode, a model or an option on; both the call and its answer are in the log."""
    session_id = await call.session(params.session_id)
    live = await call.sessions.get_live(session_id)
    method, told = _as_acp(params)
    try:
        answer = await live.host.set(method, told)
    except RpcError as error:
        said = {"code": error.code, "message": error.message, "data": error.data}
        raise RpcError(
            Code.BAD_ARGUMENT, f"the agent says: {error.words}", {"error": said}
        ) from error
    except (PeerGone, TimeoutError) as error:
        why = str(error) or "the agent did not answer in time"
        raise RpcError(Code.INTERNAL_ERROR, why, {"session_id": session_id}) from error
    return {"method": method, "answer": answer}


def _as_acp(params: SessionConfigure) -> tuple[str, dict[str, Any]]:
    if params.mode is not None:
        return "session/set_mode", {"modeId": params.mode}
    if params.model is not None:
        return "session/set_model", {"modelId": params.model}
    return "session/set_config_option", {"configId": params.option, "value": params.value}
