"""`python -m eventlog` is `hermes-log`."""

from eventlog.cli import main

main()
