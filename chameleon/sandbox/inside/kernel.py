"""What every step of the sealing needs: the C library, and how a step is reported."""

from __future__ import annotations

import ctypes
import os

# A step's layer, whether it is active, and a note: what was done, or why it was not.
LayerReport = tuple[str, bool, str]

NOBODY = 65534
_PR_SET_PDEATHSIG = 1
_SIGKILL = 9

libc = ctypes.CDLL(None, use_errno=True)


def errno_text() -> str:
    """Return what the last call of `libc` failed for."""
    return os.strerror(ctypes.get_errno())


def die_with_parent() -> None:
    """Have the kernel kill this process with its parent; a change of user clears it, so call this last."""
    libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
