"""One person's visit to one session: what happens there, and what they say.

Above this module: the command line. Below it: the reference client, the screen, `replay.Live`.

The session is what the client has applied, so nothing is shown twice, whatever happens to the
line: after a restart of the gateway the next event is the next line. A prompt that was typed
while there is no line waits, and is seen to wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from textwrap import fill
from time import monotonic
from typing import Any, Final

import anyio

from eventlog import SessionId
from gateway.attach.asking import Asking
from gateway.attach.bar import bar
from gateway.attach.commands import ANEW, HELP, OLDER, RESET, listed
from gateway.attach.queue import Queue
from gateway.attach.screen import Screen
from gateway.client import Client
from gateway.errors import Code, GatewayError, PeerGone, RpcError
from gateway.follower import Follower
from replay import Live, TextOptions, Transcript, clean, clean_line

TURNS: Final = 5
"""Turns of history that are shown on coming."""

PAUSE: Final = 0.04
"""Seconds between two looks at a session that changes all the time."""

TWICE: Final = 2.0
"""Seconds in which a second Ctrl-C leaves."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which session is to be visited: *name*, else a new one of *agent*, else the newest live."""

    name: str | None = None
    agent: str | None = None
    cwd: str | None = None


class Visit:
    """`run` ends when the person leaves."""

    def __init__(self, wanted: Wanted, *, color: bool) -> None:
        self.session: SessionId | None = None
        """Where the visit is, once that is known."""
        self.failure: GatewayError | None = None
        """Why the visit could not go on."""
        self._wanted = wanted
        self._color = color
        self._client: Client
        self._follower: Follower | None = None
        self._here = anyio.Event()
        """Set when the session has been read."""
        self._transcript = Transcript()
        self._tail = ""
        self._sending: dict[str, float] = {}
        self._order = anyio.Lock()
        self._leave_until = -inf
        self._said, self._to_do = anyio.create_memory_object_stream[Callable[[], Awaitable[None]]](
            64
        )
        self.queue = Queue(self._ask, self._note)
        """What the gateway asks: its `answer` is the client's answerer."""
        self.screen = Screen(
            typed=self._typed,
            key=self.queue.press,
            skipped=self.queue.skip,
            stopped=self._stop,
            bar=self._bar,
        )

    @property
    def name(self) -> str | None:
        """The id by which the session is found again."""
        return self.session and self._client.lasting(self.session)

    @property
    def gone(self) -> str | None:
        """Why there is no session to come back to, if that is so."""
        return self._follower.gone if self._follower else None

    async def run(self, client: Client) -> None:
        """Show the session until the person leaves, or it cannot be had."""
        self._client = client
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._attend)
            tasks.start_soon(self._watch)
            tasks.start_soon(self._work)
            await self.screen.run()
            tasks.cancel_scope.cancel()

    # -- the session -----------------------------------------------------------------------------

    async def _attend(self) -> None:
        try:
            self.session = SessionId(await self._chosen())
        except (RpcError, PeerGone) as error:
            self.failure = error
            self.screen.leave()
            return
        follower = self._follower = await self._client.follow(self.session)
        await follower.until(lambda me: me.caught_up or me.gone is not None)
        if follower.gone is not None:
            self.failure = RpcError(Code.SESSION_NOT_FOUND, f"{self.session}: {follower.gone}")
            self.screen.leave()
            return
        self._here.set()
        live = Live(self._options(), turns=TURNS)
        resets = follower.resets
        if self._client.older:
            self._note(OLDER)
        async for self._transcript in follower:
            live.options = self._options()
            if follower.resets > resets:
                resets = follower.resets
                self._note(ANEW if self._client.older else RESET)
                if self._client.older:
                    live.again(self._transcript)
            shown = live.show(self._transcript)
            self._tail = shown.tail
            self._draw(shown.settled)
            await anyio.sleep(PAUSE)

    async def _chosen(self) -> str:
        if self._wanted.name is not None:
            return await self._named(self._wanted.name)
        if self._wanted.agent is None:
            for row in (await self._ask_for("session.active_list", {}))["sessions"]:
                return str(row["id"])
        wanted = {"agent": self._wanted.agent, "cwd": self._wanted.cwd}
        params = {key: value for key, value in wanted.items() if value is not None}
        return str((await self._client.request("session.create", params))["session_id"])

    async def _named(self, name: str) -> str:
        """Return the session of this id, alias or unique beginning; `latest` is the newest."""
        rows = (await self._ask_for("session.list", {}))["sessions"]
        found = [row["id"] for row in rows if row["id"] == name]
        found = found or [row["id"] for row in rows if row["id"].startswith(name)]
        found = [row["id"] for row in rows][:1] if name == "latest" else found
        if len(found) == 1:
            return str(found[0])
        if found:
            told = f"{name} is the beginning of {len(found)} sessions: {', '.join(found[:5])}"
            raise RpcError(Code.SESSION_NOT_FOUND, told)
        return str((await self._ask_for("session.title", {"session_id": name}))["session_key"])

    async def _ask_for(self, method: str, params: dict[str, Any]) -> Any:
        """Ask what can be asked again if the line drops."""
        while True:
            try:
                return await self._client.request(method, params)
            except PeerGone:
                continue

    async def _watch(self) -> None:
        """Look after what no event tells: the line, prompts that wait for one, a session's end."""
        gone = None
        while not self._client.refused:
            await anyio.sleep(0.25)
            if self._sending:
                self._draw()
            follower = self._follower
            if follower and follower.gone != gone:
                gone = follower.gone
                self._note(f"! this session cannot be followed any more: {gone}" if gone else "")
        self.failure = RpcError(Code.NOT_ALLOWED, "the gateway does not know this token")
        self.screen.leave()

    # -- the person ------------------------------------------------------------------------------

    async def _work(self) -> None:
        async with anyio.create_task_group() as tasks:
            async for wish in self._to_do:
                tasks.start_soon(self._try, wish)

    async def _try(self, wish: Callable[[], Awaitable[None]]) -> None:
        try:
            await wish()
        except (RpcError, PeerGone) as error:
            self._note(f"! {error}")

    def _typed(self, text: str) -> None:
        words = text.strip()
        secret = self.queue.secret
        if words.startswith("/") and not secret and self._command(words):
            return
        if self.queue.say(text) or secret or not words:
            return
        self._said.send_nowait(partial(self._send, words))

    def _command(self, words: str) -> bool:
        """Do what *words* say if they are a command of ours, or of nobody."""
        name = words.split(maxsplit=1)[0]
        match name:
            case "/help":
                self._note(HELP + self._agent_commands())
            case "/interrupt":
                self._said.send_nowait(self._interrupt)
            case "/sessions":
                self._said.send_nowait(self._list)
            case "/quit":
                self.screen.leave()
            case _ if name[1:] in self._transcript.commands:
                return False
            case _:
                self._note(f"! there is no {clean_line(name)}: /help tells what there is")
        return True

    def _agent_commands(self) -> str:
        names = ", ".join(f"/{clean_line(name)}" for name in self._transcript.commands)
        width = max(20, self.screen.width - 1)
        own = fill(f"The agent's own: {names}", width, break_on_hyphens=False)
        return f"\n{own}" if names else ""

    async def _send(self, text: str) -> None:
        self._sending[text] = monotonic()
        try:
            async with self._order:
                await self._submit(text)
        except (RpcError, PeerGone) as error:
            lost = isinstance(error, PeerGone)
            self._note(f"! {'nobody knows whether it was taken' if lost else 'not taken'}: {error}")
            self.screen.put_back(text)
        finally:
            self._sending.pop(text, None)
            self._draw()

    async def _submit(self, text: str) -> None:
        await self._here.wait()
        assert self.session is not None  # noqa: S101 - it has been read
        try:
            await self._client.submit(self.session, text)
        except RpcError as error:
            if error.code != Code.NOT_LIVE:
                raise
            await self._ask_for("session.resume", {"session_id": self.session})
            await self._client.submit(self.session, text)

    async def _interrupt(self) -> None:
        if self.session is not None:
            await self._client.request("session.interrupt", {"session_id": self.session})

    async def _list(self) -> None:
        rows = (await self._client.request("session.list", {"limit": 20}))["sessions"]
        self._note("\n".join(listed(rows, self.name)))

    def _stop(self) -> None:
        """Ctrl-C: stop the turn, or forget the words; a second one leaves."""
        now = monotonic()
        if now < self._leave_until:
            self.screen.leave()
            return
        self._leave_until = now + TWICE
        if self._busy:
            self._said.send_nowait(self._interrupt)
        else:
            self.screen.forget()

    # -- the screen ------------------------------------------------------------------------------

    def _options(self) -> TextOptions:
        return TextOptions(width=max(20, self.screen.width - 1), color=self._color)

    def _draw(self, settled: str = "") -> None:
        late = [text for text, since in self._sending.items() if monotonic() - since > 0.4]
        waiting = "".join(f"\n… {clean_line(text)} · not taken yet\n" for text in late)
        self.screen.show(settled, self._tail + waiting)

    def _note(self, text: str) -> None:
        self._draw(f"\n{clean(text)}\n")

    def _ask(self, first: Asking | None, others: int) -> None:
        lines = first.lines(others) if first else []
        self.screen.ask(lines, secret=first is not None and first.step.secret)

    def _bar(self) -> tuple[str, str]:
        read = self._transcript if self._here.is_set() else None
        left = bar(self._client, self.session, read, gone=self.gone)
        if monotonic() < self._leave_until:
            return left, "Ctrl-C again leaves"
        return left, "Ctrl-C interrupts · /help" if self._busy else "/help"

    @property
    def _busy(self) -> bool:
        return self._transcript.status in {"running", "waiting"}
