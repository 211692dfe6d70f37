"""Secrets are hidden where a session is shared, and nothing else is (R138, R139, R143, R145)."""

from __future__ import annotations

import dataclasses
import json
import re
import string
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import parse, read_capture
from replay import EMPTY, Transcript, dump, fold, format_named
from replay.entries import Agent, Error, Tool, User
from replay.pieces import Excerpt, ToolContent
from replay.redact import Report, merged, redact
from replay.render import SNAPSHOT, TextOptions, render_text
from replay.secrets import hide
from tests.replay.records import Log, only, text_content

MIXED = "aB3dE5gH7jK9mN1pQ2sT4vX6zA8cF0hJ5kLmN3pQ7rS9tU1w"
HEX = "0123456789abcdef" * 4

# Nothing here is or was a secret of anyone.
SECRETS = {
    "anthropic-key": "sk-ant-" + "api03-" + MIXED,
    "openai-key": "sk-" + "proj-" + MIXED,
    "openrouter-key": "sk-or-" + "v1-" + HEX,
    "stripe-key": "sk_live_" + MIXED[:24],
    "github-token": "ghp_" + MIXED[:36],
    "gitlab-token": "glpat-" + MIXED[:20],
    "slack-token": "xoxb-" + "1234567890-" + MIXED[:24],
    "google-key": "AIza" + MIXED[:35],
    "aws-key": "AKIA" + "IOSFODNN7ABCDEFG",
    "huggingface-token": "hf_" + MIXED[:34],
    "npm-token": "npm_" + MIXED[:36],
    "pypi-token": "pypi-" + "AgEIcHlwaS5vcmc" + MIXED,
    "sendgrid-key": "SG." + MIXED[:22] + "." + MIXED[:43],
    "telegram-token": "123456789:" + "AA" + MIXED[:33],
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + MIXED[:43],
    "api-key": "gsk_" + MIXED,
    "private-key": "-----BEGIN OPENSSH " + f"PRIVATE KEY-----\n{MIXED}\n{MIXED}\n"
    "-----END OPENSSH " + "PRIVATE KEY-----",
}

