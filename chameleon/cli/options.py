"""The options that commands share, in dataclasses, and what makes a command of a function that takes them."""

import os
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Literal, get_type_hints

import typer
from typer import Argument, Option
from typer.models import OptionInfo, ParameterInfo

from chameleon.cli.terminal import results_alone
from chameleon.signing import config_dir

Command = Callable[..., None]
StoreMode = Literal["off", "record", "replay", "auto"]
ApproveMode = Literal["plan", "step", "none"]
Kind = Literal["modules", "planners", "inventories", "experiments", "benchmarks"]
ONCE = {  # options of one value: a second is refused, not taken in place of the first
    "image": "takes one file",
    "text": "takes one file",
    "inventory": "takes one: `chameleon compare` is for several",
}
SETTINGS = "chameleon.toml"
_origins: dict[str, str] = {}


def origin(name: str) -> str:
    """Return the name of the settings file that set an option of the running command, or an empty text."""
    return _origins.get(name, "")


def settings_file() -> Path | None:
    """Return the settings in effect: of this folder or one above it, else the user's own.

    Folders above are looked at up to the repository's or the home folder, where this one is in one of them.
    A file that belongs to another user is not read.
    """
    cwd, home = Path.cwd(), Path("/")
    with suppress(RuntimeError):  # there is no such user
        home = Path.home()
    folders = [cwd, *cwd.parents]
    ends = [number for number, each in enumerate(folders) if (each / ".git").exists() or each == home]
    for folder in (*folders[: ends[0] + 1 if ends else 1], config_dir()):
        with suppress(OSError):
            owner = (folder / SETTINGS).stat().st_uid  # this user or root must own it
            if (folder / SETTINGS).is_file() and (not hasattr(os, "getuid") or owner in (0, os.getuid())):
                return folder / SETTINGS
    return None


def declared(command: Command) -> Mapping[str, tuple[Any, ParameterInfo]]:
    """Return a command's options and arguments in their order: the type and the declaration of each."""
    hints = get_type_hints(command)
    options: dict[str, tuple[Any, Any]] = {}
    for name, parameter in signature(command).parameters.items():
        if is_dataclass(hints[name]):
            of_fields = get_type_hints(hints[name])
            options |= {each.name: (of_fields[each.name], each.default) for each in fields(hints[name])}
        else:
            options[name] = hints[name], parameter.default
    return {name: each for name, each in options.items() if isinstance(each[1], ParameterInfo)}


def is_once(name: str, hint: Any, info: ParameterInfo) -> bool:
    """Return whether an option refuses a second value; for typer it is a list."""
    return name in ONCE and isinstance(info, OptionInfo) and hint == str | None


def spread(command: Command, runs: Callable[..., int | None]) -> Callable[..., None]:
    """Make a command of a declaration of options, and dataclasses of them; `runs` returns the exit code."""
    groups = {name: hint for name, hint in get_type_hints(command).items() if is_dataclass(hint)}
    options = declared(command)
    once = [name for name, (hint, info) in options.items() if is_once(name, hint, info)]

    @wraps(command)
    def run(context: typer.Context, **values: Any) -> None:
        from_file = context.obj.apply(context, values) if context.obj else []
        _origins.clear()
        _origins.update((name, context.obj.path.name) for name in from_file)
        for name in once:
            if len(values[name] or ()) > 1:
                what = f"is given {len(values[name])} times, but {ONCE[name]}"
                raise typer.BadParameter(what, param_hint=f"--{name}")
            values[name] = next(iter(values[name] or ()), None)
        for name, group in groups.items():
            members = {each.name: values.pop(each.name) for each in fields(group) if each.name in values}
            values[name] = group(**members)  # type: ignore[operator]
        talk = values.pop("talk", TalkOptions())
        if "json" in values:  # which is a module where commands run
            values["as_json"] = values.pop("json")
        with results_alone(quiet=talk.quiet, verbose=talk.verbose):
            raise typer.Exit(runs(**values) or 0)

    parameters = [Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)]
    for name, (hint, info) in options.items():
        annotation = list[str] | None if name in once else hint
        info.metavar = "" if hint is bool else info.metavar  # a flag takes no value
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=info, annotation=annotation))
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}  # typer reads both
    return run


def inventories(prefix: str) -> list[str]:
    """Return the inventories whose names begin with a text, and YAML files of this folder."""
    from chameleon.inventory.source import shipped_inventories

    files = sorted(str(file) for file in Path().glob("*.y*ml"))
    return [name for name in (*shipped_inventories(), *files) if name.startswith(prefix)]


