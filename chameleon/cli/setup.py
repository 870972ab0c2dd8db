"""Set up a run: read a question's files, choose inventory and model and why, and set who approves."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

from chameleon.cli.options import ApproveMode, FileOptions, ModelOptions, QuestionOptions, SpanOptions, origin
from chameleon.cli.terminal import is_attended, say
from chameleon.core.conversation_log import ConversationLog
from chameleon.core.events import Event, Plan
from chameleon.core.llm_module import asking_of
from chameleon.core.log import EventLog
from chameleon.core.module import split_keys
from chameleon.errors import InputError, MissingPackage
from chameleon.inventories import DEFAULTS
from chameleon.inventory import Inventory
from chameleon.llm.capabilities import switch_off
from chameleon.llm.model_choice import ModelChoice, choose_model
from chameleon.run.approval import refuse
from chameleon.run.executor import Executor
from chameleon.table import Table
from chameleon.table.databases import address_name
from chameleon.table.readers import KINDS, choose_table
from chameleon.table.records import read_file, read_within
from chameleon.text import counted, harmless, with_article
from chameleon.text import is_address as is_database

if TYPE_CHECKING:
    from chameleon.interop.otlp import Traces
    from chameleon.llm import LLM

    Log = EventLog | ConversationLog | None

STANDARD_INPUT = "-"
_STDIN_NAME = "standard input"
_MAX_NAMES = 5
_TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")  # suffixes of files that are always tables
_FILE_KINDS = {"--table": "table", "--image": "picture", "--text": "document"}
_HINT = (
    "CSV, JSON, HTML, workbooks, SQLite, DuckDB and Parquet go with --table, PDF, .docx, .pptx, .odt, .epub, "
    "HTML, Markdown and plain text with --text, pictures with --image."
)
_SOURCES = "Give a table with --table, an index with --index, a picture with --image or a text with --text."
_FILE_KEYS = ("index", "table", "tables", "image", "text", "passages")
_NAMES = {"tables": "second table", "image": "picture", "passages": "text"}  # else as the key


@dataclass(frozen=True)
class Setup:
    """The run and the reason for it; `given` is the input of a question, in the form the inventory takes."""

    executor: Executor
    why: str
    given: Mapping[str, Any] = field(default_factory=dict)


def checked(options: QuestionOptions) -> QuestionOptions:
    """Check the options; drop the index of a settings file if the command line has other files.

    Raises `BadParameter` for wrong usage, and `InputError` for a question without files.
    """
    if not options.question.strip():
        raise typer.BadParameter("the question is missing: give it in quotes", param_hint="QUESTION")
    files, has_files = options.files, any(options.files.values())
    if has_files and origin("index"):
        options = replace(options, index=None)
    tables, sheets = len(options.table or ()), len(options.sheet or ())
    if sheets and sheets != tables:
        what = f"is given {sheets} times for {counted(tables, 'table')}: give it once for each, in order"
        raise typer.BadParameter(what, param_hint="--sheet")
    reading = [name for name, sources in files.items() for each in sources if each == STANDARD_INPUT]
    if len(reading) > 1:
        hint = " and ".join(dict.fromkeys(reading))
        raise typer.BadParameter("only one of them can read standard input", param_hint=hint)
    if options.choices is not None and len(options.choice_list) < 2:
        raise typer.BadParameter('two options or more, such as "yes;no"', param_hint="--choices")
    if options.inventory is None and options.index is not None and has_files:
        what = "is searched by itself, but is given with something else: name an --inventory that takes both"
        raise typer.BadParameter(what, param_hint="--index")
    if options.inventory is None and options.index is None and not has_files:
        raise InputError("there is nothing to answer the question from", hint=_SOURCES)
    return options


def prepare(
    options: QuestionOptions,
    approve: ApproveMode,
    close: ExitStack,
    recorded: Mapping[str, Any] | None = None,
    *,
    plans: bool = False,
    arm: Inventory | None = None,
) -> Setup:
    """Read a question's files, and choose the inventory and model.

    Args:
        close: files may be in a temporary folder, which exists until this is closed.
        recorded: the settings of a log.
        plans: whether only the plan is wanted; `tables` is then preferred to `tables_first`.
        arm: the inventory of an experiment's arm, in place of the options'.
    """
    inputs: dict[str, Any] = {"question": options.question, "unit": options.unit}
    inputs |= read_files(options, close)
    if options.choices is not None:
        inputs["choices"] = options.choice_list
    inventory: str | Inventory | None = arm or options.inventory
    if options.inventory is not None and recorded:  # includes the tools that servers listed
        inventory = Inventory.load(options.inventory, recorded=recorded)
    planned, offline = next((names for key, names in DEFAULTS.items() if key in inputs), DEFAULTS["table"])
    defaults = ("tables" if plans and planned == "tables_first" else planned, offline)
    setup = set_up(inventory, options, defaults=defaults, at_least=options.at_least)
    executor = setup.executor
    executor.approve_each = approve == "step"
    if approve == "none":
        executor.approve = refuse
    elif is_attended():  # without a terminal, runs wait
        from chameleon.cli.approving import confirm

        executor.approve = lambda request: confirm(request.steps, request.state)
    return replace(setup, given=fit(inputs, executor.inventory, options))


def read_files(options: FileOptions, close: ExitStack) -> dict[str, Any]:
    """Read the files of a question.

    The first table becomes `table`, any others `tables`. Raises `InputError` for a file that cannot be read.
    """
    inputs: dict[str, Any] = {}
    sources = options.table or []
    sheets = options.sheet or repeat(None, len(sources))
    tables = [_read_table(source, sheet, options) for source, sheet in zip(sources, sheets, strict=True)]
    captions = [table.caption for table in tables]
    for place, source in enumerate(sources):
        if captions.count(captions[place]) > 1 and source != STANDARD_INPUT and not is_database(source):
            path = Path(source).resolve()
            prefix = path.parent.name if captions[place] == path.stem else path.stem
            tables[place] = tables[place].with_caption(f"{prefix}/{captions[place]}")  # north/sales
    if tables:
        inputs["table"] = tables[0]
    if len(tables) > 1:
        inputs["tables"] = tables[1:]
    if options.index is not None:
        from chameleon.retrieval.manifest import Manifest

        _require_path(str(options.index), "an index is read")
        index = options.index
        with suppress(RuntimeError):  # there is no such user
            index = index.expanduser()
        Manifest.read(index)
        inputs["index"] = str(index.resolve())
    if options.text:
        with _right_option("--text", options.text):
            inputs |= read_text_or_document(options.text)
    if options.image:
        from chameleon.pictures.opening import MAX_BYTES, check_picture

        inputs["image"] = options.image
        if options.image == STANDARD_INPUT:
            file = Path(close.enter_context(TemporaryDirectory(prefix="chameleon-")), _STDIN_NAME)
            file.write_bytes(sys.stdin.buffer.read(MAX_BYTES + 1))
            inputs["image"] = str(file)
        check_picture(inputs["image"])
    return inputs


def _read_table(source: str, sheet: str | None, options: FileOptions) -> Table:
    """Read a table; without a caption, it gets the name of its file."""
    is_piped, name = source == STANDARD_INPUT, file_name(source)
    with _right_option("--table", source):
        data = read_within(sys.stdin.buffer, _STDIN_NAME) if is_piped else source
        label, rows = _STDIN_NAME if is_piped else "", options.header or ""
        choice = choose_table(data, name=label, sheet=sheet, header=rows, keep_totals=options.keep_totals)
    if choice.others and not sheet:
        others = ", ".join(map(repr, choice.others[:_MAX_NAMES])) + ", …" * (len(choice.others) > _MAX_NAMES)
        say(harmless(f"Read {choice.name!r} of {name}; there are also {others}: choose with --sheet."))
    for warning in choice.warnings[:_MAX_NAMES]:
        say(f"{harmless(warning)}.")
    table = choice.table
    is_named = table.caption.strip() or (is_piped and len(options.table or ()) < 2)
    return table if is_named else table.with_caption(choice.name if sheet else Path(name).stem)


@contextmanager
def _right_option(option: str, source: str) -> Iterator[None]:
    """Say which option takes a file that cannot be read, or that none does."""
    try:
        if option == "--text" and Path(source).suffix.lower() in _TABLE_SUFFIXES:
            raise InputError("is a table", where=source)
        yield
    except InputError as error:
        from chameleon.documents.reading import PICTURES, SUFFIXES
        from chameleon.retrieval.manifest import MANIFEST

        path, suffix = Path(source), Path(source.lower().removesuffix(".gz")).suffix
        takes = {"--table": KINDS, "--image": PICTURES, "--text": SUFFIXES}
        if path.is_dir() and (path / MANIFEST).exists():
            raise InputError("is an index", where=source, hint="Give it with --index.") from None
        if not path.is_file() or suffix in (*takes[option], ".txt"):
            raise
        if other := next((name for name, suffixes in takes.items() if suffix in suffixes), ""):
            what = f"is a {_FILE_KINDS[other]}, not a {_FILE_KINDS[option]}"
            raise InputError(what, where=source, hint=f"Give it with {other}.") from None
        if suffix and "is not UTF-8" in error.what:
            raise InputError(f"is an unsupported kind of file ({suffix})", where=source, hint=_HINT) from None
        raise


def read_text_or_document(source: str) -> dict[str, Any]:
    """Read the file of `--text` as `text`, and a document, long text or text with headings as `passages` too.

    Raises `InputError`, and `MissingPackage` if reading a document requires a package.
    """
    from chameleon.documents import reading

    _require_path(source, "texts are read")
    is_piped = source == STANDARD_INPUT
    data = read_within(sys.stdin.buffer, _STDIN_NAME) if is_piped else read_file(Path(source))
    return reading.text_inputs(data, _STDIN_NAME if is_piped else source)


def fit(inputs: Mapping[str, Any], inventory: Inventory, options: QuestionOptions) -> Mapping[str, Any]:
    """Return the input in the form an inventory takes: a text as passages or as plain text.

    A table next to passages gets the name of its file if it has no caption, so that sources name it.
    Raises `InputError` if the inventory does not take all the files.
    """
    takes, fitted = inventory.input_types, dict(inputs)
    if "text" in fitted and takes and "passages" in takes and "text" not in takes:
        from chameleon.documents.reading import text_passages

        assert options.text
        fitted.setdefault("passages", text_passages(fitted["text"], file_name(options.text)))
    if "passages" in fitted:
        del fitted["passages" if takes and "passages" not in takes else "text"]
    if "passages" in fitted and options.table:
        name = file_name(options.table[0])
        if fitted["table"].caption in ("", Path(name).stem):
            fitted["table"] = fitted["table"].with_caption(name)
    files = [key for key in _FILE_KEYS if key in fitted]
    missing = [_NAMES.get(key, key) for key in files if takes and key not in takes]
    if missing:
        what = f"the inventory {inventory.name} does not take {' or '.join(map(with_article, missing))}"
        hint = "Leave it out, or name one that takes it with --inventory; `chameleon list` shows all."
        raise InputError(what, hint=hint)
    return fitted


def file_name(source: str) -> str:
    """Return the name of a source; for an address, which may hold a password, only its target."""
    if is_database(source):
        return address_name(source)
    return _STDIN_NAME if source == STANDARD_INPUT else Path(source).name


def _require_path(source: str, use: str) -> None:
    """Raise `InputError` if a source is an address instead of a path, without showing its password."""
    from chameleon.pictures.opening import is_address

    if is_address(source) or is_database(source):
        hint = "Download a file first; ask a database with --table."
        raise InputError(f"is an address, but {use} from files only", where=address_name(source), hint=hint)


def set_up(
    inventory: str | Inventory | None,
    options: ModelOptions,
    without: Sequence[str] = (),
    defaults: tuple[str, str] = DEFAULTS["table"],
    *,
    at_least: float | None = None,
) -> Setup:
    """Choose inventory and model. A model that fails later is never silently replaced.

    Args:
        inventory: the named inventory, if any; the modules of `without` are left out of it.
        defaults: the inventories to use if none is named: with a model, and without.
        at_least: the confidence below which the inventory's readers decline.
    """
    chosen = Inventory.load(inventory).without(*without) if isinstance(inventory, str) else inventory
    is_typed = options.model and not origin("model")  # a model from the settings file may go unused
    unused = f", so {options.model} is not asked" if is_typed else ""
    choice, why = ModelChoice(None, ""), f"it asks no model{unused}"
    if chosen is not None and chosen.needs_model and not chosen.needs_default_model and not options.model:
        choice = ModelChoice(next(iter(chosen.own_models.values())), "")  # each part names its model
    elif chosen is None or chosen.needs_model:
        choice = model_for(options, chosen.llm.model if chosen else None)
        why = str(choice)
    chosen = chosen or Inventory.load(defaults[0] if choice.model else defaults[1])
    if at_least is not None:
        chosen = chosen.with_setting("at_least", at_least)
    if not chosen.needs_model:
        return Setup(Executor(chosen), f"inventory {chosen.name}; {why}")
    chosen = chosen.with_params(options.params)
    tables = DEFAULTS["table"][1] if {"table", "table?"} & chosen.input_types.keys() else ""
    offline = dict(DEFAULTS.values()).get(chosen.name, tables)  # pairs: with a model, without one
    way = f"Answer without a model by --inventory {offline}, or install it: " if offline else ""
    model = connect(choice, chosen.llm.connection(), options, way) if choice.model else None
    parts = [f"inventory {chosen.name}", str(choice), *own_models(chosen)]
    return Setup(Executor(chosen, model), "; ".join(filter(None, parts)))


def model_for(options: ModelOptions, inventory_model: str | None = None) -> ModelChoice:
    """Choose the model, see `choose_model`; with `--store replay`, one that was recorded."""
    recorded = None
    if options.store == "replay":
        from chameleon.llm import ResponseStore

        recorded = ResponseStore.default("replay")
    return choose_model(options.model, inventory_model, reason=reason_of_model(), replay=recorded)


def reason_of_model() -> str:
    """Return the reason for using the options' model, for `choose_model`."""
    return f"{origin('model') or '--model'} names it"


