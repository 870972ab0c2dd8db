"""The problems that a command line names: a data file, its benchmark, and a scorer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Benchmark, Problem, Scorer
from chameleon.evaluation.data import DataFile, find_benchmark, read_problems, recognised, tables_beside
from chameleon.evaluation.evaluate import in_turn
from chameleon.text import nearest


@dataclass(frozen=True)
class Data:
    """The problems that the command line names."""

    path: Path
    benchmark_name: str | None
    tables: Path | None
    limit: int | None
    scorer_name: str | None
    file: DataFile = field(init=False)
    benchmark: Benchmark = field(init=False)
    scorer: str = field(init=False)

    def __post_init__(self) -> None:
        if self.benchmark_name is None:
            benchmark = recognised(self.path)
        else:
            benchmark = find_benchmark(self.benchmark_name)
        scorer = self.scorer_name or next(iter(benchmark.scorers))
        if scorer not in benchmark.scorers:
            hint = nearest(scorer, benchmark.scorers)
            raise InputError(f"{benchmark.name} has no scorer {scorer!r}", hint=hint)
        object.__setattr__(self, "tables", self.tables or tables_beside(benchmark, self.path))
        object.__setattr__(self, "benchmark", benchmark)
        object.__setattr__(self, "scorer", scorer)
        object.__setattr__(self, "file", DataFile(self.path, benchmark.id_key))

    def new_scorer(self) -> Scorer:
        """The scorer, made anew: it may have a generator of random numbers."""
        return self.benchmark.scorers[self.scorer]()

    def problems(self) -> Iterator[Problem]:
        """The first problems; a conversation's stand together, so that the limit cuts none but the last."""
        every = read_problems(self.benchmark, self.file, self.tables)
        return islice(chain.from_iterable(in_turn(every)), self.limit)
