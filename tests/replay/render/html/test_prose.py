"""Markdown as people and models write it, as HTML: shaped, and no word lost."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.render.html.inline import inline
from replay.render.html.prose import prose


def _text(html: str) -> str:
    found: list[str] = []

    class Words(HTMLParser):
        def handle_data(self, data: str) -> None:
            found.append(data)

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag not in {"a", "img", "script"}
            assert {name for name, _ in attrs} <= {"class", "tabindex", "start"}

    Words().feed(html)
    return "".join(found)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a < b & c", "a &lt; b &amp; c"),
        (
            "**bold** and *slanted* and _so_",
            "<strong>bold</strong> and <em>slanted</em> and <em>so</em>",
        ),
        ("`a < b` ``c ` d``", "<code>a &lt; b</code> <code>c &#96; d</code>"),
        ("snake_case_name 2 * 3 * 4", "snake_case_name 2 * 3 * 4"),
        (r"\*no\*", "*no*"),
        ("~~gone~~", "<del>gone</del>"),
        ("**bold `code`**", "<strong>bold <code>code</code></strong>"),
        (
            "[docs](javascript:x)",
            '<span class="link">docs</span><span class="address"> (javascript:x)</span>',
        ),
        ("[https://a.example](https://a.example)", "https://a.example"),
    ],
)
def test_within_a_line(written: str, shown: str) -> None:
    """A link is shown, not made; signs within words are none."""
    assert inline(written) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>"),
        ("# Head #", "<h4>Head</h4>"),
        (
            "- a\n- b\n  - c\n- [x] d",
            "<ul><li>a</li><li><p>b</p>\n<ul><li>c</li></ul></li><li>☑ d</li></ul>",
        ),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("> a\n> b", "<blockquote><p>a\nb</p></blockquote>"),
        ("---", "<hr>"),
        (
            "| a | b |\n|---|:-:|\n| 1 | `x` |",
            (
                '<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead>'
                "<tbody><tr><td>1</td><td><code>x</code></td></tr></tbody></table></div>"
            ),
        ),
        (
            "text\n```py\nx = 1\n\ny = 2\n```\nmore",
            (
                '<p>text</p>\n<div class="code"><span class="language">py</span>'
                '<pre tabindex="0"><code>x = 1\n\ny = 2</code></pre></div>\n<p>more</p>'
            ),
        ),
        (
            "~~~\nnever closed",
            '<div class="code"><pre tabindex="0"><code>never closed</code></pre></div>',
        ),
        (
            "1. a\n   ```\n   x\n   ```",
            '<ol><li><p>a</p>\n<div class="code"><pre tabindex="0"><code>x</code></pre></div></li></ol>',
        ),
    ],
)
def test_blocks(written: str, shown: str) -> None:
    """Paragraphs with their line breaks, headings below ours, lists, quotes, tables, code."""
    assert prose(written) == shown


SIGNS = st.sampled_from(
    [
        *"`*_~[]()<>&|#>-=!\\ \n\t",
        "```",
        "**",
        "- ",
        "1. ",
        "> ",
        "| a |\n|---|\n",
        "[a](b)",
        "word",
        "\n\n",
        "   ",
    ]
)


@given(st.lists(SIGNS, max_size=30).map("".join))
@settings(max_examples=200, deadline=None)
def test_no_word_is_lost(written: str) -> None:
    """F-L7's other half: whatever the signs around them, the words come out, in order."""
    words = re.findall("word", written)

    assert re.findall("word", _text(prose(written))) == words


@pytest.mark.parametrize(
    "text",
    ["> " * 5000, "- " * 5000, "*" * 20000, "x " + "`" * 5000 + "a", "[" * 20000, "**a" * 5000, "[a](" * 5000,
     "\n".join(" " * n + "- a" for n in range(300)), "| a " * 5000, "_a" * 9000, "~~a" * 5000, "`a``b" * 4000],
    ids=range(12),
)  # fmt: skip
@pytest.mark.timeout(10)
def test_no_text_takes_long(text: str) -> None:
    """Depth and length of what is nested are bounded: no recursion without end, no square."""
    assert _text(prose(text)) is not None
