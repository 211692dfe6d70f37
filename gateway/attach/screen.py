"""The terminal: settled text above, then what may still change, a question, a prompt, a bar.

Above this module: `visit`. Below it: prompt_toolkit, which nothing else here knows. What was
printed scrolls away as in any program and stays in the terminal's own history; the rest is drawn
anew. All texts that come here are clean: only `typed` is a person's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.containers import (
    AnyContainer,
    ConditionalContainer,
    VerticalAlign,
)
from prompt_toolkit.layout.processors import (
    BeforeInput,
    ConditionalProcessor,
    PasswordProcessor,
)
from prompt_toolkit.output import Output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

LEAST: Final = 7
"""Lines of the window that the tail leaves to the question, the prompt and the bar."""

STYLE: Final = Style.from_dict(
    {
        "bar": "reverse",
        "question": "bold",
        "key": "bold ansiyellow",
        "hint": "ansibrightblack",
        "sign": "bold ansiblue",
    }
)


class Screen:
    """Runs from `run` until `leave`. The callbacks hear what a person does."""

    def __init__(
        self,
        *,
        typed: Callable[[str], None],
        key: Callable[[str], bool],
        skipped: Callable[[], None],
        stopped: Callable[[], None],
        bar: Callable[[], tuple[str, str]],
    ) -> None:
        self._typed = typed
        self._key = key
        self._skipped = skipped
        self._stopped = stopped
        self._bar = bar
        self._tail: list[str] = []
        self._question: Sequence[tuple[str, str]] = ()
        self._secret = False
        self._prompt = Buffer(multiline=True, history=InMemoryHistory())
        self._app: Application[None] = Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            style=STYLE,
            output=_output(),
            refresh_interval=0.25,
            erase_when_done=True,
        )

    @property
    def width(self) -> int:
        """Cells of a line."""
        return self._app.output.get_size().columns

    async def run(self) -> None:
        """Show it until `leave`."""
        await self._app.run_async()

    def leave(self) -> None:
        """End `run`; what may still change is taken away."""
        if self._app.is_running and not self._app.is_done:
            self._tail, self._question = [], ()
            self._app.exit()

    def show(self, settled: str, tail: str) -> None:
        """Append *settled* to what scrolls away, and draw *tail* below it."""
        lines = tail.rstrip("\n").split("\n") if tail else []
        if settled or len(lines) < len(self._tail):
            self._app.renderer.erase()  # what is drawn shrinks only when it is drawn anew
        self._tail = lines
        if settled:
            self._app.output.write_raw(settled.replace("\n", "\r\n"))
            self._app.output.flush()
        self._app.invalidate()

    def ask(self, question: Sequence[tuple[str, str]], *, secret: bool = False) -> None:
        """Draw *question* above the prompt: lines of (style, text); nothing if there is none."""
        self._app.renderer.erase()
        if self._secret and not secret:
            self._prompt.reset()
        self._question, self._secret = question, secret
        self._app.invalidate()

    def put_back(self, text: str) -> None:
        """Give *text* back into the prompt, unless something new stands there."""
        if not self._prompt.text:
            self._prompt.document = Document(text)

    def forget(self) -> None:
        """Empty the prompt."""
        self._prompt.reset()
        self._app.invalidate()

    def _layout(self) -> Layout:
        sign = BeforeInput([("class:sign", "❯ ")])
        hidden = ConditionalProcessor(PasswordProcessor(), Condition(lambda: self._secret))
        prompt = BufferControl(self._prompt, input_processors=[hidden, sign])
        rows = [
            _window(self._shown_tail, lambda: bool(self._tail)),
            Window(height=1),
            _window(lambda: list(self._question), lambda: bool(self._question)),
            Window(prompt, wrap_lines=True, dont_extend_height=True),
            Window(FormattedTextControl(self._shown_bar), height=1, style="class:bar"),
        ]
        return Layout(HSplit(rows, align=VerticalAlign.TOP), focused_element=prompt)

    def _shown_tail(self) -> AnyFormattedText:
        room = max(3, self._app.output.get_size().rows - LEAST - len(self._question))
        lines = self._tail
        if len(lines) > room:
            lines = [f"… {len(lines) - room + 1} lines above", *lines[1 - room :]]
        return ANSI("\n".join(lines))

    def _shown_bar(self) -> str:
        """Return what stands at its two ends, as far as there is room."""
        left, right = self._bar()
        room = self.width - get_cwidth(left) - get_cwidth(right) - 2
        return f" {left}{' ' * room}{right} " if room > 0 else f" {left}"

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        empty = Condition(lambda: not self._prompt.text)

        @keys.add("enter")
        def _(_: KeyPressEvent) -> None:
            self._enter()

        @keys.add("escape", "enter")
        def _(_: KeyPressEvent) -> None:
            self._prompt.insert_text("\n")

        @keys.add("escape", filter=empty)
        def _(_: KeyPressEvent) -> None:
            self._skipped()

        @keys.add("c-c")
        @keys.add("<sigint>")
        def _(_: KeyPressEvent) -> None:
            self._stopped()

        @keys.add("c-d", filter=empty)
        def _(_: KeyPressEvent) -> None:
            self.leave()

        for digit in "123456789":

            @keys.add(digit, filter=empty)
            def _(_: KeyPressEvent, digit: str = digit) -> None:
                if self._secret or not self._key(digit):
                    self._prompt.insert_text(digit)

        return keys

    def _enter(self) -> None:
        text = self._prompt.text
        self._prompt.reset(append_to_history=not self._secret and bool(text.strip()))
        self._app.renderer.erase()
        self._typed(text)
        self._app.invalidate()


def _window(text: Callable[[], AnyFormattedText], there: Callable[[], bool]) -> AnyContainer:
    window = Window(FormattedTextControl(text), dont_extend_height=True, wrap_lines=True)
    return ConditionalContainer(window, Condition(there))


def _output() -> Output:
    """Return the terminal; it is never asked where its cursor is: the answer could come late."""
    made = Vt100_Output.from_pty(sys.stdout, term=os.environ.get("TERM"))
    made.enable_cpr = False
    return made
