"""The limits, results and guarantees of a sandbox."""

import re
import signal
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from typing import Any, Literal

from chameleon.errors import InputError
from chameleon.sandbox.decode import BadFrame, read_frame
from chameleon.sandbox.inside.program import EXHAUSTED, UNSEALED

Status = Literal["ok", "no_answer", "error", "timeout", "memory", "too_large", "crashed", "refused"]

_REPORTED_STATUSES = {"ok", "no_answer", "error", "memory", "too_large"}
KILLED = "Killed"
"""The error of a program that the system killed."""
# Named by number, because Windows has neither.
_SIGKILL, _SIGXCPU = 9, 24
# Long string literals are matched so that a line inside one does not count as an import.
_IMPORT = re.compile(r"""(?s:'{3}.*?'{3}|"{3}.*?"{3})|^import (\w+)(?: as (\w+))?[ \t]*$""", re.MULTILINE)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one program; every program gets all of them.

    Seconds of wall and CPU time, megabytes of memory in addition to the loaded libraries, kilobytes of
    source, captured stdout and encoded answer, nesting levels and integer digits of the answer. Programs
    start no threads and no processes.
    """

    wall_s: float = 2.0
    cpu_s: float = 2.0
    memory_mb: int = 512
    source_kb: int = 256
    stdout_kb: int = 64
    result_kb: int = 1024
    depth: int = 12
    int_digits: int = 4000

    def __post_init__(self) -> None:
        for name in ("wall_s", "cpu_s", "memory_mb", "source_kb", "stdout_kb", "result_kb", "depth"):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be more than 0", where="Limits")
        if not 0 < self.int_digits <= 4300:
            raise InputError("int_digits must be between 1 and 4300, Python's own limit", where="Limits")


@dataclass(frozen=True, slots=True)
class ExecResult:
    """The outcome of one program, with its answer if it ended well.

    Attributes:
        value: the answer as JSON; `inside/encode.py` lists the forms.
        value_type: its type in the program: int, float, str, list, fraction, date, dataframe, sympy, …
        error_type, message, line: for a repair prompt; the message has at most 500 characters, and the line
            is the program's.
        wall_ms: the program's own time, without the wait for a free worker.
        tier: the name of the sandbox.
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


@dataclass(frozen=True, slots=True)
class Layer:
    """One barrier between a program and the machine."""

    name: str
    active: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Guarantees:
    """The layers that are actually active, measured when the sandbox started."""

    tier: str
    layers: tuple[Layer, ...]

    def __str__(self) -> str:
        width = max((len(layer.name) for layer in self.layers), default=0)
        lines = [
            f"  {'yes' if layer.active else 'no ':3}  {layer.name:{width}}  {layer.note}".rstrip()
            for layer in self.layers
        ]
        return "\n".join([f"{self.tier}:", *lines])


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended.

    Attributes:
        frame: its frame, with only the nonce checked, or None if incomplete.
        code: its exit code, negative for a signal; None if its frame came first.
        overrun: its time ran out.
        excess: it sent too much.
        cpu: its user time in seconds.
    """

    frame: bytes | None
    code: int | None = None
    overrun: bool = False
    excess: bool = False
    cpu: float = 0.0


def judge(ending: Ending, limits: Limits, cpu_seconds: float, tier: str) -> ExecResult:
    """Return the result of a program, whatever it did; never raises."""
    if ending.frame is not None:
        return _from_frame(ending.frame, limits, tier)
    if ending.excess:
        return ExecResult("too_large", message="the answer is larger than the limit", tier=tier)
    # At the soft CPU limit the kernel sends SIGXCPU, which a program may ignore; a second later, SIGKILL.
    is_killed = ending.code == -_SIGKILL
    if ending.overrun or ending.code == -_SIGXCPU or (is_killed and ending.cpu >= cpu_seconds):
        return ExecResult("timeout", error_type="Timeout", message="the program took too long", tier=tier)
    if ending.code == UNSEALED:
        message = "its process could not be sealed, so the program was not run"
        return ExecResult("refused", error_type="Unsealed", message=message, tier=tier)
    if ending.code == EXHAUSTED:
        return ExecResult("memory", error_type="MemoryError", message="out of memory", tier=tier)
    if is_killed:
        return ExecResult("memory", error_type=KILLED, message="killed by the system", tier=tier)
    if (code := ending.code or 0) >= 0:
        message = f"the program ended its process with code {code}"
        return ExecResult("crashed", error_type="Exit", message=message, tier=tier)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return ExecResult("crashed", error_type=name, message=f"the program died of {name}", tier=tier)


def _from_frame(data: bytes, limits: Limits, tier: str) -> ExecResult:
    try:
        frame = read_frame(data, limits.depth, limits.int_digits)
    except BadFrame as error:
        return ExecResult("crashed", error_type="BadFrame", message=f"its answer is {error}", tier=tier)
    status = frame.pop("status")
    if status not in _REPORTED_STATUSES:
        return ExecResult("crashed", error_type="BadFrame", message="an unknown status", tier=tier)
    return ExecResult(status, tier=tier, **frame)


def without_unused_imports(code: str, modules: Set[str]) -> str:
    """Blank out each `import x` of these modules whose name is not used.

    Of 533 recorded programs that import numpy, 525 never use it.
    """
    words = Counter(_WORD.findall(code))

    def if_used(line: re.Match[str]) -> str:
        names = [name for name in line.groups() if name]
        is_used = not names or words[names[-1]] > names.count(names[-1])
        return line[0] if is_used or names[0] not in modules else ""

    return _IMPORT.sub(if_used, code)
