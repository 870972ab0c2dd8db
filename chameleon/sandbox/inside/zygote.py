"""A loaded, sealed interpreter that keeps one forked child ready and gives each program its own.

It talks to the parent over one seqpacket socket. Parent to zygote: {"run": serial, "wall": seconds},
{"done": serial}. Zygote to parent: {"ready": …}, {"spare": serial} with the child's socket attached,
{"ended": serial, …}. Programs and answers pass only between parent and child; the zygote never sees them, so
no trace of one program is in the memory from which the next one is forked.
"""

import gc
import json
import os
import random
import resource
import select
import signal
import socket
import sys
import time
from typing import Any, NoReturn

from . import libraries, program, rlimits, seal, seccomp
from .kernel import LayerReport, die_with_parent, libc
from .program import BROKEN, EXHAUSTED, LENGTH, NONCE, UNSEALED

# If the host sets no limit; each number costs a system call without close_range.
_MAX_HANDLES = 1 << 20


def main(control: int, options: dict[str, Any], namespaces: LayerReport) -> NoReturn:
    die_with_parent()
    Zygote(socket.socket(fileno=control), options, namespaces).serve()


class Zygote:
    """Loads libraries, seals itself, and serves until the host closes the socket."""

    def __init__(self, control: socket.socket, options: dict[str, Any], namespaces: LayerReport) -> None:
        self._control = control
        self._memory: int = options["memory_bytes"]
        self._serial = 0
        self._child_socket = -1
        self._handles = _most_handles(control.fileno())
        self._work: libraries.Work
        if options["file"]:
            # Loaded only here: its imports, such as SQLite, are not available to programs.
            self._work = libraries.work_of(options["file"])
        else:
            libraries.load_stdlib()
            libraries.load(present := libraries.installed(options["libraries"]))
            program.missing.update(set(options["libraries"]) - set(present))
            self._work = program.run
        self._hidden = sorted({sys.base_prefix, sys.prefix, sys.argv[1]}, key=len, reverse=True)
        self._filter = seccomp.Filter(libc)
        self._size = rlimits.address_space()
        _forget_the_host()
        layers = [namespaces, *seal.seal()]
        die_with_parent()
        self._send({"ready": layers})

    def serve(self) -> NoReturn:
        """Give each program its own child, until the host closes the socket."""
        dying: int | None = None
        while True:
            child, pidfd = self._fork_spare()
            # Reaped only now: the old, large process takes longer to exit than a new one to start.
            if dying is not None:
                os.waitpid(dying, 0)
            dying = self._supervise(child, pidfd, self._next_wall())
            os.close(pidfd)

    def _send(self, message: dict[str, Any], *handles: int) -> None:
        socket.send_fds(self._control, [json.dumps(message).encode()], list(handles))

    def _receive(self) -> dict[str, Any]:
        data = self._control.recv(65536)
        if not data:  # the host closed its end or is gone
            os._exit(0)
        message: dict[str, Any] = json.loads(data)
        return message

    def _fork_spare(self) -> tuple[int, int]:
        self._serial += 1
        ours, theirs = socket.socketpair()
        child = os.fork()
        if child == 0:
            self._be_the_child(ours.fileno())
        pidfd = os.pidfd_open(child)
        self._send({"spare": self._serial}, theirs.fileno())
        ours.close()
        theirs.close()
        return child, pidfd

    def _next_wall(self) -> float:
        while True:
            message = self._receive()
            if message.get("run") == self._serial:
                return float(message["wall"])

    def _supervise(self, child: int, pidfd: int, wall: float) -> int | None:
        """Kill the child once its frame has arrived, and return its id; otherwise report how it ended."""
        end = time.monotonic() + wall
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        poller.register(self._control, select.POLLIN)
        while True:
            ready = [number for number, _ in poller.poll(max(0.0, end - time.monotonic()) * 1000)]
            if pidfd in ready or not ready:
                break
            if self._receive().get("done") == self._serial:
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                return child
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        self._send({"ended": self._serial, "code": code, "overrun": not ready, "cpu": usage.ru_utime})
        return None

    def _be_the_child(self, number: int) -> NoReturn:
        """Read one program, drop the remaining rights, run it, send its frame, exit."""
        code = BROKEN
        try:
            self._control.close()  # a program that uses this number could impersonate the zygote
            self._child_socket = number
            # Python reseeds its generator at every fork, but equal programs must draw equal numbers.
            random.seed(0)
            os.closerange(3, number)
            os.closerange(number + 1, self._handles)
            os.setsid()
            seal.forbid_inspection()
            die_with_parent()
            request = json.loads(_read(number, int.from_bytes(_read(number, LENGTH), "big")))
            code = UNSEALED
            rlimits.bound(self._memory, request["limits"]["cpu_s"], self._size)
            self._filter.install()
            code = BROKEN
            self._tell(self._work(request, self._hidden))
            code = 0
        except MemoryError:
            code = EXHAUSTED
        finally:
            os._exit(code)

    def _tell(self, frame: str) -> None:
        # The nonce is read only now, so anything the program itself wrote here cannot start with it.
        data = frame.encode()
        rest = memoryview(_read(self._child_socket, NONCE) + len(data).to_bytes(LENGTH, "big") + data)
        while rest:
            rest = rest[os.write(self._child_socket, rest) :]


def _most_handles(inherited: int) -> int:
    """Return a number above all open handles: the limit, which may once have been higher."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    count = _MAX_HANDLES if limit == resource.RLIM_INFINITY else min(limit, _MAX_HANDLES)
    return max(count, inherited + 1)


def _forget_the_host() -> None:
    os.environ.clear()
    sys.argv[:] = [""]
    sys.orig_argv[:] = []
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.close(null)
    gc.collect()
    gc.freeze()  # a collection in a child then leaves the shared pages alone


def _read(number: int, size: int) -> bytes:
    data = bytearray(size)
    rest = memoryview(data)
    while rest:
        count = os.readv(number, [rest])
        if not count:
            raise EOFError("the host closed the socket")
        rest = rest[count:]
    return bytes(data)
