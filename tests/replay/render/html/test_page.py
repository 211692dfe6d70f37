"""One HTML file: nothing gets in, nothing gets out, everything can be read (R152)."""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from replay.entries import Agent, Ask, Error, Plan, Subagent, Thought, Tool, User
from replay.pieces import Excerpt, Option, PlanItem, Question, ToolContent
from replay.render import SNAPSHOT, TextOptions
from replay.render.html import render_html
from replay.render.html.icons import drawn, sprite
from replay.render.html.page import FILTERS
from replay.render.verbs import VERBS
from replay.transcript import Transcript, Turn
from tests.replay.render.hostile import HOSTILE, session

Make = Callable[..., Any]

ATTRIBUTES = {
    *(
        "id",
        "class",
        "href",
        "title",
        "open",
        "checked",
        "type",
        "start",
        "tabindex",
        "lang",
        "charset",
    ),
    *(
        "name",
        "content",
        "http-equiv",
        "data-kind",
        "data-state",
        "aria-label",
        "aria-hidden",
        "d",
        "viewbox",
    ),
}
VOID = {"meta", "input", "br", "hr", "use", "link", "img"}


class Page(HTMLParser):
    """What a browser finds in a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.stack: list[str] = []
        self.words: list[str] = []
        self.style = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack[-1:] == ["style"]:
            self.style += data
        else:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return "".join(self.words)


def _html(*entries: Any, outcome: Any = "complete", **fields: Any) -> str:
    turn = Turn(n=1, started=1, t0=0, t1=0, outcome=outcome)
    one = Transcript(turns=(turn,), entries=entries, **fields)
    return render_html([one], TextOptions(profile=SNAPSHOT))


def _assert_closed(html: str) -> Page:
    """No script, no handler, no address of another place, nothing to load."""
    page = Page(html)
    names = {name for name, _ in page.tags}
    assert not names & {
        "script",
        "img",
        "iframe",
        "object",
        "embed",
        "link",
        "form",
        "base",
        "video",
        "audio",
    }
    for _, attributes in page.tags:
        assert set(attributes) <= ATTRIBUTES
        assert (attributes.get("href") or "#").startswith("#")
    assert page.stack == []
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert len(page.named("style")) == 1
    return page


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_gets_in_through_any_field(text: str) -> None:
    """R152: of everything hostile in every field a browser finds text."""
    page = _assert_closed(render_html([session(text)], TextOptions()))

    assert len(page.named("h1")) == 1
    assert len(page.named("title")) == 1
    assert [heading for heading in page.named("h2") if heading] == []


@pytest.mark.parametrize("text", HOSTILE)
def test_no_control_character_reaches_the_page(text: str) -> None:
    """R132: of the control characters only line feeds come out."""
    html = render_html([session(text)], TextOptions())

    assert {c for c in html if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}} <= {"\n"}
    assert not set(html) & set("\u202e\u200f\u2066")


def test_ids_that_say_something_else_stay_ids(make: Make) -> None:
    """R152: an entry's own id is escaped like everything else."""
    page = _assert_closed(_html(make(User, id='e1" onclick="x', text="Hi")))

    assert [a["id"] for a in page.named("article")] == ['e1" onclick="x']


def test_the_policy_allows_our_style_and_nothing_else() -> None:
    """R152: the policy is in the page, with the hash of the style sheet that is in the page."""
    page = Page(_html())
    (policy,) = [a["content"] for a in page.named("meta") if a.get("http-equiv")]
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_the_page_is_complete_in_itself() -> None:
    """R152: offline: no address of any other place, in markup or style."""
    html = _html()

    assert "//" not in html
    assert not re.search(r"@import|url\(|src=", html)


def test_every_drawing_that_is_used_is_there() -> None:
    """Render, display verbs: each verb has its icon, and the page has it inside."""
    there = {attributes["id"] for attributes in Page(sprite()).named("symbol")}
    used = {
        attributes["href"] for verb in VERBS for attributes in Page(drawn(verb.icon)).named("use")
    }

    assert {f"#{name}" for name in there} >= used


