"""Every shipped inventory on models of every kind: `python -m tests.models.matrix` prints the table.

The models are played by `tests.hosted.HostedServer`, which refuses what the hosted APIs refuse; the replies
come from `tests.every_inventory`. No figure here says how well a model answers.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chameleon import LLM, Executor, Inventory
from chameleon.core.events import Event
from chameleon.core.state import State
from tests import every_inventory
from tests.hosted import HostedServer

_OPENAI = "gpt-4.1-mini gpt-5-mini o4-mini gpt-6-luna gpt-5.6-sol"
_CLAUDE = "claude-sonnet-4-5 claude-haiku-5-5 claude-opus-4-8 claude-opus-5"
_GEMINI = "gemini-2.5-flash gemini-3.5-flash-lite gemini-3.8-flash"
_NAMES = {"openai": _OPENAI, "anthropic": _CLAUDE, "google_genai": _GEMINI}
MODELS = tuple(f"{provider}:{name}" for provider, names in _NAMES.items() for name in names.split())
ENVIRONMENT = {**every_inventory.ENVIRONMENT, "CHAMELEON_STORE": "off", "CHAMELEON_WEB_CACHE": "off"}


@dataclass(frozen=True)
class Run:
    """One inventory on one model: how it ended, and what the server saw."""

    inventory: str
    model: str
    events: tuple[Event, ...]
    requests: int
    refused: tuple[str, ...]

    @property
    def state(self) -> State:
        return State.fold(self.events)

    @property
    def dropped(self) -> tuple[str, ...]:
        return tuple(each.parameter for each in self.state.dropped)


def runs_of(model: str, names: Sequence[str], folder: Path) -> Iterator[Run]:
    with HostedServer(lambda asked: every_inventory.reply(asked.messages)) as server:
        url = server.openai_url if model.startswith("openai:") else server.url
        llm = LLM.connect(model, base_url=url, api_key="a-key-of-the-tests", retries=0)
        for name in names:
            server.forget()
            inputs = every_inventory.inputs_for(name, folder / name)
            events = tuple(Executor(Inventory.load(name), llm).stream(inputs))
            refused = tuple(str(seen.error) for seen in server.refused)
            yield Run(name, model, events, len(server.requests), refused)


def _print(folder: Path) -> None:
    names = every_inventory.asking_inventories()
    rows = {"inventory": [model.partition(":")[2] for model in MODELS], "---": ["---"] * len(MODELS)}
    rows |= {name: [] for name in [*names, "**refused requests**"]}
    for model in MODELS:
        runs = list(runs_of(model, names, folder))
        for run in runs:
            assert run.state.ended is not None
            without = f" −{', '.join(run.dropped)}" if run.dropped else ""
            ended = "" if run.state.ended.reason == "answered" else f" {run.state.ended.reason}"
            rows[run.inventory].append(f"{run.requests}{without}{ended}")
        rows["**refused requests**"].append(str(sum(len(run.refused) for run in runs)))
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    os.environ |= ENVIRONMENT
    with tempfile.TemporaryDirectory() as made:
        _print(Path(made))
