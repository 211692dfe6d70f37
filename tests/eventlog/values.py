"""Strategies for everything that JSON can hold, with the hard cases in front."""

from __future__ import annotations

from hypothesis import strategies as st

from eventlog import Event


def _joined(text: str) -> str:
    """Two halves of a surrogate pair side by side are one character, in JSON and here."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


TEXTS = st.text(st.characters(exclude_categories=()), max_size=12).map(_joined)
KEYS = st.sampled_from(["$blob", "$$blob", "$$$blob", "blob$", "$blob ", "seq", ""]) | TEXTS
NUMBERS = (
    st.integers()
    | st.integers(2**62, 2**70)
    | st.integers(-(2**70), -(2**62))
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
PAYLOADS = st.dictionaries(KEYS, VALUES, max_size=4)
MEMBERS = st.dictionaries(
    KEYS.filter(lambda key: key not in {"seq", "ts", "type", "payload", "session_id", "origin"}),
    VALUES,
    max_size=2,
)
EVENTS = st.builds(
    lambda type_, payload, members, origin: Event.of(
        type_, payload, members=members, origin=origin
    ),
    TEXTS,
    PAYLOADS,
    MEMBERS,
    st.none() | st.just("0123abcd.s1:7"),
)
