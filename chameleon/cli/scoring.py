"""Problems and predictions from the command line, tables of their counts, and `chameleon score`."""

import inspect
import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Any

from chameleon.cli.options import DataOptions
from chameleon.cli.terminal import echo, echo_json, say, terminal_width
from chameleon.cli.wording import spent_in_words
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Benchmark, Problem
from chameleon.evaluation.data import (
    DataFile,
    beside,
    find_benchmark,
    read_problems,
    recognized,
    warn_of_columns,
)
from chameleon.evaluation.problems import in_turn
from chameleon.evaluation.results import Count, Spending, Tally, of_them_right
from chameleon.evaluation.run import figure, in_figures
from chameleon.evaluation.score import Field, score
from chameleon.figures import in_time
from chameleon.inventory.resolve import find_class
from chameleon.lazy import cached_property
from chameleon.table.formats import padded, places
from chameleon.text import counted, harmless

_log = logging.getLogger("chameleon")
_GAP = "  "
_MAX_NAME_WIDTH, _MAX_CELL_WIDTH = 32, 60
_MAX_REASONS = 3


class Data:
    """The problems from the command line: a data file, its benchmark, and a scorer.

    `inputs` is the input that all questions share; the values of a row take precedence.
    """

    def __init__(
        self, path: Path, benchmark: str | None, options: DataOptions, inputs: Mapping[str, Any] | None = None
    ) -> None:
        self.path, self.options, self.given = path, options, inputs or {}
        self.benchmark: Benchmark = recognized(path) if benchmark is None else find_benchmark(benchmark)
        self.file = DataFile(path, self.benchmark.id_key, keeps_bad=self.benchmark.skips_bad_rows)
        if self.benchmark.skips_bad_rows:
            warn_of_columns(self.benchmark, self.file, path)
        self.skipped: dict[str, None] = {}  # why rows are skipped
        self.n_rows = 0
        self.tables = options.tables or beside(path, *self.benchmark.tables_beside)
        self.scorer: str = options.scorer or next(iter(self.benchmark.scorers))
        is_own = ":" in self.scorer and self.scorer not in self.benchmark.scorers
        judge = find_class(self.scorer, "modules") if is_own else None
        self.new_scorer = self.benchmark.scorer(judge or self.scorer)  # a class: a scorer may draw at random
        self.scorer_file = inspect.getsourcefile(judge) if judge else None

    def read(self) -> Iterator[Problem]:
        """Read the problems in the order of the file, and report each skipped row once."""
        problems = read_problems(self.benchmark, self.file, self.tables, on_skip=self._skip)
        for number, problem in enumerate(problems, 1):
            self.n_rows = max(self.n_rows, number + len(self.skipped))  # the file is read several times
            if self._drawn is None or problem.id in self._drawn:
                yield replace(problem, input={**self.given, **problem.input}) if self.given else problem

    def _skip(self, problem: InputError) -> None:
        if str(problem) not in self.skipped:
            self.skipped[str(problem)] = None
            _log.warning("skipped: %s", problem)

    @cached_property
    def _drawn(self) -> frozenset[str] | None:
        """The ids of the problems that --sample draws, or None for all."""
        if self.options.sample is None:
            return None
        ids = [each.id for each in read_problems(self.benchmark, self.file, self.tables, on_skip=self._skip)]
        drawn = Random(self.options.seed).sample(ids, min(self.options.sample, len(ids)))  # noqa: S311
        return frozenset(drawn)

    def problems(self) -> Iterator[Problem]:
        """Read the first problems, grouped by conversation so that the limit cuts only the last one."""
        return islice(chain.from_iterable(in_turn(self.read())), self.options.limit)


