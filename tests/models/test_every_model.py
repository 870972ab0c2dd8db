"""Every shipped inventory comes to an end on every kind of model, and says what it was asked without."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from chameleon import Executor, Inventory
from chameleon.state import State
from chameleon.text import shared_start
from tests import every_inventory
from tests.models.matrix import MODELS, runs_of

NAMES = every_inventory.asking_inventories()
WHOLE = (MODELS[0], "openai:gpt-5.6-sol", "anthropic:claude-opus-5", "google_genai:gemini-3.8-flash")
PACKAGES = {"anthropic": "langchain_anthropic", "google_genai": "langchain_google_genai"}
# What each kind of model does not take of what the shipped inventories set, by the providers' pages.
REFUSED = {
    "gpt-4.1-mini": set(),
    "claude-sonnet-4-5": {"logprobs"},
    "gemini-2.5-flash": {"logprobs"},
    "gemini-3.8-flash": {"logprobs"},
}


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in every_inventory.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    warnings.filterwarnings("ignore", message=".*is deprecated and will reach end-of-life.*")


@pytest.mark.parametrize("model", MODELS)
def test_every_inventory_is_answered_and_no_request_is_refused(model: str, tmp_path: Path) -> None:
    """Ask one model of each dialect with all inventories, the others with a third; `matrix` runs all."""
    provider, _, name = model.partition(":")
    pytest.importorskip(PACKAGES.get(provider, "langchain_openai"))
    names = NAMES if model in WHOLE else NAMES[MODELS.index(model) % 3 :: 3]
    seen = []
    for run in runs_of(model, names, tmp_path):
        ended = run.state.ended
        assert ended is not None and ended.reason == "answered", (run.inventory, str(ended))
        assert not run.refused, (run.inventory, run.refused)
        assert not [call for call in run.state.calls if call.finish == "length"], run.inventory
        assert set(run.dropped) <= REFUSED.get(name, {"temperature", "logprobs"}), run.inventory
        assert len(run.dropped) == len(set(run.dropped)), "told once in a run"
        seen.append(run.inventory)
    assert seen == names


def test_what_prompts_share_stands_first(tmp_path: Path) -> None:
    """What comes after the first difference is the problem's own: providers keep beginnings alone."""
    for name in NAMES:
        first, second = (_prompts(name, tmp_path, ask) for ask in ("", "Please tell me this. "))
        for asker in first.keys() & second.keys():
            one, other = first[asker], second[asker]
            if one != other:
                ending = shared_start(one[::-1], other[::-1])
                assert ending < 600 or _is_table(one[-ending:]), (name, asker, one[-ending:][:300])


def _prompts(name: str, folder: Path, ask: str) -> dict[str, str]:
    """The first prompt of each planner and module, the question asked in other words."""
    from chameleon.llm import LLM, ScriptedModel

    given = dict(every_inventory.inputs_for(name, folder / name))
    given["question"] = f"{ask}{given['question']}"
    llm = LLM.connect(ScriptedModel(every_inventory.reply))
    state: State = Executor(Inventory.load(name), llm).run(given)
    made = [("planner", plan.calls) for plan in state.plans]
    made += [(record.step.module, record.calls) for record in state.history]
    found: dict[str, str] = {}
    for asker, calls in made:
        for call in calls:
            found.setdefault(asker, "".join(text for _, text in call.messages))
    return found


def _is_table(text: str) -> bool:
    """Whether most lines are rows: the problem's own table, below its question."""
    lines = text.splitlines()
    return sum("|" in line for line in lines) > 0.7 * len(lines)
