"""`chameleon report`, `stats`, `merge` and `export`: show saved runs, merge them, or send them elsewhere."""

import shlex
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import typer

from chameleon.cli.options import SpanOptions
from chameleon.cli.scoring import counts_table, in_blocks
from chameleon.cli.terminal import Activity, echo, echo_json, say, terminal_width
from chameleon.core.conversation_log import runs_in
from chameleon.core.events import Event
from chameleon.errors import InputError
from chameleon.evaluation.data import DataFile
from chameleon.evaluation.merging import merge
from chameleon.evaluation.report_page import write_page
from chameleon.evaluation.results import Count
from chameleon.evaluation.run import DASH, Run, read_run, uniquely_named
from chameleon.evaluation.run_dir import FIGURES, SETTINGS
from chameleon.evaluation.run_page import write_run_page
from chameleon.evaluation.system_table import Comparison
from chameleon.text import counted, one_line

_MAX_PROGRAMS, _MAX_PROBLEMS = 10, 30


def merge_parts(parts: Sequence[Path], out: Path) -> None:
    """Merge the parts of an evaluation, and say what remains to be run."""
    with Activity(f"merging {counted(len(parts), 'part')}"):
        merge(parts, out)
        run = read_run(out)
    say(f"Merged {counted(len(parts), 'part')}: {counted(run.n, 'result')}, in {out}.")
    if run.unfinished:
        say(f"{run.problems}: `chameleon eval` without --part resumes with --out {shlex.quote(str(out))}.")
    else:
        say(f"`chameleon report {shlex.quote(str(out))}` shows it.")


def print_stats(runs: Sequence[Path], *, as_json: bool) -> None:
    """Print which modules the plans of the runs call and in which order, next to published plans."""
    summaries = _read_runs(runs)
    if as_json:
        rows = []
        for run in summaries:
            groups = {group: run.tally.counted(counts) for group, counts in _groups(run).items()}
            about = {"run": run.name, **{key: run.settings.get(key) for key in ("inventory", "model")}}
            rows.append(about | run.plans.to_json() | ({"groups": groups} if groups else {}))
        echo_json({"runs": rows})
        return
    for comparison in Comparison.of(summaries, published=True):
        _print_exhibits(comparison, "plans", "calls", "transitions")
    for run in summaries:
        name = f"{one_line(run.name)}, {counted(run.n, 'problem')}"
        for group, counts in _groups(run).items():
            if [count.n for count in counts.values()] != [run.tally.all.n]:  # else there is only one group
                echo(f"\n{name}: by {group}")
                echo(counts_table(counts, run.tally, run.benchmark))
        echo(f"\n{name}: most frequent programs")
        programs = run.plans.programs
        for names, count in list(programs.items())[:_MAX_PROGRAMS]:
            program = one_line(" → ".join(names) or "(no plan)", 400)
            echo(f"  {100 * count / run.plans.n:6.2f}%  {count:6,}  {program}")
        if len(programs) > _MAX_PROGRAMS:
            echo(f"  … {len(programs) - _MAX_PROGRAMS:,} more")


def print_report(
    runs: Sequence[Path],
    *,
    published: bool = False,
    chains_of: Path | None = None,
    labels: Path | None = None,
    html: Path | None,
    problems: int,
    as_json: bool,
) -> None:
    """Print the runs in one table, with the published rows below, and the outcomes of their problems.

    Args:
        published: add published rows and figures.
        chains_of: the run whose chains are used for all.
        labels: a file of the categories that a person assigned to answers.
        html: the page to write; it shows at most `problems` of each run.
    """
    runs = [each for run in runs for each in _folders_of(run)]
    if any(each.is_file() for each in runs):
        _write_page_of_logs(runs, html)
        return
    summaries = _read_runs(runs)
    chains = next((run for run in summaries if run.path == chains_of), None)
    if chains is None and chains_of is not None:
        chains = read_run(chains_of)
    counts = {run.name: _counted_labels(labels, run) for run in summaries} if labels is not None else {}
    comparisons = Comparison.of(summaries, published=published, chains_of=chains, labels=counts)
    if html is not None:
        with Activity(f"writing {html}"):
            write_page(summaries, comparisons, html, problems)
    if as_json:
        tables = [comparison.to_json() for comparison in comparisons]
        echo_json({"tables": tables, "runs": [run.to_json() for run in summaries]})
        return
    for comparison in comparisons:
        echo(f"{comparison.benchmark.name}: {comparison.shown}\n")
        rows = comparison.rows
        texts = {
            "date": [row.date or DASH for row in rows],
            "model": [row.model or DASH for row in rows],
            **({"tuned": [row.tuned or DASH for row in rows]} if any(row.tuned for row in rows) else {}),
            "settings or source": [row.settings for row in rows],
        }
        columns = {"system": [row.system for row in rows], "n": [row.problems for row in rows]}
        columns |= {name: [row.cells.get(name, DASH) for row in rows] for name in comparison.columns}
        echo(f"{in_blocks((columns | texts).items(), texts)}\n")
        _print_exhibits(comparison)
        _print_problems(comparison)
    for run in summaries:
        echo(one_line(run.name))
        for name, text in run.facts:
            begin, hanging = f"  {one_line(name, 30):10} ", " " * 13
            wrapper = textwrap.TextWrapper(terminal_width(), begin, hanging, break_on_hyphens=False)
            echo(wrapper.fill(one_line(text, 400)))
        echo("")
    if html is not None:
        echo(f"Page: {one_line(str(html))}")