PLACED = [
    ("https://joe:hunter2@db.example/x", "hunter2"),
    ("postgres://app:s3cr3t!@localhost:5432/app", "s3cr3t!"),
    ("Authorization: Basic am9lOmh1bnRlcjI=", "am9lOmh1bnRlcjI="),
    ("curl -H 'authorization: Bearer abcdef123456'", "abcdef123456"),
    ("bearer 0123456789abcdef0123", "0123456789abcdef0123"),
    ("Cookie: sid=38afes7a8; theme=dark", "38afes7a8"),
    ("curl -s -u joe:hunter2 https://example.org", "hunter2"),
    ("deploy --api-key 12ab34cd --dry-run", "12ab34cd"),
    ("export DB_PASSWORD=correct-horse", "correct-horse"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI/K7MDENG"),
    ('{"client_secret": "letmein", "port": 1}', "letmein"),
    ("password = 'hunter22'", "hunter22"),
    ("smtp_password: tr0ub4dor", "tr0ub4dor"),
    (r'"{\"api_key\": \"zyxw9876\"}"', "zyxw9876"),
]

PLAIN = [
    "123e4567-e89b-12d3-a456-426614174000",
    f"sha256:{HEX}",
    f"{HEX}  dist/hermes_replay-0.1.0.tar.gz",
    f"commit {HEX[:40]}",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "/home/joe/.ssh/id_ed25519.pub and C:\\Users\\joe\\token.txt",
    "toolu_01A09q90qw90lq917835lq9 call_9XdU0mEoZ1pQ2sT4vX6zA8cF chatcmpl-9aB3dE5gH7jK9mN1pQ2s",
    "the prefix sk- stands for secret key; task-force, risk-averse, sk-learn-like-names-are-fine",
    "disk-0123456789-abcdefghij-klmnopqrstuvw",
    "max_tokens=4096, tokens: 18412, token_count: 12345, next_page_token='CAEQAA123'",
    "tokenizer: cl100k_base; password: str = None; token = get_token1(user2)",
    "secret = os.environ['SECRET1'] or settings2.secret_key1; API_KEY=$API_KEY; TOKEN=${T1}",
    '"password": "${DB_PASSWORD}", "token": "<your token>", "pwd": "/srv/shop1"',
    "PWD=/srv/shop1 OLDPWD=/srv/x9",
    "http://localhost:8080/a:b@c and git@github.com:joe/shop.git and mailto:joe@example.org",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB3dE5gH7jK9mN1pQ2sT4vX6zA8cF0hJ5kLmN3pQ7rS joe@host",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "docker run -u 1000:1000 app; the authorization code; Bearer tokens are secrets",
    "Enter password:\nWelcome1 to the shop",
    "the secretary's key: see keys/README1.md",
]

MARK = re.compile(r"\[REDACTED:[a-z0-9-]+-[0-9a-f]{4}\]")


def _said(text: str) -> Transcript:
    log = Log("a")
    log.prompt("go")
    log.says(text)
    return log.folded()


def _agent(text: str) -> str:
    return only(redact(_said(text))[0], Agent).text


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_known_by_its_form(kind: str) -> None:
    """R145: it becomes `[REDACTED:<kind>-<fingerprint>]`, wherever in a text it stands."""
    secret = SECRETS[kind]
    for around in (
        "{}",
        "key={};",
        '"{}"',
        "({})",
        "see {}.",
        "a\n{}\nb",
        "https://x.example/?k={}",
    ):
        shown = _agent(around.format(secret))

        assert secret not in shown
        assert len(MARK.findall(shown)) == 1
    assert _agent(f"it is {secret} !").startswith(f"it is [REDACTED:{kind}-")


@pytest.mark.parametrize(("text", "secret"), PLACED)
def test_a_secret_is_known_by_its_place_or_name(text: str, secret: str) -> None:
    """R145: headers, addresses, options, environments, JSON, also JSON within JSON."""
    shown = _agent(text)

    assert secret not in shown
    assert len(MARK.findall(shown)) == 1


@pytest.mark.parametrize("text", PLAIN)
def test_what_only_looks_like_one_is_unchanged(text: str) -> None:
    """R145: hashes, ids, encoded images, paths, code that speaks of secrets: not touched."""
    assert _agent(text) == text
    assert redact(_said(text))[1] == Report()


def test_a_secret_has_one_mark_and_two_have_two() -> None:
    """R145: deterministic and stable: the mark hangs on kind and secret alone."""
    one, other = SECRETS["github-token"], "ghp_" + MIXED[:36][::-1]
    first, second, third = MARK.findall(_agent(f"{one} {other} {one}"))

    assert first == third != second
    assert first in _agent(f"another session: {one}")


@given(
    st.lists(
        st.sampled_from(
            [
                *SECRETS.values(),
                *(text for text, _ in PLACED),
                *PLAIN,
                " ",
                "\n",
                '"',
                "password=",
                "\x1b[1m",
            ]
        ),
        max_size=6,
    )
)
@settings(max_examples=150, deadline=None)
def test_to_redact_twice_is_to_redact_once(parts: list[str]) -> None:
    """R145: idempotent, whatever stands beside whatever."""
    once, _ = redact(_said("".join(parts)))

    assert redact(once) == (once, Report())


def test_a_token_in_two_chunks_is_caught() -> None:
    """R139: redaction works on what was folded, not on what came."""
    token = SECRETS["anthropic-key"]
    log = Log("a")
    log.prompt("go")
    for cut in range(1, len(token), 7):
        log.says(token[:cut], f"m{cut}")
        log.says(token[cut:], f"m{cut}")
    shown, report = redact(log.folded())

    assert token not in json.dumps(dump(shown))
    assert report.hidden == {"anthropic-key": len(range(1, len(token), 7))}


@pytest.mark.parametrize("escape", ["\x1b[31m", "\x1b[3", "\x9b1m", "\x1b]0;x\x07", "x\b"])
def test_a_token_with_escapes_inside_is_caught(escape: str) -> None:
    """R139: what escape sequences hide from a pattern is whole again once they are applied."""
    token = SECRETS["github-token"]
    hidden, _ = redact(_said(f"a {token[:9]}{escape}{token[9:]} z"))
    shown = render_text(hidden, TextOptions(profile=SNAPSHOT, width=0))

    assert token not in shown
    assert len(MARK.findall(shown)) == 1


def test_what_is_known_to_be_secret_is_hidden_everywhere() -> None:
    """R139: a password that one place gives away is hidden where nothing else would tell."""
    log = Log("a")
    prompt = log.prompt("use tr0ub4dor&3 then")
    log.call(
        title="echo tr0ub4dor&3",
        kind="execute",
        rawInput={"command": "DB_PASSWORD=tr0ub4dor&3 psql"},
    )
    log.ends(prompt)
    shown, report = redact(log.folded())

    assert "tr0ub4dor" not in json.dumps(dump(shown))
    assert only(shown, User).text.endswith("then")
    assert report.hidden["secret"] == str(dump(shown)).count("[REDACTED:")


def _filled(kind: type[Any], text: str, **fixed: Any) -> Any:
    """Return an entry with *text* in every field that takes one."""
    common = {"id": "e1", "turn": 1, "first": 1, "last": 1, "t0": 0, "t1": 0}
    texts = {
        part.name: text
        for part in dataclasses.fields(kind)
        if part.type in {"str", "str | None"} and part.name != "id"
    }
    return kind(**common | texts | fixed)


def test_every_field_is_looked_at() -> None:
    """R139: prompts, inputs by any name, outputs, diffs, paths, titles, errors, states."""
    token = SECRETS["github-token"]
    diff = ToolContent(type="diff", path=token, old=Excerpt(text=token), new=Excerpt(text=token))
    tool = _filled(
        Tool,
        token,
        input={"a": [token], token: 1},
        output={"stdout": token},
        content=(diff,),
        meta={"x": {"y": token}},
        labels=(token,),
    )
    entries = (_filled(User, token), _filled(Agent, token), tool, _filled(Error, token))
    whole = Transcript(
        session="s", title=token, entries=entries, config={"c": token}, state={"s": token}
    )
    shown, report = redact(whole)

    assert token not in json.dumps(dump(shown))
    assert report.hidden["github-token"] == json.dumps(dump(whole)).count(token)


def test_a_name_gives_a_value_away() -> None:
    """R145: in the input of a tool the member's name is enough; a placeholder is no value."""
    given_ = {
        "password": "letmein",
        "clientSecret": "abcd",
        "token": "${TOKEN}",
        "maxTokens": "4096",
    }
    tool = _filled(Tool, "x", input=given_)
    shown, _ = redact(Transcript(entries=(tool,)))
    (found,) = shown.entries

    assert isinstance(found, Tool)
    assert [bool(MARK.fullmatch(value)) for value in found.input.values()] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "form",
    [
        lambda cut: {"content": (ToolContent(type="content", text=cut),)},
        lambda cut: {"output": dataclasses.asdict(cut)},
    ],
    ids=["piece", "json"],
)
def test_half_a_secret_at_the_edge_of_a_cut_output_is_hidden(form: Any) -> None:
    """R145: where an output was cut a secret may have been cut too."""
    token = SECRETS["anthropic-key"]
    cut = Excerpt(text=f"log {token[:12]}", size=99_999, sha256="0" * 64, tail=f"{token[20:]} end")
    tool = _filled(Tool, "x", **form(cut))
    shown = json.dumps(dump(redact(Transcript(entries=(tool,)))[0]), ensure_ascii=False)

    assert token[:12] not in shown
    assert token[20:] not in shown
    assert "log [REDACTED:cut-" in shown
    assert " end" in shown


