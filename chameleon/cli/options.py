"""How commands declare their options, and dataclasses of options, which commands take whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from chameleon.cli.out import results_alone

StoreMode = Literal["off", "record", "replay", "auto"]
ApproveMode = Literal["plan", "step", "none"]
Complete = Callable[[str], list[str]]
InFile = Literal["any", "agreed", "never"]
"""Which settings file may set an option: any, one that its user agreed to or wrote, or none at all."""

_origins: dict[str, str] = {}


def origin(name: str) -> str:
    """Return the name of the settings file that gave the running command an option; "" for none."""
    return _origins.get(name, "")


def option(
    *short: str,
    default: Any = None,
    complete: Complete | None = None,
    in_file: InFile = "agreed",
    common: bool = True,
    **about: Any,
) -> Any:
    """Declare an option, called as its field or parameter is; `default=MISSING` where it must be given.

    Args:
        complete: gives the values that begin with a text, for the shell.
        in_file: which `chameleon.toml` may set it; with `common` also for all commands at once.
    """
    about |= {"autocompletion": complete} if complete else {}
    kept = {"short": short, "about": about, "in_file": in_file, "common": common}
    return field(default=default, metadata={"declare": typer.Option, **kept})


def argument(
    metavar: str,
    help: str,
    *,
    default: Any = MISSING,
    complete: Complete | None = None,
    in_file: InFile = "never",
) -> Any:
    """Declare an argument, which must be given unless it has a default; see `option`."""
    about = {"metavar": metavar, "help": help, "show_default": False}
    about |= {"autocompletion": complete} if complete else {}
    kept = {"about": about, "in_file": in_file, "common": True}
    return field(default=default, metadata={"declare": typer.Argument, **kept})


def spread(command: Callable[..., int | None]) -> Callable[..., None]:
    """Make a command of a function that takes options, and dataclasses of them, and returns the exit code."""
    hints = get_type_hints(command)
    wholes = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(command)
    def run(context: typer.Context, **given: Any) -> None:
        from_file = _from_file(context, given)
        for less, more in (("quiet", "verbose"), ("quiet", "trace"), ("verbose", "quiet")):
            if less in from_file and given.get(more) and more not in from_file:
                given[less] = False  # the command line counts
        _origins.clear()
        _origins.update((name, context.obj.path.name) for name in from_file)
        for name, whole in wholes.items():
            own = {each.name: given.pop(each.name) for each in fields(whole) if each.name in given}
            given[name] = whole(**own)  # type: ignore[operator]
        talk = given.get("talk", TalkOptions())
        with results_alone(quiet=talk.quiet, verbose=talk.verbose):
            raise typer.Exit(command(**given) or 0)

    own = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [own, *_parameters(command)]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _from_file(context: typer.Context, given: dict[str, Any]) -> list[str]:
    """Return the options that a settings file gave; take out of `given` what the user does not agree to."""
    sources = {name: context.get_parameter_source(name) for name in given}
    names = [name for name, source in sources.items() if source and source.name == "DEFAULT_MAP"]
    if not names:
        return []
    refused = context.obj.refused(context.info_name, names)
    declared = {each.name: each for each in context.command.params}
    for name in refused:
        if declared[name].required:
            what = f"it must be given: {context.obj.path.name} is not used"
            raise typer.BadParameter(what, param_hint=f"--{name}")
        given[name] = declared[name].default
    return [name for name in names if name not in refused]


def declared_options(command: Callable[..., int | None]) -> Mapping[str, tuple[Any, Field[Any]]]:
    """Return the types and declarations of a command's options and arguments, in their order."""
    hints = get_type_hints(command)
    declared: dict[str, tuple[Any, Field[Any]]] = {}
    for name, parameter in signature(command).parameters.items():
        if is_dataclass(hints[name]):
            of_fields = get_type_hints(hints[name])
            declared |= {each.name: (of_fields[each.name], each) for each in fields(hints[name])}
        else:
            declared[name] = hints[name], parameter.default
    return declared


