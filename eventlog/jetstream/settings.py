"""What the stream of a log has to be like, making it, and looking whether it is.

Above this module: `opening`. Below it: `link`, `subjects`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Final, NamedTuple
from uuid import uuid4

import anyio

from eventlog.address import LogAddress
from eventlog.checksum import ALGORITHMS, PREFERRED
from eventlog.errors import ForeignDatabase, LogUnavailable, NewerSchema
from eventlog.jetstream.link import ATTEMPT, Link, Refused, Silent
from eventlog.jetstream.subjects import Subjects

SCHEMA: Final = 1
OLDEST: Final = (2, 12)
"""The first version of the server that stores several messages all or none."""

_AGAIN: Final = 0.1

_STARTING: Final = 5.0
"""Seconds in which servers that have just started find each other."""

NO_PEERS: Final = 10005
_NOT_YET: Final = {NO_PEERS, 10008}
"""What servers answer that have not found each other, or agreed on who leads."""

NOT_FOUND: Final = 10059
NO_CLUSTER: Final = 10074
IN_USE: Final = 10058
UNAVAILABLE: Final = {10039, 10076}
"""JetStream is not enabled, for the account or at all."""


class Found(NamedTuple):
    """A log's stream that has been looked at."""

    epoch: str
    checksum: str
    replicas: int


async def examined(link: Link, *, make: bool) -> Found:
    """Return what the log's stream says of itself; with *make* it is made if there is none.

    Raises:
        LogUnavailable: there is none, or its settings would lose events.
        ForeignDatabase: it is not a log.
        NewerSchema: a later version of this program made it.

    """
    try:
        answer = await _asked(link, make=make)
    except Silent as silent:
        raise link.unavailable(f"JetStream does not answer ({silent}); is it enabled?") from None
    except Refused as refused:
        raise link.unavailable(_advice(refused, link.address)) from None
    if answer is None:
        raise link.unavailable("there is no such log; whoever writes it first makes it")
    return _checked(link.address, answer["config"])


async def _found(link: Link, *, make: bool) -> dict[str, Any] | None:
    """Return what there is. Servers that have just been started may choose a leader first."""
    end = monotonic() + link.address.deadline
    while True:
        begun = monotonic()
        try:
            answer = await _info(link)
            return await _made(link) if answer is None and make else answer
        except Silent:
            at_once = monotonic() - begun < ATTEMPT / 2  # nobody is there who could answer
            if at_once or monotonic() > end:
                raise


async def _asked(link: Link, *, make: bool) -> dict[str, Any] | None:
    """Ask for the stream, until somebody answers: servers may have no leader just now."""
    if tuple(map(int, link.version.split(".")[:2])) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise link.unavailable(f"the server is {link.version}; {wanted} or later is needed")
    begun = monotonic()
    end = begun + link.address.deadline
    while True:
        try:
            answer = await _info(link)
            return await _made(link) if answer is None and make else answer
        except Silent:
            if monotonic() > end:
                raise
            await link.useless()
        except Refused as refused:
            if refused.code not in _NOT_YET or monotonic() > begun + _STARTING:
                raise
        await anyio.sleep(_AGAIN)


async def _info(link: Link) -> dict[str, Any] | None:
    try:
        return await link.api(f"STREAM.INFO.{link.stream}")
    except Refused as refused:
        if refused.code == NOT_FOUND:
            return None
        raise


async def _made(link: Link) -> dict[str, Any]:
    """Make the stream; who comes second finds the first one's."""
    try:
        return await link.api(
            f"STREAM.CREATE.{link.stream}", configuration(link.address), within=10
        )
    except Refused as refused:
        found = await _info(link) if refused.code == IN_USE else None
        if found is None:
            raise
        return found


def configuration(address: LogAddress) -> dict[str, Any]:
    """Return the stream that a new log is."""
    subjects = Subjects(address.name)
    return {
        "name": address.name,
        "description": "A log of hermes-replay. Its messages belong together: change none.",
        "subjects": subjects.all,
        "retention": "limits",
        "storage": address.storage,
        "num_replicas": address.replicas,
        "discard": "new",
        "allow_direct": True,
        "allow_atomic": True,
        "allow_rollup_hdrs": True,
        "duplicate_window": 120_000_000_000,
        "republish": {
            "src": subjects.every("evt"),
            "dest": f"{address.name}.new.>",
            "headers_only": True,
        },
        "metadata": {
            "hermes.schema": str(SCHEMA),
            "hermes.epoch": uuid4().hex,
            "hermes.checksum": PREFERRED,
        },
    }


