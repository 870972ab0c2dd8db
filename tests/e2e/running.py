"""How the end-to-end tests run `tabmwp`, and how they compare runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chameleon import Executor, Inventory, State
from chameleon.core.events import Event
from chameleon.core.log import event_to_json
from chameleon.llm import ResponseStore
from tests.llm.asking import local


def tabmwp(
    *,
    store: ResponseStore | None = None,
    retries: int = 0,
    timeout: float = 30.0,
    naps: list[float] | None = None,
) -> Executor:
    """An executor whose model is the server at OPENAI_BASE_URL; `naps` notes waits, which take no time."""
    llm = local(retries, naps, store=store, timeout=timeout)
    return Executor(Inventory.load("tabmwp"), llm)


def events(state: State) -> list[Event]:
    """The events of an ended run, kind by kind."""
    assert state.started is not None and state.ended is not None
    return [state.started, *state.plans, *state.history, state.ended]


def outline(state: State, without: Iterable[str] = ("seconds", "at")) -> list[Any]:
    """Everything that a run's log says but its times."""

    def pruned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: pruned(item) for key, item in value.items() if key not in without}
        return [pruned(item) for item in value] if isinstance(value, list) else value

    return [pruned(event_to_json(event)) for event in events(state)]
