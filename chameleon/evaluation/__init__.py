"""Evaluation: run an inventory over a benchmark's problems, resume, score, count and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chameleon.lazy import lazy

if TYPE_CHECKING:
    from chameleon.evaluation.benchmark import Benchmark, Problem, Scorer

__all__ = ["Benchmark", "Problem", "Scorer"]

if not TYPE_CHECKING:  # a name that is not listed is a type error
    __getattr__ = lazy(__name__, benchmark="Benchmark Problem Scorer")
