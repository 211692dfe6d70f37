"""No string of a transcript reaches the reader's terminal as it came (R132, for every field)."""

from __future__ import annotations

import dataclasses
import types
import typing
import unicodedata
from typing import Any, Literal

import pytest

from replay.entries import AnyEntry
from replay.render import DEFAULT, SNAPSHOT, Profile, TextOptions, render_text
from replay.transcript import Transcript

HOSTILE = (
    "a\x1b[31mred\x1b]0;title\x07\x9b1m\x1b]8;;https://e.example\x07x\r\n"
    "✗ forged\t\x00\x07\x7f\x85\u202e\u2028\ud83d\b\x1b"
)


def _filled(hint: Any) -> Any:
    """Return a value of type *hint* in which every string is hostile."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return args[0]
    if origin in {typing.Union, types.UnionType}:
        return _filled(next(arg for arg in args if arg is not type(None)))
    if origin is tuple:
        return (_filled(args[0]),)
    if origin is dict:
        return {HOSTILE: HOSTILE}
    if dataclasses.is_dataclass(hint):
        return _made(typing.cast("type[Any]", hint))
    simple: dict[Any, Any] = {str: HOSTILE, int: 7, float: 1.5, bool: False}
    return simple.get(hint, {HOSTILE: [HOSTILE, {"text": HOSTILE}]})


def _made(kind: type[Any], **fixed: Any) -> Any:
    hints = typing.get_type_hints(kind)
    fields = [field.name for field in dataclasses.fields(kind)]
    return kind(**{name: fixed.get(name, _filled(hints[name])) for name in fields})


def _shown(entry: AnyEntry | None, options: TextOptions, **fields: Any) -> str:
    entries = () if entry is None else (entry,)
    base = _made(Transcript, turns=(), ephemeral={}, diag=(), **fields | {"entries": entries})
    return render_text(base, options)


def _assert_safe(text: str) -> None:
    assert {c for c in text if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}} <= {"\n"}
    assert not set(text) & set("\u202e\u200f\u2066")
    assert "\n✗ forged" not in text
    assert not any(line != line.rstrip() for line in text.split("\n"))


@pytest.mark.parametrize("profile", [DEFAULT, SNAPSHOT], ids=lambda profile: profile.name)
@pytest.mark.parametrize("kind", typing.get_args(AnyEntry), ids=lambda kind: kind.__name__)
def test_no_field_of_an_entry_is_printed_raw(kind: type[Any], profile: Profile) -> None:
    """R132: titles, names, labels, paths, errors, answers: every string of every entry kind."""
    for width in (80, 20, 0):
        for flip in (False, True):
            options = TextOptions(profile=profile, width=width, seq=True)
            entry = _made(kind, id="e1", turn=None, superseded=False, hidden=False)
            flags = {f.name: flip for f in dataclasses.fields(kind) if f.type == "bool"}
            shown = {
                name: value for name, value in flags.items() if name not in {"superseded", "hidden"}
            }
            _assert_safe(_shown(dataclasses.replace(entry, **shown), options))


def test_no_field_of_the_session_is_printed_raw() -> None:
    """R132: the head's title, agent, model, folder and branch too."""
    _assert_safe(_shown(None, TextOptions()))


@pytest.mark.parametrize("status", ["completed", "failed", "rejected", HOSTILE])
def test_a_tool_is_safe_however_it_went(status: str) -> None:
    """R132: the branches that hang on the status print no more than the others."""
    kind = next(k for k in typing.get_args(AnyEntry) if k.__name__ == "Tool")
    entry = _made(kind, id="e1", turn=None, superseded=False, hidden=False, status=status)
    for name in ("read", "edit", HOSTILE):
        for content in ((), entry.content):
            changed = dataclasses.replace(entry, name=name, content=content)
            _assert_safe(_shown(changed, TextOptions()))
