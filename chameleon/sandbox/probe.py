"""A program that tries what no program may do, and what its answer says about the layers."""

from __future__ import annotations

from typing import Any

from chameleon.sandbox.result import Layer, Limits

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


def probed(answer: Any, limits: Limits) -> tuple[Layer, ...]:
    """The layers that are set up afresh for each program."""
    calls = [name for name in ("open", "socket", "fork", "clone3", "kill") if answer.get(name) is not True]
    bound = answer.get("memory") is True
    return (
        Layer("seccomp", not calls, f"{', '.join(calls)} got through" if calls else "allow-list"),
        Layer(
            "rlimits",
            bound,
            f"{limits.memory_mb} MB, {limits.cpu_s:g} s of CPU, no files, no processes"
            if bound
            else "memory is not bounded",
        ),
    )