def own_models(inventory: Inventory) -> Iterator[str]:
    """Say which parts of an inventory name a model themselves, and when that model is switched off."""
    models = {}
    for name, model in inventory.own_models.items():
        part = name.partition(".")[0]
        is_of_all = asking_of(inventory.askers[name]).model == "" and part in inventory.modules
        models[part if is_of_all else name] = model  # names an inner inventory as a whole
    for name, model in models.items():
        end = switch_off(model)
        yield f"{name} asks {model}{f' ({end})' if end else ''}"


def connect(choice: ModelChoice, settings: Mapping[str, Any], options: ModelOptions, way: str = "") -> LLM:
    """Connect to the chosen model, once.

    Raises `MissingPackage` if its package is missing, with another `way` to an answer, if any.
    """
    from chameleon.llm import LLM, ResponseStore

    assert choice.model is not None
    key = f"{choice.model} {settings}"
    if key not in options.connected:
        store, dropped = ResponseStore.default(options.store), options.allow_dropped
        try:
            options.connected[key] = LLM.connect(choice.model, store=store, allow_dropped=dropped, **settings)
        except MissingPackage as error:
            why = choice.why.partition("because ")[2]
            raise MissingPackage(f"{error.what} ({why})", hint=f"{way}{error.hint}") from None
    llm: LLM = options.connected[key]
    return llm


def receiver(options: SpanOptions) -> AbstractContextManager[Traces | None]:
    """Return a sender of spans to the address of `--otlp`, if given. Raises the errors of `Traces`."""
    if options.otlp is None and options.content:
        raise typer.BadParameter("it needs --otlp URL, the address to send them to", param_hint="--content")
    if options.otlp is None:
        return nullcontext()
    from chameleon.interop.otlp import Traces

    return Traces(options.otlp, content=options.content)


def events_of(executor: Executor, inputs: Mapping[str, Any], log: Log, reply: Any) -> Iterator[Event]:
    """Yield the events of a run, beginning with its log.

    The sandbox starts during the first steps of a plan that will use it.
    """
    modules, recorded = executor.inventory.modules, tuple(log or ())
    new = executor.stream(inputs, log or (), on_text=reply)
    first = next(new, None)  # refuse a log of another run before anything is shown
    yield from recorded
    for event in chain([first] if first else [], new):
        yield event
        planned = event.steps if isinstance(event, Plan) and not event.refused else ()
        if any("sandbox" in split_keys(modules[step.module].uses) for step in planned):
            from chameleon.sandbox import start_early

            start_early()