def _advice(refused: Refused, address: LogAddress) -> str:
    if refused.code in UNAVAILABLE:
        return "JetStream is not enabled there; give the server `jetstream { store_dir: … }`"
    if refused.code == NO_PEERS:
        return (
            f"there are fewer servers than copies, {address.replicas}; start the others,"
            " or say ?replicas=1 if one copy is enough"
        )
    if refused.code == NO_CLUSTER:
        return (
            f"one server alone cannot keep {address.replicas} copies; run three"
            " (docs/scale-out.md), or say ?replicas=1 if one copy is enough"
        )
    return f"the servers refuse: {refused} ({refused.code})"


class _Rule(NamedTuple):
    """A setting that would lose events unless it is as it should."""

    holds: Callable[[Any], bool]
    reason: str


def _unlimited(value: Any) -> bool:
    return value in {None, 0, -1}


_RULES: Final[dict[str, _Rule]] = {
    "max_age": _Rule(_unlimited, "events are removed when they are old"),
    "max_msgs": _Rule(_unlimited, "it holds a limited number of batches"),
    "max_bytes": _Rule(_unlimited, "it holds a limited number of bytes"),
    "max_msgs_per_subject": _Rule(_unlimited, "a session has a limited number of batches"),
    "no_ack": _Rule(lambda value: not value, "it does not say what is stored"),
    "persist_mode": _Rule(
        lambda value: value in {None, "", "default"}, "it acknowledges before it stores"
    ),
}
_FULL: Final = {"max_msgs", "max_bytes"}
"""Limits at which a stream either refuses what is new or removes what is old."""
_NEEDED: Final = ("allow_direct", "allow_atomic", "allow_rollup_hdrs")


def _checked(address: LogAddress, config: Mapping[str, Any]) -> Found:
    said = config.get("metadata") or {}
    if "hermes.epoch" not in said:
        raise ForeignDatabase(str(address), "the stream of that name holds something else")
    if (schema := int(said.get("hermes.schema", 0))) > SCHEMA:
        raise NewerSchema(str(address), schema, SCHEMA)
    if (algorithm := said.get("hermes.checksum")) not in ALGORITHMS:
        raise LogUnavailable(str(address), f"its checksums are {algorithm}, unknown here")
    for reason in _faults(address, config):
        raise LogUnavailable(str(address), reason)
    return Found(str(said["hermes.epoch"]), str(algorithm), int(config["num_replicas"]))


def _faults(address: LogAddress, config: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a stream, and what to change."""
    name = address.name
    found = []
    if config["retention"] != "limits":
        kind = config["retention"]
        found.append(f"its retention is {kind}, so what was read is removed; make another stream")
    if config["storage"] == "memory" and address.storage != "memory":
        found.append(
            "it is kept in memory, and gone when the servers end; make another stream,"
            " or say ?storage=memory if it may be lost"
        )
    if (copies := int(config["num_replicas"])) < address.replicas:
        found.append(
            f"it has {copies} replicas, not {address.replicas};"
            f" `nats stream edit {name} --replicas={address.replicas}`,"
            f" or say ?replicas={copies} if that is enough"
        )
    for key, rule in _RULES.items():
        harmless = rule.holds(config.get(key)) or (key in _FULL and config["discard"] == "new")
        if not harmless and key not in address.allow:
            found.append(
                f"{key} is {config[key]}: {rule.reason}; take the setting away"
                f" (`nats stream edit {name}`), or say ?allow={key} if they may be lost"
            )
    found += [
        f"{key} is not set; `nats stream edit {name}` sets it"
        for key in _NEEDED
        if not config.get(key)
    ]
    if not config.get("republish"):
        found.append("it tells nobody what is new: republish is not set; see docs/scale-out.md")
    return found
