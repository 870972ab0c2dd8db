"""Take the process out of reach of everything: namespaces, an empty root, Landlock, no capabilities.

Every step reports what it did as (layer, active, note); what the parent requires is decided there.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from pathlib import Path

Layer = tuple[str, bool, str]

_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC = 0x0002_0000, 0x0400_0000, 0x0800_0000
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x1000_0000, 0x2000_0000, 0x4000_0000
_SPACES = _CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWPID | _CLONE_NEWNET

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_SIGKILL = 9

_CREATE_RULESET, _RESTRICT_SELF = 444, 446
# Rights that each Landlock ABI added: kernel Documentation/userspace-api/landlock.rst.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
_NET_RIGHTS, _SCOPES = 0b11, 0b11
_CAPABILITY_VERSION_3 = 0x2008_0522
_NOBODY = 65534
_HOST_NAME = b"sandbox"

libc = ctypes.CDLL(None, use_errno=True)


def _errno_text() -> str:
    return os.strerror(ctypes.get_errno())


def unshare() -> Layer:
    """Leave the host's process, network, mount, IPC and host-name spaces.

    Root needs no user namespace for it; everyone else gets the rest only together with one.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0 and libc.unshare(_SPACES) == 0:
        _hide_the_host_name()
        return "namespaces", True, "pid, net, mount, ipc, uts"
    if libc.unshare(_CLONE_NEWUSER | _SPACES) != 0:
        return "namespaces", False, f"unshare: {_errno_text()}"
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{_NOBODY} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{_NOBODY} {group} 1")
    except OSError as error:
        return "namespaces", True, f"pid, net, mount, ipc, uts, and user without ids: {error.strerror}"
    _hide_the_host_name()
    return "namespaces", True, "user, pid, net, mount, ipc, uts"


def _hide_the_host_name() -> None:
    # Libraries ask for it while they load, and keep the answer.
    libc.sethostname(_HOST_NAME, len(_HOST_NAME))


def seal() -> list[Layer]:
    """Give up files, network and privileges for good; call it after everything is loaded."""
    return [_forbid_new_privileges(), _enter_empty_root(), _landlock(), *_drop_privileges()]


def _forbid_new_privileges() -> Layer:
    done = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    return "no_new_privs", done, "" if done else _errno_text()


def _enter_empty_root() -> Layer:
    """A removed directory is empty for ever: nothing can be made in it, by anyone."""
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


def _landlock() -> Layer:
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return "landlock", False, _errno_text()
    bits = max(count for abi, count in _FILE_RIGHTS.items() if abi <= version)
    words = [(1 << bits) - 1]
    if version >= 4:
        words.append(_NET_RIGHTS)
    if version >= 6:
        words.append(_SCOPES)
    rights = (ctypes.c_uint64 * len(words))(*words)
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rights), ctypes.sizeof(rights), 0)
    if ruleset < 0:
        return "landlock", False, _errno_text()
    done = libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    note = f"ABI {version}, no rules" if done else _errno_text()
    os.close(ruleset)
    return "landlock", done, note


def _drop_privileges() -> list[Layer]:
    capability = 0
    while libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    layers = [_leave_root()] if os.geteuid() == 0 else []
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    done = libc.capset(ctypes.byref(header), ctypes.byref(none)) == 0
    return [*layers, ("capabilities", done, "none left" if done else _errno_text())]


def _leave_root() -> Layer:
    try:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    except OSError as error:
        return "unprivileged_user", False, error.strerror or ""
    return "unprivileged_user", True, f"uid {_NOBODY}"


def die_with_parent() -> None:
    """Be killed when the parent ends; a change of user clears it, so call this last."""
    libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)


def forbid_inspection() -> None:
    """No core file, no ptrace, no /proc/self/mem of another process."""
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
