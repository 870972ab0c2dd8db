"""The default sandbox on Linux: programs run in sealed, forked children of preloaded interpreters."""

import re
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from queue import Empty, LifoQueue
from typing import Any

from chameleon.errors import MachineError, SandboxUnavailable
from chameleon.sandbox.result import (
    KILLED,
    ExecResult,
    Guarantees,
    Layer,
    Limits,
    Status,
    judge,
    without_unused_imports,
)
from chameleon.sandbox.sandbox import Sandbox
from chameleon.sandbox.sealed_process import Lost, Stuck, ZygoteClient

# Packages that come with pandas and sympy and that programs import directly, and names used with a table.
_COMPANIONS = ("dateutil", "mpmath")
_FRAME = re.compile(r"\b(df|pd|np|tables)\b")
# With one of these, a program may use a name that does not occur in its text.
_LOOKUP = re.compile(r"\b(eval|exec|globals|locals|vars|dir|modules)\b")
_JSON_ESCAPE = 6  # characters of an escaped one, such as \u0000
_PROBE_SECONDS = 10.0
_MEMORY_HINT = "Memory may be short: use fewer workers, or close other programs."
# Set up in each child, so only a program can check them.
_PROGRAM_LAYERS = {"seccomp", "rlimits"}

MONTY_HINT = (
    "Install pydantic-monty (pip install pydantic-monty) and use kind='monty'; "
    "it runs programs without numpy, pandas and sympy."
)

# System call numbers of x86_64: open 2, socket 41, fork 57, kill 62, clone3 435.
PROBE = """
import ctypes, errno, os
kernel = ctypes.CDLL(None, use_errno=True)
def refused(number, *arguments):
    outcome = kernel.syscall(number, *arguments)
    if number == 57 and outcome == 0:
        os._exit(0)
    return outcome == -1 and ctypes.get_errno() == errno.EPERM
ans = {
    "open": refused(2, b"/", 0),
    "socket": refused(41, 2, 1, 0),
    "kill": refused(62, os.getpid(), 0),
    "fork": refused(57),
    "clone3": refused(435, None, 0),
}
try:
    bytearray(1 << 46)
    ans["memory"] = False
except MemoryError:
    ans["memory"] = True
"""


class Pool:
    """Up to `size` zygotes of one kind, started when first needed."""

    def __init__(self, make: Callable[[], ZygoteClient], size: int) -> None:
        self._make, self._closed = make, False
        self._free: LifoQueue[ZygoteClient | None] = LifoQueue()  # None: not started yet
        for _ in range(size):
            self._free.put(None)

    def take(self) -> ZygoteClient:
        """Return an idle zygote, a new one, or wait for one."""
        zygote = self._free.get()
        try:
            if self._closed:
                raise SandboxUnavailable("the sandbox is closed")
            return zygote or self._make()
        except BaseException:
            self._free.put(None)
            raise

    def give(self, zygote: ZygoteClient) -> None:
        self._free.put(zygote)
        if self._closed:
            self.close()

    def drop(self, zygote: ZygoteClient) -> None:
        """Kill a zygote that was taken and will not be returned."""
        zygote.kill()
        self._free.put(None)

    def close(self) -> None:
        """Kill the idle zygotes, and refuse all waiting callers."""
        self._closed = True
        with suppress(Empty):
            while True:
                if (zygote := self._free.get_nowait()) is not None:
                    zygote.kill()
        self._free.put(None)  # wakes a waiting caller, which then wakes the next


