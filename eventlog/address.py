"""Where a log on servers is, as a URL says it: servers, name, what is wanted of them.

Above this module: `location`, the JetStream adapter. Below it: nothing; no driver is imported.

    nats://[user:password@]host[:port][,host…]/name[?replicas=1&allow=max_age&creds=file]

Settings that would lose events are refused unless the query names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from eventlog.errors import LogUnavailable

SCHEMES: Final = ("nats://", "tls://")
PORT: Final = 4222
NAME: Final = "hermes"
"""The log's name where the URL has none."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class LogAddress:
    """A log on NATS servers."""

    servers: tuple[str, ...]
    """One `nats://host:port` each, without anybody's name."""
    name: str = NAME
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    credentials: Path | None = None
    replicas: int = 3
    """Copies that there have to be, at least."""
    storage: Literal["file", "memory"] = "file"
    allow: frozenset[str] = frozenset()
    """Settings of the stream that may be such that they lose events."""
    deadline: float = 15.0
    """Seconds until what cannot be served is an error."""
    lease: float = 15.0
    """Seconds until the sessions of an owner who is gone can be taken over.

    Servers may take nine to agree on a leader; nobody should lose what it holds meanwhile.
    """

    def __str__(self) -> str:
        """Return it without anything that is secret."""
        hosts = ",".join(server.partition("://")[2] for server in self.servers)
        return f"{self.servers[0].partition('://')[0]}://{hosts}/{self.name}"


def is_address(text: str) -> bool:
    """Whether *text* names a log on servers, not a file."""
    return text.startswith(SCHEMES)


def address(text: str) -> LogAddress:
    """Return the log that a URL means.

    Raises:
        LogUnavailable: it means none.

    """
    scheme, _, rest = text.partition("://")
    place, slash, tail = rest.partition("/")
    if not slash and "?" in place:
        place, _, query = place.partition("?")
        tail = f"?{query}"
    account, at, hosts = place.rpartition("@")
    shown = f"{scheme}://{hosts}/{tail.partition('?')[0]}"
    user, _, password = account.partition(":")
    name = urlsplit(tail).path.strip("/") or NAME
    if not _NAME.match(name):
        raise LogUnavailable(shown, "the log's name is 1 to 64 of A-Z a-z 0-9 _ -")
    servers = tuple(f"{scheme}://{_with_port(host, shown)}" for host in hosts.split(","))
    return LogAddress(
        servers,
        name,
        unquote(user) if at else None,
        unquote(password) if at and password else None,
        **_wanted(tail, shown),
    )


def _with_port(host: str, shown: str) -> str:
    try:
        parts = urlsplit(f"//{host}")
        port = parts.port or PORT
    except ValueError as error:
        raise LogUnavailable(shown, f"{host} is no server: {error}") from None
    if not parts.hostname:
        raise LogUnavailable(shown, "it names no server")
    written = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{written}:{port}"


def _wanted(tail: str, shown: str) -> dict[str, Any]:
    """Return what the query asks for, by the names of `LogAddress`."""
    found = dict(parse_qsl(urlsplit(tail).query, keep_blank_values=True))
    wanted: dict[str, Any] = {}
    for key, text in found.items():
        if key not in _READ:
            known = ", ".join(_READ)
            raise LogUnavailable(shown, f"there is no setting {key}; there are {known}")
        try:
            wanted["credentials" if key == "creds" else key] = _READ[key](text)
        except ValueError:
            raise LogUnavailable(shown, f"{key}={text} is not possible") from None
    return wanted


def _one_of(*texts: str) -> Callable[[str], str]:
    return lambda text: texts[texts.index(text)]


def _between(low: int, high: int) -> Callable[[str], int]:
    return lambda text: range(low, high + 1).index(int(text)) + low


_READ: Final[dict[str, Callable[[str], Any]]] = {
    "replicas": _between(1, 5),
    "storage": _one_of("file", "memory"),
    "allow": lambda text: frozenset(text.split(",")),
    "creds": Path,
    "deadline": _between(1, 600),
    "lease": _between(2, 600),
}
"""What a query may ask for, and how it is read."""
