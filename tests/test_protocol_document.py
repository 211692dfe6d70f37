"""The protocol document says what is so: promises and how far they are built, types, reasons."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from eventlog.recorders import Unrecorded
from eventlog.recorders.hermes.methods import CALLS
from eventlog.vocabulary import HERMES, VOCABULARY

DOCUMENT = (Path(__file__).parent.parent / "docs" / "protocol.md").read_text(encoding="utf-8")
PROMISES = Path(__file__).parent / "promises.toml"
PROMISE = re.compile(r"^\*\*(P-\d+a?)\*\* \(([^)]*)\)", re.MULTILINE)


def promises() -> dict[str, dict[str, Any]]:
    """Return the checked table's rows of the protocol."""
    table: dict[str, dict[str, Any]] = tomllib.loads(PROMISES.read_text(encoding="utf-8"))
    return table["protocol"]


def section(title: str) -> str:
    """Return the text under a heading."""
    return re.split(r"^#{2,3} ", DOCUMENT.split(title + "\n", 1)[1], flags=re.MULTILINE)[0]


def test_every_promise_stands_once_with_how_far_it_is_built() -> None:
    """The same ids as the checked table, in order, and the same state."""
    found = PROMISE.findall(DOCUMENT)
    assert [id_ for id_, _ in found] == list(promises())
    for id_, state in found:
        row = promises()[id_]
        begins = "built" if "planned" not in row else "in part" if "part" in row else "planned"
        assert state.startswith(begins), id_
        assert ("planned" not in row) or state.endswith(f"issue {row['planned']}"), id_


def test_the_vocabulary_table_is_the_vocabulary() -> None:
    """Each type a row, its members named, and no row for anything else."""
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.*) \| [^|]+ \|$", DOCUMENT, re.MULTILINE)
    table = {name: members for name, members in rows if name in VOCABULARY or "." in name}
    assert table.keys() == VOCABULARY.keys()
    for name, model in VOCABULARY.items():
        for field, told in model.model_fields.items():
            member = told.alias or field
            assert re.search(rf"\b{member}\b", table[name]), f"{name}: {member}"
    assert f"lists {len(HERMES)})" in DOCUMENT


def test_every_reason_not_to_record_is_explained() -> None:
    """The reviewed list, both ways."""
    rows = re.findall(r"^\| ([A-Z]+) \|", section("### Not recorded"), re.MULTILINE)
    assert sorted(rows) == sorted(reason.name for reason in Unrecorded)


def test_the_reviewed_methods_are_the_ones_that_are_recorded() -> None:
    """Of the calls that have no type of their own."""
    listed = section("### Not recorded").split("**The reviewed list**")[1]
    assert set(re.findall(r"`([a-z_]+\.[a-z_.]+)`", listed)) - {"client.call"} == CALLS
