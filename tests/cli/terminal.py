"""Commands at a terminal of 80 columns, as a person runs them."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.commands import environment

_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def at_terminal(
    arguments: Sequence[str], folder: Path, *answers: str, piped: bool = False, **changes: str
) -> tuple[int, str]:
    """Run a command at a terminal; answer each time it asks. Return its exit code and screen.

    With `piped` stdout is a pipe, and what is returned is the screen alone.
    """
    pty = pytest.importorskip("pty")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("<HHHH", 24, 80, 0, 0))
    out = subprocess.DEVNULL if piped else theirs
    env = environment(**{"TERM": "xterm-256color", **changes})
    env = {key: value for key, value in env.items() if key not in ("COLUMNS", "NO_COLOR") or key in changes}
    command = [sys.executable, "-m", "chameleon", *arguments]
    with subprocess.Popen(command, cwd=folder, env=env, stdin=theirs, stdout=out, stderr=theirs) as process:
        os.close(theirs)
        shown, left = b"", list(answers)
        try:
            while piece := os.read(ours, 4_096):
                shown += piece
                is_asked = shown.endswith((b"[l]ater: ", b"[n]o: ", b"\n> ")) or shown == b"> "
                if is_asked and left:
                    os.write(ours, f"{left.pop(0)}\n".encode())
        except OSError:  # the terminal is closed
            pass
        os.close(ours)
    return process.returncode, shown.decode().replace("\r\n", "\n")


def without_codes(screen: str) -> str:
    return _CODES.sub("", screen)