def test_statuses_outlive_redaction() -> None:
    """R138: what had ended has ended, as it did; and the reader is told what is missing."""
    token = SECRETS["github-token"]
    log = Log("a")
    prompt = log.prompt("go")
    for number, status in enumerate(("completed", "failed")):
        log.call(f"t{number}", title="ls", kind="execute")
        log.patch(f"t{number}", status=status, content=text_content(token))
    log.ends(prompt)
    before = log.folded()
    after, _ = redact(before)
    text = render_text(after, TextOptions(profile=SNAPSHOT))

    assert [(e.id, getattr(e, "status", "")) for e in after.entries] == [
        (e.id, getattr(e, "status", "")) for e in before.entries
    ]
    assert after.turns == before.turns
    assert text.count("[REDACTED:github-token-") == 2
    assert "✗ run     ls" in text
    assert "◌" not in text


CAPTURES = Path(__file__).parents[1] / "captures"


@cache
def recorded() -> list[Transcript]:
    """Return every recorded session."""
    return [
        fold(EMPTY, map(parse, session.lines))
        for path in sorted(CAPTURES.glob("*/*.jsonl"))
        for session in read_capture(path.read_bytes())
    ]


def test_recordings_hold_no_secret_and_none_is_found() -> None:
    """R145: 61 recordings of real agents are full of ids, hashes, paths: nothing is hidden."""
    assert len(recorded()) >= 61
    for transcript in recorded():
        shown, report = redact(transcript)

        assert shown is transcript
        assert not report


