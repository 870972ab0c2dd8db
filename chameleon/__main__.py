"""`python -m chameleon` is the command `chameleon`."""

import os
import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C is told in one line from now on."""
    signal.signal(signal.SIGINT, _interrupted)
    try:
        from chameleon.cli import main as run

        run()
    except ImportError as problem:
        sys.exit(f"chameleon: {problem}")


def _interrupted(*_: object) -> None:
    os.write(2, b"chameleon: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
