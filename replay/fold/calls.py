"""Calls between client and agent: terminals that the client runs, settings that the client makes.

Above this module: `fold`. Below it: `terminals`, `session`.

A result says little without its call, so calls of the kinds below wait in the draft for theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from replay.fold import shape
from replay.fold.draft import Draft
from replay.fold.session import (
    change_mode,
    change_model,
    read_options,
    read_setup,
    take_options,
    take_setup,
)
from replay.fold.shape import Payload
from replay.fold.step import Step, counted
from replay.fold.terminals import exit_of

Result = Callable[[Draft, Payload, Payload], None]
"""(draft, the call's params as kept, the result) -> None."""


def call(draft: Draft, payload: Payload) -> None:
    """Remember a call whose result will matter; the rest is counted."""
    key, method = _key(payload), shape.text(payload, "method")
    params = shape.maybe_mapping(payload, "params") or {}
    if method in RESULTS:
        kept = {name: params[name] for name in _KEPT if name in params}
        draft.calls[key] = {"method": method, "params": kept}
    draft.count(f"acp.call {method}")


def result(draft: Draft, payload: Payload) -> None:
    """Take the result of a remembered call."""
    unread = payload.get("id") is None  # the answer to a frame that could not be read
    waiting = None if unread else draft.calls.pop(_key(payload), None)
    if waiting is not None and payload.get("error") is None:
        said = shape.maybe_mapping(payload, "result") or {}
        RESULTS[waiting["method"]](draft, waiting["params"], said)
    draft.count("acp.result")


_KEPT: Final = ("terminalId", "command", "args", "modeId", "modelId", "configId", "value")


def _key(payload: Payload) -> str:
    return f"{shape.text(payload, 'by')} {shape.name(payload, 'id')}"


def _created(draft: Draft, params: Payload, said: Payload) -> None:
    name = shape.name(said, "terminalId")
    command = shape.maybe_text(params, "command")
    args = shape.texts(params, "args")
    draft.screen(name).set(command=" ".join([command or "", *args]).strip() or None)


def _output(draft: Draft, params: Payload, said: Payload) -> None:
    name, output = shape.name(params, "terminalId"), shape.text(said, "output")
    status = shape.maybe_mapping(said, "exitStatus")
    ended = exit_of(status) if status is not None else None
    truncated = said.get("truncated") is True
    screen = draft.screen(name)
    screen.show(output)
    screen.set(truncated=truncated or None)
    if ended is not None:
        screen.set(**ended)
        screen.close()


def _waited(draft: Draft, params: Payload, said: Payload) -> None:
    name, ended = shape.name(params, "terminalId"), exit_of(said)
    screen = draft.screen(name)
    screen.set(**ended)
    screen.close()


def _released(draft: Draft, params: Payload, _said: Payload) -> None:
    draft.screen(shape.name(params, "terminalId")).close()


def _mode_set(draft: Draft, params: Payload, _said: Payload) -> None:
    change_mode(draft, shape.text(params, "modeId"))


def _model_set(draft: Draft, params: Payload, _said: Payload) -> None:
    change_model(draft, shape.text(params, "modelId"))


def _option_set(draft: Draft, _params: Payload, said: Payload) -> None:
    take_options(draft, read_options(said, "configOptions"))


def _loaded(draft: Draft, _params: Payload, said: Payload) -> None:
    take_setup(draft, read_setup(said))


RESULTS: Final[Mapping[str, Result]] = {
    "terminal/create": _created,
    "terminal/output": _output,
    "terminal/wait_for_exit": _waited,
    "terminal/release": _released,
    "session/set_mode": _mode_set,
    "session/set_model": _model_set,
    "session/set_config_option": _option_set,
    "session/load": _loaded,
    "session/resume": _loaded,
}

STEPS: Final[Mapping[str, Step]] = {
    "acp.call": call,
    "acp.result": result,
    "acp.notification": counted("acp.notification"),
    "agent.noise": counted("agent.noise"),
    "client.call": counted("client.call"),
    "session.alias": counted("session.alias"),
}
