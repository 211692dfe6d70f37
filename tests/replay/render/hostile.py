"""Strings that try to break out of a page, and entries with one of them in every field."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any, Final, Literal

from replay.entries import AnyEntry
from replay.transcript import Terminal, Transcript, Turn

HOSTILE: Final = (
    "<script>alert(1)</script>",
    "</script><script src=https://evil.example/x.js></script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    '"><b onmouseover=alert(1) x="',
    "' onfocus='alert(1)' autofocus='",
    "</title></style></textarea></pre></details></summary><h1>out</h1>",
    "<!-- ",
    "-->",
    "]]><![CDATA[",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt\\:alert(1))",
    "[click](java&#x73;cript:alert(1))",
    "[click](data:text/html,<script>alert(1)</script>)",
    "[click](\njavascript:alert(1))",
    "[click]( <javascript:alert(1)>)",
    "![pixel](https://evil.example/p.png)",
    "<javascript:alert(1)> <https://evil.example>",
    "[x]: javascript:alert(1)\n\n[x]",
    "[`x]: javascript:alert(1) `\n\n[`x]",
    "[a\nb]: javascript:alert(1)\n\n[a b]",
    "`<img src=x onerror=alert(1)>`",
    "a `b\n` <img src=x onerror=alert(1)> ` c\n`",
    "| a |\n|---|\n| `x | <img src=x onerror=alert(1)>` |",
    "```\n<script>alert(1)</script>",
    "~~~\n```\n</details>\n\n# out",
    "- ~~~\n  <b>\n\n# out\n",
    "> ```\n> <script>\n\nout\n===\n",
    "    ```\n<script>alert(1)</script>\n    ```",
    "`````\n````\n</details>",
    "\\`<script>alert(1)</script>\\`",
    "\\<script>alert(1)</script>",
    "&lt;script&gt; &#60;script&#62;",
    "# out\n\nout\n---\n\n1. out\n   ===\n",
    "</details>\n\n## Turn 99\n",
    "<details>\n",
    "a\x1b[31mred\x1b]0;title\x07\x9b1m\x1b]8;;https://e.example\x07x\r\n\x00\x07\x85\u202e\u2028\ud83d\b\x1b",
    "style='x' {{7*7}} ${7*7} url(https://evil.example) @import",
)


def filled(hint: Any, text: str) -> Any:
    """Return a value of type *hint* in which every string is *text*."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return args[0]
    if origin in {typing.Union, types.UnionType}:
        return filled(next(arg for arg in args if arg is not type(None)), text)
    if origin is tuple:
        return (filled(args[0], text),)
    if origin is dict:
        return {text: 7 if args[1] is int else text}
    if dataclasses.is_dataclass(hint):
        return made(typing.cast("type[Any]", hint), text)
    simple: dict[Any, Any] = {str: text, int: 7, float: 1.5, bool: False}
    return simple.get(hint, {text: [text, {"text": text}]})


def made(kind: type[Any], text: str, **fixed: Any) -> Any:
    """Return an instance of *kind* with *text* in every field that can hold it."""
    hints = typing.get_type_hints(kind)
    fields = [part.name for part in dataclasses.fields(kind)]
    return kind(**{name: fixed.get(name, filled(hints[name], text)) for name in fields})


def entries(text: str) -> list[AnyEntry]:
    """Return an entry of each kind, tools in all their states, full of *text*."""
    found: list[AnyEntry] = []
    for kind in typing.get_args(AnyEntry):
        for fixed in _variants(kind):
            number = len(found) + 1
            place = {"id": f"e{number}", "turn": 1, "first": number, "last": number}
            shown = {"superseded": False, "hidden": False}
            found.append(made(kind, text, **place, **shown, **fixed))
    return found


def _variants(kind: type[Any]) -> list[dict[str, Any]]:
    if kind.__name__ != "Tool":
        return [{}]
    return [
        {},
        {"status": "completed", "name": "read"},
        {"status": "failed", "name": "bash", "content": ()},
        {"status": "completed", "name": None, "title": None, "inline_diff": None, "content": ()},
    ]


def session(text: str) -> Transcript:
    """Return a session in which everything is *text*."""
    turn = Turn(n=1, started=1, t0=0, t1=0, outcome="complete")
    terminal = Terminal(id=text, output=text)
    fixed = {"turns": (turn,), "entries": tuple(entries(text)), "terminals": (terminal,)}
    found: Transcript = made(Transcript, text, **fixed)
    return found
