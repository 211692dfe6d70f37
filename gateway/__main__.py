"""`python -m gateway` is `hermes-gateway`."""

from gateway.cli import main

main()
