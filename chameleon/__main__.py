"""`python -m chameleon` is the command `chameleon`."""

import os
import signal


def _interrupted(*_: object) -> None:
    """End where Ctrl-C comes before the command line can tell."""
    os.write(2, b"chameleon: interrupted\n")
    os._exit(130)


signal.signal(signal.SIGINT, _interrupted)

from chameleon.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
