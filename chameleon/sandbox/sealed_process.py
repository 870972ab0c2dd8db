"""The parent's end of one sealed interpreter: start it, send it programs, kill it."""

import json
import os
import secrets
import select
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

from chameleon.errors import MachineError, SandboxUnavailable, lack_of
from chameleon.sandbox.inside import seccomp
from chameleon.sandbox.inside.program import LENGTH, NONCE
from chameleon.sandbox.result import Ending, Layer

_START_SECONDS = 60.0
_GRACE_SECONDS = 2.0
_HINT = "Use fewer workers, or raise the limit of processes (ulimit -u)."
_UNREADABLE = "the sandbox process sent an unreadable message"

_INSIDE = Path(__file__).with_name("inside")

# Loads the folder `inside` as its own package: the engine is not imported on the other side, and neither the
# caller's directory nor its PYTHONPATH can substitute another module.
_BOOT = """
import sys, importlib.util as u
folder = sys.argv[1]
s = u.spec_from_file_location("inside", folder + "/__init__.py", submodule_search_locations=[folder])
m = u.module_from_spec(s); sys.modules["inside"] = m; s.loader.exec_module(m)
from inside import outer
outer.main()
"""
# Like `-I`, which would also ignore the hash seed; the environment contains only our settings.
_FLAGS = ("-s", "-P", "-B", "-X", "utf8", "-c", _BOOT)
_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_MAX_THREADS": "1",
}


class Stuck(Exception):
    """The zygote did not answer in time, or is gone; it must be restarted."""


class Lost(Stuck):
    """Like `Stuck`, but the program was not started, so it can run elsewhere."""


class ZygoteClient:
    """One sealed interpreter for one thread at a time. Raises SandboxUnavailable, or `Lost` if silent."""

    def __init__(self, options: dict[str, Any], answer_bytes: int) -> None:
        self._answer_bytes = answer_bytes
        self._spares: dict[int, socket.socket] = {}
        self._ended: dict[int, dict[str, Any]] = {}
        self._serial = 0
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # whole messages
        with theirs, os.fdopen(os.memfd_create("complaints"), "w+b") as complaints:
            self._process = self._launch(options, theirs, complaints)
            theirs.close()
            try:
                ready = self._message(time.monotonic() + _START_SECONDS)
                self.layers = tuple(Layer(name, active, note) for name, active, note in ready["ready"])
            except BaseException as error:
                self.kill()
                complaints.seek(0)
                last = complaints.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
                if isinstance(error, Stuck) and not last:  # perhaps killed for lack of memory
                    raise Lost(str(error)) from None
                if not isinstance(error, Stuck | KeyError | TypeError | ValueError):
                    raise
                why = last[:300] if isinstance(error, Stuck) else "its first message is unreadable"
                raise SandboxUnavailable(f"the sealed interpreter did not start: {why}") from None

    def _launch(
        self, options: dict[str, Any], theirs: socket.socket, complaints: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603
                [sys.executable, *_FLAGS, str(_INSIDE), str(theirs.fileno()), json.dumps(options)],
                env=_ENVIRONMENT,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except OSError as error:
            self._control.close()
            lack = lack_of(error) or MachineError(f"cannot start a process: {error.strerror}", hint=_HINT)
            what = f"cannot start an interpreter: {error.strerror}"
            raise SandboxUnavailable(what, hint=lack.hint) from lack

    def run(self, request: dict[str, Any], wall: float) -> Ending:
        """Run one program in the spare child. Raises `Stuck` at most 2 s after `wall`."""
        nonce = secrets.token_bytes(NONCE)
        body = json.dumps(request).encode()
        end = time.monotonic() + wall + _GRACE_SECONDS
        self._serial += 1
        try:
            while self._serial not in self._spares:
                self._sort(self._message(end))
            self._send({"run": self._serial, "wall": wall})
        except Stuck as error:
            raise Lost(str(error)) from None
        self._ended.clear()
        with self._spares.pop(self._serial) as child:
            child.setblocking(False)
            return self._exchange(child, len(body).to_bytes(LENGTH, "big") + body + nonce, nonce, end)

    def _exchange(self, child: socket.socket, outgoing: bytes, nonce: bytes, end: float) -> Ending:
        """Write the program and read the frame, each when the child is ready."""
        rest = memoryview(outgoing)
        arrived = bytearray()
        poller = select.poll()
        poller.register(child, select.POLLIN | select.POLLOUT)
        while True:
            left = end - time.monotonic()
            if left <= 0 or not (events := poller.poll(left * 1000)):
                raise Stuck("the sandbox process does not respond")
            try:
                if rest and events[0][1] & select.POLLOUT:
                    rest = rest[child.send(rest) :]
                    if not rest:
                        poller.modify(child, select.POLLIN)  # or every poll would find it writable
                part = child.recv(1 << 20)
            except BlockingIOError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                part = b""
            arrived += part
            if not part:
                return self._verdict(end)
            frame = self._frame(arrived, nonce)
            if frame is not None or len(arrived) > self._answer_bytes:
                self._send({"done": self._serial})
                return Ending(frame, excess=frame is None)

    def _frame(self, arrived: bytearray, nonce: bytes) -> bytes | None:
        head = NONCE + LENGTH
        if len(arrived) < head or not secrets.compare_digest(arrived[:NONCE], nonce):
            return None
        size = int.from_bytes(arrived[NONCE:head], "big")
        if size > self._answer_bytes or len(arrived) < head + size:
            return None
        return bytes(arrived[head : head + size])

    def _verdict(self, end: float) -> Ending:
        while self._serial not in self._ended:
            self._sort(self._message(end))
        ended = self._ended[self._serial]
        try:
            return Ending(None, ended["code"], ended["overrun"], cpu=ended["cpu"])
        except KeyError:
            raise Stuck(_UNREADABLE) from None

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._control.send(json.dumps(message).encode())
        except OSError as error:
            raise Stuck(f"the sandbox process is gone: {error.strerror}") from None

    def _sort(self, message: dict[str, Any]) -> None:
        if isinstance(number := message.get("ended"), int):
            self._ended[number] = message

    def _message(self, end: float) -> dict[str, Any]:
        poller = select.poll()
        poller.register(self._control, select.POLLIN)
        if not poller.poll(max(0.0, end - time.monotonic()) * 1000):
            raise Stuck("the sandbox process does not respond")
        try:
            data, handles, _, _ = socket.recv_fds(self._control, 65536, 1, socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:
            data, handles = b"", []
        if not data:
            raise Stuck("the sandbox process ended")
        spares = [socket.socket(fileno=handle) for handle in handles]
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or (spares and not isinstance(message.get("spare"), int)):
            for spare in spares:
                spare.close()
            raise Stuck(_UNREADABLE)
        for spare in spares:
            self._spares[message["spare"]] = spare
        return message

    @property
    def served(self) -> bool:
        """Return whether it has run a program before; one that fails on its first would fail again."""
        return self._serial > 1

    def kill(self) -> None:
        """Kill it and everything in it."""
        for each in (self._control, *self._spares.values()):
            each.close()
        self._spares.clear()
        self._process.kill()
        self._process.wait()


def why_unusable() -> str:
    """Return why no sealed interpreter can start on this machine, or ""."""
    if not sys.platform.startswith("linux"):
        return f"the sealed sandbox needs Linux, but this is {sys.platform}"
    if not sys.executable:
        return "the path of the Python interpreter is unknown"
    if not hasattr(os, "pidfd_open"):
        return "this Python was built without pidfd_open"
    return seccomp.supported()
