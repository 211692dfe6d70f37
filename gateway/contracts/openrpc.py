"""The wire described for machines: an OpenRPC document, made of the registry.

Above this module: the command line, `typescript`. Below it: the registry, pydantic. Kept at
`docs/gateway.openrpc.json`; a test says when that is stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from json import dumps
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from gateway.contracts import (
    COMMON_ERRORS,
    CONTRACTS,
    NOTIFICATIONS,
    SERVER_REQUESTS,
    Contract,
    GatewayReady,
)
from gateway.errors import Code

Json = dict[str, Any]

OPENRPC: Final = "1.3.2"

TITLE: Final = "hermes-gateway"

VERSION: Final = "1"
"""Of the wire: it changes when a client has to."""

_REF: Final = "#/components/schemas/{model}"


def document() -> Json:
    """Return the whole wire: methods, server requests, notifications, and their shapes."""
    return {
        "openrpc": OPENRPC,
        "info": {"title": TITLE, "version": VERSION},
        "methods": [_method(contract) for contract in CONTRACTS.values()],
        "x-server-requests": [_method(contract) for contract in SERVER_REQUESTS.values()],
        "x-notifications": [_notification(contract) for contract in NOTIFICATIONS.values()],
        "components": {"schemas": schemas()},
    }


def text() -> str:
    """Return the document as it is kept."""
    return dumps(document(), indent=1, ensure_ascii=False) + "\n"


def schemas() -> dict[str, Json]:
    """Return the JSON schema of every shape, by name, in the order of the names."""
    every: list[type[BaseModel]] = [*_models(_all()), GatewayReady]
    models = {model.__name__: model for model in every}
    pairs = [(model, "validation") for model in models.values()]
    _, whole = models_json_schema(pairs, ref_template=_REF)  # type: ignore[arg-type]
    found: dict[str, Json] = whole["$defs"]
    return {name: _tidy(found[name]) for name in sorted(found)}


def first_line(model: type[BaseModel]) -> str:
    """Return what a shape is, or does."""
    return (model.__doc__ or "").strip().partition("\n")[0]


def _all() -> Iterator[Contract]:
    for table in (CONTRACTS, SERVER_REQUESTS, NOTIFICATIONS):
        yield from table.values()


def _models(contracts: Iterable[Contract]) -> Iterator[type[BaseModel]]:
    for contract in contracts:
        yield contract.params
        if contract.result:
            yield contract.result


def _method(contract: Contract) -> Json:
    assert contract.result  # noqa: S101 - what can be asked can be answered
    errors = sorted(contract.errors | COMMON_ERRORS, key=int)
    return {
        "name": contract.name,
        "summary": first_line(contract.params),
        "paramStructure": "by-name",
        "params": [{"name": "params", "required": True, "schema": _ref(contract.params)}],
        "result": {"name": "result", "schema": _ref(contract.result)},
        "errors": [{"code": int(code), "message": _words(code)} for code in errors],
    }


def _notification(contract: Contract) -> Json:
    return {
        "name": contract.name,
        "summary": first_line(contract.params),
        "params": [{"name": "params", "required": True, "schema": _ref(contract.params)}],
    }


def _ref(model: type[BaseModel]) -> Json:
    return {"$ref": _REF.format(model=model.__name__)}


def _words(code: Code) -> str:
    return code.name.replace("_", " ").lower()


def _tidy(schema: Any) -> Any:
    """Return a schema without titles that only repeat names, and with one-line descriptions."""
    match schema:
        case {"properties": dict(properties), **rest}:
            tidied = {name: _tidy(_untitled(value)) for name, value in properties.items()}
            return {**_tidy(rest), "properties": tidied}
        case {"description": str(words), **rest}:
            return {"description": " ".join(words.split("\n\n")[0].split()), **_tidy(rest)}
        case dict():
            return {key: _tidy(value) for key, value in schema.items()}
        case list():
            return [_tidy(item) for item in schema]
    return schema


def _untitled(value: Any) -> Any:
    return {key: item for key, item in value.items() if key != "title"}
