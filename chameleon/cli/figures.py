"""The commands that run, score, count, show and compare evaluations, from `eval` to `grid`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chameleon.cli.options import (
    AllowDropped,
    AsJson,
    DataFile,
    Limit,
    ModelName,
    Params,
    Runs,
    ScorerName,
    StoreMode,
    TablesFile,
)


def evaluate(
    inventory: Annotated[str, typer.Argument(metavar="INVENTORY", help="The inventory.", show_default=False)],
    data: DataFile,
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", "-b", metavar="NAME", help="By default told from the data.")
    ] = None,
    tables: TablesFile = None,
    scorer: ScorerName = None,
    workers: Annotated[
        int, typer.Option("--workers", "-w", min=1, max=1024, help="How many problems run at once.")
    ] = 8,
    limit: Limit = None,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", metavar="MODULE", help="Leave a module out; may be given again."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Keep results and events here, and resume."),
    ] = None,
    model: ModelName = None,
    param: Params = None,
    allow_dropped: AllowDropped = False,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", metavar="USD", min=0, help="Stop when this much is spent.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try the failed problems of DIR again.")
    ] = False,
    gold_history: Annotated[
        bool,
        typer.Option(
            "--gold-history", help="Tell questions of a conversation the gold answers of earlier ones."
        ),
    ] = False,
    store: StoreMode = "auto",
    json: AsJson = False,
) -> None:
    """Run an inventory over a benchmark's problems and score it by the official rule.

    Exit codes: 0 done, 1 stopped before the end or unable to begin, 2 wrong usage, 130 after Ctrl-C.
    """
    from chameleon.cli.evaluating import Evaluated
    from chameleon.cli.evaluating import evaluate as run
    from chameleon.cli.problems import Data
    from chameleon.cli.setup import ModelOptions, params_of

    options = ModelOptions(model, store, params_of(param), allow_dropped)
    asked = Evaluated(inventory, options, _names(without), workers, out, max_cost, retry_failed, gold_history)
    raise typer.Exit(run(Data(data, benchmark, tables, limit, scorer), asked, as_json=json))


def score(
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help="Its name.", show_default=False)],
    data: DataFile,
    predictions: Annotated[
        Path,
        typer.Argument(metavar="PREDICTIONS", help="One row for each problem's id.", show_default=False),
    ],
    field: Annotated[
        str,
        typer.Option(
            "--field",
            metavar="FIELD",
            help="What is scored: output (a model's text), prediction, or program (run in the sandbox); "
            'a dot reaches below a key, as in "zeroshot.output".',
        ),
    ] = "prediction",
    where: Annotated[
        str | None,
        typer.Option(
            "--where", metavar="KEY=VALUE", help="Only the rows of PREDICTIONS that have this value."
        ),
    ] = None,
    given: Annotated[
        bool, typer.Option("--given", help="Leave out problems without a prediction, which else are wrong.")
    ] = False,
    scorer: ScorerName = None,
    tables: TablesFile = None,
    limit: Limit = None,
    json: AsJson = False,
) -> None:
    """Score recorded outputs, predictions or programs of any system by the official rule."""
    from chameleon.cli.problems import Data
    from chameleon.cli.scoring import Recorded, score_predictions

    named = Data(data, benchmark, tables, limit, scorer)
    recorded = Recorded(predictions, field, where, given)
    raise typer.Exit(score_predictions(named, recorded, as_json=json))


def stats(runs: Runs, json: AsJson = False) -> None:
    """Count what the plans of evaluations call, and in which order."""
    from chameleon.cli.reporting import print_stats

    print_stats(runs, as_json=json)


def report(
    runs: Runs,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one page that opens every problem.")
    ] = None,
    problems: Annotated[
        int, typer.Option("--problems", min=0, help="The most problems of a run on the page.")
    ] = 200,
    json: AsJson = False,
) -> None:
    """Show evaluations beside the published results, as the paper's table."""
    from chameleon.cli.reporting import print_report

    print_report(runs, html=html, problems=problems, as_json=json)