class SealedSandbox(Sandbox):
    """Runs each program in a child without files, network, processes, environment or host memory.

    A program gets only the stdlib unless it uses one of the heavy libraries. All it can learn about the
    machine is the location of Python and the time zone. Safe to share between threads; up to `workers`
    programs run at once, and others wait. The arguments are those of `make_sandbox`.
    """

    tier = "sealed"

    def __init__(
        self, libraries: Sequence[str], limits: Limits, workers: int, require: Sequence[str]
    ) -> None:
        self._libraries = tuple(libraries)
        self._require = frozenset(require)
        self._workers = workers
        self._lock = threading.Lock()
        self._pools: dict[str, Pool] = {}
        self._closed = False
        super().__init__(limits)
        self._guarantees = self._measure()

    def guarantees(self) -> Guarantees:
        return self._guarantees

    def _run(self, request: dict[str, Any], wall: float) -> ExecResult:
        if "file" in request:
            return self._run_in(request["file"], request, wall)
        code = request["code"]
        if not _LOOKUP.search(code):
            code = without_unused_imports(code, frozenset(self._libraries))
        needs_libraries = any(library in code for library in (*self._libraries, *_COMPANIONS))
        needs_libraries |= "table" in request["inputs"] and _FRAME.search(code) is not None
        return self._run_in("sci" if needs_libraries else "std", {**request, "code": code}, wall)

    def _end(self) -> None:
        with self._lock:
            self._closed = True
            pools = list(self._pools.values())
        for pool in pools:
            pool.close()

    def _pool(self, kind: str) -> Pool:
        """Return the zygotes for programs ("std", "sci") or for one file."""
        with self._lock:
            if kind not in self._pools:
                if self._closed:
                    raise SandboxUnavailable("the sandbox is closed")
                self._pools[kind] = Pool(lambda: self._start(kind), self._workers)
            return self._pools[kind]

    def _start(self, kind: str) -> ZygoteClient:
        limits = self._limits
        options = {
            "file": "" if kind in ("std", "sci") else kind,
            "libraries": self._libraries if kind == "sci" else (),
            "memory_bytes": limits.memory_mb << 20,
        }
        # The frame holds the answer and the output; JSON may use six characters for one.
        max_bytes = (limits.result_kb * 2 + (limits.stdout_kb + 16) * _JSON_ESCAPE) * 1024
        try:
            zygote = ZygoteClient(options, max_bytes)
        except Lost:  # killed from outside, perhaps: try once more
            try:
                zygote = ZygoteClient(options, max_bytes)
            except Lost as error:
                what = f"the sealed interpreter did not start: {error}"
                lack = MachineError("the sandbox was killed while starting", hint=_MEMORY_HINT)
                raise SandboxUnavailable(what, hint=_MEMORY_HINT) from lack
        try:
            _insist(zygote.layers, self._require - _PROGRAM_LAYERS)
        except SandboxUnavailable:
            zygote.kill()
            raise
        return zygote

    def _measure(self) -> Guarantees:
        """Return the active layers, measured by a program that tries forbidden actions."""
        pool = self._pool("std")
        zygote = pool.take()
        pool.give(zygote)  # started by now, so that its layers are known
        try:
            probe = self._run_in("std", self._request(PROBE, None, "ans", None), _PROBE_SECONDS)
            if probe.status != "ok":
                what = f"the sealed sandbox does not work here: {probe.error_type} {probe.message}"
                raise SandboxUnavailable(what, hint=MONTY_HINT)
            layers = (*self._per_program(probe.value), *zygote.layers)
            _insist(layers, self._require)
        except SandboxUnavailable:
            self.close()
            raise
        return Guarantees(self.tier, layers)

    def _per_program(self, answer: Any) -> tuple[Layer, ...]:
        """Return the layers that are set up for each program, from the answer of `PROBE`."""
        names = ("open", "socket", "fork", "clone3", "kill")
        calls = [name for name in names if answer.get(name) is not True]
        bound, limits = answer.get("memory") is True, self._limits
        bounds = f"{limits.memory_mb} MB, {limits.cpu_s:g} s of CPU, no files, no processes"
        return (
            Layer("seccomp", not calls, f"{', '.join(calls)} got through" if calls else "allow-list"),
            Layer("rlimits", bound, bounds if bound else "memory is not bounded"),
        )

    def _run_in(self, kind: str, request: dict[str, Any], wall: float) -> ExecResult:
        """Run a program, once more if it or its zygote was killed, because a program cannot kill either."""
        pool, start = self._pool(kind), time.monotonic()
        outcome, is_killed = self._once(pool, request, wall)
        if is_killed:
            outcome, _ = self._once(pool, request, wall)
        return replace(outcome, wall_ms=(time.monotonic() - start) * 1000 if is_killed else outcome.wall_ms)

    def _once(self, pool: Pool, request: dict[str, Any], wall: float) -> tuple[ExecResult, bool]:
        """Return the outcome of a program, and whether something outside killed it."""
        while True:
            zygote = pool.take()
            start = time.monotonic()
            try:
                ending = zygote.run(request, wall)
            except BaseException as error:
                pool.drop(zygote)
                if isinstance(error, Lost) and zygote.served:
                    continue
                if not isinstance(error, Stuck):
                    raise
                is_killed = time.monotonic() - start < wall
                status: Status = "crashed" if is_killed else "timeout"
                outcome = ExecResult(status, error_type="SandboxLost", message=str(error), tier=self.tier)
            else:
                pool.give(zygote)
                outcome = judge(ending, self._limits, request["limits"]["cpu_s"], self.tier)
                is_killed = ending.frame is None and outcome.error_type == KILLED
            return replace(outcome, wall_ms=(time.monotonic() - start) * 1000), is_killed


def _insist(layers: Sequence[Layer], required: Collection[str]) -> None:
    """Raise SandboxUnavailable if a required layer is not active."""
    by_name = {layer.name: layer for layer in layers}
    for name in sorted(required):
        layer = by_name.get(name, Layer(name, False, "there is no such layer"))
        if not layer.active:
            what = f"the sandbox layer '{name}' is required but not active here: {layer.note}"
            raise SandboxUnavailable(what, hint=MONTY_HINT)
