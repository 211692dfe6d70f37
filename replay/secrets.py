"""Secrets in a text: what gives one away, and the mark that takes its place.

Above this module: `redact`. Below it: nothing.

Three things give a secret away: its own form (`ghp_…`, a JSON web token, a private key), the
place it stands in (a header, an address), and the name it is given (`API_KEY=…`). What merely
looks random is left alone: hashes, ids and encoded images are (R145). A mark is
`[REDACTED:<kind>-<4 hex digits>]`: the digits are a fingerprint, so that the same secret has the
same mark everywhere (docs/adr/0010). Marks are found by nothing here: to redact twice is to
redact once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

Found = Callable[[str, str], str]
"""Called with the kind and the secret; returns what stands in its place."""


def mark(kind: str, secret: str) -> str:
    """Return what is shown in place of *secret*."""
    seen = hashlib.sha256(b"hermes-replay:" + secret.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[REDACTED:{kind}-{seen[:4]}]"


@dataclass(frozen=True, slots=True)
class _Rule:
    """A form of secrets. A text without any of *needles* (lower case) is not searched at all."""

    kind: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    """Its group `secret`, else the whole, is what is hidden."""


def _own(kind: str, form: str, *needles: str) -> _Rule:
    """Return the rule of a secret that is known by its own form."""
    return _Rule(kind, needles, re.compile(rf"(?<![A-Za-z0-9])(?:{form})"))


def _placed(kind: str, form: str, *needles: str) -> _Rule:
    """Return the rule of a secret that is known by its place or name."""
    return _Rule(kind, needles, re.compile(form, re.IGNORECASE))


_NAME: Final = (
    r"(?:pass(?:word|wd|phrase)|(?<=[a-z0-9][_-])(?:pwd|pass)|secret(?:[_-]?(?:access[_-]?)?key)?"
    r"|(?<!page)(?<!page[_-])token|(?:api|access|private|auth|account|encryption)[_-]?key)"
)
"""How the name of a secret ends."""

_NOT: Final = (
    r"(?!\[REDACTED:)(?![$<{(%*/~])"
    r"(?!(?:str(?:ing)?|required|optional|true|false|null|none|undefined|password|token|secret"
    r"|changeme|your[_-]\w*|x{3,}|\.{3,})\b)"
)
"""A value begins with none of these: marks, references, paths, placeholders."""

_VALUE: Final = _NOT + r"(?P<secret>[^\s\"'`\\,;&|<>(){}\[\]]{6,})"
_MADE: Final = r"(?=[^\s\"'`]{0,200}[0-9])(?=[^\s\"'`]{0,200}[A-Za-z])(?![\w.]{0,200}[(\[])(?!(?:[A-Za-z_]\w{0,60}\.){1,9}[A-Za-z_])"
"""Letters and digits, and neither a call nor an attribute of something."""

_WORDS: Final = ("pass", "pwd", "secret", "token", "key")

_RULES: Final = (
    _own(
        "private-key",
        r"-----BEGIN (?P<of>[A-Z0-9 ]*)PRIVATE KEY(?P<block> BLOCK)?-----"
        r"(?:(?!-----BEGIN )[\s\S])*?(?:-----END (?P=of)PRIVATE KEY(?: BLOCK)?-----|(?=-----BEGIN )|\Z)",
        "private key",
    ),
    _own("private-key", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}", "age-secret-key-1"),
    _own("jwt", r"eyJ[\w-]{8,4000}\.eyJ[\w-]{8,}(?:\.[\w-]*)?", "eyj"),
    _own("anthropic-key", r"sk-ant-[\w-]{16,}", "sk-ant-"),
    _own("openrouter-key", r"sk-or-v1-[0-9a-f]{32,}", "sk-or-"),
    _own(
        "stripe-key",
        r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}",
        "k_live_",
        "k_test_",
        "whsec_",
    ),
    _own(
        "openai-key",
        r"sk-(?:(?=[\w-]{0,200}[0-9])(?=[\w-]{0,200}[A-Z])(?=[\w-]{0,200}[A-Za-z0-9]{12})[\w-]{20,}|[0-9a-f]{32,})",
        "sk-",
    ),
    _own(
        "github-token",
        r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
    ),
    _own("gitlab-token", r"gl(?:pat|ptt|rt|dt|cbt|ft)-[\w-]{16,}", "gl"),
    _own("slack-token", r"xox[a-z](?:\.xox[a-z])?-[\w-]{10,}|xapp-[\w-]{20,}", "xox", "xapp-"),
    _own("slack-hook", r"hooks\.slack\.com/(?:services|workflows)/[\w/-]{20,}", "hooks.slack.com"),
    _own(
        "google-key",
        r"AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}",
        "aiza",
        "ya29.",
        "gocspx-",
    ),
    _own(
        "aws-key",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        "akia",
        "asia",
        "abia",
        "acca",
    ),
    _own("huggingface-token", r"hf_[A-Za-z0-9]{30,}", "hf_"),
    _own("npm-token", r"npm_[A-Za-z0-9]{36}", "npm_"),
    _own("pypi-token", r"pypi-AgE[\w-]{40,}", "pypi-age"),
    _own("sendgrid-key", r"SG\.[\w-]{20,24}\.[\w-]{40,}", "sg."),
    _own("telegram-token", r"[0-9]{8,10}:AA[\w-]{33}(?![\w-])", ":aa"),
    _own("discord-token", r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}", "."),
    _own(
        "api-key",
        r"(?:gsk_|xai-|nvapi-|pplx-|tvly-|r8_|dop_v1_|shp(?:at|ca|pa|ss)_|lin_api_|figd_|ntn_|dckr_pat_"
        r"|sbp_|PMAK-|dapi|hvs\.|key-)(?=[\w-]{0,200}[0-9])(?=[\w-]{0,200}[A-Za-z])[\w-]{30,}",
        "gsk_",
        "xai-",
        "nvapi-",
        "pplx-",
        "tvly-",
        "r8_",
        "dop_v1_",
        "shp",
        "lin_api_",
        "figd_",
        "ntn_",
        "dckr_pat_",
        "sbp_",
        "pmak-",
        "dapi",
        "hvs.",
        "key-",
    ),
    _placed(
        "password",
        r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://[^\s/:@\"'<>]{0,200}:(?!\[REDACTED:)(?![$<{*])(?P<secret>[^\s/@\"'<>]{3,})@",
        "://",
    ),
    _placed(
        "authorization",
        r"authorization[\\\"']*\s*[:=]\s*[\\\"']*(?:(?:bearer|basic|token|digest)\s+)?"
        r"(?!\[REDACTED:)(?![$<{*])(?!(?:bearer|basic|token|digest)\b)(?P<secret>[\w.~+/=-]{6,})",
        "authorization",
    ),
    _placed(
        "authorization",
        r"\bbearer\s+(?!\[REDACTED:)(?=[\w.~+/-]*[0-9])(?P<secret>[\w.~+/-]{16,}=*)",
        "bearer",
    ),
    _placed(
        "cookie",
        r"\b(?:set-)?cookie[\\\"']*\s*:\s*[\\\"']*(?!\[REDACTED:)(?P<secret>[^\s=;\"']+=[^\r\n\"'\\]{4,})",
        "cookie",
    ),
    _placed(
        "password",
        r"\bcurl\b[^\n]{0,400}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']+:(?!\[REDACTED:)(?![$<{*])(?P<secret>[^\s\"']{3,})",
        "curl",
    ),
    _placed(
        "secret", rf"(?<![\w-])--[\w-]{{0,40}}{_NAME}(?:=|[ \t]+)[\\\"']*{_MADE}{_VALUE}", "--"
    ),
    # NAME=value, as an environment has it: the name alone says enough
    _Rule(
        "secret",
        ("=",),
        re.compile(
            r"(?<![A-Za-z0-9_])[A-Z0-9_]*(?:PASS(?:WORD|WD|PHRASE)|_PASS|_PWD|SECRET|TOKEN"
            rf"|(?:API|ACCESS|PRIVATE|AUTH|SECRET|ENCRYPTION)_?KEY)=[\\]*[\"']?(?=[^\s\"']*[A-Za-z0-9]){_VALUE}"
        ),
    ),
    # "name": "value" and name = 'value', in JSON and in code, also within a string of JSON
    _placed(
        "secret",
        rf"{_NAME}[\\]*[\"']?[ \t]*(?:=>|:=|[:=])\s*[\\]*(?P<quote>[\"']){_NOT}"
        r"(?P<secret>(?:(?![\\]{0,4}(?P=quote))[^\s\"']){4,})(?=[\\]{0,4}(?P=quote))",
        *_WORDS,
    ),
    # name: value without quotes: only what looks made by a machine
    _placed("secret", rf"{_NAME}[ \t]*[:=][ \t]*{_MADE}{_VALUE}", *_WORDS),
)

_CUT: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-|[sr]k_|gh[pousr]_|github_pat_|gl(?:pat)-|xox[a-z]-|xapp-|AIza|AKIA|ASIA|ya29\."
    r"|hf_|npm_|pypi-|SG\.|eyJ)[\w.-]*\Z"
)
_REST: Final = re.compile(
    r"\A(?:[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
    r"|(?=[\w.-]*[0-9])(?=[\w.-]*[A-Za-z])[\w-][\w.-]{15,})"
)
_SECRET_NAME: Final = re.compile(rf".*{_NAME}", re.IGNORECASE)
_HEADER: Final = re.compile(r"(?:set-|proxy-)?(?:authorization|cookie)", re.IGNORECASE)
_VALUE_OF_NAME: Final = re.compile(rf"{_NOT}(?!\[)\S{{4,}}", re.IGNORECASE)
_VALUE_OF_HEADER: Final = re.compile(r"(?!\[REDACTED:)(?![$<{(%*])[^\n]{6,}")


def hide(text: str, found: Found) -> str:
    """Return *text* with every secret replaced by what *found* says."""
    lowered = text.lower()
    for rule in _RULES:
        if any(needle in lowered for needle in rule.needles):
            text = rule.pattern.sub(partial(_replaced, rule.kind, found), text)
    return text


def hide_cut_end(text: str, found: Found) -> str:
    """Return *text*, which was cut off, without the beginning of a secret at its end."""
    return _CUT.sub(lambda hit: found("cut", hit[0]), text)


def hide_cut_begin(text: str, found: Found) -> str:
    """Return *text*, the end of something longer, without what may be the end of a secret."""
    return _REST.sub(lambda hit: found("cut", hit[0]), text)


def is_secret(name: str, value: str) -> bool:
    """Whether *value* is a secret because it is called *name*, whatever it looks like."""
    name, value = name.strip(), value.strip()
    if _HEADER.fullmatch(name):
        return _VALUE_OF_HEADER.fullmatch(value) is not None
    return bool(_SECRET_NAME.fullmatch(name) and _VALUE_OF_NAME.fullmatch(value))


def _replaced(kind: str, found: Found, hit: re.Match[str]) -> str:
    groups = hit.re.groupindex
    if "secret" not in groups:
        return found(kind, hit[0])
    begin, end = hit.start("secret") - hit.start(), hit.end("secret") - hit.start()
    return hit[0][:begin] + found(kind, hit["secret"]) + hit[0][end:]
