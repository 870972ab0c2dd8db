"""`chameleon stats` and `chameleon report`: runs side by side, as text, JSON or a page."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from chameleon.cli.columns import TextColumn, in_blocks
from chameleon.cli.counts import counts_table
from chameleon.cli.out import echo, echo_json
from chameleon.evaluation.benchmark import Published
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.report import DASH, Comparison, RunSummary, compare, facts
from chameleon.evaluation.report_page import write_page
from chameleon.evaluation.results import Count
from chameleon.evaluation.run_dir import read_run
from chameleon.text import harmless

_TOP_PROGRAMS = 10
_LONGEST = 400


def print_stats(runs: Sequence[Path], *, as_json: bool) -> None:
    """Print which modules the plans of the runs call, and in which order."""
    summaries = RunSummary.of(read_run(path) for path in runs)
    published = _published(summaries)
    if as_json:
        echo_json({"runs": [_stats(run) for run in summaries]})
        return
    echo(_overview(summaries, published))
    for run in summaries:
        for group, counts in _groups(run).items():
            if [count.n for count in counts.values()] == [run.tally.all.n]:  # all problems alike
                continue
            echo(f"\n{_one_line(run.name)}: by {group}")
            echo(counts_table(counts, run.tally, find_benchmark(run.benchmark)))
        echo(f"\n{_one_line(run.name)}: what follows what")
        echo(_transitions(run))
        echo(f"\n{_one_line(run.name)}: most frequent programs")
        echo(_programs(run))


def print_report(runs: Sequence[Path], *, html: Path | None, problems: int, as_json: bool) -> None:
    """Print the paper's table with the runs below the published rows, and what there is to say of each run.

    `html` is a file for the page, on which at most `problems` of each run are shown.
    """
    summaries = RunSummary.of(read_run(path) for path in runs)
    comparisons = compare(summaries, find_benchmark)
    if html is not None:
        write_page(summaries, comparisons, html, problems)
    if as_json:
        found = {
            "tables": [comparison.to_json() for comparison in comparisons],
            "runs": [run.to_json() for run in summaries],
        }
        echo_json(found)
        return
    for comparison in comparisons:
        echo(f"{comparison.benchmark.name}: {comparison.shown}\n")
        echo(f"{_table(comparison)}\n")
    for run in summaries:
        echo(f"{_one_line(run.name)}")
        for name, text in facts(run):
            echo(_fact(_one_line(name, 30), _one_line(text)))
        echo("")
    if html is not None:
        echo(f"Page: {_one_line(str(html))}")


def _fact(name: str, text: str) -> str:
    """A name and what there is to say of it, on as many lines as it takes."""
    return textwrap.fill(
        text, _width(), initial_indent=f"  {name:10} ", subsequent_indent=" " * 13, break_on_hyphens=False
    )


def _stats(run: RunSummary) -> dict[str, Any]:
    groups = {group: run.tally.counted(counts) for group, counts in _groups(run).items()}
    told = {"groups": groups} if groups else {}
    return {"run": run.name, "inventory": run.inventory, "model": run.model, **run.plans.to_json(), **told}


def _groups(run: RunSummary) -> dict[str, dict[str, Count]]:
    """The counts of the run by what its benchmark groups columns by, without the columns that are empty."""
    counts = run.tally.columns
    groups = find_benchmark(run.benchmark).groups.items()
    found = {
        group: {name: counts[name] for name in names if name in counts and counts[name].n}
        for group, names in groups
    }
    return {group: columns for group, columns in found.items() if columns}


def _published(runs: Iterable[RunSummary]) -> list[Published]:
    """The published rows that tell the use of modules, of all benchmarks that the runs are of."""
    benchmarks = [find_benchmark(name) for name in dict.fromkeys(run.benchmark for run in runs)]
    return [row for benchmark in benchmarks for row in benchmark.published if row.module_use]


def _overview(runs: Sequence[RunSummary], published: Sequence[Published]) -> str:
    """Counts and shares, one column for each run and each published system."""
    modules = dict.fromkeys(name for run in runs for name in run.plans.modules)
    modules |= dict.fromkeys(name for row in published for name in row.module_use)
    names = ["problems", "different programs", "mean length", *(f"{name}, %" for name in modules)]
    columns = []
    for run in runs:
        plans = run.plans
        length = "–" if plans.mean_length is None else f"{plans.mean_length:.2f}"
        shares = [f"{100 * plans.share(name):.2f}" for name in modules]
        columns.append(TextColumn(run.name, [run.problems, f"{len(plans.programs):,}", length, *shares]))
    for row in published:
        shares = [f"{row.module_use[name]:.2f}" if name in row.module_use else "–" for name in modules]
        columns.append(TextColumn(row.system, [f"{row.n:,}" if row.n else "–", "–", "–", *shares]))
    return in_blocks(TextColumn("run", names), columns, _width())


def _transitions(run: RunSummary) -> str:
    lines = []
    for before, followers in run.plans.probabilities.items():
        for after, probability in followers.items():
            count = run.plans.transitions[before][after]
            arrow = f"{_one_line(before, 40)} → {_one_line(after, 40)}"
            lines.append(f"  {100 * probability:6.2f} %  {count:6,}  {arrow}")
    return "\n".join(lines)


def _programs(run: RunSummary) -> str:
    top = list(run.plans.programs.items())[:_TOP_PROGRAMS]
    lines = [f"  {100 * count / run.plans.n:6.2f} %  {count:6,}  {_program(names)}" for names, count in top]
    more = len(run.plans.programs) - len(top)
    return "\n".join([*lines, *([f"  … {more:,} more"] if more else [])])


def _program(names: Sequence[str]) -> str:
    return (
        " → ".join(_one_line(name, 40) for name in names[:20]) + (" → …" if names[20:] else "") or "(no plan)"
    )


def _table(comparison: Comparison) -> str:
    lines = comparison.rows
    columns = [TextColumn("n", [line.problems for line in lines])]
    columns += [
        TextColumn(name, [line.cells.get(name, DASH) for line in lines]) for name in comparison.columns
    ]
    columns += [
        TextColumn("date", [line.date or "–" for line in lines], figures=False),
        TextColumn("model", [line.model or "–" for line in lines], figures=False),
        TextColumn("settings or source", [line.settings for line in lines], figures=False),
    ]
    return in_blocks(TextColumn("system", [line.system for line in lines]), columns, _width())


def _one_line(text: str, most: int = _LONGEST) -> str:
    return harmless(text[:most]) + ("…" if len(text) > most else "")


def _width() -> int:
    return max(60, shutil.get_terminal_size((100, 24)).columns)
