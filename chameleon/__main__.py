"""`python -m chameleon` is the command `chameleon`."""

from chameleon.cli import main

main()
