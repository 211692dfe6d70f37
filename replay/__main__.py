"""`python -m replay` is `hermes-replay`."""

from replay.cli import main

main()
