"""Run model-written programs where they can harm nothing."""

from __future__ import annotations

from chameleon.sandbox.choose import make_executor, shared_executor
from chameleon.sandbox.result import ExecResult, Guarantees, Layer, Limits, ProgramExecutor

__all__ = [
    "ExecResult",
    "Guarantees",
    "Layer",
    "Limits",
    "ProgramExecutor",
    "make_executor",
    "shared_executor",
]
