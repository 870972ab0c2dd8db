"""What every executor shares: the asynchronous form and the context manager."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from chameleon.sandbox.inputs import checked_inputs
from chameleon.sandbox.result import ExecResult, Guarantees, Limits


class Executor(ABC):
    """See `ProgramExecutor` for the meaning of every method."""

    tier: str

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    @abstractmethod
    def run(
        self,
        code: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        result: str = "ans",
        timeout: float | None = None,
    ) -> ExecResult: ...

    async def arun(
        self,
        code: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        result: str = "ans",
        timeout: float | None = None,
    ) -> ExecResult:
        import asyncio

        return await asyncio.to_thread(self.run, code, inputs, result=result, timeout=timeout)

    @abstractmethod
    def guarantees(self) -> Guarantees: ...

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _wall(self, timeout: float | None) -> float:
        return self._limits.wall_s if timeout is None else timeout

    def _request(
        self, code: str, inputs: Mapping[str, Any] | None, result: str, timeout: float | None
    ) -> dict[str, Any]:
        """What `inside.program.run` reads; raises InputError for inputs that are not JSON."""
        limits = self._limits
        return {
            "code": code,
            "inputs": checked_inputs(inputs),
            "result": result,
            "limits": {
                "cpu_s": limits.cpu_s if timeout is None else timeout,
                "stdout_bytes": limits.stdout_kb * 1024,
                "result_bytes": limits.result_kb * 1024,
                "depth": limits.depth,
                "int_digits": limits.int_digits,
            },
        }

    def _too_long(self, code: str) -> ExecResult | None:
        """The result of a program that exceeds the limit on source, which is not run."""
        if len(code.encode("utf-8", "surrogatepass")) <= self._limits.source_kb * 1024:
            return None
        message = f"the program is longer than {self._limits.source_kb} KiB"
        return ExecResult("too_large", error_type="SourceTooLarge", message=message, tier=self.tier)
