"""The checker of histories passes what a log can do, and finds what it must not."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.nats.history import Operation, violations


def append(
    client: str, began: int, ended: int | None, after: int, *texts: str, expected: int | None = None
) -> Operation:
    outcome = "unknown" if ended is None else "done"
    head = after + len(texts)
    return Operation(client, "append", began, texts, after, expected, outcome, ended, head)  # type: ignore[arg-type]


def refused(
    client: str, began: int, ended: int, text: str, *, expected: int, head: int
) -> Operation:
    return Operation(client, "append", began, (text,), 0, expected, "refused", ended, head)


def read(client: str, began: int, ended: int, head: int, *texts: str, after: int = 0) -> Operation:
    return Operation(client, "read", began, texts, after, None, "done", ended, head)


ONE = append("a", 0, 10, 0, "x")
TWO = append("b", 20, 30, 1, "y", "z")

WELL = {
    "one after the other": ([ONE, TWO, read("c", 40, 50, 3, "x", "y", "z")], "xyz"),
    "a read beside an append sees it": ([ONE, read("c", 5, 6, 1, "x")], "x"),
    "a read beside an append does not see it": ([ONE, read("c", 5, 6, 0)], "x"),
    "two appends at once, the later call first": (
        [append("a", 0, 10, 1, "x"), append("b", 5, 9, 0, "y")],
        "yx",
    ),
    "what nobody heard of is not there": ([ONE, append("b", 20, None, 0, "y", "z")], "x"),
    "what nobody heard of is there, late": (
        [append("b", 0, None, 0, "y"), append("a", 20, 30, 0, "x"), read("c", 40, 50, 1, "x")],
        "xy",
    ),
    "refused for a head that was": (
        [ONE, TWO, refused("c", 12, 14, "w", expected=0, head=1)],
        "xyz",
    ),
    "a page that is not the whole": ([ONE, TWO, read("c", 40, 50, 3, "y", after=1)], "xyz"),
}

WRONG = {
    "an acknowledged append is lost": ([ONE, TWO], "x", "acknowledged"),
    "an append is there twice": ([ONE, append("b", 1, None, 0, "y")], "xyy", "more than once"),
    "an acknowledged append stands elsewhere": ([append("a", 0, 9, 0, "x"), append("b", 0, None, 0, "y")], "yx", "acknowledged"),
    "a batch in pieces": ([ONE, append("b", 0, None, 0, "y", "z")], "yxz", "acknowledged"),
    "half a batch": ([append("b", 0, None, 0, "y", "z")], "y", "only a part"),
    "a batch in another order": ([append("b", 0, None, 0, "y", "z")], "zy", "in pieces"),
    "out of nowhere": ([ONE], "xq", "by nobody"),
    "refused and yet there": ([refused("a", 0, 1, "x", expected=4, head=0)], "x", "refused, found"),
    "refused for nothing": ([refused("a", 0, 1, "x", expected=0, head=0)], "", "as expected"),
    "appended on another head than expected": ([ONE, append("b", 20, 30, 1, "y", expected=0)], "xy", "expected 0"),
    "a read of something else": ([ONE, read("c", 20, 30, 1, "y")], "x", "other than"),
    "a read with a hole": ([ONE, TWO, read("c", 40, 50, 3, "x", "z")], "xyz", "other than"),
    "a head that never was": ([ONE, read("c", 20, 30, 2, "x")], "x", "never was"),
    "a read beyond its head": ([ONE, TWO, read("c", 40, 50, 1, "x", "y")], "xyz", "beyond"),
    "a stale read": ([ONE, TWO, read("c", 40, 50, 1, "x")], "xyz", "before this began"),
    "reads that go back": (
        [append("a", 0, 100, 0, "x"), read("c", 10, 20, 1, "x"), read("d", 30, 40, 0)],
        "x",
        "before this began",
    ),
    "appends against the clock": (
        [append("a", 0, 10, 1, "x"), append("b", 20, 30, 0, "y")],
        "yx",
        "before this began",
    ),
    "a refusal from the past": ([ONE, TWO, refused("c", 40, 50, "w", expected=5, head=1)], "xyz", "before this began"),
}  # fmt: skip


@pytest.mark.parametrize("name", WELL)
def test_what_a_log_can_do_passes(name: str) -> None:
    """Every answer fits an order that agrees with the clock."""
    history, final = WELL[name]

    assert violations(history, list(final)) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_a_log_must_not_do_is_found(name: str) -> None:
    """Lost, doubled, torn, reordered, invented, stale: each is named."""
    history, final, words = WRONG[name]

    found = violations(history, list(final))
    assert len(found) >= 1
    assert any(words in one for one in found), found


def played(random: Random, clients: int, calls: int) -> tuple[list[Operation], list[str]]:
    """Let clients call a log that works on one call after the other, at some moment of each."""
    final: list[str] = []
    history: list[Operation] = []
    free = dict.fromkeys((f"c{number}" for number in range(clients)), 0)
    moments = []
    for number in range(calls):
        client = random.choice(sorted(free))
        began = free[client] + random.randint(1, 20)
        ended = began + random.randint(2, 40)
        free[client] = ended
        moments.append((random.randint(began + 1, ended - 1), number, client, began, ended))
    for _, number, client, began, ended in sorted(moments):
        head = len(final)
        match random.randint(0, 3):
            case 0:
                after = random.randint(0, head)
                texts = tuple(final[after:])
                history.append(
                    Operation(client, "read", began, texts, after, None, "done", ended, head)
                )
            case 1 if head:
                expected = random.randint(0, head - 1)
                history.append(
                    refused(client, began, ended, f"t{number}", expected=expected, head=head)
                )
            case _:
                new = tuple(f"t{number}.{part}" for part in range(random.randint(1, 3)))
                final += new
                heard = random.random() < 0.8
                history.append(append(client, began, ended if heard else None, head, *new))
    return history, final


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), clients=st.integers(1, 6), calls=st.integers(1, 40))
def test_no_history_of_a_log_is_refused(seed: int, clients: int, calls: int) -> None:
    """Whatever many clients do at once to a log that works, the checker finds nothing."""
    history, final = played(Random(seed), clients, calls)  # noqa: S311 - moments, no secrets

    assert violations(history, final) == []


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_every_loss_is_found(seed: int) -> None:
    """Take one acknowledged event out of the end of a history, anywhere, and it is missed."""
    random = Random(seed)  # noqa: S311 - moments, no secrets
    history, final = played(random, 4, 30)
    acknowledged = [
        text
        for one in history
        if one.kind == "append" and one.outcome == "done"
        for text in one.texts
    ]
    if acknowledged:
        final.remove(random.choice(acknowledged))
        assert violations(history, final)