@given(st.text(string.ascii_letters + string.digits + "-_=+/.: \n\"'", max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_text_is_redacted_in_good_time(text: str) -> None:
    """R145: total: no text makes it fail, and a second pass finds nothing."""
    once, _ = redact(_said(f"password {text} token: {text}"))

    assert redact(once)[1] == Report()


def test_reports_add_up() -> None:
    """The report names kinds and numbers, and no secret."""
    one = Report({"jwt": 1})
    both = merged([one, Report({"jwt": 1, "aws-key": 1})])

    assert str(both) == "3 secrets hidden: 1 aws-key, 2 jwt"
    assert not Report()


@pytest.mark.parametrize(
    "piece",
    ["-", "-sk-", "-eyJ", "token=", "a1token=", "curl ", "-----BEGIN PRIVATE KEY-----", "TOKEN_", "--a", "a://",
     "cookie: a=", "bearer ", 'token="\\', "password: ", "ghp_", "a."],
)  # fmt: skip
@pytest.mark.timeout(20)
def test_no_text_takes_long(piece: str) -> None:
    """A text made to keep the patterns searching is done with in time: every search is bounded."""
    hide(piece * (40_000 // len(piece)) + "://=token=:", lambda _, secret: secret)


@pytest.mark.parametrize("name", ["text", "markdown", "html", "json", "cast"])
def test_no_secret_of_the_corpus_is_in_any_format(name: str) -> None:
    """R139: whatever field it stands in, and in whatever format it is shown: no hit."""
    log = Log("a", title=" ".join(SECRETS.values()))
    for secret in [*SECRETS.values(), *(text for text, _ in PLACED)]:
        prompt = log.prompt(secret)
        log.thinks(secret)
        log.call(f"t{prompt}", title=secret, kind="execute", rawInput={"command": secret})
        log.patch(
            f"t{prompt}",
            status="failed",
            content=text_content(secret),
            rawOutput={"stdout": secret},
        )
        log.says(secret)
        log.add("notice", text=secret)
        log.ends(prompt)
    options = TextOptions(width=0)
    written, told = format_named(name).write([log.folded()], options, hide=True)
    shown = written.decode()

    assert [kind for kind, secret in SECRETS.items() if secret in shown] == []
    assert [secret for _, secret in PLACED if secret in shown] == []
    assert "secrets hidden" in told


@pytest.mark.parametrize("depth", [10, 300, 900, 100_000])
def test_json_within_a_text_may_be_deep(depth: int) -> None:
    """R145: what is nested too deeply to be looked into is searched as text."""
    text = "[" * depth + json.dumps({"note": SECRETS["github-token"]}) + "]" * depth

    assert SECRETS["github-token"] not in _agent(text)
