"""A terminal client: one session, live, with a prompt below it.

`visit` lives between the reference client and the screen; `form` is a question that can be
answered by keys; `screen` is all that knows the terminal.
"""
