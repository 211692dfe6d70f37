"""A question while it is answered: keys, words, steps."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.attach.asking import Asking
from gateway.attach.form import Choice, Form, Step
from gateway.errors import RpcError

XY = (Choice("Ex", "x"), Choice("Why", "y"))


def asking(*steps: Step) -> Asking:
    return Asking(Form(steps, list))


def shown(one: Asking, others: int = 0) -> str:
    return "".join(text for _, text in one.lines(others))


def test_a_key_answers() -> None:
    """A digit beside a choice takes it; any other digit means nothing, and neither do words."""
    one = asking(Step("Which?", XY))
    assert "1 Ex" in shown(one)
    assert not one.press("3")
    assert not one.say("x")
    assert one.press("2")
    assert one.done.is_set()
    assert one.answer == ["y"]
    assert not one.press("1")


def test_steps_come_one_after_the_other() -> None:
    """Each step is answered by a key, by words, or skipped; which one it is, is told."""
    one = asking(Step("A?", XY, free=True), Step("B?", free=True), Step("C?", XY))
    assert "A? (1 of 3) · 2 more behind it" in shown(one, others=2)
    assert one.press("1")
    assert not one.say("   ")
    assert one.say("  because  ")
    assert "C? (3 of 3)" in shown(one)
    one.skip()
    assert one.answer == ["x", "because", None]


def test_several_are_picked_and_put_back() -> None:
    """Keys toggle, Enter ends; what was typed beside counts, too."""
    one = asking(Step("All?", XY, free=True, multiple=True))
    assert not one.say("")
    for key in "121":
        assert one.press(key)
    assert "[ ] Ex" in shown(one)
    assert "[x] Why" in shown(one)
    assert one.say("zed")
    assert one.answer == [["y", "zed"]]


def test_secrets_are_kept_as_typed() -> None:
    """Blanks of a secret belong to it."""
    one = asking(Step("Password", free=True, secret=True))
    assert "unseen" in shown(one)
    assert one.say(" a b ")
    assert one.answer == [" a b "]


def test_what_is_no_answer_begins_anew() -> None:
    """An answer that the asker would not take is refused here, and can be given again."""
    answers: list[Any] = []

    def result(values: Any) -> Any:
        answers.append(values[0])
        if len(answers) == 1:
            raise RpcError(-32602, "is not offered")
        return values[0]

    one = Asking(Form([Step("?", free=True)], result))
    with pytest.raises(RpcError):
        one.say("no")
    assert not one.done.is_set()
    assert one.say("yes")
    assert one.answer == "yes"
