"""A tool call: its line, its facts, what it printed (render.md, rules 4 and 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from replay.entries import Agent, Ask, Plan, Tool
from replay.pieces import Block, Excerpt, Json, Option, PlanItem, Question, ToolContent
from replay.render import DEFAULT, SNAPSHOT, TextOptions
from replay.transcript import Terminal

Make = Callable[..., Any]
Show = Callable[..., list[str]]


def _text(text: str) -> ToolContent:
    return ToolContent(type="text", text=Excerpt(text=text))


def _diff(old: str | None, new: str, path: str = "/w/a.py") -> ToolContent:
    return ToolContent(
        type="diff",
        path=path,
        old=None if old is None else Excerpt(text=old),
        new=Excerpt(text=new),
    )


def _run(make: Make, **fields: Any) -> Tool:
    tool: Tool = make(
        Tool,
        **{"tool_id": "t", "name": "bash", "input": {"command": "ls"}, "status": "completed"}
        | fields,
    )
    return tool


@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("completed", "✓ run     ls"),
        ("failed", "✗ run     ls"),
        ("rejected", "⊘ run     ls · rejected"),
        ("cancelled", "⊘ run     ls · cancelled"),
        ("aborted", "⊘ run     ls · aborted"),
        ("unresolved", "⊘ run     ls · no result"),
        ("pending", "◌ run     ls · pending"),
        ("waiting", "◌ run     ls · waiting"),
        ("in_progress", "◌ run     ls · running"),
        ("from the future", "◌ run     ls · from the future"),
    ],
)
def test_the_mark_says_how_it_went(make: Make, show: Show, status: str, line: str) -> None:
    """Render rule 2; F "unknown status": shown as it is, as open."""
    assert show(_run(make, status=status)) == [line]


def test_facts_stand_in_a_fixed_order(make: Make, show: Show) -> None:
    """Render rule 4: state, answer, diff stat, exit code, line count, flags, duration."""
    tool = _run(
        make,
        status="cancelled",
        answer="yes",
        content=(_diff("a\n", "b\n"), _text("\n".join(map(str, range(20))))),
        exit_code=3,
        orphan=True,
    )

    assert show(tool)[0] == (
        "⊘ run     ls · cancelled · yes · +1 −1 · exit 3 · 20 lines · start not recorded"
    )


def test_durations_are_shown_by_profile(make: Make, show: Show) -> None:
    """Render rule 8: two runs take different times, so golden files show none."""
    tool = _run(make, duration_s=6.4)

    assert show(tool, options=TextOptions(profile=DEFAULT))[-1] == "✓ run     ls · 6.4s"
    assert show(tool, options=TextOptions(profile=SNAPSHOT)) == ["✓ run     ls"]


def test_a_long_subject_is_clipped_and_facts_are_not(make: Make, show: Show) -> None:
    """Render rule 4: facts may pass the width by 20 cells, beyond that they take their own line."""
    long = _run(make, input={"command": "x" * 200}, exit_code=1, status="failed")
    longer = _run(make, input={"command": "承" * 100}, exit_code=1, status="failed", orphan=True)

    assert show(long) == [f"✗ run     {'x' * 67}… · exit 1"]
    assert show(longer) == [f"✗ run     {'承' * 33}…", "  exit 1 · start not recorded"]


def test_an_output_is_cut_in_the_middle_and_counted(make: Make, show: Show) -> None:
    """Render rule 4: head 8 and tail 4 lines, and how many are between."""
    tool = _run(make, content=(_text("".join(f"line {n}\n" for n in range(21))),))
    whole = _run(make, content=(_text("".join(f"line {n}\n" for n in range(12))),))

    assert show(tool) == [
        "✓ run     ls · 21 lines",
        *(f"  │ line {n}" for n in range(8)),
        "  │ … 9 lines …",
        *(f"  │ line {n}" for n in range(17, 21)),
    ]
    assert show(whole)[0] == "✓ run     ls"


def test_an_output_that_was_cut_in_the_state_says_its_size(make: Make, show: Show) -> None:
    """F "huge output": what is kept is shown, and how much there was."""
    cut = Excerpt(text="a\nb", size=812_345, sha256="0" * 64, tail="y\nz")
    tool = _run(make, content=(ToolContent(type="text", text=cut),))
    raw = _run(make, output={"text": "a\nb", "size": 812_345, "sha256": "0" * 64, "tail": "y\nz"})

    assert show(tool) == [
        "✓ run     ls · 812 345 bytes",
        "  │ a",
        "  │ b",
        "  │ … 812 345 bytes in all …",
        "  │ y",
        "  │ z",
    ]
    assert show(raw) == show(tool)


def test_results_of_reading_are_counted_not_printed(make: Make, show: Show) -> None:
    """Render rule 4: what was read or found is printed only when that failed."""
    fields = {"name": "read", "input": {"path": "/w/a"}, "content": (_text("```\n1\n2\n```"),)}

    assert show(_run(make, **fields)) == ["✓ read    a · 2 lines"]
    assert show(_run(make, **fields | {"status": "failed"})) == ["✗ read    a", "  │ 1", "  │ 2"]


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        ("plain", ["plain"]),
        ({"formatted_output": "f", "output": "o"}, ["f"]),
        ({"output": "o", "exit_code": 0, "error": None}, ["o"]),
        ({"stdout": "out\n", "stderr": "err"}, ["out", "err"]),
        ({"message": "m"}, ["m"]),
        ('{"output": "o", "exit_code": 0}', ["o"]),
        ("{not json", ["{not json"]),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ["a", "b"]),
        ({"exit_code": 0}, []),
        ({"output": "", "exit_code": 0}, []),
        (None, []),
        (7, []),
    ],
)
def test_words_are_found_in_a_raw_output(
    make: Make, show: Show, output: Json, lines: list[str]
) -> None:
    """R107: content, else formatted_output, output, stdout and stderr, else message."""
    assert show(_run(make, output=output))[1:] == [f"  │ {line}" for line in lines]


def test_a_raw_output_without_words_is_json_but_not_in_golden_files(make: Make, show: Show) -> None:
    """Facts/acp 3.4: pids and clocks of raw outputs stay out of snapshots."""
    tool = _run(make, output={"process_id": 4711, "exit_code": 0})

    assert show(tool, options=TextOptions(profile=DEFAULT))[-1] == '  │ {"process_id": 4711}'
    assert show(tool) == ["✓ run     ls"]


_PLAIN = TextOptions(profile=replace(SNAPSHOT, raw=True))


@pytest.mark.parametrize(
    "output", [{"output": "", "user_summary": "Done."}, {"output": "ok", "approval": "granted"}]
)
def test_what_stands_beside_a_tools_words_is_not_shown(
    make: Make, show: Show, output: Json
) -> None:
    """An object with a place for words says them, or says nothing: the rest is for `full`."""
    said = [f"  │ {output['output']}"] if output["output"] else []

    assert show(_run(make, output=output), options=_PLAIN)[1:] == said


def test_content_goes_before_raw_output(make: Make, show: Show) -> None:
    """F "rawOutput": kept beside content, shown only when content has no text."""
    assert show(_run(make, content=(_text("said"),), output="raw"))[1:] == ["  │ said"]
    assert show(_run(make, content=(_text(""),), output="raw"))[1:] == ["  │ raw"]


def test_a_description_is_no_output(make: Make, show: Show) -> None:
    """Content that only repeats what is to be done is not shown as if it had been printed."""
    given = {"command": "sleep 9", "description": "Wait a little"}
    tool = _run(make, input=given, status="aborted", content=(_text("Wait a little"),))

    assert show(tool) == ["⊘ run     sleep 9 · aborted"]


def test_terminals_are_shown_in_their_tool(make: Make, show: Show) -> None:
    """R121: output that a tool refers to by id, or that came in its `_meta`, is its output."""
    screens = (
        Terminal(id="t1", output="10%\r100%\n\udcff", exit_code=2),
        Terminal(id="t2", output="fed", signal="SIGTERM"),
    )
    named = _run(make, status="failed", content=(ToolContent(type="terminal", terminal="t1"),))
    fed = _run(make, status="failed", terminals=("t2",))

    assert show(named, terminals=screens) == ["✗ run     ls · exit 2", "  │ 100%", "  │ \ufffd"]
    assert show(fed, terminals=screens) == ["✗ run     ls · signal SIGTERM", "  │ fed"]


def test_an_error_beside_the_output_is_read_whole(make: Make, show: Show) -> None:
    """An error message is wrapped, not clipped; one that the output holds is not repeated."""
    error = "BLOCKED: the command was denied by the user and " + "must not be tried again " * 3
    tool = _run(make, status="failed", output={"output": "out", "error": error}, error=error)

    assert show(tool) == [
        "✗ run     ls",
        "  │ out",
        "  │ BLOCKED: the command was denied by the user and must not be tried again must",
        "  │ not be tried again must not be tried again",
    ]
    assert show(_run(make, status="failed", output=error, error=error))[1:] == [
        f"  │ {error[:75]}…"
    ]


def test_a_diff_is_made_from_two_texts(make: Make, show: Show) -> None:
    """F "diffs": unified, two lines around a change, the path where the line does not say it."""
    old = "".join(f"{n}\n" for n in range(1, 9))
    edit = _run(
        make,
        name="edit",
        input={"path": "/w/a.py"},
        content=(_diff(old, old.replace("5", "five")),),
    )
    codex = _run(make, name=None, tkind="edit", title="Editing", input=None, content=edit.content)

    body = ["  │ @@ -3,5 +3,5 @@", "  │  3", "  │  4", "  │ -5", "  │ +five", "  │  6", "  │  7"]
    assert show(edit) == ["✓ edit    a.py · +1 −1", *body]
    assert show(codex) == ["✓ edit    Editing · +1 −1", "  │ a.py", *body]


def test_several_diffs_are_all_shown_with_their_paths(make: Make, show: Show) -> None:
    """R106: each file's diff, a new file, text with fences; nothing leaves the gutter."""
    tool = _run(
        make,
        name="edit",
        input={"path": "/w/a"},
        content=(_diff("x\n", "", "/w/a"), _diff(None, "```\nnew\n", "/w/b"), _text("```\nhm")),
    )

    assert show(tool) == [
        "✓ edit    a · +2 −1",
        "  │ a",
        "  │ @@ -1 +0,0 @@",
        "  │ -x",
        "  │ b",
        "  │ @@ -0,0 +1,2 @@",
        "  │ +```",
        "  │ +new",
        "  │ ```",
        "  │ hm",
    ]


