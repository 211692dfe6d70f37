"""The method that gives an agent work (P-24).

Above this module: the table of methods. Below it: sessions.
"""

from __future__ import annotations

from typing import Any, Final

from gateway.contracts import PromptSubmit, SessionRedirect, SessionSteer
from gateway.errors import Code, RpcError
from gateway.methods.call import Call
from gateway.peer import Answer

FROM_HERE: Final = (
    "truncate_before_user_ordinal",
    "truncate_before_row_id",
    "truncate_before_message_id",
)
"""Members by which Hermes's clients ask to forget what was said before the prompt is taken."""


async def submit(call: Call, params: PromptSubmit) -> Answer:
    """Take a prompt; answer once it is in the log. The same ref again is the same prompt."""
    session_id = await call.session(params.session_id)
    content = params.content or ([{"type": "text", "text": params.text}] if params.text else None)
    if not content:
        raise RpcError(Code.BAD_ARGUMENT, "text or content is needed", {"path": "text"})
    if cut := next((name for name in FROM_HERE if getattr(params, name) is not None), None):
        why = "what an agent was told cannot be taken back; session.branch goes on from before it"
        raise RpcError(Code.BAD_ARGUMENT, why, {"path": cut, "session_id": session_id})
    state = await call.sessions.state(session_id)
    ref = params.submission_ref
    if ref and (receipt := state.receipts.get(ref)):
        return Answer(receipt.answer(), lambda: None)
    live = await call.sessions.get_live(session_id)
    client = call.client
    async with client.places.found(session_id) as new:
        attachment = new and await client.attachment(session_id, state.seq, history=False)
        receipt = await live.submit(content, ref=ref)
        return Answer(
            receipt.answer(), lambda: client.places.go(attachment) if attachment else None
        )


async def steer(call: Call, params: SessionSteer) -> Any:
    """Add words to the turn that runs."""
    return await _correct(call, "steer", params, "queued")


async def redirect(call: Call, params: SessionRedirect) -> Any:
    """Stop the turn that runs, and go on with other words."""
    return await _correct(call, "redirect", params, "redirected")


async def _correct(call: Call, kind: str, params: SessionSteer | SessionRedirect, done: str) -> Any:
    session_id = await call.session(params.session_id)
    live = await call.sessions.get_live(session_id)
    ref, by = params.submission_ref, call.client.name
    if ref and ref in (await call.sessions.state(session_id)).receipts:
        return {"status": done, "text": params.text}  # as the first time (P-24)
    taken = await live.correct(kind, params.text, ref=ref, by=by)
    return {"status": done if taken else "rejected", "text": params.text}