def inventory_argument(default: Any, metavar: str, use: str) -> Any:
    """Declare an argument, or several, that names an inventory."""
    return Argument(default, metavar=metavar, help=use, autocompletion=inventories)


def _inventory(use: str) -> Any:
    return Option(None, "--inventory", "-i", metavar="NAME|FILE", help=use, autocompletion=inventories)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the command line; what is made without one has its default."""

    def __post_init__(self) -> None:
        for each in fields(self):
            if isinstance(info := getattr(self, each.name, None), ParameterInfo):
                object.__setattr__(self, each.name, info.default)


@dataclass(frozen=True, kw_only=True)
class TalkOptions(Options):
    """How much a command says besides its result."""

    quiet: bool = Option(False, "--quiet", "-q", help="Print only the result: no notes, no progress.")
    verbose: bool = Option(False, "--verbose", "-v", help="Show every step, prompt and log message.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quiet and self.verbose:
            raise typer.BadParameter("give --quiet or --verbose, not both", param_hint="--quiet")


@dataclass(frozen=True, kw_only=True)
class ModelOptions(Options):
    """What the command line says of the model.

    Attributes:
        params: the parameters of all calls, which replace the inventory's.
        connected: the models that were connected to, for commands that set up several times.
    """

    model: str | None = Option(None, "--model", "-m", metavar="PROVIDER:NAME", help="The model to ask.")
    param: list[str] | None = Option(
        None, "--param", "-p", metavar="KEY=VALUE", help="A parameter of each call; repeatable."
    )
    store: StoreMode = Option("auto", help="The response store: auto reuses replies, replay asks no model.")
    allow_dropped: bool = True
    params: Mapping[str, Any] = field(init=False)
    connected: MutableMapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "params", read_params(self.param) if self.param else {})


def read_params(settings: Sequence[str]) -> Mapping[str, Any]:
    """Read `--param KEY=VALUE`, values in YAML; null leaves one out. Raises `BadParameter`."""
    import yaml
    from pydantic import ValidationError

    from chameleon.inventory.schema import ModelSpec
    from chameleon.text import nearest
    from chameleon.yaml_text import read_yaml

    def bad(what: str) -> typer.BadParameter:
        return typer.BadParameter(what, param_hint="--param")

    params: dict[str, Any] = {}
    names = [name for name in ModelSpec.model_fields if name not in ("model", "prices")]
    for each in settings:
        name, is_pair, text = map(str.strip, each.partition("="))
        if not is_pair:
            raise bad(f"{each!r} is not KEY=VALUE, such as reasoning=none")
        if name not in names:
            raise bad(f"there is no parameter {name!r}. {nearest(name, names)}")
        try:
            value = read_yaml(text)
            params[name] = [value] if name == "stop" and isinstance(value, str) else value
            ModelSpec.model_validate({name: params[name]})
        except yaml.YAMLError:
            raise bad(f"the value of {name} cannot be read: {text!r}") from None
        except ValidationError as problem:
            raise bad(f"{each!r}: {problem.errors()[0]['msg'].lower()}") from None
    return params


@dataclass(frozen=True, kw_only=True)
class FileOptions(Options):
    """The files that questions come with."""

    table: list[str] | None = Option(
        None, "--table", "-t", metavar="FILE|-|ADDRESS", help="CSV, Excel, JSON …, or a database; repeatable."
    )
    sheet: list[str] | None = Option(
        None, metavar="NAME", help="A sheet of a workbook, or table of a database."
    )
    header: str | None = Option(None, metavar="ROWS", help="Rows that name the columns: 4, 1-2, 0 for none.")
    keep_totals: bool = Option(False, "--keep-totals", help="Keep all rows, totals and footers too.")
    image: str | None = Option(None, metavar="FILE|-", help="A picture: PNG, JPEG, WebP and others.")
    text: str | None = Option(None, metavar="FILE|-", help="A text, a page or a PDF to answer from.")
    index: Path | None = Option(None, metavar="INDEX", help="An index made by `chameleon index`.")

    @property
    def files(self) -> Mapping[str, Sequence[str]]:
        """The files to read, by the option that names them."""
        one = {"--image": self.image, "--text": self.text}
        return {"--table": self.table or (), **{name: [each] if each else () for name, each in one.items()}}


@dataclass(frozen=True, kw_only=True)
class GivenOptions(FileOptions, ModelOptions):
    """What questions come with."""

    choices: str | None = Option(None, metavar='"A;B"', help="Options to choose from.")
    at_least: float | None = Option(
        None, metavar="P", min=0, max=1, help="The least confidence (0 to 1) of answers without a model."
    )
    unit: str | None = Option(None, metavar="U", help="The unit of the answer; nothing is converted.")

    @property
    def choice_list(self) -> list[str]:
        """The options to choose from, which are written as "A;B"."""
        return [choice.strip() for choice in (self.choices or "").split(";") if choice.strip()]


@dataclass(frozen=True, kw_only=True)
class QuestionOptions(GivenOptions):
    """A question, what it comes with, and what answers it."""

    question: str = Argument("", metavar="QUESTION", help="The question, in quotes.", show_default=False)
    inventory: str | None = _inventory("The inventory to run.")


@dataclass(frozen=True, kw_only=True)
class SpanOptions(Options):
    """Where the spans of runs are sent, and whether with their texts."""

    otlp: str | None = Option(None, metavar="URL", help="Send spans by OTLP, e.g. to http://localhost:4318.")
    content: bool = Option(False, "--content", help="With --otlp: send questions, prompts and replies too.")


@dataclass(frozen=True, kw_only=True)
class RunOptions(SpanOptions):
    """How the runs of `ask` and `chat` are shown, kept and approved."""

    trace: bool = Option(False, "--trace", help="Show what each module did.")
    stream: bool = Option(False, "--stream", help="Show the last reply on stderr as it comes.")
    log: Path | None = Option(
        None, metavar="FILE", help="Write an event log; with the same log a run resumes."
    )
    html: Path | None = Option(None, metavar="FILE", help="Write a page that shows the run step by step.")
    approve: ApproveMode = Option("plan", help="Ask for approval once per plan or per step; none refuses.")


@dataclass(frozen=True, kw_only=True)
class DataOptions(Options):
    """Which problems of a data file count, and how they are scored."""

    tables: Path | None = Option(None, metavar="FILE", help="The tables, if they are in a separate file.")
    scorer: str | None = Option(
        None, metavar="NAME", help="The rule; `list benchmarks` shows all. Or your own: mine:score."
    )
    limit: int | None = Option(
        None, "--limit", "-n", min=1, max=1_000_000_000, help="Only the first N problems."
    )
    sample: int | None = Option(None, metavar="N", min=1, help="Only N problems, drawn at random.")
    seed: int = Option(0, metavar="S", help="The seed of --sample.")


@dataclass(frozen=True, kw_only=True)
class EvalOptions(SpanOptions, FileOptions, DataOptions, ModelOptions):
    """How an evaluation runs, and where it is kept."""

    benchmark: str | None = Option(
        None, "--benchmark", "-b", metavar="NAME", help="Default: detected from DATA."
    )
    workers: int = Option(8, "--workers", "-w", min=1, max=1024, help="How many problems run at once.")
    out: Path | None = Option(
        None, "--out", "-o", metavar="DIR", help="Keep results here; the same command resumes."
    )
    allow_dropped: bool = Option(False, "--allow-dropped", help="Drop parameters that a model does not take.")
    max_cost: float | None = Option(None, metavar="USD", min=0, help="Stop when this much is spent.")
    on: str | None = Option(None, metavar="ray[:ADDRESS]", help="Use a Ray cluster; default: the one found.")
    retry_failed: bool = Option(False, "--retry-failed", help="Try the failed problems of DIR again.")
    gold_history: bool = Option(False, "--gold-history", help="In conversations, show the gold answers.")


@dataclass(frozen=True, kw_only=True)
class CompareOptions(EvalOptions):
    """What is compared, and over what, each in its folder."""

    target: str = Argument(
        ..., metavar="FILE|QUESTION|NAME", help="Questions, one question, or one of `list experiments`."
    )
    data: Path | None = Argument(None, metavar="DATA", help="Problems; without it the arms are listed.")
    inventory: list[str] | None = _inventory("An inventory to compare; repeatable.")
    model: list[str] | None = Option(  # type: ignore[assignment]
        None, "--model", "-m", metavar="PROVIDER:NAME", help="A model to ask; repeatable."
    )
    arm: list[str] | None = Option(None, metavar="NAME", help="Only this arm; repeatable, or NAME,NAME.")
    no_model: bool = Option(False, "--no-model", help="Run only what needs no model.")


def names(values: list[str] | None) -> list[str]:
    """Return the names that were given, also where several are in one with commas."""
    return [name.strip() for each in values or () for name in each.split(",") if name.strip()]
