"""What the scripted model says: no model, no weights, the same every time.

The last `[[…]]` of the user's words says what comes:

    [[run COMMAND]]   a few words, a call of the agent's shell tool, and then what it said
    [[write PATH]]    the same with the tool that writes a file; its contents are `WRITTEN`
    [[stream]]        words without an end, until the agent hangs up
    [[hello]]         a few words

An agent asks its model for more than turns (titles, summaries); it offers no tools then, and gets
a title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

HELLO: Final = "Hello from the script."
BEFORE: Final = "I shall look."
TITLE: Final = "A scripted session"

SHELLS: Final[Mapping[str, str]] = {
    "Bash": "command",
    "bash": "command",
    "exec_command": "cmd",
    "run_shell_command": "command",
    "shell_command": "command",
}
"""Shell tools of real agents, and the argument that takes the command."""

WRITERS: Final[Mapping[str, str]] = {
    "Write": "file_path",
    "write": "filePath",
    "write_file": "file_path",
}
"""Tools of real agents that write a file, and the argument that takes its path."""

WRITTEN: Final = "Grüße, 世界\n"

_ESCALATED: Final = {"sandbox_permissions": "require_escalated", "justification": "The script."}
_DESCRIBED: Final = {"description": "Run what the script says"}

EXTRA: Final[Mapping[str, Mapping[str, str]]] = {
    "Bash": _DESCRIBED,
    "bash": _DESCRIBED,
    "exec_command": _ESCALATED,
    "run_shell_command": _DESCRIBED,
    "shell_command": _ESCALATED,
}
"""What else they want to be told; without the escalation Codex does not ask."""


Speaker = Literal["user", "model", "tool"]


@dataclass(frozen=True, slots=True)
class Said:
    """One item of a conversation, whatever the wire's shape for it."""

    by: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What an agent asks its model."""

    said: Sequence[Said]
    tools: Sequence[str]
    streams: bool


@dataclass(frozen=True, slots=True)
class Tool:
    """The model calls a tool."""

    name: str
    arguments: Mapping[str, Any]
    id: str
    """Unique in its conversation."""


@dataclass(frozen=True, slots=True)
class Endless:
    """The model goes on talking."""


Part = str | Tool | Endless

_MARK: Final = re.compile(r"\[\[(run|write|stream|hello)\s*(.*?)\]\]", re.DOTALL)


def answer(asked: Asked) -> Iterator[Part]:
    """Yield what the model says next, in pieces."""
    if not asked.tools:
        yield TITLE
        return
    kind, argument, results = _cue(asked.said)
    if results:
        yield from _words(f"The tool said: {results[-1][:200]}")
    elif kind == "run":
        yield from _words(BEFORE)
        yield _shell(asked, argument)
    elif kind == "write":
        yield from _words(BEFORE)
        name = next(tool for tool in asked.tools if tool in WRITERS)
        yield Tool(name, {WRITERS[name]: argument, "content": WRITTEN}, _id(asked))
    elif kind == "stream":
        yield Endless()
    else:
        yield from _words(HELLO)


def _cue(said: Sequence[Said]) -> tuple[str, str, list[str]]:
    """Return the last cue of the user's, and what tools have said since."""
    for at in range(len(said) - 1, -1, -1):
        if said[at].by == "user" and (found := _MARK.findall(said[at].text)):
            since = said[at + 1 :]
            kind, argument = found[-1]
            return kind, argument, [item.text for item in since if item.by == "tool"]
    return "", "", []


def _shell(asked: Asked, command: str) -> Tool:
    name = next(tool for tool in asked.tools if tool in SHELLS)
    return Tool(name, {SHELLS[name]: command, **EXTRA.get(name, {})}, _id(asked))


def _id(asked: Asked) -> str:
    return f"script_{len(asked.said)}"


def _words(text: str) -> Iterator[str]:
    yield from re.findall(r"\S+\s*", text)
