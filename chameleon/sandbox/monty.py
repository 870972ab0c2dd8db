"""Run programs in Monty, an interpreter with no access to the machine at all.

It supports a subset of Python, without numpy, pandas or sympy. It needs the package pydantic-monty.
"""

import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from chameleon.errors import MissingPackage, SandboxUnavailable
from chameleon.sandbox.inside.program import Printed, encoded
from chameleon.sandbox.result import ExecResult, Guarantees, Layer, Limits, Status, without_unused_imports
from chameleon.sandbox.sandbox import Sandbox

# Monty 1.4 rounds 2.675 to 2.68, CPython to 2.67; formatting is right in both.
_PRELUDE = """
_round = round
def round(number, ndigits=None):
    if ndigits is None or ndigits < 0 or not isinstance(number, float):
        return _round(number, ndigits)
    return float(f'{number:.{ndigits}f}')
"""
_GRACE_SECONDS = 0.2
# Every program has its own deadline; this one only ends a worker that no longer responds at all.
_BACKSTOP_SECONDS = 600.0
_MAX_RECURSION = 900
_CIRCLES = ("[...]", "{...}", "(...)")

_STATUS: dict[str, Status] = {"MemoryError": "memory", "TimeoutError": "timeout"}
# Errors that mean a missing feature of Monty, not a mistake in the program.
_UNKNOWN_TO_MONTY = {"ModuleNotFoundError", "ImportError", "NotImplementedError"}


_opened_by = 0  # the process that last started workers; its forks cannot start any


class MontySandbox(Sandbox):
    """Runs programs in pooled Monty workers, each in a fresh session; safe to share between threads."""

    tier = "monty"

    def __init__(self, libraries: Sequence[str], limits: Limits, workers: int) -> None:
        try:
            import pydantic_monty
        except ImportError:
            what = "programs run in Monty here, but it is not installed"
            raise MissingPackage(what, hint="pip install pydantic-monty") from None
        if _opened_by not in (0, os.getpid()):
            what = "Monty does not work in a fork of a process that has used it"
            raise SandboxUnavailable(what, hint="Start processes with 'spawn'.")
        self._monty: Any = pydantic_monty
        self._libraries, self._workers = frozenset(libraries), workers
        self._lock = threading.Lock()
        self._pool: Any = None
        self._closed = False
        super().__init__(limits)

    def _run(self, request: dict[str, Any], wall: float) -> ExecResult:
        if "file" in request:
            what = "this needs the sealed sandbox, but programs run in Monty here"
            raise SandboxUnavailable(what, hint="Use Linux on x86_64.")
        start = time.monotonic()
        for _ in range(2):
            printed = Printed(self._limits.stdout_kb * 1024)
            try:
                outcome = self._feed(self._session(wall), request, printed)
                break
            except self._monty.MontyCrashedError as error:
                status: Status = "timeout" if error.timed_out else "crashed"
                outcome = ExecResult(status, error_type="MontyCrashedError", message=str(error)[:500])
                if error.timed_out or error.exit_status is not None:  # else it was killed: try again
                    break
        return replace(
            outcome,
            stdout=printed.text(),
            stdout_truncated=printed.truncated,
            wall_ms=(time.monotonic() - start) * 1000,
            tier=self.tier,
        )

    def _session(self, wall: float) -> Any:
        return self._open().checkout(
            limits={
                "max_feed_duration_secs": wall,
                "max_memory": self._limits.memory_mb << 20,
                "max_total_sleep_secs": 0,
                "max_recursion_depth": _MAX_RECURSION,
            },
            assert_message_annotations=False,
            os_policy={"random_start": {"seed": 0}},  # equal programs draw equal numbers
        )

    def _open(self) -> Any:
        global _opened_by  # noqa: PLW0603
        with self._lock:
            if self._closed:
                raise SandboxUnavailable("the sandbox is closed")
            if self._pool is None:
                _opened_by = os.getpid()
                self._pool = self._monty.Monty(
                    max_processes=self._workers,
                    request_timeout=_BACKSTOP_SECONDS,
                    feed_duration_limit_grace=_GRACE_SECONDS,
                ).__enter__()
            return self._pool

    def _feed(self, session: Any, request: dict[str, Any], printed: Printed) -> ExecResult:
        def keep(stream: str, text: str) -> None:
            if stream == "stdout":
                printed.write(text)

        monty = self._monty
        code = without_unused_imports(request["code"], self._libraries | sys.stdlib_module_names)
        try:
            with session:
                session.feed_run(_PRELUDE)
                try:
                    session.feed_run(code, inputs=request["inputs"], print_callback=keep)
                except (monty.MontyRuntimeError, monty.MontySyntaxError) as error:
                    return _failure(error, request)
                try:
                    value = session.feed_run(request["result"])
                except monty.MontyRuntimeError as error:
                    if type(error.exception()).__name__ != "NameError":  # it exists but is too large
                        return _failure(error, request)
                    message = f"the program ended without setting '{request['result']}'"
                    return ExecResult("no_answer", message=message)
                frame = encoded(value, request)
                if not any(mark in code for mark in _CIRCLES) and _holds_itself(frame.get("v")):
                    message = f"'{request['result']}' is a value that holds itself"
                    return ExecResult("error", error_type="UnsupportedAnswer", message=message)
                fields = {"value_type": "k", "error_type": "t", "message": "m"}
                texts = {name: frame.get(key, "") for name, key in fields.items()}
                return ExecResult(frame["s"], frame.get("v"), **texts)
        except monty.MontyCrashedError:
            raise
        except monty.MontyError as error:
            return ExecResult("error", error_type=type(error).__name__, message=str(error)[:500])

    def guarantees(self) -> Guarantees:
        limits = self._limits
        return Guarantees(
            self.tier,
            (
                Layer("interpreter", True, "no files, network, processes or host memory to reach"),
                Layer("worker process", True, "a crash stays there"),
                Layer("limits", True, f"{limits.wall_s:g} s, {limits.memory_mb} MB, no sleep"),
                Layer("numpy, pandas, sympy", False, "programs that use them are refused"),
            ),
        )

    def _end(self) -> None:
        with self._lock:
            pool, self._pool, self._closed = self._pool, None, True
        if pool is not None:
            pool.__exit__(None, None, None)


def _holds_itself(value: Any) -> bool:
    """Return whether a value has a cycle, which Monty writes as one of `_CIRCLES`."""
    if isinstance(value, dict):
        value = list(value.values())
    return any(map(_holds_itself, value)) if isinstance(value, list) else value in _CIRCLES


def _failure(error: Any, request: Mapping[str, Any]) -> ExecResult:
    cause = error.exception()
    kind = type(cause).__name__
    frames = error.traceback()
    line = frames[-1].line if frames else None
    status: Status = _STATUS.get(kind, "error")
    lacks = kind == "NameError" and any(f"'{name}'" in str(cause) for name in ("df", "pd", "np"))
    lacks_frame = lacks and "table" in request["inputs"]
    if kind in _UNKNOWN_TO_MONTY or lacks_frame:
        status = "refused"
    return ExecResult(status, error_type=kind, message=str(cause)[:500], line=line)
