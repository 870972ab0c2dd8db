"""Tables of figures for a terminal, in blocks where they are wide, and the counts of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chameleon.cli.terminal import echo, echo_json, say, terminal_width
from chameleon.cli.words import spent_in_words
from chameleon.evaluation.benchmark import Benchmark
from chameleon.evaluation.results import Count, Spending, Tally
from chameleon.evaluation.run import figure, in_figures
from chameleon.figures import in_time
from chameleon.table.formats import padded, places
from chameleon.text import counted, harmless

_GAP = "  "
_WIDEST_NAME, _WIDEST_CELL = 32, 60
_MOST_REASONS = 3


@dataclass(frozen=True)
class TextColumn:
    """A column of a table: figures stand to the right, texts to the left. Cells may be any text."""

    name: str
    cells: Sequence[str]
    figures: bool = True

    def lines(self, most: int) -> list[str]:
        """Return header, rule and cells, all of one width: `most` places, or fewer."""
        texts = [harmless(cell[: 4 * most]) for cell in (self.name, *self.cells)]
        wide = min(most, max(map(places, texts)))
        header, *cells = (padded(text, wide, to_right=self.figures) for text in texts)
        return [header, "─" * wide, *cells]


def in_blocks(names: TextColumn, columns: Sequence[TextColumn], width: int = 0) -> str:
    """Write the table in as many blocks as `width` places need, one below the other, each with the names.

    A width of 0 is the terminal's. Names are cut at 32 places (at a third of a narrow terminal), other
    cells at 60 or the room there is.
    """
    width = width or terminal_width()
    first = replace(names, figures=False).lines(max(12, min(_WIDEST_NAME, width // 3)))
    room = width - places(first[0])
    blocks: list[list[list[str]]] = []
    left = 0
    for column in columns:
        lines = column.lines(min(_WIDEST_CELL, room - len(_GAP)))
        wide = len(_GAP) + places(lines[0])
        if not blocks or wide > left:
            blocks.append([first])
            left = room
        blocks[-1].append(lines)
        left -= wide
    return "\n\n".join(
        "\n".join(_GAP.join(parts).rstrip() for parts in zip(*block, strict=True)) for block in blocks
    )


def show_counts(
    tally: Tally, benchmark: Benchmark, scorer: str, seconds: float, spending: Spending, *, as_json: bool
) -> None:
    """Print the paper's columns, what was answered, why some failed, and cost; `seconds` are by the clock."""
    if as_json:
        spent = {"usage": spending.usage.to_json(), "seconds": round(seconds, 3)}
        echo_json(tally.to_json(benchmark.name) | spent)
        return
    echo(f"{benchmark.name}, scored by the rule of {scorer}\n")
    if tally.all.n:
        echo(counts_table({"ALL": tally.all, **tally.telling}, tally, benchmark) + "\n")
    answered = tally.answered
    declined = tally.all.n - answered.n - tally.failed
    right = f"right {benchmark.percent('ALL', answered.correct, answered.n)} % of them"
    shown = in_figures(tally, answered) if tally.graded else right
    echo(f"Answered {answered.n:,}, {shown}; declined {declined:,}, failed {tally.failed:,}.")
    if tally.graded and answered.n < tally.all.n:
        echo("The figures above count what was not answered as empty answers.")
    if guessed := tally.all.correct - answered.correct:
        echo(f"Of those without a prediction, {guessed:,} are right: the rule guesses the first choice.")
    for reason, count in tally.reasons.most_common(_MOST_REASONS):
        echo(f"Failed, {count:,} times: {harmless(reason)}")
    for where, count in tally.passed_over.most_common():
        reason = tally.passed_over_for.get(where, "")
        what = f"{where}: {reason}" if reason else where
        echo(f"Answered without it, {counted(count, 'time')}, for it failed: {harmless(what)}")
    for parameter, count in tally.dropped.most_common():
        echo(f"Asked without {harmless(parameter)}, in {counted(count, 'problem')}: not the method's.")
    if asked := spent_in_words(spending.usage, spending.stored):
        echo(f"{asked}.")
    say(f"Took {in_time(seconds)}.")


def counts_table(counts: Mapping[str, Count], tally: Tally, benchmark: Benchmark) -> str:
    """Write some of a tally's counts by column: how many are right, or what they are graded."""
    names = [*tally.graded.figures, "of"] if tally.graded else ["right, %", "right", "of"]
    columns = []
    for name, count in counts.items():
        if tally.graded:
            cells = [*map(figure, tally.figures(count).values())]
        else:
            cells = [benchmark.percent(name, count.correct, count.n), f"{count.correct:,}"]
        columns.append(TextColumn(name, [*cells, f"{count.n:,}"]))
    return in_blocks(TextColumn("", names), columns)
