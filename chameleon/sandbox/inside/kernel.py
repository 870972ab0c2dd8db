"""Shared by every sealing step: the C library, and the form of its report."""

import ctypes
import os

# A step's layer, whether it is active, and a note: what was done, or why not.
LayerReport = tuple[str, bool, str]

NOBODY = 65534
_PR_SET_PDEATHSIG = 1
_SIGKILL = 9

libc = ctypes.CDLL(None, use_errno=True)


def errno_text() -> str:
    """Return the error text of the last `libc` call."""
    return os.strerror(ctypes.get_errno())


def die_with_parent() -> None:
    """Make the kernel kill this process with its parent; a change of user resets it, so call this last."""
    libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