def _parameters(command: Callable[..., int | None]) -> Iterator[Parameter]:
    """Yield what the command line offers for a function's parameters, in their order."""
    for name, (hint, each) in declared_options(command).items():
        if not each.metadata:  # no option: what commands keep beside the options
            continue
        names = (f"--{name.replace('_', '-')}", *each.metadata["short"]) if "short" in each.metadata else ()
        declaration = each.metadata["declare"](*names, **each.metadata["about"])
        default = Parameter.empty if each.default is MISSING else each.default
        annotation = Annotated[hint, declaration]  # type: ignore[valid-type]
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def inventories(begun: str) -> list[str]:
    """Return the inventories whose names begin with a text, and YAML files of this folder."""
    from chameleon.inventory.source import shipped_inventories

    own = sorted(str(file) for file in Path().glob("*.y*ml"))
    return [name for name in (*shipped_inventories(), *own) if name.startswith(begun)]


@dataclass(frozen=True, kw_only=True)
class TalkOptions:
    """How much a command says besides its result."""

    quiet: bool = option(
        "-q", default=False, in_file="any", help="Print the result alone: no notes, no progress."
    )
    verbose: bool = option(
        "-v",
        default=False,
        in_file="any",
        help="Say all there is to say: each step with its prompts, each problem or file, and what is logged.",
    )

    def __post_init__(self) -> None:
        if self.quiet and self.verbose:
            raise typer.BadParameter("give --quiet or --verbose, not both", param_hint="--quiet")


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What the command line says of the model; `params` are for all calls, in place of the inventory's.

    `connected` keeps the models that were connected to, for commands that set up several times.
    """

    model: str | None = option("-m", in_file="any", metavar="PROVIDER:NAME", help="The model to ask.")
    param: list[str] | None = option(
        "-p",
        in_file="any",
        metavar="KEY=VALUE",
        help="A parameter of all calls, as `reasoning=none`; may be given again.",
    )
    store: StoreMode = option(
        default="auto",
        in_file="any",
        help="The response store: auto reuses replies, replay never asks the model.",
    )
    allow_dropped: bool = True
    params: Mapping[str, Any] = field(init=False)
    connected: MutableMapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", read_params(self.param) if self.param else {})


def read_params(given: Sequence[str]) -> Mapping[str, Any]:
    """Read `--param KEY=VALUE`, values in YAML; null leaves one out. Raises `BadParameter`."""
    import yaml
    from pydantic import ValidationError

    from chameleon.inventory.schema import ModelSpec
    from chameleon.text import nearest
    from chameleon.yaml_text import read_yaml

    def bad(what: str) -> typer.BadParameter:
        return typer.BadParameter(what, param_hint="--param")

    found: dict[str, Any] = {}
    names = [name for name in ModelSpec.model_fields if name not in ("model", "prices")]
    for each in given:
        name, is_pair, text = map(str.strip, each.partition("="))
        if not is_pair:
            raise bad(f"{each!r} is no KEY=VALUE, such as reasoning=none")
        if name not in names:
            raise bad(f"there is no parameter {name!r}. {nearest(name, names)}")
        try:
            value = read_yaml(text)
            found[name] = [value] if name == "stop" and isinstance(value, str) else value
            ModelSpec.model_validate({name: found[name]})
        except yaml.YAMLError:
            raise bad(f"the value of {name} cannot be read: {text!r}") from None
        except ValidationError as problem:
            raise bad(f"{each!r}: {problem.errors()[0]['msg'].lower()}") from None
    return found


@dataclass(frozen=True, kw_only=True)
class GivenOptions(ModelOptions):
    """What questions come with."""

    table: list[str] | None = option(
        "-t",
        metavar="FILE|-|ADDRESS",
        help="CSV, Excel, JSON, HTML, Parquet, SQLite and others, or the address of a database as "
        "postgresql://USER@HOST/NAME; several where taken.",
    )
    sheet: list[str] | None = option(
        metavar="NAME", help="The sheet of a workbook, or the table of a page or database; one for each FILE."
    )
    header: str | None = option(
        metavar="ROWS", help="The rows of a CSV or Excel file that name its columns: 4, 1-2, 0 for none."
    )
    keep_totals: bool = option(
        default=False, help="Take all rows as they stand: totals, footers, groups named once."
    )
    # Lists, so that a second one is refused and not taken in place of the first.
    image: list[str] | None = option(metavar="FILE|-", help="A picture: PNG, JPEG, WebP and others.")
    text: list[str] | None = option(metavar="FILE|-", help="A text, a page or a PDF to answer from.")
    index: Path | None = option(
        metavar="INDEX", help="The tables and texts to answer from, as `chameleon index` made it."
    )
    choices: str | None = option(metavar='"A;B"', help="Options to choose from.")
    at_least: float | None = option(
        in_file="any",
        metavar="P",
        min=0,
        max=1,
        help="Decline answers of less confidence; for readers without a model.",
    )
    unit: str | None = option(
        in_file="any", metavar="U", help="The unit that a number is meant in; nothing is converted."
    )


@dataclass(frozen=True, kw_only=True)
class QuestionOptions(GivenOptions):
    """A question, what it comes with, and what answers it."""

    question: str = argument("QUESTION", "The question, in quotes.", default="")
    inventory: str | None = option(
        "-i", metavar="NAME|FILE", help="The inventory to run.", complete=inventories
    )


@dataclass(frozen=True, kw_only=True)
class SpanOptions:
    """Where the spans of runs are sent, and whether with their texts."""

    otlp: str | None = option(
        in_file="never",
        metavar="URL",
        help="Send spans to this receiver of OpenTelemetry, as http://localhost:4318.",
    )
    content: bool = option(
        default=False,
        in_file="never",
        help="Send texts too: questions, prompts, replies, arguments and outputs.",
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions(SpanOptions):
    """How the runs of `ask` and `chat` are shown, kept and approved."""

    trace: bool = option(default=False, in_file="any", help="Show what each module did.")
    stream: bool = option(
        default=False, in_file="any", help="Show the model's last reply while it comes, on stderr."
    )
    log: Path | None = option(metavar="FILE", help="Keep the events here; what is unfinished resumes.")
    approve: ApproveMode = option(
        default="plan",
        help="What to ask the terminal for where a tool asks for approval: the whole plan, each step, or "
        "none, which refuses it.",
    )


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Which problems of a data file count, and how they are scored."""

    tables: Path | None = option(metavar="FILE", help="The tables, where they lie apart.")
    scorer: str | None = option(metavar="NAME", help="The official rule; `list benchmarks` shows all.")
    limit: int | None = option(
        "-n", in_file="any", min=1, max=1_000_000_000, help="The first N problems alone."
    )