def test_each_kind_of_icon_of_a_page_is_there() -> None:
    """Render, display verbs: also of what is no tool."""
    page = Page(render_html([session("x")], TextOptions()))
    there = {f"#{attributes['id']}" for attributes in page.named("symbol")}

    assert {attributes["href"] for attributes in page.named("use")} <= there


def _tool(make: Make, status: str = "completed", output: str = "out", **fields: Any) -> Any:
    content = (ToolContent(type="text", text=Excerpt(text=output)),) if output else ()
    known = {"tool_id": "t", "name": "bash", "input": {"command": "ls"}, "content": content}
    return make(Tool, status=status, **known | fields)


def test_an_entry_has_an_anchor_and_leads_to_itself(make: Make) -> None:
    """Render, features: `#e12` in every format."""
    page = Page(_html(make(User, id="e12", text="Hi")))

    assert {"id": "e12"}.items() <= page.named("article")[0].items()
    assert "#e12" in {a["href"] for a in page.named("a")}


def test_thoughts_and_outputs_fold(make: Make) -> None:
    """Render, features: without a script; what failed lies open, what worked is closed."""
    page = Page(
        _html(make(Thought, text="Hm."), _tool(make), _tool(make, "failed"), outcome="open")
    )

    assert [
        ("open" in a, a["data-kind"], a.get("data-state", None)) for a in page.named("details")
    ] == [
        (False, "thought", None),
        (False, "tool", "ok"),
        (True, "tool", "failed"),
    ]


def test_a_finished_message_folds_from_its_first_work_to_its_last(make: Make) -> None:
    """Render, display verbs: "2 tool calls, 1 thought, 1 message"; its last words stay in sight."""
    entries = (
        make(User, text="Go"),
        make(Agent, text="First."),
        make(Thought, text="Hm."),
        _tool(make),
        make(Agent, text="Between."),
        _tool(make, "failed"),
        make(Agent, text="Last."),
    )
    page = Page(_html(*entries))
    folds = [a for a in page.named("details") if a["class"] == "fold"]

    assert len(folds) == 1
    assert "open" not in folds[0]
    assert "2 tool calls, 1 thought, 1 message · 1 failed" in page.text
    inside = _html(*entries).split('class="fold"')[1].split("Last.")[0]
    assert "Between." in inside
    assert "First." not in inside


@pytest.mark.parametrize(
    ("outcome", "work", "folds"),
    [("complete", 1, 0), ("complete", 2, 1), ("open", 2, 0), ("interrupted", 2, 1)],
)
def test_little_work_and_running_work_stay_open(
    make: Make, outcome: str, work: int, folds: int
) -> None:
    """Render, display verbs: two or more fold; a running message stays open."""
    html = _html(*(_tool(make) for _ in range(work)), outcome=outcome)

    assert html.count('class="fold"') == folds


def test_a_persons_words_part_what_folds(make: Make) -> None:
    """Render, display verbs: a prompt, an error, an open question are never behind a summary."""
    ask = make(Ask, ask_id="a", method="m", what="clarify", title="Well?")
    entries = (_tool(make), _tool(make), make(User, text="Stop"), _tool(make), ask, _tool(make))
    html = _html(*entries)

    assert html.count('class="fold"') == 1
    assert "Stop" not in html.split('class="fold"')[1].split("</details></div></details>")[0]


def test_what_failed_is_listed_first(make: Make) -> None:
    """A reader looks for failures: they are linked from the head."""
    turn = Turn(n=1, started=1, t0=0, t1=0, outcome="complete")
    entries = (_tool(make, "failed", id="e5"), make(Error, id="e6", text="No"), _tool(make))
    page = Page(render_html([Transcript(title="T", turns=(turn,), entries=entries)], TextOptions()))
    links = [a["href"] for a in page.named("a")]

    assert "2 failures" in page.text
    assert links[:2] == ["#e5", "#e6"]


