"""Every shipped inventory comes to an end on every kind of model, and says what it was asked without."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from chameleon import LLM, Executor, Inventory
from chameleon.core.state import State
from chameleon.llm import ScriptedModel
from chameleon.text import shared_start
from tests import every_inventory
from tests.models.matrix import ENVIRONMENT, MODELS, Run, runs_of

NAMES = every_inventory.asking_inventories()
PACKAGES = {"anthropic": "langchain_anthropic", "google_genai": "langchain_google_genai"}
# What each kind of model does not take of what the shipped inventories set, by the providers' pages.
REFUSED: dict[str, set[str]] = {
    "gpt-4.1-mini": set(),
    "claude-sonnet-4-5": {"logprobs"},
    "gemini-2.5-flash": {"logprobs"},
    "gemini-3.8-flash": {"logprobs"},
}


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    warnings.filterwarnings("ignore", message=".*is deprecated and will reach end-of-life.*")


@pytest.fixture(scope="module")
def plain_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Run]]:
    """Run all inventories on the model that takes every parameter."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield list(runs_of(MODELS[0], NAMES, tmp_path_factory.mktemp("plain")))


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_every_inventory_is_answered_unrefused(model: str, plain_runs: list[Run], tmp_path: Path) -> None:
    """Ask one model with all inventories, the others with a share each; `matrix` runs all."""
    provider, _, name = model.partition(":")
    pytest.importorskip(PACKAGES.get(provider, "langchain_openai"))
    others = MODELS[1:]
    names = NAMES if model == MODELS[0] else NAMES[others.index(model) :: len(others)]
    seen = []
    for run in plain_runs if model == MODELS[0] else runs_of(model, names, tmp_path):
        ended = run.state.ended
        assert ended is not None and ended.reason == "answered", (run.inventory, str(ended))
        assert not run.refused, (run.inventory, run.refused)
        assert not [call for call in run.state.calls if call.finish == "length"], run.inventory
        assert set(run.dropped) <= REFUSED.get(name, {"temperature", "logprobs"}), run.inventory
        assert len(run.dropped) == len(set(run.dropped)), "told once in a run"
        seen.append(run.inventory)
    assert seen == names


@pytest.mark.slow
def test_what_prompts_share_stands_first(plain_runs: list[Run], tmp_path: Path) -> None:
    """What comes after the first difference is the problem's own: providers keep beginnings alone."""
    llm = LLM.connect(ScriptedModel(every_inventory.reply))
    for run in plain_runs:
        given = dict(every_inventory.inputs_for(run.inventory, tmp_path / run.inventory))
        given["question"] = f"Please tell me this. {given['question']}"
        first, second = _prompts(run.state), _prompts(Executor(Inventory.load(run.inventory), llm).run(given))
        for asker in first.keys() & second.keys():
            one, other = first[asker], second[asker]
            if one != other:
                ending = shared_start(one[::-1], other[::-1])
                assert ending < 600 or _is_table(one[-ending:]), (run.inventory, asker, one[-ending:][:300])


def _prompts(state: State) -> dict[str, str]:
    """Return the first prompt of each planner and module."""
    made = [("planner", plan.calls) for plan in state.plans]
    made += [(record.step.module, record.calls) for record in state.history]
    found: dict[str, str] = {}
    for asker, calls in made:
        for call in calls:
            found.setdefault(asker, "".join(text for _, text in call.messages))
    return found


def _is_table(text: str) -> bool:
    """Tell whether most lines are of the problem's own table, below its question: rows, or columns of SQL."""
    lines = text.splitlines()
    return sum(bool(re.search(r"\||\t", line)) for line in lines) > 0.5 * len(lines)
