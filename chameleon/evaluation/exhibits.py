"""The other figures that papers print for a benchmark, and the same figures of runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chameleon.errors import InputError
from chameleon.evaluation.compare import difference
from chameleon.evaluation.results import Count
from chameleon.evaluation.run import DASH, Run

CHAIN, ARROW = "chain ", " → "
KINDS = {  # by kind: the title for runs, and the chart
    "calls": ("Questions that call a module, in percent", "bars"),
    "plans": ("Different programs, and the mean length of a plan", ""),
    "transitions": ("Which module follows which, in percent", "graph"),
    "chain_lengths": ("Questions by the length of the chain", ""),
    "accuracy_by_chain": ("Right in percent, or the first grade, by the length of the chain", "bars"),
    "changes": ("Points that accuracy changes by without modules", ""),
    "samples": ("Calls of a model for a question", ""),
    "labels": ("Labels that a person gave to answers", ""),
}
Numbers = Mapping[str, float]


class Series(NamedTuple):
    """The numbers of a run or of a published system, by label."""

    system: str
    published: bool
    values: Numbers


class Exhibit(NamedTuple):
    """A figure or a table: the numbers of several systems."""

    title: str
    systems: Sequence[Series]
    kind: str = ""  # one of `KINDS`
    chart: str = ""  # "bars" or "graph"
    is_asked: bool = False  # also shown in the terminal

    @property
    def labels(self) -> list[str]:
        return [*dict.fromkeys(label for each in self.systems for label in each.values)]

    @property
    def columns(self) -> list[tuple[str, list[str]]]:
        """The cells by column name; in a graph each end of an arc has a column."""
        ends = [label.partition(ARROW) for label in self.labels]
        second = [("followed by", [end for _, _, end in ends])] if self.chart == "graph" else []
        first = [begin for begin, _, _ in ends] if second else self.labels
        cells = ([written(each.values.get(label)) for label in self.labels] for each in self.systems)
        return [("", first), *second, *zip([each.system for each in self.systems], cells, strict=True)]

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "systems": [each._asdict() for each in self.systems]}


def written(value: float | None) -> str:
    """Write a count as it is, other numbers with two decimals, and None as a dash."""
    return DASH if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def exhibits_of(
    runs: Sequence[Run],
    published: Mapping[str, Mapping[str, Any]],
    chains_of: Run | None = None,
    labels: Mapping[str, Mapping[str, int]] | None = None,
) -> Iterator[Exhibit]:
    """Yield `published` figures by their source in print, adding the runs' own, then figures only runs have.

    Args:
        chains_of: the run whose chains are used for all.
        labels: counts of answers by run name.

    Raises:
        InputError: for a run that shares no problem with `chains_of`.
    """
    kinds = {figure.get("kind") for figure in published.values()}
    unpublished = [("", {"kind": kind}) for kind in KINDS if kind not in kinds]
    for source, figure in [*published.items(), *unpublished]:
        kind, is_asked = figure.get("kind", ""), bool(source)
        about, chart = KINDS.get(kind, ("", ""))
        title = figure.get("about", about) + (f" ({source})" if source else "")
        numbers = {run.name: _numbers(kind, run, chains_of) for run in runs}
        if kind == "changes":
            numbers = _changes(runs)
        elif kind == "labels" and labels:
            is_asked, counts = True, {run.name: labels[run.name] for run in runs}
            for name, by_label in counts.items():
                shares = {label: 100 * n / sum(by_label.values()) for label, n in by_label.items()}
                numbers |= {name: by_label, f"{name}, % of labels": shares}
        elif chains_of is not None and "chain" in kind:
            title, is_asked = f"{title}, by the chains of {chains_of.name}", True
        systems = [Series(name, False, values) for name, values in numbers.items() if values]
        systems += [Series(name, True, values) for name, values in figure.get("systems", {}).items()]
        if systems:
            yield Exhibit(title, systems, kind, chart, is_asked)


def _numbers(kind: str, run: Run, chains_of: Run | None) -> Numbers:
    """Return the numbers of a run for a kind of figure, by label."""
    plans, tally, n = run.plans, run.tally, run.n
    match kind:
        case "calls":
            return {name: 100 * plans.share(name) for name in plans.modules}
        case "plans" if n:
            return {"different programs": len(plans.programs), "mean length": plans.mean_length or 0.0}
        case "transitions":
            shares = plans.probabilities.items()
            return {f"{a}{ARROW}{b}": 100 * share for a, after in shares for b, share in after.items()}
        case "chain_lengths":
            return {name: count.n for name, count in _by_chain(run, chains_of).items()}
        case "accuracy_by_chain":
            times, counts = 1 if tally.graded else 100, _by_chain(run, chains_of).items()
            first = {name: next(iter(tally.figures(count).values())) for name, count in counts}
            return {name: times * value for name, value in first.items() if value is not None}
        case "samples" if n:
            return {"all": tally.usage.calls / n}
    return {}


def _by_chain(run: Run, chains_of: Run | None) -> Mapping[str, Count]:
    """Count a run's problems by the length of its chains, or of another run's."""
    if chains_of is None:
        return {name: each for name, each in run.tally.columns.items() if name.startswith(CHAIN) and each.n}
    own = ((each.id, name) for each in chains_of.results for name in each.columns if name.startswith(CHAIN))
    lengths, counts = dict(own), dict[str, Count]()
    for result in run.pick(lengths) if run.benchmark.name == chains_of.benchmark.name else ():
        counts.setdefault(lengths[result.id], Count()).add(result)
    if not counts:
        what = f"none of its problems has a chain in {chains_of.name}"
        raise InputError(what, where=str(run.path), hint="Name runs over the same problems.")
    return dict(sorted(counts.items()))


def _changes(runs: Sequence[Run]) -> dict[str, Numbers]:
    """Return the points by which runs without modules differ from the first full run on the same problems."""
    changes = dict[str, Numbers]()
    right = {run.name: {id: verdict == "right" for id, (_, verdict) in run.index.items()} for run in runs}
    for run in (each for each in runs if each.settings.get("without") and not each.tally.graded):
        same = [run.settings.get(key) for key in ("data", "model")]
        for full_run in (each for each in runs if not each.settings.get("without")):
            points, _ = difference(right[run.name], right[full_run.name])
            if points is not None and [full_run.settings.get(key) for key in ("data", "model")] == same:
                name, left_out = f"to {full_run.name}", ", ".join(map(str, run.settings["without"]))
                changes[name] = {**changes.get(name, {}), left_out: 100 * points}
                break
    return changes
