"""A terminal client: one session, live, with a prompt below it.

`visit` lives between the reference client and the screen; `form` and `asking` are a question that
is answered by keys; `screen` is all that knows the terminal.
"""

from gateway.attach.program import attach

__all__ = ["attach"]
