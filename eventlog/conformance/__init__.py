"""The suite that every adapter of the log passes.

An adapter's tests give each of `PROMISES` a function that opens its log (again and again: the
same log), and run `Reconnecting` with a function that makes such functions for fresh logs. The
docstring of a promise says what is promised and by whose rule.

Needs `hypothesis`; nothing else in this package does, and nothing imports this one.
"""

from eventlog.conformance import (
    appending,
    cataloguing,
    following,
    losing,
    reading,
    removing,
    storing,
)
from eventlog.conformance.machine import Reconnecting
from eventlog.conformance.opening import Open, Promise

PROMISES: tuple[Promise, ...] = (
    *appending.PROMISES,
    *reading.PROMISES,
    *following.PROMISES,
    *cataloguing.PROMISES,
    *storing.PROMISES,
    *removing.PROMISES,
    *losing.PROMISES,
)

__all__ = ["PROMISES", "Open", "Promise", "Reconnecting"]
