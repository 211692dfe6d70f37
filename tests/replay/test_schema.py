"""The published form of a transcript: docs/transcript.schema.json, for whoever reads `-f json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from eventlog import parse, read_capture
from replay import EMPTY, dump, fold, schema

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "docs" / "transcript.schema.json"
CAPTURES = sorted((ROOT / "tests" / "captures").glob("*/*.jsonl"))

FRESH = """\
docs/transcript.schema.json is stale; write it anew with
  python -c 'import json, replay; print(json.dumps(replay.schema(), indent=2))' > docs/transcript.schema.json"""


def test_the_published_schema_is_that_of_the_code() -> None:
    """Issue 4, "JSON (schema published)": whoever changes a transcript's form publishes it."""
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == schema(), FRESH


def test_the_schema_is_one() -> None:
    """It is valid JSON Schema, and says of which version."""
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_every_recording_has_that_form(path: Path) -> None:
    """Issue 4: what `-f json` gives of any recorded session is valid by the published schema."""
    validator = Draft202012Validator(json.loads(PUBLISHED.read_text(encoding="utf-8")))
    for session in read_capture(path.read_bytes()):
        validator.validate(dump(fold(EMPTY, map(parse, session.lines))))


def test_what_is_none_is_refused() -> None:
    """The schema says no, too: of a member missing, of a kind of entry that is none."""
    validator = Draft202012Validator(schema())
    whole = dump(EMPTY)

    assert validator.is_valid(whole)
    assert not validator.is_valid({**whole, "fold_version": 0})
    assert not validator.is_valid({key: whole[key] for key in whole if key != "turns"})
    assert not validator.is_valid({**whole, "entries": [{"kind": "nonsense"}]})
