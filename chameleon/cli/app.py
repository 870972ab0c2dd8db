"""The commands and their options; what they do lies in the files beside this one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from chameleon.cli import figures
from chameleon.cli.options import (
    AsJson,
    Choices,
    ImageFile,
    IndexFolder,
    InventoryName,
    ModelName,
    Params,
    Question,
    StoreMode,
    TableFile,
    TextFile,
    Unit,
)

app = typer.Typer(
    name="chameleon",
    help="Compose tools to answer questions over tables, pictures and texts: a planner picks modules, "
    "an executor runs them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
lists = typer.Typer(help="List what there is.", no_args_is_help=True)
app.add_typer(lists, name="list")


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
    image: ImageFile = None,
    text: TextFile = None,
    index: IndexFolder = None,
    choices: Choices = None,
    unit: Unit = None,
    inventory: InventoryName = None,
    model: ModelName = None,
    param: Params = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show what each module did.")] = False,
    log: Annotated[
        Path | None,
        typer.Option("--log", metavar="FILE", help="Write the event log; an unfinished one goes on."),
    ] = None,
    store: StoreMode = "auto",
    json: AsJson = False,
) -> None:
    """Answer a question, from a table, an index of tables, a picture or a text.

    Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 declined.
    """
    from chameleon.cli.asking import Asked, run_question
    from chameleon.cli.setup import ModelOptions, params_of

    options = ModelOptions(model, store, params_of(param))
    asked = Asked(question, table, image, text, index, choices, unit, inventory, options)
    raise typer.Exit(run_question(asked, trace=trace, log=log, as_json=json))


@app.command()
def plan(
    question: Question,
    table: TableFile = None,
    image: ImageFile = None,
    text: TextFile = None,
    index: IndexFolder = None,
    choices: Choices = None,
    unit: Unit = None,
    inventory: InventoryName = None,
    model: ModelName = None,
    param: Params = None,
    store: StoreMode = "auto",
    json: AsJson = False,
) -> None:
    """Show the plan for a question without running it."""
    from chameleon.cli.asking import Asked, plan_question
    from chameleon.cli.setup import ModelOptions, params_of

    options = ModelOptions(model, store, params_of(param))
    asked = Asked(question, table, image, text, index, choices, unit, inventory, options)
    raise typer.Exit(plan_question(asked, as_json=json))


@app.command()
def index(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER|FILE…",
            help="CSV, TSV, Excel, Parquet, JSON, HTML, Markdown, SQLite or DuckDB.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="INDEX", help="The index; one that is there is added to.")
    ],
    retriever: Annotated[
        str | None,
        typer.Option("--retriever", metavar="NAME", help="What searches it: bm25, dense, hybrid and others."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Put every table of files and folders into an index, for `ask --index`.

    Run again, it reads what has changed. Exit codes: 0 done, if need be with warnings; 1 nothing was read.
    """
    from chameleon.cli.indexing import index_and_tell

    raise typer.Exit(index_and_tell(sources, out, retriever, as_json=json))


app.command("eval")(figures.evaluate)
app.command("score")(figures.score)
app.command("stats")(figures.stats)
app.command("report")(figures.report)
app.command("recall")(figures.recall)
app.command("grid")(figures.grid)


@app.command()
def check(
    inventory: Annotated[
        str | None, typer.Argument(metavar="NAME|FILE", help="The inventory.", show_default=False)
    ] = None,
    model: ModelName = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of inventory files.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Check an inventory: its keys, prompts and plans, what its modules lack here, and the model to be asked.

    Exit codes: 0 it runs, if need be without modules that a run can do without; 1 a run would stop.
    """
    if schema:
        from chameleon.cli.listing import print_schema

        print_schema()
        return
    if inventory is None:
        raise typer.BadParameter("name an inventory, or give --schema", param_hint="NAME|FILE")
    from chameleon.cli.checking import check_inventory

    raise typer.Exit(check_inventory(inventory, model, as_json=json))


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
def list_modules(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show this one in full.", show_default=False)
    ] = None,
    json: AsJson = False,
) -> None:
    """The modules that an inventory may name; with NAME what one reads and writes, and its parameters."""
    from chameleon.cli.listing import list_classes, show_module

    if name is None:
        list_classes("modules", as_json=json)
    else:
        show_module(name, as_json=json)


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


@lists.command("grids")
def list_grids(json: AsJson = False) -> None:
    """The grids that are shipped: variants of an inventory, to be compared."""
    from chameleon.cli.listing import list_shipped_grids

    list_shipped_grids(as_json=json)


@lists.command("benchmarks")
def list_benchmarks(json: AsJson = False) -> None:
    """The benchmarks that can be evaluated, with their scorers."""
    from chameleon.cli.listing import list_shipped_benchmarks

    list_shipped_benchmarks(as_json=json)
