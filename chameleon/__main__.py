"""`python -m chameleon` is the command `chameleon`."""

import os
import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C and SIGTERM end it with one line."""
    signal.signal(signal.SIGINT, _interrupted)
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        from chameleon.cli import main as run

        run()
    except ImportError as problem:
        sys.exit(f"chameleon: {problem}")


def _interrupted(number: int, _: object) -> None:
    os.write(2, b"chameleon: terminated\n" if number == signal.SIGTERM else b"chameleon: interrupted\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