def recall(
    corpus: Annotated[
        Path,
        typer.Argument(
            metavar="CORPUS",
            help="Tables as JSON lines (table_id, caption, header, rows; .gz is fine), or an index.",
            show_default=False,
        ),
    ],
    queries: Annotated[
        Path,
        typer.Argument(
            metavar="QUERIES",
            help="JSON lines with question, statement, query or claim, and gold_table_id or table_id.",
            show_default=False,
        ),
    ],
    retriever: Annotated[
        str, typer.Option("--retriever", "-r", metavar="NAME", help="How to search: bm25, okapi and others.")
    ] = "auto",
    named_only: Annotated[
        bool, typer.Option("--named-only", help="Search only the tables that queries name.")
    ] = False,
    index: Annotated[
        Path | None, typer.Option("--index", metavar="DIR", help="Keep the index of the corpus here.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Measure how often a retriever finds the table that a question is about, and how early."""
    from chameleon.cli.recall import Asked, measure_recall

    asked = Asked(corpus, queries, retriever, named_only, index)
    raise typer.Exit(measure_recall(asked, as_json=json))


def grid(
    grid: Annotated[
        str | None,
        typer.Argument(metavar="GRID|FILE", help="The grid: `list grids` shows all.", show_default=False),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA", help="As for `eval`; without any the arms are told.", show_default=False
        ),
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", "-b", metavar="NAME", help="By default told from the data.")
    ] = None,
    tables: TablesFile = None,
    scorer: ScorerName = None,
    limit: Limit = None,
    inventory: Annotated[
        str | None,
        typer.Option("--inventory", "-i", metavar="NAME|FILE", help="In the place of the one that it names."),
    ] = None,
    arm: Annotated[
        list[str] | None, typer.Option("--arm", metavar="NAME", help="This arm; may be given again.")
    ] = None,
    model: ModelName = None,
    param: Params = None,
    allow_dropped: AllowDropped = False,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Measure what needs no model, also where one is configured.")
    ] = False,
    index: Annotated[
        Path | None,
        typer.Option("--index", metavar="DIR", help="Indexes to search; what is not there is built."),
    ] = None,
    workers: Annotated[
        int,
        typer.Option("--workers", "-w", min=1, max=1024, help="How many problems run at once with a model."),
    ] = 8,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Keep all here, a folder for each arm, and resume."),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="USD", min=0, help="Stop when all arms have spent this much."),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try the failed problems of DIR again.")
    ] = False,
    gold_history: Annotated[
        bool,
        typer.Option(
            "--gold-history", help="Tell questions of a conversation the gold answers of earlier ones."
        ),
    ] = False,
    store: StoreMode = "auto",
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of grid files.")] = False,
    json: AsJson = False,
) -> None:
    """Compare variants of an inventory in one table; without a model, by the parts of them that need none.

    Exit codes: 0 done, 1 stopped before the end or no arm could run, 2 wrong usage, 130 after Ctrl-C.
    """
    from chameleon.cli.evaluating import Evaluated
    from chameleon.cli.grid import Asked, compare, print_schema
    from chameleon.cli.setup import ModelOptions, params_of

    if schema:
        print_schema()
        return
    if grid is None:
        raise typer.BadParameter("name a grid, or give --schema", param_hint="GRID|FILE")
    options = ModelOptions(model, store, params_of(param), allow_dropped)
    each = Evaluated("", options, (), workers, out, max_cost, retry_failed, gold_history)
    arms = _names(arm)
    asked = Asked(grid, data, benchmark, tables, scorer, limit, inventory, arms, no_model, index, each)
    raise typer.Exit(compare(asked, as_json=json))


def _names(listed: list[str] | None) -> list[str]:
    """The names, also where several stand in one with commas."""
    return [name.strip() for each in listed or () for name in each.split(",") if name.strip()]
