"""Run model-written programs where they can do no harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chameleon.lazy import lazy

if TYPE_CHECKING:
    from chameleon.sandbox.result import ExecResult, Guarantees, Layer, Limits
    from chameleon.sandbox.sandbox import Sandbox
    from chameleon.sandbox.tiers import importable, make_sandbox, shared_sandbox, start_early

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

if not TYPE_CHECKING:  # type checkers reject unlisted names
    __getattr__ = lazy(
        __name__,
        result="ExecResult Guarantees Layer Limits",
        sandbox="Sandbox",
        tiers="importable make_sandbox shared_sandbox start_early",
    )
