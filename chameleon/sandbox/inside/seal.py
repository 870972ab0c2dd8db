"""Cut the process off from everything: an empty root, Landlock, no capabilities.

Every step reports (layer, active, note); the parent decides which layers are required.
"""

import ctypes
import os
import tempfile
from pathlib import Path

from .kernel import NOBODY, LayerReport, errno_text, libc

_PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 4, 24
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4

_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # Landlock's system calls
# Number of file rights by Landlock ABI: kernel Documentation/userspace-api/landlock.rst.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
_NET_RIGHTS, _SCOPES = 0b11, 0b11  # TCP's bind and connect; abstract sockets and signals
_CAPABILITY_VERSION_3 = 0x2008_0522


def seal() -> list[LayerReport]:
    """Give up files, network and privileges permanently; call it after everything is loaded."""
    return [_forbid_new_privileges(), _enter_empty_root(), _landlock(), *_drop_privileges()]


def _forbid_new_privileges() -> LayerReport:
    done = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    return "no_new_privs", done, "" if done else errno_text()


def _enter_empty_root() -> LayerReport:
    """Enter a removed directory, which stays empty: nothing can be created in it."""
    handle = -1
    try:
        place = tempfile.mkdtemp(prefix="chameleon-")
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        Path(place).rmdir()
        os.fchdir(handle)
        os.chroot(".")
    except OSError as error:
        os.chdir("/")
        return "chroot", False, error.strerror or ""
    finally:
        if handle >= 0:
            os.close(handle)
    return "chroot", True, "an empty, removed directory"


def _landlock() -> LayerReport:
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)  # the flag 1 asks for the ABI's version
    if version < 1:
        return "landlock", False, errno_text()
    bits = max(count for abi, count in _FILE_RIGHTS.items() if abi <= version)
    words = [(1 << bits) - 1]
    if version >= 4:
        words.append(_NET_RIGHTS)
    if version >= 6:
        words.append(_SCOPES)
    rights = (ctypes.c_uint64 * len(words))(*words)
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rights), ctypes.sizeof(rights), 0)
    if ruleset < 0:
        return "landlock", False, errno_text()
    done = libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    note = f"ABI {version}, no rules" if done else errno_text()
    os.close(ruleset)
    return "landlock", done, note


def _drop_privileges() -> list[LayerReport]:
    capability = 0
    while libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:  # until the kernel knows no further one
        capability += 1
    libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    layers = [_leave_root()] if os.geteuid() == 0 else []
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable, each of 64 bits
    done = libc.capset(ctypes.byref(header), ctypes.byref(none)) == 0
    return [*layers, ("capabilities", done, "none left" if done else errno_text())]


def _leave_root() -> LayerReport:
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError as error:
        return "unprivileged_user", False, error.strerror or ""
    return "unprivileged_user", True, f"uid {NOBODY}"


def forbid_inspection() -> None:
    """Forbid core files, ptrace and access to /proc/self/mem by other processes."""
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
