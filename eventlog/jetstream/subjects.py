"""What the parts of a log are called on the servers.

Above this module: everything of this adapter. Below it: `event`.

A session's subjects end in its id; the one character of an id that a subject may not hold is the
full stop, which becomes `%`, which no id holds. In front stands a shard, two hexadecimal digits
that only the id decides, so that a log can be divided later without renaming anything.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from zlib import crc32

from eventlog.event import SessionId


def token(key: str) -> str:
    """Return an id, or a kind of state, as one token of a subject."""
    return key.replace(".", "%")


def session_of(subject: str) -> SessionId:
    """Return the session that a subject `log.part.shard.session…` is about."""
    return SessionId(subject.split(".")[3].replace("%", "."))


def place(key: str) -> str:
    """Return a session's two tokens: its shard and its id."""
    return f"{crc32(key.encode()) % 256:02x}.{token(key)}"


@dataclass(frozen=True, slots=True)
class Subjects:
    """The names in the log *log*, which is also its stream's."""

    log: str

    @property
    def all(self) -> list[str]:
        """Return what the stream stores."""
        parts = ("evt", "row", "lease", "alias", "ref", "blob", "kept", "base", "meta")
        return [f"{self.log}.{part}.>" for part in parts]

    @property
    def meta(self) -> str:
        """Return the subject of a message that is always there."""
        return f"{self.log}.meta.log"

    @property
    def settled(self) -> str:
        """Return where it stands what is settled."""
        return f"{self.log}.meta.settled"

    @property
    def mark(self) -> str:
        """Return the subject of messages that mean nothing but that they have come."""
        return f"{self.log}.meta.mark"

    def events(self, key: str) -> str:
        """Return where its batches are, and fences between them."""
        return f"{self.log}.evt.{place(key)}"

    def news(self, key: str) -> str:
        """Return where the servers say that a batch has been stored."""
        return f"{self.log}.new.{place(key)}"

    def row(self, key: str, hash_: str) -> str:
        """Return where that part of its row is that is stored apart."""
        return f"{self.log}.row.{place(key)}.{hash_}"

    def under(self, part: str, key: str) -> str:
        """Return what a session's subjects of a kind begin with."""
        return f"{self.log}.{part}.{place(key)}"

    def lease(self, key: str) -> str:
        """Return where it stands who may write it."""
        return f"{self.log}.lease.{place(key)}"

    def base(self, key: str, seq: int | str, piece: int | str) -> str:
        """Return where a piece is of the state that pruning left."""
        return f"{self.log}.base.{place(key)}.{seq}.{piece}"

    def kept(self, key: str, kind: str, *where: int | str) -> str:
        """Return where the kept states of a kind are listed; behind it: version, seq, piece."""
        return ".".join([f"{self.log}.kept.{place(key)}.{token(kind)}", *map(str, where)])

    def ref(self, key: str, hash_: str) -> str:
        """Return where it stands that it refers to a large string."""
        return f"{self.log}.ref.{place(key)}.{hash_}"

    def blob(self, key: str, hash_: str, piece: int | str) -> str:
        """Return where a piece of a large string is."""
        return f"{self.log}.blob.{place(key)}.{hash_}.{piece}"

    def alias(self, name: str, key: str | None) -> str:
        """Return where it stands that *name* is another name of a session, of any without one."""
        hash_ = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return f"{self.log}.alias.{hash_}.{'*' if key is None else token(key)}"

    def aliases(self, key: str) -> str:
        """Return where all its other names are."""
        return f"{self.log}.alias.*.{token(key)}"

    def every(self, part: str) -> str:
        """Return where all of a kind are, of every session."""
        return f"{self.log}.{part}.>"
