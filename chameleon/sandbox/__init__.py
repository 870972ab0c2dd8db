"""Run model-written programs where they can harm nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chameleon.lazy import lazy

if TYPE_CHECKING:
    from chameleon.sandbox.choose import importable, make_sandbox, shared_sandbox, start_early
    from chameleon.sandbox.result import ExecResult, Guarantees, Layer, Limits
    from chameleon.sandbox.sandbox import Sandbox

__all__ = [
    "ExecResult",
    "Guarantees",
    "Layer",
    "Limits",
    "Sandbox",
    "importable",
    "make_sandbox",
    "shared_sandbox",
    "start_early",
]

if not TYPE_CHECKING:  # a name that is not listed is an error of types
    __getattr__ = lazy(
        __name__,
        choose="importable make_sandbox shared_sandbox start_early",
        result="ExecResult Guarantees Layer Limits",
        sandbox="Sandbox",
    )
