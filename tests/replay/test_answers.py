"""What is asked of `hermes-replay` rather than shown: exit codes, and what stands where (cli.md)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replay.exits import DAMAGED, DONE, FOUND, USAGE

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def file(captures: Path) -> Path:
    """A capture with one session of two turns, with tools of which two failed."""
    return captures / "acp/claude049-tools.jsonl"


def test_grep_names_entries_and_fails_if_there_is_nothing(ask: Run, file: Path) -> None:
    """Cli, `--grep RE`: entry ids; exit 1 when nothing is found, 2 when it is no pattern."""
    code, out, _ = ask(file, grep="nonexistent-dir")
    as_json = ask(file, grep="nonexistent-dir", json=True)[1].splitlines()

    assert code == DONE
    assert all(line.startswith("e") and "  tool  " in line for line in out.splitlines())
    assert [json.loads(line)["line"] for line in as_json] == [
        line.split("  ", 2)[2] for line in out.splitlines()
    ]
    assert ask(file, grep="no such words")[:2] == (FOUND, "")
    assert ask(file, grep="(")[0] == USAGE


def test_numbers_are_text_or_json(ask: Run, file: Path) -> None:
    """Cli, `--stats` and `--json`; of a part, the numbers of that part."""
    code, out, _ = ask(file, stats=True)
    values = json.loads(ask(file, stats=True, json=True)[1])

    assert (code, out.splitlines()[1]) == (DONE, "turns    2 · 2 complete")
    assert (values["turns"], values["events"]) == ({"complete": 2}, 150)
    assert json.loads(ask(file, stats=True, json=True, turn=2)[1])["turns"] == {"complete": 1}


def test_equal_sessions_have_no_difference(ask: Run, file: Path, captures: Path) -> None:
    """R173: exit 0 and nothing printed; else exit 1, the diff, and where it begins."""
    other = str(captures / "acp/claude049-termmeta.jsonl")
    code, out, err = ask(file, diff=str(captures / "acp/claude049-cancel.jsonl"))

    assert ask(file, diff=str(file)) == (DONE, "", "")
    assert code == FOUND
    assert out.startswith("--- imp-")
    assert err == "hermes-replay: first difference: turn 1 | turn 1\n"
    values = json.loads(ask(file, diff=other, json=True)[1])
    assert set(values) == {"equal", "a", "b", "first", "diff"}


def test_a_part_is_compared_with_the_same_part(ask: Run, file: Path) -> None:
    """R173: `--until`, `--turn` and filters hold for both sides."""
    assert ask(file, diff=str(file), turn=1, only="tool") == (DONE, "", "")


def test_several_sessions_cannot_be_compared_with_one(ask: Run, file: Path, captures: Path) -> None:
    """Cli: exit 2, and how to pick one."""
    code, out, err = ask(file, diff=str(captures / "hermes/15_two_sessions.jsonl"))

    assert (code, out) == (USAGE, "")
    assert "--session" in err


@pytest.mark.parametrize("suffix", [".txt", ".md", ".json", ".jsonl", ".html"])
def test_a_check_renders_again_and_compares(
    ask: Run, file: Path, tmp_path: Path, suffix: str
) -> None:
    """Cli, `--check FILE`: exit 0 if it is the same, else 1 and a diff; the suffix tells the format."""
    kept = tmp_path / f"kept{suffix}"
    assert ask(file, output=kept)[0] == DONE
    same = ask(file, check=kept)
    kept.write_bytes(kept.read_bytes().replace(b"nonexistent", b"non-existent"))
    code, out, err = ask(file, check=kept)

    assert same == (DONE, "", "")
    assert code == FOUND
    assert out.startswith(f"--- {kept}\n+++ rendered now\n@@")
    assert "is not what is rendered now" in err


def test_what_is_filtered_out_is_counted(ask: Run, file: Path) -> None:
    """Render rule 7: the foot says how many entries a filter left out."""
    code, out, _ = ask(file, only="user,agent", profile="snapshot")

    assert code == DONE
    assert out.rstrip().endswith("filtered entries not shown")
    assert "✓" not in out
    assert ask(file, only="nonsense")[0] == USAGE
    assert ask(file, turn=7)[0] == USAGE
    assert ask(file, last=0)[0] == USAGE


def test_parts_can_be_exported(ask: Run, file: Path, tmp_path: Path) -> None:
    """R165: `--last 1` in every format, and the lines from a point on, are read again as a session."""
    for suffix in (".md", ".html", ".json", ".txt", ".cast"):
        assert ask(file, output=tmp_path / f"last{suffix}", last=1)[0] == DONE
        assert "[[S:parallel]]" in (tmp_path / f"last{suffix}").read_text(encoding="utf-8")
        assert "[[S:tools]]" not in (tmp_path / f"last{suffix}").read_text(encoding="utf-8")
    lines = tmp_path / "last.jsonl"
    assert ask(file, output=lines, last=1)[0] == DONE
    assert "Both read. Fin." in ask(lines, profile="snapshot")[1]


def test_a_json_export_is_the_same_when_it_comes_back(ask: Run, file: Path, tmp_path: Path) -> None:
    """R165: export, read again, export: the same bytes."""
    once, twice = tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    ask(file, output=once)
    ask(once, output=twice)

    assert once.read_bytes() == twice.read_bytes()


def test_secrets_stay_hidden_in_answers(ask: Run, tmp_path: Path) -> None:
    """R138, R168: with `--redact` a search finds no token, and states are what they were."""
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ2sT4vX6zA8cF0hJ5kLm"
    call = {"sessionUpdate": "tool_call", "toolCallId": "t", "kind": "execute", "status": "failed",
            "title": f"echo {token}", "rawOutput": {"output": token, "exit_code": 3}}  # fmt: skip
    payload = json.dumps({"update": call})
    (tmp_path / "s.jsonl").write_text(
        f'{{"seq":1,"ts":1,"type":"acp.session_update","payload":{payload}}}\n'
    )
    path = tmp_path / "s.jsonl"
    plain = ask(path, profile="snapshot")[1]
    hidden = ask(path, profile="snapshot", redact=True)[1]

    assert ask(path, grep=token)[0] == DONE
    assert ask(path, grep=token, redact=True)[0] == FOUND
    assert token not in hidden
    assert ("✗ run" in plain, "✗ run" in hidden) == (True, True)
    assert ("exit 3" in plain, "exit 3" in hidden) == (True, True)
    assert ask(path, stats=True, json=True)[1] == ask(path, stats=True, json=True, redact=True)[1]


def test_a_damaged_file_answers_and_says_so(ask: Run, file: Path, tmp_path: Path) -> None:
    """R031: a bad line is named and leaves a gap; what is asked is answered; exit 4."""
    lines = tmp_path / "lines.jsonl"
    ask(file, output=lines)
    torn = lines.read_bytes().splitlines()
    torn[5] = torn[5][:20]
    lines.write_bytes(b"\n".join(torn) + b"\n")
    code, out, err = ask(lines, grep="nonexistent-dir")

    assert code == DAMAGED
    assert out
    assert "line 6: " in err


def test_all_limits_are_said(ask: Run, tmp_path: Path) -> None:
    """R112: 1 001 messages and 5 000 tools are all there; what a profile leaves out is counted."""
    path = tmp_path / "long.jsonl"
    records = [
        {"type": "prompt.submitted", "payload": {"content": [{"type": "text", "text": "Go"}]}}
    ]
    for number in range(1001):
        said = {"sessionUpdate": "agent_message_chunk", "messageId": f"m{number}",
                "content": {"type": "text", "text": f"message {number}"}}  # fmt: skip
        records.append({"type": "acp.session_update", "payload": {"update": said}})
    for number in range(5000):
        call = {"sessionUpdate": "tool_call", "toolCallId": f"t{number}", "kind": "execute",
                "status": "completed", "title": f"tool {number}"}  # fmt: skip
        records.append({"type": "acp.session_update", "payload": {"update": call}})
    path.write_text(
        "".join(
            json.dumps({"seq": seq, "ts": seq, **one}) + "\n" for seq, one in enumerate(records, 1)
        )
    )
    lines = ask(path, profile="snapshot")[1].splitlines()

    assert sum(line == "● agent" for line in lines) == 1001
    assert sum(line.startswith("✓ run     tool ") for line in lines) == 5000
    assert "5 000 tools" in ask(path, profile="compact")[1]


@pytest.mark.parametrize(
    "fields",
    [
        {"grep": "x", "stats": True},
        {"digest": True, "diff": "y"},
        {"follow": True, "step": True},
        {"wait": True},
        {"json": True},
        {"format": "jsonl", "only": "tool"},
        {"lines": "x"},
        {"lines": "1+"},
        {"lines": "-1"},
    ],
)
def test_what_cannot_be_had_at_once_is_refused(
    ask: Run, file: Path, fields: dict[str, Any]
) -> None:
    """Cli: exit 2, in words; nothing that was asked for is quietly left undone."""
    code, out, err = ask(file, **fields)

    assert (code, out) == (USAGE, "")
    assert "\n  try: " in err
