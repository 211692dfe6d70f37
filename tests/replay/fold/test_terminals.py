"""Terminals: fed in `_meta`, by calls of the client, by updates of their own."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay import EMPTY, System, Terminal, Tool, Unknown, fold
from tests.replay.records import CODEX, Log, all_of, only

SAID = "承知しました🔥"


def chunk(log: Log, data: bytes) -> None:
    encoded = base64.b64encode(data).decode()
    log.update("terminal_output_chunk", terminalId="term", data=encoded)


def test_output_in_meta_is_appended() -> None:
    """F: "_meta": terminal_info, terminal_output_delta, terminal_exit feed one terminal (codex)."""
    log = Log(CODEX)
    log.call("t", _meta={"terminal_info": {"terminal_id": "t", "cwd": "/"}})
    log.patch("t", _meta={"terminal_output_delta": {"data": "tick 1\n", "terminal_id": "t"}})
    log.patch(
        "t",
        status="failed",
        _meta={
            "terminal_output_delta": {"data": "tick 2\n", "terminal_id": "t"},
            "terminal_exit": {"exit_code": 3, "signal": None, "terminal_id": "t"},
        },
    )

    transcript = log.folded()
    tool = only(transcript, Tool)
    assert transcript.terminals == (
        Terminal(id="t", output="tick 1\ntick 2\n", exit_code=3, closed=True),
    )
    assert (tool.exit_code, tool.terminals, tool.meta) == (3, ("t",), {})


def test_deltas_in_a_later_turn_reach_their_terminal() -> None:
    """F: "_meta": codex goes on feeding a terminal after the cancel and inside the next turn."""
    log = Log(CODEX)
    prompt = log.prompt()
    log.call("t", _meta={"terminal_info": {"terminal_id": "t"}})
    log.ends(prompt, "cancelled")
    log.prompt()
    log.patch("t", _meta={"terminal_output_delta": {"data": "late", "terminal_id": "t"}})

    transcript = log.folded()
    assert transcript.terminals[0].output == "late"
    assert (only(transcript, Tool).turn, len(all_of(transcript, Tool))) == (1, 1)


def test_the_exit_code_is_in_the_raw_output_too() -> None:
    """F: "_meta": exit code from terminal_exit, else rawOutput.exit_code."""
    log = Log(CODEX)
    log.call("t")
    log.patch("t", status="completed", rawOutput={"exit_code": 1})

    assert only(log.folded(), Tool).exit_code == 1


def test_a_malformed_terminal_in_meta_changes_nothing() -> None:
    """F-L8: neither the tool nor the terminal."""
    log = Log(CODEX)
    log.call("t", title="ls")
    log.patch("t", title="x", _meta={"terminal_output_delta": {"data": 3}})

    transcript = log.folded()
    assert only(transcript, Tool).title == "ls"
    assert transcript.terminals == ()
    assert only(transcript, Unknown).problem == "data is a number, not a string"


def test_the_client_runs_a_terminal() -> None:
    """F: "acp.call, acp.result with terminal/*": create, output, exit feed the terminal (R121)."""
    log = Log()
    asked = {"by": "agent", "id": 0}
    log.add("acp.call", **asked, method="terminal/create", params={"command": "ls", "args": ["-l"]})
    log.add("acp.result", **asked, result={"terminalId": "term-1"})
    asked = {"by": "agent", "id": 1}
    log.add("acp.call", **asked, method="terminal/output", params={"terminalId": "term-1"})
    log.add("acp.result", **asked, result={"output": "a", "truncated": False})
    asked = {"by": "agent", "id": 2}
    log.add("acp.call", **asked, method="terminal/output", params={"terminalId": "term-1"})
    log.add(
        "acp.result",
        **asked,
        result={"output": "a\nb", "truncated": True, "exitStatus": {"exitCode": 0}},
    )

    transcript = log.folded()
    assert transcript.terminals == (
        Terminal(
            id="term-1", output="a\nb", command="ls -l", exit_code=0, truncated=True, closed=True
        ),
    )
    assert transcript.ephemeral == {
        "acp.call terminal/create": 1,
        "acp.call terminal/output": 2,
        "acp.result": 3,
    }  # fmt: skip


@pytest.mark.parametrize("method", ["terminal/wait_for_exit", "terminal/release"])
def test_waiting_and_releasing_close_a_terminal(method: str) -> None:
    """F: "acp.call, acp.result with terminal/*": its output stays."""
    log = Log()
    log.update("terminal_update", terminalId="term-1", output="x")
    log.add("acp.call", by="agent", id=7, method=method, params={"terminalId": "term-1"})
    log.add("acp.result", by="agent", id=7, result=None)

    (terminal,) = log.folded().terminals
    assert (terminal.output, terminal.closed) == ("x", True)


def test_a_call_that_failed_does_nothing() -> None:
    """F: "acp.call, acp.result": counted, with no effect."""
    log = Log()
    log.add("acp.call", by="client", id=1, method="session/set_mode", params={"modeId": "plan"})
    log.add("acp.result", by="client", id=1, error={"code": -32603, "message": "no"})

    assert log.folded().mode is None


def test_settings_that_a_client_makes_are_seen() -> None:
    """R066: set_mode, set_model and set_config_option stand in the log, and so in a transcript."""
    log = Log(modes={"currentModeId": "a"}, models={"currentModelId": "m"})
    effort = [{"id": "effort", "category": "thought_level", "currentValue": "high"}]
    for id_, method, params, result in (
        (1, "session/set_mode", {"modeId": "b"}, {}),
        (2, "session/set_model", {"modelId": "n"}, None),
        (3, "session/set_config_option", {"configId": "effort"}, {"configOptions": effort}),
    ):
        log.add("acp.call", by="client", id=id_, method=method, params=params)
        log.add("acp.result", by="client", id=id_, result=result)

    transcript = log.folded()
    assert (transcript.mode, transcript.info.model, transcript.config) == (
        "b",
        "n",
        {"effort": "high"},
    )
    assert [entry.text for entry in all_of(transcript, System)] == ["a → b", "m → n"]


def test_calls_of_the_two_ends_have_ids_of_their_own() -> None:
    """P-2: ids of the two directions are independent."""
    log = Log()
    log.add("acp.call", by="client", id=1, method="session/set_mode", params={"modeId": "b"})
    log.add("acp.call", by="agent", id=1, method="terminal/create", params={"command": "ls"})
    log.add("acp.result", by="agent", id=1, result={"terminalId": "term"})
    log.add("acp.result", by="client", id=1, result={})

    transcript = log.folded()
    assert (transcript.mode, transcript.terminals[0].command) == ("b", "ls")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["ü" * 9_000, "\ud83d", "\ude80", "x" * 700, "🚀"]), max_size=14))
def test_a_huge_output_in_chunks_is_kept_as_its_ends(parts: list[str]) -> None:
    """F: "huge output": over 64 KiB head, tail and size, however it was cut (F-L5)."""
    log, at_once = Log(), Log()
    for part in parts:
        log.add("agent.terminal.output", process_id="p", chunk=part)
    whole = "".join(parts)
    at_once.add("agent.terminal.output", process_id="p", chunk=whole)
    resumed = EMPTY
    for record in log.records:
        resumed = fold(resumed, [record])

    assert log.folded().terminals == resumed.terminals
    if parts:
        (terminal,), (expected,) = log.folded().terminals, at_once.folded().terminals
        assert terminal == expected
        text = whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        raw = text.encode("utf-8", "surrogatepass")
        if len(raw) <= 65_536:
            assert (terminal.output, terminal.size) == (text, None)
        else:
            assert terminal.size == len(raw)
            assert raw.startswith(terminal.output.encode("utf-8", "surrogatepass"))
            assert raw.endswith((terminal.tail or "").encode("utf-8", "surrogatepass"))
            assert 4_093 <= len(terminal.output.encode("utf-8", "surrogatepass")) <= 4_096


def test_a_huge_snapshot_has_its_hash() -> None:
    """F: "huge output": what came as one text can be fetched by its hash (P-34)."""
    log = Log()
    log.update("terminal_update", terminalId="t", output="x" * 70_000)

    (terminal,) = log.folded().terminals
    assert (terminal.size, terminal.output, terminal.tail) == (70_000, "x" * 4_096, "x" * 1_024)
    assert terminal.sha256 == hashlib.sha256(b"x" * 70_000).hexdigest()


# -- ACP 2 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", range(len(SAID.encode()) + 1))
def test_bytes_cut_anywhere_are_the_same_text(at: int) -> None:
    """R109; F: "terminal_update / terminal_output_chunk": base64 by chunk, whole characters."""
    log = Log()
    chunk(log, SAID.encode()[:at])
    chunk(log, SAID.encode()[at:])

    (terminal,) = log.folded().terminals
    assert (terminal.output, terminal.pending) == (SAID, "")


def test_bytes_one_by_one_are_the_same_text() -> None:
    """R109: one byte a frame; no U+FFFD."""
    log = Log()
    for byte in SAID.encode():
        chunk(log, bytes([byte]))

    assert log.folded().terminals[0].output == SAID


def test_bytes_that_are_no_text_are_kept() -> None:
    """R109: invalid bytes stay what they are; half a character is flushed at the end."""
    log = Log()
    chunk(log, b"a\xff\xfeb" + SAID.encode()[:2])
    waiting = log.folded().terminals[0]
    log.update("terminal_update", terminalId="term", exitStatus={"exitCode": 0, "signal": None})

    (terminal,) = log.folded().terminals
    assert (waiting.output, base64.b64decode(waiting.pending)) == (
        "a\udcff\udcfeb",
        SAID.encode()[:2],
    )
    raw = terminal.output.encode("utf-8", "surrogateescape")
    assert raw == b"a\xff\xfeb" + SAID.encode()[:2]
    assert (terminal.closed, terminal.exit_code) == (True, 0)


def test_a_snapshot_replaces_the_output() -> None:
    """F: "terminal_update / terminal_output_chunk": upsert, then append."""
    log = Log()
    chunk(log, b"old")
    log.update("terminal_update", terminalId="term", command="make", output="new")
    chunk(log, b"er")

    (terminal,) = log.folded().terminals
    assert (terminal.command, terminal.output) == ("make", "newer")


def test_data_that_is_no_base64_is_shown() -> None:
    """F-L8: the terminal is left as it is."""
    log = Log()
    chunk(log, b"x")
    log.update("terminal_output_chunk", terminalId="term", data="%%%")

    transcript = log.folded()
    assert transcript.terminals[0].output == "x"
    assert only(transcript, Unknown).problem == "data is no base64"