def test_a_long_diff_is_cut_in_the_middle(make: Make, show: Show) -> None:
    """Render rule 4: diffs head 14 and tail 4."""
    new = "".join(f"{n}\n" for n in range(30))
    tool = _run(make, name="write", input={"path": "/w/n"}, content=(_diff(None, new, "/w/n"),))
    lines = show(tool)

    assert lines[0] == "✓ write   n · +30 −0 · new file"
    assert len(lines) == 1 + 14 + 1 + 4
    assert lines[15] == "  │ … 13 lines …"


def test_a_patch_made_elsewhere_is_shown_without_colours_and_headers(
    make: Make, show: Show
) -> None:
    """Hermes's inline diff: ANSI, a header line and file names around the hunks."""
    patch = (
        "review header\n\x1b[38;2;218;165;32ma/N.md → b/N.md\x1b[0m\n"
        "\x1b[38;2;139;134;130m@@ -1,2 +1,2 @@\x1b[0m\n\x1b[38m a\x1b[0m\n"
        "\x1b[48m-- item\x1b[0m\n\x1b[48m+- item\tnew\x1b[0m"
    )
    tool = _run(make, name="patch", input={"path": "/w/N.md"}, inline_diff=patch)

    assert show(tool) == [
        "✓ edit    N.md · +1 −1",
        "  │ @@ -1,2 +1,2 @@",
        "  │  a",
        "  │ -- item",
        "  │ +- item  new",
    ]


