"""What will run: an inventory and a model, chosen from the command line, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import typer
import yaml
from pydantic import ValidationError

from chameleon.errors import MissingPackage
from chameleon.executor import Executor
from chameleon.inventory import Inventory
from chameleon.inventory.schema import ModelSpec
from chameleon.llm import LLM, ModelChoice, ResponseStore, choose_model
from chameleon.llm.capabilities import switch_off
from chameleon.llm.choose import with_end
from chameleon.text import nearest

# The inventories for a question where none is named: with a model, and without.
TABLES, PICTURES = ("tables", "tables_offline"), ("pictures", "pictures_offline")
CORPUS = ("corpus", "corpus_offline")
PAPERS = ("papers", "papers_offline")
StoreMode = Literal["off", "record", "replay", "auto"]
_OFFLINE = dict((TABLES, PICTURES, CORPUS, PAPERS))
_NOT_OF_CALLS = ("model", "prices")


@dataclass(frozen=True)
class ModelOptions:
    """What the command line says of the model.

    `params` are for all calls, in place of the inventory's; `connected` keeps the models that were connected
    to, for commands that set up several times.
    """

    model: str | None = None
    store: StoreMode = "auto"
    params: Mapping[str, Any] = field(default_factory=dict)
    allow_dropped: bool = True
    connected: MutableMapping[str, LLM] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Setup:
    """What will run, and why."""

    executor: Executor
    why: str


def params_of(given: Sequence[str] | None) -> Mapping[str, Any]:
    """The parameters of `--param KEY=VALUE`, values in YAML; null leaves one out.

    Raises `BadParameter` for what no `llm:` of an inventory may have.
    """
    found: dict[str, Any] = {}
    names = [name for name in ModelSpec.model_fields if name not in _NOT_OF_CALLS]
    for each in given or ():
        name, is_pair, text = each.partition("=")
        name = name.strip()
        if not is_pair or name not in names:
            if not is_pair:
                raise _bad(f"{each!r} is no KEY=VALUE, such as reasoning=none")
            raise _bad(f"there is no parameter {name!r}. {nearest(name, names)}")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            raise _bad(f"the value of {name} cannot be read: {text!r}") from None
        found[name] = [value] if name == "stop" and isinstance(value, str) else value
    try:
        ModelSpec.model_validate(found)
    except ValidationError as problem:
        first = problem.errors()[0]
        given_as = next(each for each in given or () if each.strip().startswith(str(first["loc"][0])))
        raise _bad(f"{given_as!r}: {first['msg'].lower()}") from None
    return found


def _bad(told: str) -> typer.BadParameter:
    return typer.BadParameter(told, param_hint="--param")


def set_up(
    inventory: str | Inventory | None,
    options: ModelOptions,
    without: Sequence[str] = (),
    general: tuple[str, str] = TABLES,
    *,
    ask_for_end: bool = False,
) -> Setup:
    """Choose inventory and model. A model that fails later is never replaced in silence.

    `general` names the inventories to choose from where none is named: with a model, and without. `without`
    is left out of an inventory that is named. `ask_for_end`: ask the model's server when it is switched off.
    """
    named = Inventory.load(inventory).without(*without) if isinstance(inventory, str) else inventory
    if named is not None and not named.needs_model:
        unused = f", so {options.model} is not asked" if options.model else ""
        return Setup(Executor(named), f"inventory {named.name}; it asks no model{unused}")
    recorded = ResponseStore.default("replay") if options.store == "replay" else None
    choice = _choice(options.model, named, recorded)
    chosen = named or Inventory.load(general[0] if choice.model else general[1])
    if not chosen.needs_model:
        return Setup(Executor(chosen), f"inventory {chosen.name}; {choice}")
    chosen = chosen.with_params(options.params)
    with ThreadPoolExecutor(1) as pool:  # the answer is there by the time that the client is loaded
        asked = pool.submit(with_end, choice) if ask_for_end and recorded is None else None
        executor = Executor(chosen, _connect(choice, chosen, options))
        choice = asked.result() if asked else choice
    own = "".join(f"; {told}" for told in told_models(chosen))
    return Setup(executor, f"inventory {chosen.name}; {choice}{own}")


def told_models(inventory: Inventory) -> Iterator[str]:
    """The models that parts of an inventory have of their own, and when these are switched off."""
    for name, model in inventory.own_models.items():
        end = switch_off(model)
        yield f"{name} asks {model}{f' ({end})' if end else ''}"


def dropped_by_model(inventory: Inventory) -> Mapping[str, Mapping[str, str]]:
    """The parameters that models are known not to take of what a bound inventory sets, and why."""
    found: dict[str, dict[str, str]] = {}
    for asker in inventory.askers.values():
        if dropped := asker.model.dropped():
            found.setdefault(asker.model.name, {}).update(dropped)
    return found


def _choice(flag: str | None, inventory: Inventory | None, recorded: ResponseStore | None) -> ModelChoice:
    """The model of the run; that of a part where all parts have one of their own."""
    if inventory is not None and not inventory.needs_default_model and not flag:
        name, model = next(iter(inventory.own_models.items()))
        return ModelChoice(model, f"every part names its model, {name} first")
    return choose_model(flag, inventory.llm.model if inventory else None, replay=recorded)


def _connect(choice: ModelChoice, inventory: Inventory, options: ModelOptions) -> LLM | None:
    if choice.model is None:
        return None
    settings = inventory.llm.connection()
    key = f"{choice.model} {settings}"
    if key not in options.connected:
        store = ResponseStore.default(options.store)
        try:
            options.connected[key] = LLM.connect(
                choice.model, store=store, allow_dropped=options.allow_dropped, **settings
            )
        except MissingPackage as error:
            raise _missing(error, choice, inventory) from None
    return options.connected[key]


def _missing(error: MissingPackage, choice: ModelChoice, inventory: Inventory) -> MissingPackage:
    """The error for a model that was chosen and whose package is not here, with both ways on."""
    offline = _OFFLINE.get(inventory.name, TABLES[1])
    hint = f"Answer without a model by --inventory {offline}, or install it: {error.hint}"
    return MissingPackage(f"{choice.why}, but {error.what}", hint=hint)
