"""`chameleon check`: show an inventory, what it lacks here, and which model it would ask."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress

import typer
from pydantic_core import from_json, to_json

from chameleon.cli.hints import in_options
from chameleon.cli.setup import own_models, reason_of_model
from chameleon.cli.terminal import echo, echo_json, say
from chameleon.core.module import InnerRun, split_keys
from chameleon.errors import ChameleonError, InventoryError, NoModel
from chameleon.inventory import Inventory, InventorySpec, Obstacle
from chameleon.inventory.building import own_code, spec_of
from chameleon.inventory.source import read_source
from chameleon.llm import LLM, choose_model
from chameleon.run.executor import Executor
from chameleon.sandbox import importable
from chameleon.text import counted, harmless, one_line, redact

_CARD_PART = "card"
_LABELS = {"llm": "A run still needs a model", _CARD_PART: "Note"}
_HINT = "Only to read it: check --no-import."


def check_inventory(
    inventory: str | None, model: str | None, *, no_import: bool, schema: bool, as_json: bool
) -> int:
    """Print an inventory, or the JSON Schema of all; return exit code 1 if a run would stop, else 0.

    An inventory that asks a model may be checked before one is configured, since runs may name it: this is
    noted, but is not a failure. A configured model that cannot be asked is a failure.
    """
    if schema:
        echo(json.dumps(InventorySpec.model_json_schema(), indent=2))
        return 0
    if inventory is None:
        raise typer.BadParameter("name an inventory, or give --schema", param_hint="NAME|FILE")
    if no_import:
        return _read_inventory(inventory, as_json=as_json)
    try:
        source = read_source(inventory)
        code = list[str]()
        with suppress(InventoryError):  # reported below, with its place
            code = own_code(source)
        if code:
            warning = f"An inventory is code: this one imports or starts {harmless(', '.join(code))}. {_HINT}"
            echo(warning, err=as_json)
        loaded = Inventory.read(source)
    except ChameleonError as problem:
        if as_json:
            echo_json({"inventory": inventory, "ok": False, "lacks": [Obstacle("", problem).to_json()]})
        raise
    models, lack = _models(loaded, model) if loaded.needs_model else ("", None)
    obstacles = [*loaded.obstacles(), *([lack] if lack else []), *_notes(loaded)]
    for each in obstacles:
        in_options(each.error)
    stopping = [each for each in obstacles if each.stops]
    if as_json:
        echo_json(
            {
                "inventory": loaded.name,
                "ok": not stopping,
                "code": code,
                "modules": [card.name for card in loaded.cards],
                "needs_model": loaded.needs_model,
                "model": models.partition(",")[0] or None,
                "lacks": [each.to_json() for each in obstacles],
            }
        )
    else:
        _show(loaded, models, obstacles)
    for each in stopping:
        say(f"chameleon: {harmless(str(each.error))}")
    return int(bool(stopping))


def _read_inventory(name: str, *, as_json: bool) -> int:
    """Print the content of an inventory file without importing anything that it names."""
    source = read_source(name)
    spec = spec_of(source)
    try:
        code = own_code(source)
        data = from_json(to_json(source.data, inf_nan_mode="strings", fallback=str))
    except InventoryError as problem:
        raise problem.at(source.file) from problem
    except ValueError as problem:
        raise InventoryError(f"a value is not JSON: {problem}", where=source.file) from problem
    if as_json:
        echo_json({"inventory": spec.name, "code": code, "data": data})
        return 0
    modules = counted(len(spec.modules), "module")
    echo(f"{harmless(spec.name)} is well formed: {modules}. Nothing was imported.")
    if code:
        echo(f"Running it runs {harmless(', '.join(code))}.")
    for key, value in data.items():
        is_parted = key in ("modules", "planner") and isinstance(value, dict)
        below = value.items() if is_parted else [("", value)]
        for part, content in below:
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            echo(f"{harmless('.'.join(filter(None, (key, part))))}: {one_line(text, 400)}")
    return 0


def _models(inventory: Inventory, name: str | None) -> tuple[str, Obstacle | None]:
    """Return the models that a run would ask, "" for none, and any obstacle, without asking a model."""
    try:
        if not name and not inventory.needs_default_model:
            return "; ".join(own_models(Executor(inventory).inventory)), None
        choice = choose_model(name, inventory.llm.model, reason=reason_of_model())
        if choice.model is None and inventory.needs_default_model:
            try:
                Executor(inventory)
            except NoModel as problem:
                return "", Obstacle("llm", problem, stops=False)
        llm = None if choice.model is None else LLM.connect(choice.model)
        dropped = Executor(inventory, llm).inventory.dropped
    except ChameleonError as problem:
        return "", Obstacle("llm", problem)
    models = [*([str(choice)] if choice.model else []), *own_models(inventory)]
    for model, parameters in dropped.items():
        models += [f"{model} is asked without {parameter} ({why})" for parameter, why in parameters.items()]
    return redact("; ".join(models)).removeprefix("model "), None


def _notes(inventory: Inventory) -> Iterator[Obstacle]:
    """Yield notes on tools of which the model that plans sees only the name."""
    for card in inventory.cards:
        if inventory.planner.needs_model and not (card.description or card.when):
            is_nested = isinstance(inventory.modules[card.name], InnerRun)
            hint = f"Write {'`about:` in its file' if is_nested else 'its docstring'}, or a `description:`."
            what = f"the planning model sees only the name of {card.name}"
            where = inventory.place(("modules", card.name))
            yield Obstacle(_CARD_PART, InventoryError(what, hint=hint, where=where), stops=False)


def _show(inventory: Inventory, models: str, obstacles: Sequence[Obstacle]) -> None:
    caveat = ", except for the notes below" if obstacles else ""
    verdict = "cannot run here" if any(each.stops for each in obstacles) else f"is fine{caveat}"
    asks = "asks a model" if inventory.needs_model else "asks no model"
    echo(f"{harmless(inventory.name)} {verdict}: {counted(len(inventory.cards), 'module')}, it {asks}.")
    if models:
        echo(f"Model: {harmless(models)}")
    if any("sandbox" in split_keys(module.uses) for module in inventory.present.values()):
        echo(f"Programs can import {', '.join(['the standard library', *importable()])}.")
    echo(f"Input: {', '.join(f'{key} ({kind})' for key, kind in inventory.input_types.items())}")
    for card in inventory.cards:
        echo(f"  {f'{card.name}{card.signature}:':23} {card.description} {card.when}".rstrip())
        module = inventory.modules[card.name]
        limits = ["asks for approval"] if module.requires_approval else []
        limits += [f"at most {counted(module.max_runs, 'time')} a run"] if module.max_runs else []
        if limits:
            echo(f"      {', '.join(limits)}")
        for name, note in card.notes.items():
            echo(f"      {name}: {note}")
    for each in obstacles:
        if not each.stops:
            label = f"Runs will skip {each.module}" if each.module else _LABELS[each.part]
            what = each.error.what.partition(" cannot run here: ")[2] or each.error.what
            advice = " ".join(f"{what.rstrip('.')}. {each.error.hint}".split())
            echo(f"{label}: {harmless(advice)}")
