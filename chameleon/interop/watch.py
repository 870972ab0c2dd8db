"""Runs a command, and ends it with all that it started once its parent is gone: `watch.py PIPE COMMAND…`.

PIPE is the number of a pipe that nobody writes to: it closes with the last process that has its other end,
however that process ends. A program of its own, which imports little, since one runs beside each server.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys

_PR_SET_CHILD_SUBREAPER = 36
_POLL_SECONDS = 0.05
_EVERYBODY = -1


def main() -> None:
    """Run the command until it ends, or the pipe closes; then end what is left of it, and exit as it did."""
    pipe, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":  # what loses its parent becomes a child of this process
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if not child:
        os.close(pipe)
        os.setsid()
        try:
            os.execvp(command[0], command)  # noqa: S606 - the user's own command
        except OSError as problem:
            os.write(2, f"{problem.strerror}: {command[0]}\n".encode())
            os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # they are the command's, and close with it
        os.dup2(nothing, stream)
    status = None
    while status is None and not select.select([pipe], [], [], _POLL_SECONDS)[0]:
        status = _ended(child)
    with contextlib.suppress(OSError):  # it has ended
        os.killpg(child, signal.SIGKILL)
    while children := _children():
        for pid in children:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        status = _ended(child, status)
    code = os.waitstatus_to_exitcode(status) if status is not None else 0
    if code < 0 and -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


def _ended(child: int, status: int | None = None) -> int | None:
    """Collect the processes that have ended; return the status of the command once it is one of them."""
    try:
        while (found := os.waitpid(_EVERYBODY, os.WNOHANG))[0]:
            status = found[1] if found[0] == child else status
    except ChildProcessError:
        return status if status is not None else 0
    return status


def _children() -> list[int]:
    """Return the processes that this one is the parent of; none where the system does not say (/proc)."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as listed:  # noqa: PTH123 - pathlib takes long
            return [int(pid) for pid in listed.read().split()]
    except OSError:
        return []


if __name__ == "__main__":
    main()
