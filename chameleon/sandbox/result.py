"""What goes into a sandbox and what comes out: limits, results, guarantees, the executor's interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

from chameleon.errors import InputError
from chameleon.sandbox.values import plain

Status = Literal["ok", "no_answer", "error", "timeout", "memory", "too_large", "crashed", "refused"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use; every program gets all of it afresh.

    Seconds of wall and CPU time, megabytes of memory on top of the loaded libraries, kilobytes of
    source, captured stdout and encoded answer, nesting levels and integer digits of the answer.
    Programs start no threads and no processes, so those two can only be 0.
    """

    wall_s: float = 2.0
    cpu_s: float = 2.0
    memory_mb: int = 512
    source_kb: int = 256
    stdout_kb: int = 64
    result_kb: int = 1024
    depth: int = 12
    int_digits: int = 4000
    threads: int = 0
    processes: int = 0

    def __post_init__(self) -> None:
        if self.threads or self.processes:
            raise InputError(
                "model-written programs start no threads and no processes", where="Limits.threads"
            )
        for name in ("wall_s", "cpu_s", "memory_mb", "source_kb", "stdout_kb", "result_kb", "depth"):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be more than 0", where="Limits")
        if not 0 < self.int_digits <= 4300:
            raise InputError("int_digits must lie between 1 and 4300, what Python prints", where="Limits")


@dataclass(frozen=True, slots=True)
class ExecResult:
    """How one program ended, and its answer if it ended well.

    `value` is the answer rebuilt from plain data: numbers, text, dates, containers; a sympy expression
    or pandas table comes as a small stand-in (chameleon.sandbox.values). `plain` is the same as JSON.
    `error_type`, `message` (at most 500 characters) and `line` (of the program) suit a repair prompt.
    `wall_ms` is the program's own time, without the wait for a free worker. `tier` names the executor
    that gave the result.
    """

    status: Status
    value: Any = None
    value_type: str = ""
    error_type: str = ""
    message: str = ""
    line: int | None = None
    stdout: str = ""
    stdout_truncated: bool = False
    wall_ms: float = 0.0
    tier: str = ""

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def plain(self) -> Any:
        """The value as JSON; `chameleon.sandbox.values.plain` lists the forms."""
        return plain(self.value)


@dataclass(frozen=True, slots=True)
class Layer:
    """One thing that stands between a program and the machine."""

    name: str
    active: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Guarantees:
    """Which layers are really active, measured when the executor started."""

    tier: str
    layers: tuple[Layer, ...]

    def active(self, name: str) -> bool:
        return any(layer.active for layer in self.layers if layer.name == name)

    def __str__(self) -> str:
        width = max((len(layer.name) for layer in self.layers), default=0)
        lines = [
            f"  {'yes' if layer.active else 'no ':3}  {layer.name:{width}}  {layer.note}".rstrip()
            for layer in self.layers
        ]
        return "\n".join([f"{self.tier}:", *lines])


class ProgramExecutor(Protocol):
    """Runs model-written programs; each starts from the same fresh state."""

    def run(
        self,
        code: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        result: str = "ans",
        timeout: float | None = None,
    ) -> ExecResult:
        """Run a program and return the value of its variable `result`.

        `inputs` are JSON values that become its globals; an input `table` of the form {"columns": […],
        "rows": [[…]]} is also there as a pandas DataFrame `df`. `timeout` in seconds takes the place of
        the wall and CPU limits for this program.
        """
        ...

    async def arun(
        self,
        code: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        result: str = "ans",
        timeout: float | None = None,
    ) -> ExecResult:
        """Like `run`, without blocking the event loop."""
        ...

    def query(
        self, sql: str, image: str, tables: Sequence[str], *, timeout: float | None = None
    ) -> ExecResult:
        """Run one SQL query over a database of these tables.

        `image` is the database as SQLite serialises it, in base64. The value is the names of the result's
        columns and its rows. Raises SandboxUnavailable where there is no SQLite within the sandbox.
        """
        ...

    def guarantees(self) -> Guarantees: ...

    def close(self) -> None:
        """End the processes; calling it again does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...
