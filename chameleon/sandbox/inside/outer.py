"""The process that the host starts: it leaves the host's namespaces, and its child becomes the zygote.

The first process in a new process namespace is its init: if it ends, the kernel ends the whole namespace. The
outer process stays outside, as the handle by which the host can kill it; it loads next to nothing.
"""

import os
import sys
from typing import NoReturn

from .kernel import NOBODY, LayerReport, errno_text, libc

_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC = 0x0002_0000, 0x0400_0000, 0x0800_0000
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x1000_0000, 0x2000_0000, 0x4000_0000
_SPACES = _CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWPID | _CLONE_NEWNET
_HOST_NAME = b"sandbox"


def main() -> NoReturn:
    """Start the zygote; argv: this package's folder, the control socket's number, options as JSON."""
    control = int(sys.argv[2])
    namespaces = _unshare()
    child = os.fork()
    if child:
        os.close(control)
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    import json

    from . import zygote

    zygote.main(control, json.loads(sys.argv[3]), namespaces)


def _unshare() -> LayerReport:
    """Leave the host's process, network, mount, IPC and host-name namespaces.

    Root needs no user namespace for this; other users get the rest only together with one.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0 and libc.unshare(_SPACES) == 0:
        _hide_the_host_name()
        return "namespaces", True, "pid, net, mount, ipc, uts"
    if libc.unshare(_CLONE_NEWUSER | _SPACES) != 0:
        return "namespaces", False, f"unshare: {errno_text()}"
    from pathlib import Path

    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{NOBODY} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1")
    except OSError as error:
        return "namespaces", True, f"pid, net, mount, ipc, uts, and user without ids: {error.strerror}"
    _hide_the_host_name()
    return "namespaces", True, "user, pid, net, mount, ipc, uts"


def _hide_the_host_name() -> None:
    # Libraries read it while they load, and keep it.
    libc.sethostname(_HOST_NAME, len(_HOST_NAME))
