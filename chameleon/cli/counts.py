"""The counts of an evaluation as a page of text or as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping

from chameleon.cli.columns import TextColumn, in_blocks, terminal_width
from chameleon.cli.hints import in_options
from chameleon.cli.out import counted, echo, echo_json
from chameleon.cli.show import in_words
from chameleon.evaluation.benchmark import Benchmark
from chameleon.evaluation.evaluate import Spending
from chameleon.evaluation.results import Count, Tally
from chameleon.evaluation.run import figure, in_figures
from chameleon.text import harmless

_MOST_REASONS = 3


def show_counts(
    tally: Tally, benchmark: Benchmark, scorer: str, seconds: float, spending: Spending, *, as_json: bool
) -> None:
    """Print the paper's columns for these results, what was answered, why some failed, and what it cost.

    `seconds` are those of this command, by the clock on the wall.
    """
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
        echo(f"Failed, {count:,} times: {harmless(in_options(reason))}")
    for where, count in tally.passed_over.most_common():
        reason = tally.passed_over_for.get(where, "")
        what = f"{where}: {reason}" if reason else where
        echo(f"Answered without it, {counted(count, 'time')}, for it failed: {harmless(what)}")
    for parameter, count in tally.dropped.most_common():
        echo(f"Asked without {harmless(parameter)}, in {counted(count, 'problem')}: not the method's.")
    if spending.usage.calls or spending.stored:
        stored = f"; {counted(spending.stored, 'reply')} from the response store" if spending.stored else ""
        echo(f"Model: {in_words(spending.usage)}{stored}.")
    echo(f"{seconds:.1f} s")


def counts_table(counts: Mapping[str, Count], tally: Tally, benchmark: Benchmark) -> str:
    """Write some of a tally's counts by column: how many are right, or what they are graded."""
    names = [*tally.graded.figures, "of"] if tally.graded else ["right, %", "right", "of"]
    columns = []
    for name, count in counts.items():
        cells = [f"{count.correct:,}", f"{count.n:,}"]
        if tally.graded:
            cells = [*map(figure, tally.figures(count).values()), cells[-1]]
        else:
            cells = [benchmark.percent(name, count.correct, count.n), *cells]
        columns.append(TextColumn(name, cells))
    return in_blocks(TextColumn("", names), columns, terminal_width())
