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
        sys.exit(f"chameleon: {_why(problem)}")


def _why(problem: ImportError) -> str:
    """Say why nothing can be imported: another package may have put its files in the place of ours."""
    try:
        from chameleon.namesake import namesake
    except ImportError:
        return str(problem)
    return namesake() or str(problem)


def _interrupted(*_: object) -> None:
    os.write(2, b"chameleon: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
