"""A question while it is being answered: which step, what was said, what the screen shows.

Above this module: `visit`. Below it: `form`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio

from gateway.attach.form import Form, Step

Line = tuple[str, str]
"""A style's class, and words."""


class Asking:
    """Made of a form; `done` is set when every step has an answer, and `answer` is it."""

    def __init__(self, form: Form) -> None:
        self.done = anyio.Event()
        self.answer: Any = None
        self._form = form
        self._values: list[Any] = []
        self._picked: list[str] = []

    @property
    def step(self) -> Step:
        """The step at hand."""
        return self._form.steps[min(len(self._values), len(self._form.steps) - 1)]

    def press(self, key: str) -> bool:
        """Take a digit; return whether it means anything here."""
        place = int(key) - 1
        if self.done.is_set() or not 0 <= place < len(self.step.choices):
            return False
        value = self.step.choices[place].value
        if self.step.multiple:
            self._toggle(value)
        else:
            self._take(value)
        return True

    def say(self, text: str) -> bool:
        """Take words; return whether they mean anything here."""
        if self.done.is_set() or not self.step.free:
            return False
        words = text if self.step.secret else text.strip()
        if self.step.multiple and (words or self._picked):
            self._take([*self._picked, *([words] if words else [])])
            return True
        if words:
            self._take(words)
        return bool(words)

    def skip(self) -> bool:
        """Leave the step at hand unanswered."""
        if not self.done.is_set():
            self._take(None)
        return True

    def lines(self, others: int) -> list[Line]:
        """Return what to draw; *others* is how many questions wait behind this one."""
        return [*self._question(others), *self._choices(), ("class:hint", f"  {self._hint()}")]

    def _question(self, others: int) -> Iterator[Line]:
        steps = len(self._form.steps)
        place = f" ({len(self._values) + 1} of {steps})" if steps > 1 else ""
        more = f" · {others} more behind it" if others else ""
        yield "class:question", f"◆ {self.step.words}{place}{more}\n"

    def _choices(self) -> Iterator[Line]:
        for number, choice in enumerate(self.step.choices[:9], 1):
            mark = "" if not self.step.multiple else "[x] " if self._is_picked(number) else "[ ] "
            yield "class:key", f"  {number} "
            yield "", f"{mark}{choice.label}\n"

    def _hint(self) -> str:
        ways = ["press a number"] if self.step.choices else []
        if self.step.multiple:
            ways.append("Enter when done")
        elif self.step.free:
            ways.append("type it unseen, then Enter" if self.step.secret else "type an answer")
        return ", or ".join(ways) + " · Esc skips"

    def _is_picked(self, number: int) -> bool:
        return self.step.choices[number - 1].value in self._picked

    def _toggle(self, value: str) -> None:
        if value in self._picked:
            self._picked.remove(value)
        else:
            self._picked.append(value)

    def _take(self, value: Any) -> None:
        self._values.append(value)
        self._picked = []
        if len(self._values) == len(self._form.steps):
            try:
                self.answer = self._form.result(self._values)
            except Exception:
                self._values = []  # from the start: what was said is no answer
                raise
            self.done.set()