def test_a_change_of_the_last_line_end_is_told(make: Make, show: Show) -> None:
    """Texts that differ only where no line shows it are not shown as equal."""
    tool = _run(make, name="edit", input={"path": "/w/a.py"}, content=(_diff("x\n", "x"),))

    assert show(tool)[1:] == ["  │ only the end of the last line differs"]


def test_texts_too_large_to_compare_say_so(make: Make, show: Show) -> None:
    """F "huge output": a diff of texts that are not kept whole is not made up."""
    content = ToolContent(
        type="diff",
        path="/w/a.py",
        old=Excerpt(text="x"),
        new=Excerpt(text="y", size=99_999, sha256="0", tail="z"),
    )
    tool = _run(make, name="edit", input={"path": "/w/a.py"}, content=(content,))

    assert show(tool)[1:] == ["  │ too large to compare: 1 → 99 999 bytes"]


def test_blocks_of_content_are_named(make: Make, show: Show) -> None:
    """R115: images, links and resources in a tool's content are named, a resource's text shown."""
    blocks = (
        Block(type="image", mime="image/png", size=3000),
        Block(type="resource_link", uri="file:///a\x1b[31m", name="a"),
        Block(type="resource", uri="file:///b", mime="text/plain", size=3, text="one\ntwo"),
    )
    tool = _run(make, content=tuple(ToolContent(type=b.type, block=b) for b in blocks))

    assert show(tool) == [
        "✓ run     ls",
        "  │ [image · image/png · 3 000 bytes]",
        "  │ [link · a · file:///a]",
        "  │ [resource · file:///b · text/plain · 3 bytes]",
        "  │ one",
        "  │ two",
    ]


