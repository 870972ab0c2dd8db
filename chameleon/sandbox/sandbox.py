"""The interface and shared code of all sandboxes."""

import json
import keyword
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from chameleon.errors import InputError, SandboxUnavailable
from chameleon.sandbox.result import ExecResult, Guarantees, Limits

_MAX_TIMEOUT_SECONDS = 3600.0


class Sandbox(ABC):
    """Runs model-written programs, each from the same fresh state. Threads may share it.

    It belongs to the process that created it; a forked copy of the process cannot use it.
    """

    tier: str

    def __init__(self, limits: Limits) -> None:
        self._limits, self._owner = limits, os.getpid()

    def run(
        self,
        code: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        result: str = "ans",
        timeout: float | None = None,
    ) -> ExecResult:
        """Run a program and return the value of its variable `result`.

        Args:
            inputs: JSON values that become its globals. An input `table` of the form {"columns": […],
                "rows": [[…]]} is also available as a pandas DataFrame `df`, along with `pd` and `np`.
                The tables of an input `tables`, by name, are DataFrames if pandas is installed.
            timeout: seconds, instead of the limits on wall and CPU time.

        Raises:
            InputError: for inputs that are not JSON, or have invalid names.
            SandboxUnavailable: if it is closed, or in a fork of the process that created it.
        """
        if len(code.encode("utf-8", "surrogatepass")) > self._limits.source_kb * 1024:
            message = f"the program is longer than {self._limits.source_kb} KiB"
            return ExecResult("too_large", error_type="SourceTooLarge", message=message, tier=self.tier)
        request = self._request(code, inputs, result, timeout)
        return self._run(request, request["limits"]["wall_s"])

    def call(self, file: Path, request: Mapping[str, Any], *, timeout: float | None = None) -> ExecResult:
        """Run a trusted Python file for work that a hostile request could turn against us.

        Args:
            file: it imports only the stdlib, and has `warm_up()`, which is called before the seal, and
                `run(request, hidden)`, which returns a frame as `inside.program.run` does.
            request: JSON; `limits` are added to it.

        Raises:
            SandboxUnavailable: if programs run in Monty, which cannot load the file.
        """
        bounds = self._bounds(timeout)
        return self._run({**request, "file": str(file), "limits": bounds}, bounds["wall_s"])

    @abstractmethod
    def _run(self, request: dict[str, Any], wall: float) -> ExecResult:
        """Run a request from `run` or `call`, for at most `wall` seconds."""

    @abstractmethod
    def guarantees(self) -> Guarantees:
        """Return the active layers."""

    def close(self) -> None:
        """End the processes. Does nothing if called again, or in a fork, which does not own them."""
        if self._owner == os.getpid():
            self._end()

    @abstractmethod
    def _end(self) -> None:
        """End the processes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _bounds(self, timeout: float | None) -> dict[str, Any]:
        """Return the limits in the form that `inside` reads."""
        if self._owner != os.getpid():
            what = "the sandbox belongs to the process from which this one was forked"
            raise SandboxUnavailable(what, hint="Create one there, or start processes with 'spawn'.")
        if timeout is not None and not 0 < timeout <= _MAX_TIMEOUT_SECONDS:
            raise InputError(f"the timeout of {timeout} s is invalid", hint="Use between 0 and 3600 s.")
        limits = self._limits
        return {
            "cpu_s": limits.cpu_s if timeout is None else timeout,
            "wall_s": limits.wall_s if timeout is None else timeout,
            "memory_bytes": limits.memory_mb << 20,
            "source_bytes": limits.source_kb * 1024,
            "stdout_bytes": limits.stdout_kb * 1024,
            "result_bytes": limits.result_kb * 1024,
            "depth": limits.depth,
            "int_digits": limits.int_digits,
        }

    def _request(
        self, code: str, inputs: Mapping[str, Any] | None, result: str, timeout: float | None
    ) -> dict[str, Any]:
        """Return a request in the form that `inside.program.run` reads."""
        bounds, values = self._bounds(timeout), dict(inputs or {})
        for name in values:
            if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
                raise InputError(f"{name!r} cannot be the name of a program's input", where="inputs")
        try:
            json.dumps(values)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"a program's inputs must be JSON values: {error}", where="inputs") from None
        return {"code": code, "inputs": values, "result": result, "limits": bounds}