@dataclass(frozen=True, kw_only=True)
class EvalOptions(ModelOptions, DataOptions, SpanOptions):
    """How an evaluation runs, and where it is kept."""

    benchmark: str | None = option("-b", metavar="NAME", help="By default recognized from the data.")
    workers: int = option(
        "-w", in_file="any", default=8, min=1, max=1024, help="How many problems run at once."
    )
    out: Path | None = option("-o", metavar="DIR", help="Keep results and events here, and resume.")
    allow_dropped: bool = option(default=False, help="Go on without parameters that the model does not take.")
    max_cost: float | None = option(metavar="USD", in_file="any", min=0, help="Stop when this much is spent.")
    on: str | None = option(
        metavar="ray[:ADDRESS]", help="Run on the machines of a Ray cluster; by default the one found here."
    )
    retry_failed: bool = option(default=False, help="Try the failed problems of DIR again.")
    gold_history: bool = option(
        default=False, help="Tell questions of a conversation the gold answers of earlier ones."
    )


@dataclass(frozen=True, kw_only=True)
class GridOptions(EvalOptions):
    """Which arms are compared, and over what, each in its folder; the grid file may say what is left out."""

    grid: str = argument("GRID|FILE", "The grid: `list grids` shows all.")
    data: Path | None = argument("DATA", "As for `eval`; without any the arms are told.", default=None)
    inventory: str | None = option(
        "-i",
        metavar="NAME|FILE",
        help="In the place of the one that it names.",
        complete=inventories,
        common=False,
    )
    arm: list[str] | None = option(metavar="NAME", help="This arm; may be given again.")
    no_model: bool = option(default=False, help="Measure what needs no model, also where one is configured.")
    index: Path | None = option(metavar="DIR", common=False, help="The folder of the indexes to search.")


def names(given: list[str] | None) -> list[str]:
    """Return the names that were given, also where several stand in one with commas."""
    return [name.strip() for each in given or () for name in each.split(",") if name.strip()]