def test_filters_work_without_a_script() -> None:
    """Render, features: boxes that the style sheet reads; each has its rule and its label."""
    page = Page(_html())
    boxes = {a["id"]: "checked" in a for a in page.named("input")}

    assert boxes == {f"show-{name}": ticked for name, _, ticked in FILTERS}
    for name, _, ticked in FILTERS:
        assert f":has(#show-{name}:{'not(:checked)' if ticked else 'checked'})" in page.style


def test_a_diff_has_colours_and_keeps_its_text(make: Make) -> None:
    """Render, features: what was added and removed; copied, it is the diff."""
    content = (
        ToolContent(
            type="diff", path="/w/a.py", old=Excerpt(text="a\nb\n"), new=Excerpt(text="a\nc\n")
        ),
        ToolContent(type="diff", path="/w/b.py", old=None, new=Excerpt(text="n\n")),
    )
    page = Page(_html(_tool(make, output="", content=content, name="edit")))
    classes = [a.get("class") for a in page.named("span")]

    assert {"added", "removed", "hunk", "same"} <= set(classes)
    assert "@@ -1,2 +1,2 @@\n a\n-b\n+c\n" in page.text
    assert "/w/a.py" in page.text
    assert "/w/b.py" in page.text


def test_questions_plans_and_subagents_say_how_they_went(make: Make) -> None:
    """Render, rules 2 and 6: choices, steps, states are all in words or signs."""
    options = (Option(id="y", label="Yes"), Option(id="n", label="No"))
    asked = Question(id="q", text="Go on?", options=options, answer=("n",))
    page = Page(
        _html(
            make(Ask, ask_id="a", method="m", what="clarify", state="answered", questions=(asked,)),
            make(
                Plan,
                items=(
                    PlanItem(text="One", status="completed"),
                    PlanItem(text="Two", status="odd <b>"),
                ),
            ),
            make(Subagent, key="k", goal="Look", status="completed", summary="Found."),
        )
    )

    assert "( ) Yes" in page.text
    assert "(•) No" in page.text
    assert "odd <b>" in page.text
    assert [a["data-state"] for a in page.named("details")] == ["ok"]


def test_permissions_stand_in_their_tool(make: Make) -> None:
    """Render, rule 6: with an anchor of their own, as they are entries of their own."""
    options = (Option(id="y", label="Allow"), Option(id="n", label="Reject"))
    tool = _tool(make, "rejected", id="e1")
    ask = make(
        Ask, id="e2", ask_id="a", method="m", what="permission", tool="e1", state="answered",
        questions=(Question(id="q", text="", options=options, answer=("n",)),),
    )  # fmt: skip
    page = Page(_html(tool, ask))

    assert [a["id"] for a in page.named("div") if a.get("class") == "permission"] == ["e2"]
    assert "(•) Reject" in page.text


def test_sessions_keep_their_anchors_apart(make: Make) -> None:
    """Two sessions in one page: no id is there twice."""
    one = Transcript(
        session="s-1", turns=(Turn(n=1, started=1, t0=0, t1=0),), entries=(make(User, text="Hi"),)
    )
    page = _assert_closed(render_html([one, one], TextOptions()))

    assert [a["id"] for a in page.named("article")] == ["e1", "s2-e1"]


def test_an_empty_session_says_so() -> None:
    """R130: a session in which nothing happened is a page, too."""
    assert "nothing recorded" in Page(render_html([Transcript(session="s")], TextOptions())).text


def test_what_is_not_shown_is_counted(make: Make) -> None:
    """Render, rule 7: nothing is hidden silently."""
    entry = make(Agent, text="old", superseded=True)

    assert "1 replaced entry not shown" in Page(_html(entry)).text
