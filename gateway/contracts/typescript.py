"""The wire described for TypeScript: one declaration file, made of the OpenRPC document.

Above this module: the command line. Below it: `openrpc`. Kept at `docs/gateway.d.ts`; a test
says when that is stale, another that the compiler takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import dumps
from typing import Any, Final

from gateway.contracts.openrpc import document

Json = dict[str, Any]

_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*\Z")

_SCALARS: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}

HEAD: Final = """\
// The wire of hermes-gateway. Made by `hermes-gateway contracts typescript`; do not edit.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
"""


def declarations() -> str:
    """Return the text of the declaration file."""
    whole = document()
    shapes = whole["components"]["schemas"]
    return "\n".join(
        [
            HEAD,
            *(_interface(name, schema) for name, schema in shapes.items()),
            _table("Methods", "What a client may call.", whole["methods"]),
            _table("ServerRequests", "What a client may be asked.", whole["x-server-requests"]),
            _table("Notifications", "What a client is told.", whole["x-notifications"]),
        ]
    )


def _interface(name: str, schema: Json) -> str:
    head = _comment(schema.get("description"), "")
    if schema.get("type") != "object":
        return f"{head}export type {name} = {_type(schema)};\n"
    return f"{head}export interface {name} {{\n{''.join(_members(schema))}}}\n"


def _members(schema: Json) -> Iterator[str]:
    required = schema.get("required", ())
    for key, value in schema.get("properties", {}).items():
        yield _comment(value.get("description"), "  ")
        optional = "" if key in required else "?"
        yield f"  {_key(key)}{optional}: {_type(value)};\n"
    if schema.get("additionalProperties") is True:
        yield "  [key: string]: unknown;\n"


def _table(name: str, about: str, rows: list[Json]) -> str:
    lines = [f"/** {about} */\n", f"export interface {name} {{\n"]
    for row in rows:
        params = _type(row["params"][0]["schema"])
        result = f"; result: {_type(row['result']['schema'])}" if "result" in row else ""
        lines += [_comment(row["summary"], "  ")]
        lines += [f"  {_key(row['name'])}: {{ params: {params}{result} }};\n"]
    return "".join([*lines, "}\n"])


def _type(schema: Any) -> str:
    match schema:
        case {"$ref": str(ref)}:
            return ref.rpartition("/")[2]
        case {"const": _} | {"enum": _}:
            return " | ".join(map(dumps, schema.get("enum", [schema.get("const")])))
        case {"anyOf": list(options)} | {"oneOf": list(options)}:
            return " | ".join(dict.fromkeys(map(_type, options)))
        case {"type": "array"}:
            inner = _type(schema.get("items"))
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case {"type": "object"}:
            return f"{{ [key: string]: {_type(schema.get('additionalProperties'))} }}"
        case _:
            return (
                _SCALARS[schema["type"]]
                if isinstance(schema, dict) and schema.get("type")
                else "unknown"
            )


def _key(name: str) -> str:
    return name if _NAME.match(name) else dumps(name)


def _comment(words: str | None, indent: str) -> str:
    return f"{indent}/** {words.replace('*/', '* /')} */\n" if words else ""
