"""The arms of a grid side by side: as columns of a table, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chameleon.evaluation.grid.line import Evaluated, Line
from chameleon.evaluation.report.columns import TextColumn
from chameleon.evaluation.report.figures import figure
from chameleon.usage import Usage

DASH = "–"
_DEPTHS = (1, 5, 10)


@dataclass(frozen=True)
class Comparison:
    """The lines of a grid's arms, and what they were measured over, as `about` has it for whoever reads it.

    `benchmark` is its name. Differences are to the first arm that was evaluated.
    """

    lines: Sequence[Line]
    benchmark: str
    about: Mapping[str, Any]

    @cached_property
    def first(self) -> Evaluated | None:
        return next((line.evaluated for line in self.lines if line.evaluated is not None), None)

    @property
    def names(self) -> TextColumn:
        return TextColumn("arm", [line.arm.name for line in self.lines])

    @property
    def columns(self) -> list[TextColumn]:
        """The columns after the names, those that have something to say."""
        every = [*self._evaluation(), *self._retrieval(), *self._table(), *self._cost()]
        return [column for column in every if any(cell != DASH for cell in column.cells)]

    @property
    def notes(self) -> list[str]:
        """What the table leaves out, and why, a sentence each."""
        lacking: dict[str, list[str]] = {}
        for line in self.lines:
            if line.lacks:
                lacking.setdefault(line.lacks, []).append(line.arm.name)
        found = [f"{', '.join(names)} could not run: {reason}" for reason, names in lacking.items()]
        for line in self.lines:
            if line.failed:
                told = f"{line.failed:,} of {line.n:,} problems came to no table"
                found.append(f"{line.arm.name}: {told}, the first since {line.reason}")
        if any(line.asks for line in self.lines):
            found.insert(0, "Answers need a model, so nothing is said of them.")
        if any(line.evaluated is not None and line.evaluated.half_width is not None for line in self.lines):
            found.insert(0, "± is half of a 90 % interval; that of a difference is over pairs of verdicts.")
        return found

    @property
    def markdown(self) -> str:
        """The table in Markdown, for a page."""
        columns = [self.names, *self.columns]
        lines = [
            [column.name for column in columns],
            *zip(*(column.cells for column in columns), strict=True),
        ]
        rule = ["---:" if column.figures and column is not columns[0] else "---" for column in columns]
        written = [_bars(cells) for cells in lines]
        notes = [f"\n- {note}" for note in self.notes]
        return "\n".join([written[0], _bars(rule), *written[1:], *notes]) + "\n"

    def to_json(self) -> dict[str, Any]:
        return {
            **self.about,
            "arms": [line.to_json(self.benchmark, self._other(line)) for line in self.lines],
        }

    def _other(self, line: Line) -> Evaluated | None:
        """The first arm's evaluation; None for the first itself."""
        return None if line.evaluated is self.first else self.first

    def _evaluation(self) -> Iterator[TextColumn]:
        if self.first is None:
            return
        graded = bool(self.first.tally.graded)
        shown = figure if graded else _percent
        evaluated = [line.evaluated for line in self.lines]
        for name in self.first.figures:
            found = [None if each is None else each.figures[name] for each in evaluated]
            yield TextColumn(
                name if graded else f"{name}, %", [DASH if each is None else shown(each) for each in found]
            )
        yield self._of("± 90 %", lambda each: _percent(each.half_width))
        yield TextColumn("to the first", [self._less(line) for line in self.lines])
        yield self._of("declined", lambda each: f"{each.tally.all.n - _ended(each):,}")
        yield self._of("failed", lambda each: f"{each.tally.failed:,}")
        yield self._of("calls", lambda each: f"{each.tally.usage.calls:,}")
        yield self._of("tokens", lambda each: _tokens(each.tally.usage))
        yield self._of("cost, $", lambda each: _dollars(each.tally.usage))
        yield self._of("s a question", lambda each: DASH if each.seconds is None else f"{each.seconds:.3f}")

    def _less(self, line: Line) -> str:
        first = self._other(line)
        if line.evaluated is None or first is None:
            return DASH
        less = line.evaluated.less(first)
        if less is None:
            return DASH
        if line.evaluated.tally.graded:
            return f"{less.value:+.4f}"
        return f"{100 * less.value:+.2f} ± {100 * less.half_width:.2f}"

    def _retrieval(self) -> Iterator[TextColumn]:
        found = [line.recall for line in self.lines]
        for depth in _DEPTHS:
            shares = [DASH if each is None else f"{each.recall[depth]:.4f}" for each in found]
            yield TextColumn(f"R@{depth}", shares)
        yield _column("MRR", found, lambda each: f"{each.mrr:.4f}")
        yield _column("queries/s", found, lambda each: f"{each.queries_per_second:,.0f}")

    def _table(self) -> Iterator[TextColumn]:
        kept = [line.kept.to_json() for line in self.lines]
        yield TextColumn("gold kept, %", [_percent(each["gold_kept"]) for each in kept])
        yield TextColumn("of", [f"{each['gold_known']:,}" if each["gold_known"] else DASH for each in kept])
        yield TextColumn("rows", [_number(each["rows"]) for each in kept])
        yield TextColumn("columns", [_number(each["columns"]) for each in kept])
        yield TextColumn("cells, %", [_percent(each["cells"]) for each in kept])
        yield TextColumn("table tokens", [_number(each["tokens"]) for each in kept])

    def _cost(self) -> Iterator[TextColumn]:
        measured = [line if line.n and line.evaluated is None else None for line in self.lines]
        yield _column("ms a question", measured, lambda line: f"{1000 * line.seconds / line.n:.1f}")
        failed = [line if line is not None and line.failed else None for line in measured]
        yield _column("no table", failed, lambda line: f"{line.failed:,}")
        calls = [line.arm.calls for line in self.lines]
        yield TextColumn("calls each", [DASH if each is None else f"{each:,}" for each in calls])
        needs = [", ".join(line.asks[:-1]) or DASH for line in self.lines]
        yield TextColumn("needs a model", needs, figures=False)

    def _of(self, name: str, shown: Callable[[Evaluated], str]) -> TextColumn:
        return _column(name, [line.evaluated for line in self.lines], shown)


def _column(name: str, found: Iterable[Any], shown: Callable[[Any], str]) -> TextColumn:
    return TextColumn(name, [DASH if each is None else shown(each) for each in found])


def _ended(evaluated: Evaluated) -> int:
    return evaluated.tally.answered.n + evaluated.tally.failed


def _percent(share: float | None) -> str:
    return DASH if share is None else f"{100 * share:.2f}"


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:,.1f}"


def _tokens(usage: Usage) -> str:
    if usage.input_tokens is None or usage.output_tokens is None:
        return DASH
    return f"{usage.input_tokens + usage.output_tokens:,}"


def _dollars(usage: Usage) -> str:
    return DASH if usage.cost is None else f"{usage.cost:.4f}"


def _bars(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
