"""The questions that wait for the person, the first of them on the screen.

Above this module: `visit`. Below it: `asking`, `form`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateway.attach.asking import Asking
from gateway.attach.form import form_of
from gateway.client import Asked
from gateway.errors import Code, RpcError


class Queue:
    """`answer` is the client's answerer; what a person does goes to the first question.

    *show* draws that one, and hears how many wait behind it; *note* tells what was wrong.
    """

    def __init__(
        self, show: Callable[[Asking | None, int], None], note: Callable[[str], None]
    ) -> None:
        self._show = show
        self._note = note
        self._askings: list[Asking] = []

    @property
    def secret(self) -> bool:
        """Whether what is typed now is a secret."""
        return bool(self._askings) and self._askings[0].step.secret

    async def answer(self, asked: Asked) -> Any:
        """Let the person answer; cancelled when somebody else has.

        Raises:
            RpcError: -32601, it cannot be shown here (P-29).

        """
        form = form_of(asked)
        if form is None:
            raise RpcError(Code.METHOD_NOT_FOUND, f"a terminal cannot show {asked.method}")
        asking = Asking(form)
        self._askings.append(asking)
        self._draw()
        try:
            await asking.done.wait()
        finally:
            self._askings.remove(asking)
            self._draw()
        return asking.answer

    def press(self, digit: str) -> bool:
        """Take a key; return whether it meant something."""
        return self._reply(lambda asking: asking.press(digit))

    def say(self, text: str) -> bool:
        """Take words; return whether they were an answer."""
        return self._reply(lambda asking: asking.say(text))

    def skip(self) -> None:
        """Leave the first question unanswered."""
        self._reply(Asking.skip)

    def _reply(self, say: Callable[[Asking], bool]) -> bool:
        if not self._askings:
            return False
        try:
            meant = say(self._askings[0])
        except RpcError as error:
            meant = True
            self._note(f"! {error.message}")
        self._draw()
        return meant

    def _draw(self) -> None:
        waiting = [asking for asking in self._askings if not asking.done.is_set()]
        self._show(waiting[0] if waiting else None, max(0, len(waiting) - 1))
