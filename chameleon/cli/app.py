"""The commands: their options, and the function of each, whose file is loaded when it runs."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer import Argument, Option

from chameleon.cli import options as shared
from chameleon.cli.settings import Settings

DATA = Argument(
    ..., metavar="DATA", help="Your questions (CSV, Excel, JSON lines), or a benchmark's release."
)
RUNS = Argument(..., metavar="RUN…", help="Folders that `eval --out` wrote.")
RUNS_OR_LOGS = Argument(
    ..., metavar="RUN|LOG…", help="Folders of `eval --out`, or logs of `ask` and `chat` for a page."
)
JSON = Option(False, "--json", help="Print JSON.")
HIDDEN = ""  # works, and is not listed
COMMANDS: dict[str, shared.Command] = {}
PLACES: dict[str, tuple[str, Callable[..., int | None]]] = {}


def command(
    panel: str, file: str, function: str, name: str = "", **further: Any
) -> Callable[[shared.Command], shared.Command]:
    """Keep a declaration of options as a command, listed in a panel of `--help`.

    It runs a function in a file of this package, with the options and `further` as keywords.
    """

    def runs(**values: Any) -> int | None:
        code: int | None = getattr(import_module(f"chameleon.cli.{file}"), function)(**values, **further)
        return code

    def keep(declaration: shared.Command) -> shared.Command:
        COMMANDS[name or declaration.__name__] = declaration
        PLACES[name or declaration.__name__] = panel, runs
        return declaration

    return keep


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the app with the one command that is named, else with all of them: each takes time."""
    names = COMMANDS.keys() & arguments[:1] or COMMANDS
    app = typer.Typer(
        name="chameleon",
        help="Compose tools to answer questions over tables, pictures and texts: a planner picks modules, "
        "an executor runs them.",
        no_args_is_help=True,
        add_completion=names is COMMANDS,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(main)
    for name in (each for each in COMMANDS if each in names):
        panel, runs = PLACES[name]
        app.command(name, rich_help_panel=panel, hidden=panel == HIDDEN)(shared.spread(COMMANDS[name], runs))
    return app


def settings_for(arguments: Sequence[str]) -> Settings | None:
    """Return what a file sets for the command that is named, if there is one; `doctor` reads it itself."""
    is_help = not {"--help", "-h"}.isdisjoint(arguments)
    is_settable = {*COMMANDS} - {"doctor"} & {*arguments[:1]}
    return settings() if is_settable and not is_help else None


def settings() -> Settings | None:
    """Read the settings in effect, if there are any."""
    if (file := shared.settings_file()) is None:
        return None
    return Settings.load(file, COMMANDS)


def _version(value: bool) -> None:
    if value:
        from importlib import metadata

        typer.echo(f"chameleon-compose {metadata.version('chameleon-compose')}")
        raise typer.Exit


def main(
    version: bool = Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


@command("Ask", "asking", "run_question")
def ask(
    question: shared.QuestionOptions,
    run: shared.RunOptions,
    talk: shared.TalkOptions,
    json: bool = JSON,
    questions: Path | None = Option(None, metavar="FILE", help="Ask each line of FILE; a line for each."),
) -> None:
    """Answer a question from a table, an index, a picture or a text.

    Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 declined, 4 waits for approval; of several the worst.
    """


@command("Ask", "chat", "chat_about")
def chat(
    source_options: shared.GivenOptions,
    run: shared.RunOptions,
    talk: shared.TalkOptions,
    inventory: str | None = shared.inventory_argument(None, "INVENTORY", "The inventory. Default: as `ask`."),
) -> None:
    """Answer one question after another; the model sees the earlier ones.

    Questions are lines of standard input. /table shows the current table, /history the conversation, /help
    all commands; Ctrl-D leaves.
    """


@command("Ask", "index_command", "index_tables")
def index(
    options: shared.ModelOptions,
    talk: shared.TalkOptions,
    sources: list[Path] = Argument(..., metavar="FOLDER|FILE…", help="Tables, documents, texts and scans."),
    out: Path = Option(..., "--out", "-o", metavar="INDEX", help="The index to make, or to add to."),
    retriever: str | None = Option(None, metavar="NAME|YAML", help="lexical, blend, '{first: bm25}' …"),
    summaries: bool = Option(False, "--summaries", help="Have a model describe each table."),
    json: bool = JSON,
) -> None:
    """Put the tables and texts of files and folders into an index.

    `ask --index` searches it. Run it again to read only what has changed.
    Exit codes: 0 done, perhaps with warnings; 1 nothing was read.
    """


@command("Ask", "asking", "run_question", plan_only=True)
def plan(question: shared.QuestionOptions, talk: shared.TalkOptions, json: bool = JSON) -> None:
    """Show the plan for a question without running it."""


@command("Build", "checking", "check_inventory")
def check(
    inventory: str | None = shared.inventory_argument(None, "NAME|FILE", "The inventory."),
    model: str | None = Option(None, "--model", "-m", metavar="PROVIDER:NAME", help="The model to ask."),
    no_import: bool = Option(False, "--no-import", help="Show what the file says; import nothing."),
    schema: bool = Option(False, "--schema", help="Print the JSON Schema of inventory files."),
    json: bool = JSON,
) -> None:
    """Check an inventory: keys, prompts, plans, packages and model.

    An inventory is code: read one from someone else with --no-import first.
    Exit codes: 0 it runs, given a model if it needs one; 1 a run would stop.
    """


@command("Build", "listing", "print_list", name="list")
def list_kind(
    kind: shared.Kind = Argument(
        "inventories", metavar="KIND", help="modules, planners, inventories, experiments or benchmarks."
    ),
    name: str | None = Argument(None, metavar="NAME", help="Show this module or planner in full."),
    json: bool = JSON,
) -> None:
    """List modules, planners, inventories, experiments or benchmarks."""


@command("Build", "serving", "serve_inventories")
def serve(
    options: shared.ModelOptions,
    inventories: list[str] = shared.inventory_argument(..., "INVENTORY…", "What to serve, each as a tool."),
    mcp: bool = Option(False, "--mcp", help="Serve by MCP, the only protocol so far."),
    http: str | None = Option(
        None,
        metavar="[HOST:]PORT",
        help="Over HTTP, on this machine unless you name a HOST. Default: standard input and output.",
    ),
    files: list[Path] | None = Option(
        None,
        metavar="FOLDER",
        help="Let clients name files in this folder. Default: this one; none over HTTP.",
    ),
) -> None:
    """Serve inventories to other agents, by the Model Context Protocol.

    Exit codes: 0 the client went away, 1 unable to begin, 2 wrong usage, 130 after Ctrl-C.
    """


@command("Build", "doctor", "examine")
def doctor(json: bool = JSON) -> None:
    """Show the installed packages, the model, and the sandbox."""


@command("Build", "approving", "answer_in", name="approve")
def answer(
    log: Path = Argument(..., metavar="LOG", help="The event log of a run that is waiting."),
    yes: bool = Option(False, "--yes", help="Approve without being asked."),
    no: bool = Option(False, "--no", help="Refuse without being asked."),
) -> None:
    """Approve or refuse the steps that a run is waiting for.

    Exit codes: 0 answered, 1 nothing was waiting, 4 it is still waiting.
    """


@command("Measure", "measuring", "evaluate", name="eval")
def evaluate(
    options: shared.EvalOptions,
    talk: shared.TalkOptions,
    inventory: str = shared.inventory_argument(..., "INVENTORY", "The inventory."),
    data: Path = DATA,
    without: list[str] | None = Option(None, metavar="MODULE", help="Leave a module out; repeatable."),
    part: str | None = Option(None, metavar="K/N", help="Part K of N, for `merge`; --max-cost is for all."),
    json: bool = JSON,
) -> None:
    """Run an inventory over your questions or a benchmark, and count right answers.

    Exit codes: 0 done, 1 stopped before the end or unable to begin, 2 wrong usage, 130 after Ctrl-C.
    """


@command("Measure", "comparing", "compare")
def compare(options: shared.CompareOptions, talk: shared.TalkOptions, json: bool = JSON) -> None:
    """Compare inventories and models over your questions, or the arms of an experiment.

    `compare questions.csv -i tables_first -i tables -m MODEL` answers all questions in both ways;
    `compare "QUESTION" --table FILE -i …` shows the answers to one side by side.
    Exit codes: 0 done, 1 stopped before the end or no arm could run, 2 wrong usage, 130 after Ctrl-C.
    """


@command("Measure", "reporting", "print_report")
def report(
    runs: list[Path] = RUNS_OR_LOGS,
    html: Path | None = Option(None, metavar="FILE", help="Write an HTML page of the problems or runs."),
    published: bool = Option(False, "--published", help="Show the published results and figures below."),
    chains_of: Path | None = Option(None, metavar="DIR", help="Group problems by the chains of this run."),
    labels: Path | None = Option(None, metavar="FILE", help="Count labels of answers: columns id and label."),
    problems: int = Option(200, min=0, help="How many problems of a run the page shows."),
    json: bool = JSON,
) -> None:
    """Show evaluations side by side, and the outcome of each problem."""


@command("Measure", "scoring", "score_predictions")
def score(
    options: shared.DataOptions,
    benchmark: str = Argument(..., metavar="BENCHMARK", help="The benchmark; `list benchmarks` shows all."),
    data: Path = DATA,
    predictions: Path = Argument(..., metavar="PREDICTIONS", help="One row for each problem's id."),
    field: str = Option("prediction", metavar="FIELD", help="output, prediction, program, or KEY.FIELD."),
    where: str | None = Option(None, metavar="KEY=VALUE", help="Only the rows that have this value."),
    given: bool = Option(False, "--given", help="Skip problems without a prediction; else they are wrong."),
    json: bool = JSON,
) -> None:
    """Score recorded predictions of any system by the official rule."""


@command("Measure", "reporting", "export_runs")
def export(
    spans: shared.SpanOptions,
    source: Path = Argument(..., metavar="LOG|DIR", help="A log of `ask` or `chat`, or a folder of `eval`."),
    inspect: Path | None = Option(None, metavar="FILE", help="Write a log of Inspect: NAME.eval or .json."),
) -> None:
    """Export runs to OpenTelemetry or Inspect.

    Exit codes: 0 done, 1 not all arrived.
    """


@command(HIDDEN, "doctor", "print_sandbox")
def sandbox(json: bool = JSON) -> None:
    """Show what the sandbox guarantees here, as `doctor` does."""


@command(HIDDEN, "reporting", "merge_parts")
def merge(
    parts: list[Path] = Argument(..., metavar="PART…", help="The folders that `eval --part` wrote."),
    out: Path = Option(..., "--out", "-o", metavar="DIR", help="The new folder."),
) -> None:
    """Merge the parts of an evaluation into one."""


@command(HIDDEN, "reporting", "print_stats")
def stats(runs: list[Path] = RUNS, json: bool = JSON) -> None:
    """Count which modules the plans of evaluations call, and in what order."""


@command(HIDDEN, "index_command", "measure_recall")
def recall(
    corpus: Path = Argument(..., metavar="CORPUS", help="Tables as JSON lines (.gz is fine), or an index."),
    queries: Path = Argument(..., metavar="QUERIES", help="JSON lines of a question and its gold_table_id."),
    retriever: str = Option(
        "auto", "--retriever", "-r", metavar="NAME|YAML", help="How to search: bm25, lexical, blend, ..."
    ),
    summaries: bool = Option(False, "--summaries", help="Index the `summary` of each table too."),
    index: Path | None = Option(None, metavar="DIR", help="Keep the index of the corpus here."),
    json: bool = JSON,
) -> None:
    """Measure how often a retriever finds the table of a question, and at which rank."""
