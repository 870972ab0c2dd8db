"""What will run: an inventory and a model, chosen from the command line, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import typer

from chameleon.cli.options import ModelOptions, origin
from chameleon.cli.terminal import say
from chameleon.errors import InputError, InventoryError, MissingPackage
from chameleon.inventories import DEFAULTS
from chameleon.inventory import Inventory, shipped_inventories
from chameleon.inventory.source import read_source
from chameleon.llm.capabilities import switch_off
from chameleon.llm.choose import ModelChoice, choose_model, with_end
from chameleon.run.executor import Executor

if TYPE_CHECKING:
    from chameleon.llm import LLM


@dataclass(frozen=True)
class Setup:
    """What will run, and why."""

    executor: Executor
    why: str


@contextmanager
def placed(executor: Executor, on: str | None, workers: int) -> Iterator[Executor]:
    """Yield the executor where --on says: as it is, or on the machines of a Ray cluster."""
    if on is None:
        yield executor
        return
    kind, _, address = on.partition(":")
    if kind != "ray":
        raise typer.BadParameter(f"{on!r} is no place to run; say ray or ray:ADDRESS", param_hint="--on")
    from chameleon.interop.ray import OnRay

    with OnRay(executor, address or None, runs=workers) as remote:
        say(f"On Ray: {remote.workers.count} x {remote.workers.room} problems at once.")
        yield remote


def defaults_for(given: Collection[str]) -> tuple[str, str]:
    """Return what answers a question that comes with these keys: the inventory with a model, and without."""
    return next((names for key, names in DEFAULTS.items() if key in given), DEFAULTS["table"])


def that_takes(*keys: str) -> str:
    """Name a shipped inventory that takes these keys and needs no others, as "such as NAME"; "" for none."""
    plain = chain.from_iterable(DEFAULTS.values())
    for name in dict.fromkeys([*plain, *shipped_inventories()]):
        takes: Mapping[str, str] = read_source(name).data.get("input", {})
        needed = {key for key, kind in takes.items() if not kind.endswith("?")}
        if takes.keys() >= set(keys) and needed <= {"question", *keys}:
            return f", such as {name}"
    return ""


def set_up(
    inventory: str | Inventory | None,
    options: ModelOptions,
    without: Sequence[str] = (),
    defaults: tuple[str, str] = DEFAULTS["table"],
    *,
    ask_for_end: bool = False,
    at_least: float | None = None,
) -> Setup:
    """Choose inventory and model. A model that fails later is never replaced in silence.

    Args:
        inventory: the one that is named, if any; `without` is left out of it.
        defaults: what to choose from where none is named: with a model, and without.
        ask_for_end: ask the model's server when it is switched off.
        at_least: the confidence below which the inventory's readers decline.
    """
    named = Inventory.load(inventory).without(*without) if isinstance(inventory, str) else inventory
    if named is not None:
        named = _declining_below(at_least, named)
    if named is not None and not named.needs_model:
        is_told = options.model and not origin("model")  # a file's is for the inventories that ask one
        unused = f", so {options.model} is not asked" if is_told else ""
        return Setup(Executor(named), f"inventory {named.name}; it asks no model{unused}")
    if named is not None and not named.needs_default_model and not options.model:
        choice = ModelChoice(next(iter(named.own_models.values())), "")  # each part says its own
    else:
        choice = model_for(options, named.llm.model if named else None)
    chosen = named or _declining_below(at_least, Inventory.load(defaults[0] if choice.model else defaults[1]))
    if not chosen.needs_model:
        return Setup(Executor(chosen), f"inventory {chosen.name}; {choice}")
    chosen = chosen.with_params(options.params)
    with ThreadPoolExecutor(1) as pool:  # the answer is there by the time that the client is loaded
        asked = pool.submit(with_end, choice) if ask_for_end and options.store != "replay" else None
        executor = Executor(chosen, _connect(choice, chosen, options))
        choice = asked.result() if asked else choice
    why = "; ".join(filter(None, [f"inventory {chosen.name}", str(choice), *own_models(chosen)]))
    return Setup(executor, why)


def model_for(options: ModelOptions, inventory_model: str | None = None) -> ModelChoice:
    """Choose the model: see `choose_model`. With `--store replay` it is one that was recorded."""
    recorded = None
    if options.store == "replay":
        from chameleon.llm import ResponseStore

        recorded = ResponseStore.default("replay")
    return choose_model(options.model, inventory_model, reason=reason_of_model(), replay=recorded)


def reason_of_model() -> str:
    """Say why the model of the options counts, for `choose_model`."""
    return f"{origin('model') or '--model'} names it"


def _declining_below(at_least: float | None, inventory: Inventory) -> Inventory:
    try:
        return inventory if at_least is None else inventory.with_setting("at_least", at_least)
    except InventoryError as problem:
        other = "an inventory that answers without a model, such as tables_offline."
        raise InputError(problem.what, hint=f"Leave --at-least out, or name {other}") from None


def own_models(inventory: Inventory) -> Iterator[str]:
    """Say which models parts of an inventory have of their own, and when these are switched off."""
    told = {}
    for name, model in inventory.own_models.items():
        part = name.partition(".")[0]
        is_of_all = inventory.askers[name].own_model == "" and part in inventory.modules
        told[part if is_of_all else name] = model  # an inventory within, as a whole
    for name, model in told.items():
        end = switch_off(model)
        yield f"{name} asks {model}{f' ({end})' if end else ''}"


def dropped_by_model(inventory: Inventory) -> Mapping[str, Mapping[str, str]]:
    """Return what models are known not to take of the parameters that a bound inventory sets, and why."""
    found: dict[str, dict[str, str]] = {}
    for asker in inventory.askers.values():
        if dropped := asker.model.dropped():
            found.setdefault(asker.model.name, {}).update(dropped)
    return found


def _connect(choice: ModelChoice, inventory: Inventory, options: ModelOptions) -> LLM | None:
    """Connect to the model once. Raises `MissingPackage` with both ways on where its package is not here."""
    if choice.model is None:
        return None
    from chameleon.llm import LLM, ResponseStore

    settings = inventory.llm.connection()
    key = f"{choice.model} {settings}"
    if key not in options.connected:
        store = ResponseStore.default(options.store)
        try:
            options.connected[key] = LLM.connect(
                choice.model, store=store, allow_dropped=options.allow_dropped, **settings
            )
        except MissingPackage as error:
            takes = {key.removesuffix("?") for key in inventory.input_types}
            tables = DEFAULTS["table"][1] if "table" in takes else ""
            offline = dict(DEFAULTS.values()).get(inventory.name, tables)
            way = f"Answer without a model by --inventory {offline}, or install it: " if offline else ""
            raise MissingPackage(f"{choice.why}, but {error.what}", hint=f"{way}{error.hint}") from None
    llm: LLM = options.connected[key]
    return llm
