"""`python -m chameleon` is the command `chameleon`."""

import os
import signal


def main() -> None:
    """Run the command line; Ctrl-C is told in one line from now on."""
    signal.signal(signal.SIGINT, _interrupted)
    from chameleon.cli import main as run

    run()


def _interrupted(*_: object) -> None:
    os.write(2, b"chameleon: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
