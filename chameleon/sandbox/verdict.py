"""Say how a program ended, from the frame it sent or from how its process died."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from chameleon.sandbox.decode import BadFrame, read_frame
from chameleon.sandbox.inside.wire import EXHAUSTED, UNSEALED
from chameleon.sandbox.result import ExecResult, Limits
from chameleon.sandbox.values import kind_of

_NEEDS_SCIENCE = "NeedsScience"

# Named by number, because Windows has neither.
_SIGKILL, _SIGXCPU = 9, 24

_TOLD = {"ok", "no_answer", "error", "memory", "too_large"}


@dataclass(frozen=True)
class Ending:
    """How a child ended. `frame` is what it sent, checked for its nonce only; None when incomplete.

    `code` is its exit code, negative for a signal, None when its frame came first. `overrun` says that
    its time was up, `excess` that it sent more than it may, `cpu` are its user seconds.
    """

    frame: bytes | None
    code: int | None = None
    overrun: bool = False
    excess: bool = False
    cpu: float = 0.0


def judge(ending: Ending, limits: Limits, cpu_seconds: float, tier: str) -> ExecResult:
    """The result of a program; never raises, whatever the program did."""
    if ending.frame is not None:
        return _told(ending.frame, limits, tier)
    if ending.excess:
        return ExecResult("too_large", message="the answer is larger than the limit", tier=tier)
    if ending.overrun or ending.code == -_SIGXCPU:
        return ExecResult("timeout", error_type="Timeout", message="the program took too long", tier=tier)
    if ending.code == UNSEALED:
        message = "its process could not be sealed, so the program was not run"
        return ExecResult("refused", error_type="Unsealed", message=message, tier=tier)
    if ending.code == EXHAUSTED:
        return ExecResult("memory", error_type="MemoryError", message="out of memory", tier=tier)
    if ending.code == -_SIGKILL and ending.cpu < cpu_seconds:
        return ExecResult("memory", error_type="Killed", message="killed by the system", tier=tier)
    if ending.code == -_SIGKILL:
        return ExecResult("timeout", error_type="Timeout", message="the program took too long", tier=tier)
    return _crash(ending.code or 0, tier)


def left_for_science(outcome: ExecResult) -> bool:
    """Whether the program ended because it uses a library that is loaded elsewhere."""
    return outcome.status == "refused" and outcome.error_type == _NEEDS_SCIENCE


def _told(data: bytes, limits: Limits, tier: str) -> ExecResult:
    try:
        frame = read_frame(data, limits.depth, limits.int_digits)
    except BadFrame as error:
        return ExecResult("crashed", error_type="BadFrame", message=f"its answer is {error}", tier=tier)
    status = frame.pop("status")
    if status == "need_sci":
        message = "it uses a library that is not loaded here"
        return ExecResult("refused", error_type=_NEEDS_SCIENCE, message=message, tier=tier)
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
