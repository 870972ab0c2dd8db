"""The commands and their options; what they do lies in the files beside this one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

app = typer.Typer(
    name="chameleon",
    help="Compose tools to answer questions over tables: a planner picks modules, an executor runs them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
lists = typer.Typer(help="List what there is.", no_args_is_help=True)
app.add_typer(lists, name="list")

Question = Annotated[str, typer.Argument(help="The question, in quotes.", show_default=False)]
TableFile = Annotated[
    str | None,
    typer.Option(
        "--table", "-t", metavar="FILE|-", help="CSV, TSV, Markdown, JSON, JSON lines, Excel or a | b text."
    ),
]
Choices = Annotated[str | None, typer.Option("--choices", metavar='"A;B"', help="Options to choose from.")]
Unit = Annotated[
    str | None,
    typer.Option("--unit", metavar="U", help="The unit that a number is meant in; nothing is converted."),
]
InventoryName = Annotated[
    str | None, typer.Option("--inventory", "-i", metavar="NAME|FILE", help="The inventory to run.")
]
ModelName = Annotated[
    str | None, typer.Option("--model", "-m", metavar="PROVIDER:NAME", help="The model to ask.")
]
StoreMode = Annotated[
    Literal["off", "record", "replay", "auto"],
    typer.Option("--store", help="The response store: auto reuses replies, replay never asks the model."),
]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="The benchmark's release, or JSON lines; .gz is fine.", show_default=False
    ),
]
TablesFile = Annotated[
    Path | None, typer.Option("--tables", metavar="FILE", help="The tables, where they lie apart.")
]
ScorerName = Annotated[
    str | None,
    typer.Option("--scorer", metavar="NAME", help="The official rule; `list benchmarks` shows all."),
]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="The first N problems alone.")]
Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN…", help="Folders that `eval --out` has written.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"chameleon-compose {version('chameleon-compose')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def ask(
    question: Question,
    table: TableFile = None,
    choices: Choices = None,
    unit: Unit = None,
    inventory: InventoryName = None,
    model: ModelName = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show what each module did.")] = False,
    log: Annotated[
        Path | None,
        typer.Option("--log", metavar="FILE", help="Write the event log; an unfinished one goes on."),
    ] = None,
    store: StoreMode = "auto",
    json: AsJson = False,
) -> None:
    """Answer a question, with a table if it needs one.

    Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 declined.
    """
    from chameleon.cli.asking import Asked, run_question

    asked = Asked(question, table, choices, unit, inventory, model, store)
    raise typer.Exit(run_question(asked, trace=trace, log=log, as_json=json))


@app.command()
def plan(
    question: Question,
    table: TableFile = None,
    choices: Choices = None,
    unit: Unit = None,
    inventory: InventoryName = None,
    model: ModelName = None,
    store: StoreMode = "auto",
    json: AsJson = False,
) -> None:
    """Show the plan for a question without running it."""
    from chameleon.cli.asking import Asked, plan_question

    asked = Asked(question, table, choices, unit, inventory, model, store)
    raise typer.Exit(plan_question(asked, as_json=json))


@app.command("eval")
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
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", metavar="USD", min=0, help="Stop when this much is spent.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try the failed problems of DIR again.")
    ] = False,
    store: StoreMode = "auto",
    json: AsJson = False,
) -> None:
    """Run an inventory over a benchmark's problems and score it by the official rule.

    Exit codes: 0 done, 1 stopped before the end, 2 wrong usage, 130 after Ctrl-C.
    """
    from chameleon.cli.evaluating import Data, Evaluated
    from chameleon.cli.evaluating import evaluate as run

    asked = Evaluated(inventory, model, store, without or (), workers, out, max_cost, retry_failed)
    raise typer.Exit(run(Data(data, benchmark, tables, limit, scorer), asked, as_json=json))


@app.command()
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
    scorer: ScorerName = None,
    tables: TablesFile = None,
    limit: Limit = None,
    json: AsJson = False,
) -> None:
    """Score recorded outputs, predictions or programs of any system by the official rule."""
    from chameleon.cli.evaluating import Data, score_predictions

    named = Data(data, benchmark, tables, limit, scorer)
    raise typer.Exit(score_predictions(named, predictions, field, as_json=json))


@app.command()
def stats(
    runs: Runs,
    graph: Annotated[
        Path | None,
        typer.Option("--graph", metavar="FILE.svg|.png", help="Draw module use and transitions."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Count what the plans of evaluations call, and in which order."""
    from chameleon.cli.reporting import print_stats

    print_stats(runs, as_json=json, graph=graph)


@app.command()
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


@app.command()
def check(
    inventory: Annotated[
        str | None, typer.Argument(metavar="NAME|FILE", help="The inventory.", show_default=False)
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of inventory files.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Check an inventory: its keys, modules, prompts and plans."""
    from chameleon.cli.listing import check_inventory, print_schema

    if schema:
        print_schema()
    elif inventory is None:
        raise typer.BadParameter("name an inventory, or give --schema", param_hint="NAME|FILE")
    else:
        check_inventory(inventory, as_json=json)


@app.command()
def doctor(json: AsJson = False) -> None:
    """Say what is installed here, which model would be asked, and what the sandbox guarantees."""
    from chameleon.cli.doctor import examine

    examine(as_json=json)


@app.command()
def sandbox(
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="The program.", show_default=False)],
    result: Annotated[str, typer.Option("--result", help="The variable that holds the answer.")] = "ans",
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.01, max=3600, help="Seconds of wall time.")
    ] = 2.0,
    kind: Annotated[
        Literal["auto", "sealed", "monty", "monty+sealed"],
        typer.Option("--kind", help="The executor to use."),
    ] = "auto",
    json: AsJson = False,
) -> None:
    """Run one program in the sandbox; print its result and the guarantees that are really active."""
    from chameleon.cli.programs import run_file

    raise typer.Exit(run_file(file, result=result, timeout=timeout, kind=kind, as_json=json))


@lists.command("modules")
def list_modules(json: AsJson = False) -> None:
    """The modules that an inventory may name."""
    from chameleon.cli.listing import list_classes

    list_classes("modules", as_json=json)


@lists.command("planners")
def list_planners(json: AsJson = False) -> None:
    """The planners that an inventory may name."""
    from chameleon.cli.listing import list_classes

    list_classes("planners", as_json=json)


@lists.command("inventories")
def list_inventories(json: AsJson = False) -> None:
    """The inventories that are shipped."""
    from chameleon.cli.listing import list_shipped_inventories

    list_shipped_inventories(as_json=json)


@lists.command("benchmarks")
def list_benchmarks(json: AsJson = False) -> None:
    """The benchmarks that can be evaluated, with their scorers."""
    from chameleon.cli.listing import list_shipped_benchmarks

    list_shipped_benchmarks(as_json=json)