def test_a_permission_stands_within_its_tool(make: Make, show: Show) -> None:
    """Render rule 6; F "permission": the tool's own line, then what was asked and picked."""
    options = (Option(id="a", label="Allow"), Option(id="r", label="Reject"))
    tool = _run(make, status="rejected")
    ask = make(
        Ask, ask_id="s", method="session/request_permission", what="permission", tool_id="t",
        tool=tool.id, state="answered",
        questions=(Question(id="q", text="", options=options, answer=("r",)),),
    )  # fmt: skip
    withdrawn = make(
        Ask, ask_id="s2", method="session/request_permission", what="permission", tool_id="t",
        tool=tool.id, state="withdrawn", reason="interrupted",
        questions=(Question(id="q", text="", options=options),),
    )  # fmt: skip

    assert show(tool, ask, withdrawn) == [
        "⊘ run     ls · rejected",
        "  ◆ ( ) Allow  (•) Reject",
        "  ◆ ( ) Allow  ( ) Reject · withdrawn: interrupted",
    ]


def test_a_tool_known_only_from_its_permission_is_the_question(make: Make, show: Show) -> None:
    """F "Permissions": such a tool is shown as the question alone."""
    tool = _run(make, status="rejected", permission_only=True)
    options = (Option(id="a", label="Allow"), Option(id="r", label="Reject"))
    ask = make(
        Ask, ask_id="s", method="session/request_permission", what="permission", title="Run ls",
        tool=tool.id, state="answered",
        questions=(Question(id="q", text="", options=options, answer=("r",)),),
    )  # fmt: skip

    assert show(tool, ask) == ["◆ permission · Run ls", "    ( ) Allow  (•) Reject"]


def test_a_question_replaces_its_tool_and_a_plan_its_todo(make: Make, show: Show) -> None:
    """Render rule 6: clarify is shown once, as the question; a todo tool that failed stays."""
    clarify = _run(make, name="clarify", input={"question": "Which?"})
    ask = make(
        Ask, ask_id="s", method="clarify", what="clarify", tool=clarify.id, state="answered",
        questions=(
            Question(id="q0", text="Which?", options=(Option(id="x", label="x"),), answer=("x",)),
        ),
    )  # fmt: skip
    worked = _run(make, name="todo", input={})
    plan = make(Plan, items=(PlanItem(text="Do it", status="completed"),))
    failed = _run(make, name="TodoWrite", input={}, status="failed")

    assert show(clarify, ask, worked, plan, failed) == [
        "◆ question",
        "  Which?",
        "    (•) x",
        "",
        "☰ plan · 1/1",
        "  [x] Do it",
        "",
        "✗ todo",
    ]


def test_tools_of_one_line_stand_together(make: Make, show: Show) -> None:
    """Render rule 3: one blank line between entries, none behind a tool of one line."""
    one = _run(make)
    more = _run(make, content=(_text("out"),))

    assert show(one, one, more, one, make(Agent, text="done")) == [
        "✓ run     ls",
        "✓ run     ls",
        "✓ run     ls",
        "  │ out",
        "",
        "✓ run     ls",
        "",
        "● agent",
        "  done",
    ]
