"""Say how a program ended, from the frame it sent or from how its process died."""

from __future__ import annotations

import signal
from typing import get_args

from chameleon.errors import SandboxUnavailable
from chameleon.sandbox.decode import BadFrame, read_frame
from chameleon.sandbox.inside.wire import EXHAUSTED, UNSEALED
from chameleon.sandbox.result import ExecResult, Limits, Status
from chameleon.sandbox.values import kind_of
from chameleon.sandbox.zygote import Ending

# Not a result for anyone: the program used a library that is loaded elsewhere.
NEEDS_SCIENCE = ExecResult("refused", error_type="NeedsScience")

_TOLD = {"ok", "no_answer", "error", "memory", "too_large"}
assert _TOLD <= set(get_args(Status))


def judge(ending: Ending, limits: Limits, cpu_seconds: float, tier: str) -> ExecResult:
    """The result of a program; raises SandboxUnavailable when its process could not be sealed."""
    if ending.frame is not None:
        return _told(ending.frame, limits, tier)
    if ending.excess:
        return ExecResult("too_large", message="the answer is larger than the limit", tier=tier)
    if ending.overrun or ending.code == -signal.SIGXCPU:
        return ExecResult("timeout", error_type="Timeout", message="the program took too long", tier=tier)
    if ending.code == UNSEALED:
        raise SandboxUnavailable("a program's process could not be sealed, so the program was not run")
    if ending.code == EXHAUSTED:
        return ExecResult("memory", error_type="MemoryError", message="out of memory", tier=tier)
    if ending.code == -signal.SIGKILL and ending.cpu < cpu_seconds:
        return ExecResult("memory", error_type="Killed", message="killed by the system", tier=tier)
    if ending.code == -signal.SIGKILL:
        return ExecResult("timeout", error_type="Timeout", message="the program took too long", tier=tier)
    return _crash(ending.code or 0, tier)


def _told(data: bytes, limits: Limits, tier: str) -> ExecResult:
    try:
        frame = read_frame(data, limits.depth, limits.int_digits)
    except BadFrame as error:
        return ExecResult("crashed", error_type="BadFrame", message=f"its answer is {error}", tier=tier)
    status = frame.pop("status")
    if status == "need_sci":
        return NEEDS_SCIENCE
    if status not in _TOLD:
        return ExecResult("crashed", error_type="BadFrame", message="an unknown status", tier=tier)
    kind = kind_of(frame["value"]) if status == "ok" else ""
    return ExecResult(status, value_type=kind, tier=tier, **frame)


def _crash(code: int, tier: str) -> ExecResult:
    if code >= 0:
        message = f"the program ended its process with code {code}"
        return ExecResult("crashed", error_type="Exit", message=message, tier=tier)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return ExecResult("crashed", error_type=name, message=f"the program died of {name}", tier=tier)