def _write_page_of_logs(logs: Sequence[Path], html: Path | None) -> None:
    """Write a page of the runs in logs of `ask` and `chat`. Raises `InputError` for other files."""
    if html is None:
        what = "a log is shown as a page"
        raise InputError(what, where=str(logs[0]), hint="Name the page with --html FILE.")
    runs: list[list[Event]] = []
    for each in logs:
        if not each.is_file():
            hint = "Logs and evaluations have pages of their own."
            raise InputError("this is not a log, but the others are", where=str(each), hint=hint)
        runs += runs_in(each)
    count = write_run_page(runs, html)
    say(f"Page of {counted(count, 'run')}: {one_line(str(html))}")


def _print_exhibits(comparison: Comparison, *kinds: str) -> None:
    for each in comparison.exhibits:
        if each.kind in kinds if kinds else each.is_asked:
            echo(f"{one_line(each.title, 200)}\n{in_blocks(each.columns, ['followed by'])}\n")


def _print_problems(comparison: Comparison) -> None:
    """Print the outcomes of the first problems; problems on which runs differ come first."""
    rows = comparison.problems(_MAX_PROBLEMS)
    if not rows:
        return
    names = [run.name for run in comparison.runs]
    columns = {name: [row[name] for row in rows] for name in ("id", "question", "gold")}
    columns |= {name: [row.get(name, "")[:1] for row in rows] for name in names}
    echo(in_blocks(columns.items(), list(columns)))
    left = max(run.n for run in comparison.runs) - len(rows)
    more = f"; {left:,} more on the page (--html)" if left > 0 else ""
    note = f"{comparison.difference}.\n" if comparison.difference else ""
    echo(f"✓ right, ✗ wrong, – declined, ! failed{more}\n{note}")


def _counted_labels(file: Path, run: Run) -> Counter[str]:
    """Count the labels that a person assigned to answers of a run.

    `file` has the columns `id` and `label` (semicolons separate several), and `run` if it has several runs.
    Raises `InputError` for other files, and for a problem that is not in the run.
    """
    counts = Counter[str]()
    for row in DataFile(file):
        if not {"id", "label"} <= row.keys():
            raise InputError("it must have the columns id and label", where=str(file))
        if row.get("run") not in (None, "", run.name):
            continue
        if str(row["id"]) not in run.index:
            raise InputError(f"there is no problem {str(row['id'])!r} in {run.name}", where=str(file))
        counts.update(label for part in str(row["label"]).split(";") if (label := part.strip()))
    return Counter(dict(counts.most_common()))


def _folders_of(run: Path) -> Sequence[Path]:
    """Return the folders of the arms if `compare` made the folder, else the folder itself."""
    if run.name == FIGURES and run.parent.is_dir():
        return []
    if (run / FIGURES).is_file() and not (run / SETTINGS).is_file():
        return sorted(file.parent for file in run.glob(f"*/{SETTINGS}"))
    return [run]


def _read_runs(folders: Sequence[Path]) -> Sequence[Run]:
    """Read evaluations from their folders."""
    with Activity(f"reading {counted(len(folders), 'folder')}"):
        return uniquely_named(map(read_run, folders))


def _groups(run: Run) -> dict[str, dict[str, Count]]:
    """Return the counts by the benchmark's groups of columns, without empty columns."""
    counts = {name: count for name, count in run.tally.columns.items() if count.n}
    groups = run.benchmark.groups.items()
    columns_of = {group: {name: counts[name] for name in names if name in counts} for group, names in groups}
    return {group: columns for group, columns in columns_of.items() if columns}


def export_runs(spans: SpanOptions, source: Path, inspect: Path | None) -> int:
    """Send a log or an evaluation folder to a span receiver, or write it as an Inspect log.

    Return the exit code, which is 1 if not all spans arrived.
    """
    if (spans.otlp is None) == (inspect is None):
        raise typer.BadParameter("name a destination: --otlp URL or --inspect FILE", param_hint="--otlp")
    if not source.exists():
        raise InputError("there is no such file or folder", where=str(source))
    if inspect is not None:
        if not source.is_dir():
            hint = "--otlp sends the log of a run."
            raise InputError("--inspect needs the folder of an evaluation", where=str(source), hint=hint)
        from chameleon.interop.inspect_log import write_inspect_log

        with Activity(f"writing {inspect}"):
            count = write_inspect_log(source, inspect)
        shows = f"`inspect view --log-dir {inspect.parent}` shows it."
        say(f"Wrote {counted(count, 'problem')} to {inspect}; {shows}")
        return 0
    from chameleon.interop.otlp import Traces, export_log, export_run_dir

    traces, is_folder = Traces(spans.otlp or "", content=spans.content), source.is_dir()
    with Activity(f"sending the spans of {source}"):
        try:
            count = export_run_dir(source, traces) if is_folder else export_log(source, traces)
        finally:
            lost = traces.close()
    if not lost:
        sent = counted(traces.collector.sent, "span")
        say(f"Sent {sent} of {counted(count, 'problem' if is_folder else 'run')}.")
    return int(lost > 0)