def in_blocks(
    columns: Iterable[tuple[str, Sequence[str]]], texts: Collection[str] = (), width: int = 0
) -> str:
    """Write named columns as one block, or as several below each other if `width` is too small.

    Each block begins with the first column, which holds names. Names are cut at 32 characters (or a third of
    a narrow terminal), other cells at 60 or the available width.

    Args:
        texts: the columns that are aligned left, as names are; figures are aligned right.
        width: in characters; 0 for the terminal's.
    """
    width = width or terminal_width()
    blocks: list[list[list[str]]] = []
    first: list[str] = []
    room = left = 0
    for name, cells in columns:
        limit = min(_MAX_CELL_WIDTH, room) if first else max(12, min(_MAX_NAME_WIDTH, width // 3))
        lines = [harmless(cell[: 4 * limit]) for cell in (name, *cells)]  # a cell may be huge
        wide = min(limit, max(map(places, lines)))
        lines = [padded(line, wide, to_right=bool(first) and name not in texts) for line in lines]
        lines.insert(1, "─" * wide)
        if not first:
            first, room = lines, width - wide - len(_GAP)
            continue
        if wide > left:
            blocks.append([first])
            left = room
        blocks[-1].append(lines)
        left -= wide + len(_GAP)
    return "\n\n".join(
        "\n".join(_GAP.join(parts).rstrip() for parts in zip(*block, strict=True)) for block in blocks
    )


def show_counts(
    tally: Tally, benchmark: Benchmark, scorer: str, seconds: float, spending: Spending, *, as_json: bool
) -> None:
    """Print the paper's columns, answered counts, reasons of failures, cost, and the elapsed `seconds`."""
    if as_json:
        totals = {"usage": spending.usage.to_json(), "seconds": round(seconds, 3)}
        echo_json(tally.to_json(benchmark.name) | totals)
        return
    echo(f"{benchmark.name}, scored by the rule of {scorer}\n")
    if tally.all.n:
        echo(counts_table({"ALL": tally.all, **tally.telling}, tally, benchmark) + "\n")
    answered = tally.answered
    declined = f"{tally.declined:,}{of_them_right(tally.rightly_declined)}"
    right = f"right {benchmark.percent('ALL', answered.correct, answered.n)}% of them"
    figures = in_figures(tally, answered) if tally.graded else right
    echo(f"Answered {answered.n:,}, {figures}; declined {declined}, failed {tally.failed:,}.")
    if tally.graded and answered.n < tally.all.n:
        echo("The figures above count what was not answered as empty answers.")
    if guessed := tally.all.correct - answered.correct - tally.rightly_declined:
        echo(f"Of those without a prediction, {guessed:,} are right: the rule guesses the first choice.")
    for reason, count in tally.reasons.most_common(_MAX_REASONS):
        echo(f"Failed, {count:,} times: {harmless(reason)}")
    for where, count in tally.passed_over.most_common():
        reason = tally.passed_over_for.get(where, "")
        what = f"{where}: {reason}" if reason else where
        echo(f"Answered without it, {counted(count, 'time')}, because it failed: {harmless(what)}")
    for parameter, count in tally.dropped.most_common():
        echo(f"Asked without {harmless(parameter)}, in {counted(count, 'problem')}: not the method's.")
    if usage_text := spent_in_words(spending.usage, spending.stored):
        echo(f"{usage_text}.")
    say(f"Took {in_time(seconds)}.")


def counts_table(counts: Mapping[str, Count], tally: Tally, benchmark: Benchmark) -> str:
    """Write some of a tally's counts by column: how many are right, or their grades."""
    names = [*tally.graded.figures, "of"] if tally.graded else ["right, %", "right", "of"]
    columns = [("", names)]
    for name, count in counts.items():
        if tally.graded:
            cells = [*map(figure, tally.figures(count).values())]
        else:
            cells = [benchmark.percent(name, count.correct, count.n), f"{count.correct:,}"]
        columns.append((name, [*cells, f"{count.n:,}"]))
    return in_blocks(columns)


def score_predictions(
    options: DataOptions,
    benchmark: str,
    data: Path,
    predictions: Path,
    field: str,
    where: str | None,
    *,
    given: bool,
    as_json: bool,
) -> int:
    """Score recorded predictions, show the counts, and return the exit code.

    Args:
        field: the field to score in the file of predictions.
        where: "KEY=VALUE" selects the rows with this value.
        given: leave out problems without a prediction.
    """
    problems, path = Data(data, benchmark, options), predictions
    rows = problems.benchmark.rows(DataFile(path, problems.benchmark.id_key), path)
    if where is not None:
        key, equals, value = where.partition("=")
        if not equals:
            raise InputError(f"--where {where!r} is not KEY=VALUE", hint="Such as --where run=cot.")
        rows = (row for row in rows if str(row.get(key)) == value)
    scorer = problems.new_scorer()
    tally = Tally(problems.benchmark.columns, scorer)
    started = time.monotonic()
    outcomes = score(
        problems.problems(),
        rows,
        problems.benchmark.id_of,
        Field(field),
        scorer,
        given_only=given,
        last_counts=problems.benchmark.last_counts,
    )
    for result in outcomes.results:
        tally.add(result)
    if not outcomes.problems:
        raise InputError("there are no problems to score", where=str(data))
    if outcomes.missing and outcomes.missing == outcomes.problems:
        selection = f" that have {where}" if where else ""
        what = f"no row of the predictions{selection} belongs to a problem of the data"
        hint = f"A row belongs to the problem with the same {problems.benchmark.id_key!r}."
        raise InputError(what, where=str(path), hint=hint)
    if outcomes.missing:
        verdict = "left out" if given else "wrong"
        say(f"{counted(outcomes.missing, 'problem')} without a row in {path}: {verdict}.")
    if outcomes.unknown and options.limit is None:
        say(f"{counted(outcomes.unknown, 'row')} of {path} match no problem of the data, and are ignored.")
    if outcomes.programs:
        ends = ", ".join(f"{n:,} {name}" for name, n in outcomes.programs.most_common())
        say(f"Programs: {ends}.")
    seconds = time.monotonic() - started
    show_counts(tally, problems.benchmark, problems.scorer, seconds, Spending(), as_json=as_json)
    return 0
