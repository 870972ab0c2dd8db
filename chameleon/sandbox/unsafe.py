"""Sandboxes that contain nothing: for programs that you would also run by hand.

Chosen only when a user names them. A hostile program reads and writes the user's files, uses the
network and, in process, the caller's memory.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chameleon.sandbox.inside import libraries, program
from chameleon.sandbox.inside.libraries import Work
from chameleon.sandbox.inside.program import LENGTH, NONCE
from chameleon.sandbox.result import Ending, ExecResult, Guarantees, Layer, Limits, judge
from chameleon.sandbox.sandbox import Sandbox
from chameleon.sandbox.zygote import ENVIRONMENT, command

_ABSENT = tuple(
    Layer(name, False, "a program has the caller's") for name in ("files", "network", "processes")
)


class UnsafeSubprocess(Sandbox):
    """A fresh interpreter per program, bounded in time and (where the system can) memory."""

    tier = "unsafe_subprocess"

    def __init__(self, libraries: Sequence[str], limits: Limits) -> None:
        super().__init__(limits)
        self._options = json.dumps({"libraries": list(libraries), "memory_bytes": limits.memory_mb << 20})

    def _run(self, request: dict[str, Any], wall: float) -> ExecResult:
        begun = time.monotonic()
        ending = self._start(json.dumps(request).encode(), wall)
        outcome = judge(ending, self._limits, request["limits"]["cpu_s"], self.tier)
        return replace(outcome, wall_ms=(time.monotonic() - begun) * 1000)

    def _start(self, body: bytes, wall: float) -> Ending:
        nonce = secrets.token_bytes(NONCE)
        process = subprocess.Popen(  # noqa: S603
            command("alone", self._options),
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        with process:
            try:
                answer, _ = process.communicate(len(body).to_bytes(LENGTH, "big") + body + nonce, wall)
            except subprocess.TimeoutExpired:
                process.kill()
                return Ending(None, overrun=True)
        if answer[:NONCE] == nonce and len(answer) > NONCE + LENGTH:
            return Ending(answer[NONCE + LENGTH :])
        return Ending(None, process.returncode)

    def guarantees(self) -> Guarantees:
        bounded = Layer("time", True, f"killed after {self._limits.wall_s:g} s")
        return Guarantees(self.tier, (*_ABSENT, bounded))

    def close(self) -> None:
        """Do nothing: no process outlives a program."""


class UnsafeInProcess(Sandbox):
    """`exec` in this very process, one program at a time; not even a time limit holds."""

    tier = "unsafe_inprocess"

    def __init__(self, limits: Limits) -> None:
        self._lock = threading.Lock()
        super().__init__(limits)

    def _run(self, request: dict[str, Any], wall: float) -> ExecResult:
        begun = time.monotonic()
        with self._lock:
            streams, main = (sys.stdout, sys.stderr, sys.stdin), sys.modules["__main__"]
            recursion, digits = sys.getrecursionlimit(), sys.get_int_max_str_digits()
            trace, profile = sys.gettrace(), sys.getprofile()
            try:
                frame = self._work(request)(request, ())
            finally:
                sys.stdout, sys.stderr, sys.stdin = streams
                sys.modules["__main__"] = main
                sys.setrecursionlimit(recursion)
                sys.set_int_max_str_digits(digits)
                sys.settrace(trace)
                sys.setprofile(profile)
        outcome = judge(Ending(frame.encode()), self._limits, self._limits.cpu_s, self.tier)
        return replace(outcome, wall_ms=(time.monotonic() - begun) * 1000)

    def _work(self, request: dict[str, Any]) -> Work:
        if "file" not in request:
            return program.run
        # The heap limit of SQLite is one for the whole process, and cannot be raised again.
        request["limits"]["memory_bytes"] = 0
        return libraries.work_of(request["file"])

    def start_afresh(self) -> None:
        self._lock = threading.Lock()

    def guarantees(self) -> Guarantees:
        return Guarantees(self.tier, (*_ABSENT, Layer("time", False, "no limit holds in process")))

    def close(self) -> None:
        """Do nothing: there is no process to end."""
