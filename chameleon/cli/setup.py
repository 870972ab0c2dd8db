"""What will run: an inventory and a model, chosen from the command line, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chameleon.executor import Executor
from chameleon.inventory import Inventory
from chameleon.llm import LLM, ModelChoice, ResponseStore, choose_model

# The inventories for a question where none is named: with a model, and without.
TABLES, PICTURES = ("tables", "tables_offline"), ("pictures", "pictures_offline")
CORPUS = ("corpus", "corpus_offline")
PAPERS = ("papers", "papers_offline")
StoreMode = Literal["off", "record", "replay", "auto"]


@dataclass(frozen=True)
class Setup:
    """What will run, and why."""

    executor: Executor
    why: str


def set_up(
    inventory: str | Inventory | None,
    model: str | None,
    store: StoreMode,
    without: Sequence[str] = (),
    general: tuple[str, str] = TABLES,
) -> Setup:
    """Choose inventory and model. A model that fails later is never replaced in silence.

    `general` names the inventories to choose from where none is named: with a model, and without. `without`
    is left out of an inventory that is named.
    """
    named = Inventory.load(inventory).without(*without) if isinstance(inventory, str) else inventory
    if named is not None and not named.needs_model:
        unused = f", so {model} is not asked" if model else ""
        return Setup(Executor(named), f"inventory {named.name}; it asks no model{unused}")
    recorded = ResponseStore.default("replay") if store == "replay" else None
    choice = choose_model(model, named.llm.model if named else None, replay=recorded)
    chosen = named or Inventory.load(general[0] if choice.model else general[1])
    why = f"inventory {chosen.name}; {choice.why}"
    if not chosen.needs_model:
        return Setup(Executor(chosen), why)
    return Setup(Executor(chosen, _connect(choice, chosen, store)), why)


def _connect(choice: ModelChoice, inventory: Inventory, mode: StoreMode) -> LLM | None:
    if choice.model is None:
        return None
    spec = inventory.llm
    options: dict[str, Any] = {"store": ResponseStore.default(mode)}
    if spec.prices is not None:
        options["prices"] = (spec.prices.input, spec.prices.output)
    options |= {
        key: value
        for key, value in (("retries", spec.retries), ("timeout", spec.timeout))
        if value is not None
    }
    return LLM.connect(choice.model, **options)
