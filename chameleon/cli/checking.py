"""`chameleon check`: what an inventory is, what it lacks here, and which model it would ask."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from chameleon.cli.counts import counted
from chameleon.cli.out import echo, echo_json, say
from chameleon.cli.setup import dropped_by_model, told_models
from chameleon.errors import ChameleonError, NoModel
from chameleon.executor import Executor
from chameleon.inventory import Inventory, Obstacle
from chameleon.llm import LLM, choose_model
from chameleon.llm.choose import with_end
from chameleon.text import harmless, redact


def check_inventory(name: str, flag: str | None = None, *, as_json: bool) -> int:
    """Print all of it, and return the exit code: 1 where a run would stop, else 0.

    An inventory that asks a model may be checked before one is configured, since runs may name it: that is
    told and no failure. A model that is configured and cannot be asked is one.
    """
    try:
        inventory = Inventory.load(name)
    except ChameleonError as problem:
        if as_json:
            echo_json({"inventory": name, "ok": False, "lacks": [Obstacle("", problem).to_json()]})
        raise
    found = inventory.obstacles()
    model, lack = _model(inventory, flag)
    found += [lack] if lack else []
    if as_json:
        echo_json(_told(inventory, model, found))
    else:
        _show(inventory, model, found)
    stopping = [each for each in found if each.stops]
    for each in stopping:
        say(f"chameleon: {harmless(str(each.error))}")
    return int(bool(stopping))


def _model(inventory: Inventory, flag: str | None) -> tuple[str, Obstacle | None]:
    """The models that would be asked, "" for none, and what stands in the way; no model is asked."""
    if not inventory.needs_model:
        return "", None
    try:
        choice = with_end(choose_model(flag, inventory.llm.model))
        if choice.model is None and inventory.needs_default_model:
            return "", Obstacle("llm", _none_configured(inventory), stops=False)
        llm = None if choice.model is None else LLM.connect(choice.model)
        bound = Executor(inventory, llm).inventory
        dropped = dropped_by_model(bound)
    except ChameleonError as problem:
        return "", Obstacle("llm", problem)
    told = [*([str(choice)] if choice.model else []), *told_models(inventory)]
    for name, parameters in dropped.items():
        told += [f"{name} is asked without {parameter} ({why})" for parameter, why in parameters.items()]
    return redact("; ".join(told)).removeprefix("model "), None


def _none_configured(inventory: Inventory) -> NoModel:
    has_langchain = find_spec("langchain") is not None
    install = "" if has_langchain else ' LangChain is missing, too: pip install "chameleon-compose[openai]".'
    return NoModel(
        f"the inventory {inventory.name} asks a model, and none is configured",
        hint=f"Name one with --model PROVIDER:NAME or CHAMELEON_MODEL, or set a provider's key, "
        f"such as OPENAI_API_KEY.{install}",
    )


def _told(inventory: Inventory, model: str, found: Sequence[Obstacle]) -> dict[str, Any]:
    return {
        "inventory": inventory.name,
        "ok": not any(each.stops for each in found),
        "modules": list(inventory.modules),
        "needs_model": inventory.needs_model,
        "model": model.partition(",")[0] or None,
        "lacks": [each.to_json() for each in found],
    }


def _show(inventory: Inventory, model: str, found: Sequence[Obstacle]) -> None:
    stops = any(each.stops for each in found)
    lacking = ", but for what is told below" if found and not stops else ""
    verdict = "cannot run here" if stops else f"is fine{lacking}"
    asks = "asks a model" if inventory.needs_model else "asks no model"
    echo(f"{harmless(inventory.name)} {verdict}: {counted(len(inventory.modules), 'module')}, it {asks}.")
    if model:
        echo(f"Model: {harmless(model)}")
    echo(f"Input: {', '.join(f'{key} ({kind})' for key, kind in inventory.input_types.items())}")
    for card in inventory.cards:
        echo(f"  {card.name:22} {card.description} {card.when}".rstrip())
    for each in found:
        if not each.stops:
            label = f"Will be done without {each.module}" if each.module else "A run still needs a model"
            echo(f"{label}: {harmless(_advice(each.error))}")


def _advice(error: ChameleonError) -> str:
    """What is wrong and what to do; the place and the module's name stand before it."""
    what = error.what.partition(" cannot run here: ")[2] or error.what
    return " ".join(f"{what.rstrip('.')}. {error.hint}".split())
