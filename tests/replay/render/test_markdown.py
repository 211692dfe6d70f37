"""Markdown: what was said stays readable, and nothing of it breaks out (render.md 9; R106)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from eventlog import parse
from replay import fold
from replay.entries import Agent, Ask, Thought, Tool, User
from replay.pieces import Block, Excerpt, Option, Question, ToolContent
from replay.render import SNAPSHOT, TextOptions
from replay.render.markdown import render_markdown
from replay.render.markdown.prose import fenced, harmless
from replay.transcript import Transcript, Turn
from tests.replay.render.hostile import HOSTILE, session

Make = Callable[..., Any]

EXAMPLES = Path(__file__).parent / "examples"

OURS = {"a", "p", "b", "code", "details", "summary"}
MADE = {
    *(
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "pre",
        "code",
        "ul",
        "ol",
        "li",
        "em",
        "strong",
        "hr",
    ),
    *("blockquote", "table", "thead", "tbody", "tr", "th", "td", "s", "a", "br"),
}
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


class Tags(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.depth: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag == "details":
            self.depth.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "details":
            self.depth.pop()

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def _page(*entries: Any, **fields: Any) -> str:
    turn = Turn(n=1, started=1, t0=0, t1=0, outcome="complete")
    one = Transcript(turns=(turn,), entries=entries, **fields)
    return render_markdown([one], TextOptions(profile=SNAPSHOT))


def _assert_harmless(markdown: str) -> Tags:
    for token in READER.parse(markdown):
        for inner in [token, *(token.children or [])]:
            if inner.type in {"html_block", "html_inline"}:
                tags = set(re.findall(r"</?([a-z0-9]+)", inner.content))
                assert tags <= OURS, inner.content
    page = Tags(READER.render(markdown))
    for tag, attributes in page.found:
        assert tag in OURS | MADE
        assert not any(name.startswith("on") for name in attributes)
        assert re.match(r"https?://|mailto:|#|[\w./-]+(?:[#?]|\Z)", attributes.get("href") or "#")
        assert set(attributes) <= {"id", "href", "open", "class", "title", "style", "start"}
    assert page.depth == []
    return page


@pytest.mark.parametrize(("name", "session_id"), [("a", "s-7f3c2a"), ("b", "s-b81e04")])
def test_example(name: str, session_id: str) -> None:
    """Render, rule 9: the sessions of examples A and B as Markdown, whole."""
    lines = (EXAMPLES / f"{name}.jsonl").read_bytes().splitlines()
    page = render_markdown([fold(Transcript(session=session_id), map(parse, lines))], TextOptions())

    assert page == (EXAMPLES / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_breaks_out_of_any_field(text: str) -> None:
    """R106, R152: no tag, no handler, no script address, whatever field the text stands in."""
    markdown = render_markdown([session(text)], TextOptions())
    page = _assert_harmless(markdown)
    ids = [attributes["id"] for _, attributes in page.found if attributes.get("id")]

    assert len(ids) == len(set(ids))
    assert [tag for tag, _ in page.found if tag in {"h1", "h2"}] == ["h1", "h2"]


@given(
    st.lists(
        st.sampled_from([*HOSTILE, *"`~<>&[]()!\\#-=|:\n \t*_", "```", "\n\n", "    "]), max_size=12
    )
)
@settings(max_examples=200, deadline=None)
def test_no_mixture_breaks_out(parts: list[str]) -> None:
    """R106: however such texts are put together, a reader of CommonMark finds none of their HTML."""
    text = "".join(part for part in parts if part.isprintable() or part.isspace() or "\n" in part)
    markdown = f"{harmless(text)}\n\n### Ours\n"
    tokens = READER.parse(markdown)

    assert not [
        inner
        for token in tokens
        for inner in [token, *(token.children or [])]
        if inner.type in {"html_block", "html_inline", "image"}
    ]
    for tag, attributes in Tags(READER.render(markdown)).found:
        assert tag in MADE
        assert re.match(r"https?://|mailto:|#|[\w./-]+(?:[#?]|\Z)", attributes.get("href") or "#")
    headings = [token for token in tokens if token.type == "heading_open" and token.level == 0]
    assert headings[-1].tag == "h3"
    assert all(token.tag > "h3" for token in headings[:-1])


@pytest.mark.parametrize("text", HOSTILE)
def test_no_control_character_reaches_the_page(text: str) -> None:
    """R132: of the control characters only line feeds come out."""
    markdown = render_markdown([session(text)], TextOptions())

    assert {c for c in markdown if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}} <= {"\n"}
    assert not set(markdown) & set("\u202e\u200f\u2066")


def test_headings_and_folds(make: Make) -> None:
    """Render, rule 9: `## Turn 1`, `### You`, `### Agent`, `<details>` for thoughts and tools."""
    tool = make(
        Tool,
        tool_id="t",
        name="bash",
        input={"command": 'echo "<a & b>"'},
        status="completed",
        content=(ToolContent(type="text", text=Excerpt(text="out")),),
    )
    page = _page(make(User, text="Hi"), make(Thought, text="Hm."), tool, make(Agent, text="Done."))

    assert page == (
        '## Turn 1\n\n<a id="e2"></a>\n\n### You\n\nHi\n\n'
        '<details id="e3">\n<summary>∴ <b>Thought</b></summary>\n\nHm.\n\n</details>\n\n'
        '<details id="e1">\n<summary>✓ <b>Terminal command</b> '
        "<code>echo &quot;&lt;a &amp; b&gt;&quot;</code></summary>\n\n"
        "```\nout\n```\n\n</details>\n\n"
        '<a id="e4"></a>\n\n### Agent\n\nDone.\n'
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain *text* with `a < b` and **more**", "plain *text* with `a < b` and **more**"),
        ("a < b && c", "a &lt; b &amp;&amp; c"),
        ("# Big", "#### Big"),
        ("Title\n-----\nx", "Title\n* * *\nx"),
        (
            "[docs](https://example.org) [f](src/a.py#L3)",
            "[docs](https://example.org) [f](src/a.py#L3)",
        ),
        ("[x](javascript:x)", "[x\\](javascript:x)"),
        ("![x](https://example.org/x.png)", "\\![x](https://example.org/x.png)"),
        ("one ` tick", "one \\` tick"),
        ("```py\nx = '<b>'\n```", "```py\nx = '<b>'\n```"),
        ("text\n```\nnever closed", "text\n\n```\nnever closed\n```"),
        ("~~~\n```\n~~~", "````\n```\n````"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("- [x] done\n- [ ] open", "- [x] done\n- [ ] open"),
    ],
)
def test_what_was_written_stays(written: str, shown: str) -> None:
    """Render, rule 5: Markdown is kept as written, but for what would break out."""
    assert harmless(written) == shown


@pytest.mark.parametrize("ticks", range(8))
def test_a_fence_is_longer_than_what_it_holds(ticks: int) -> None:
    """Render, rule 9: fence = longest backtick run + 1."""
    fence, *_, end = fenced(["a " + "`" * ticks, "b"]).split("\n")

    assert fence == end == "`" * max(3, ticks + 1)


def test_every_diff_of_a_tool_is_shown_with_its_path(make: Make) -> None:
    """R106: two files, one of them new, and a text with a fence: nothing leaks out of the fold."""
    content = (
        ToolContent(type="diff", path="/w/a.py", old=Excerpt(text="a\n"), new=Excerpt(text="b\n")),
        ToolContent(type="diff", path="/w/b.py", old=None, new=Excerpt(text="n\n")),
        ToolContent(type="text", text=Excerpt(text="see ```x``` end\n```")),
    )
    page = _page(make(Tool, tool_id="t", name="edit", status="failed", content=content))

    assert page.count("```diff\n") == 2
    assert "<code>/w/a.py</code>" in page
    assert "<code>/w/b.py</code>" in page
    assert "````\nsee ```x``` end\n```\n````" in page
    assert _assert_harmless(page).depth == []


def test_questions_show_their_choices(make: Make) -> None:
    """Render, rule 6: what was picked and what was not; a permission within its tool."""
    options = (Option(id="y", label="Yes"), Option(id="n", label="[No]"))
    asked = Question(id="q", text="Go on?", options=options, answer=("y",))
    ask = make(Ask, ask_id="a", method="m", what="clarify", state="answered", questions=(asked,))
    page = _page(ask)

    assert page.endswith("◆ <b>Question</b></p>\n\nGo on?\n\n- (•) Yes\n- ( ) \\[No\\]\n")


def test_attachments_are_named(make: Make) -> None:
    """R036: an image is its type, size and kind; never its content."""
    image = Block(type="image", mime="image/png", size=3000)

    assert "\\[image · image/png · 3 000 bytes\\]" in _page(make(User, text="", blocks=(image,)))


def test_two_sessions_keep_their_anchors_apart(make: Make) -> None:
    """`#e1` leads to one place."""
    one = Transcript(session="s-1", entries=(make(User, text="Hi"),))
    page = render_markdown([one, one], TextOptions())

    assert re.findall(r'id="([^"]*)"', page) == ["e1", "s2-e1"]
