"""Shipped inventories on models of every kind: how they end, and what a user reads and pays."""

import re
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from chameleon import LLM, Executor, Inventory
from chameleon.core.log import EventLog
from chameleon.core.state import State
from chameleon.llm import ScriptedModel
from chameleon.llm.prices import Pricing
from chameleon.table import read_table
from chameleon.text import shared_start
from chameleon.usage import Usage
from tests import every_inventory
from tests.e2e.commands import ROOT, Command
from tests.e2e.conftest import command as command
from tests.hosted import Asked, HostedServer
from tests.hosted_apis import RULES
from tests.models.matrix import ENVIRONMENT, MODELS, Run, runs_of

NAMES = every_inventory.asking_inventories()
PACKAGES = {"anthropic": "langchain_anthropic", "google_genai": "langchain_google_genai"}
# What each kind of model does not take of what the shipped inventories set, by the providers' pages.
REFUSED: dict[str, set[str]] = {"gpt-4.1-mini": set(), "claude-sonnet-4-5": {"logprobs"}}
REFUSED |= {"gemini-2.5-flash": {"logprobs"}, "gemini-3.8-flash": {"logprobs"}}


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    warnings.filterwarnings("ignore", message=".*is deprecated and will reach end-of-life.*")


@pytest.fixture(scope="module")
def plain_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Run]]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield list(runs_of(MODELS[0], NAMES, tmp_path_factory.mktemp("plain")))


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_every_inventory_is_answered_unrefused(model: str, plain_runs: list[Run], tmp_path: Path) -> None:
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


LEAGUE, PROBLEMS = str(ROOT / "demos/data/league.csv"), str(ROOT / "demos/data/problems.jsonl")
QUESTION = "How well did the best team do?"
ASK = ("ask", QUESTION, "--table", LEAGUE, "--store", "off")
EVAL = ("eval", "tabmwp_pot", PROBLEMS, "--store", "off", "--model")
TWO_MODELS = """
name: two_models
extends: tabmwp
planner: {llm: {model: "openai:gpt-5-mini", reasoning: low}}
modules:
  program_generator: {llm: {model: "anthropic:claude-opus-5"}}
"""
OWN = """
name: own
input: {question: str, table: Table}
planner: {use: fixed, plan: [program_generator, program_executor]}
modules: {program_generator: {prompt: tables/program_generator, llm: LLM}, program_executor: {}}
""".replace("LLM", '{model: "openai:gpt-4.1-mini", max_tokens: 99}')


def played(asked: Asked) -> str:
    try:
        return every_inventory.reply(asked.messages)
    except (LookupError, ValueError):
        return "ans = len(df)"


@pytest.fixture(scope="module")
def started() -> Iterator[HostedServer]:
    """The hosted APIs on this machine. One for all tests: clients keep the proxy that they were made with."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(RULES["openai"], "o9-mini", RULES["openai"]["o4-mini"])  # one that nobody knows
        with HostedServer(played) as server:
            yield server


@pytest.fixture
def server(started: HostedServer, monkeypatch: pytest.MonkeyPatch) -> HostedServer:
    """Keys are set, and api.openai.com is reached by a proxy, which is the server."""
    started.forget()
    monkeypatch.setattr(urllib.request, "_opener", None)  # it keeps its proxy as well
    openai = {"OPENAI_BASE_URL": "http://api.openai.com/v1", "OPENAI_API_KEY": "a-key"}
    claude = {"ANTHROPIC_BASE_URL": started.url, "ANTHROPIC_API_KEY": "a-key"}
    for name, value in {"HTTP_PROXY": started.url, **openai, **claude}.items():
        monkeypatch.setenv(name, value)
    return started


def test_a_key_alone(server: HostedServer, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = command(*ASK)
    assert (outcome.code, outcome.out) == (0, "47\n")
    assert "model openai:gpt-6-luna, because OPENAI_API_KEY is set" in outcome.err
    assert {seen.model for seen in server.requests} == {"gpt-6-luna"}
    assert outcome.err.count("was asked without temperature 0: it is known to refuse it") == 1
    assert "of thoughts), $0.00" in outcome.err
    ends = command(*ASK, "--model", "gpt-4.1-mini").err.splitlines()[-1]
    assert "will be switched off on 2027-01-14; its provider recommends gpt-6-luna" in ends
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("GROQ_API_KEY", "a-key-of-the-tests")
    words, lacking = ("GROQ_API_KEY is set", "pip install", "'langchain-groq'"), command(*ASK)
    assert lacking.code == 1 and all(each in lacking.complaint for each in words)


WRONG = {"resoning=none": "Did you mean 'reasoning'?", "reasoning=much": "'reasoning=much': input should be"}
WRONG |= {"reasoning": "not KEY=VALUE", "model=openai:x": "there is no parameter 'model'"}


def test_parameters_of_a_command_win_and_wrong_ones_are_told(server: HostedServer, command: Command) -> None:
    outcome = command(*ASK, "-p", "reasoning=none", "-p", "temperature=0.25", "--param", "max_tokens=700")
    assert outcome.code == 0 and "was asked without" not in outcome.err and "thoughts" not in outcome.err
    names = ("reasoning_effort", "temperature", "max_completion_tokens")
    for seen in server.requests:
        assert [seen.body[name] for name in names] == ["none", 0.25, 700]
    nearest = command(*ASK, "--model", "gpt-5-mini", "-p", "reasoning=none")
    assert 'reasoning "none": with minimal instead' in nearest.err
    for given, words in WRONG.items():
        outcome = command(*ASK, "-p", given)
        assert outcome.code == 2 and words in " ".join(outcome.err.replace("│", " ").split())


def test_an_evaluation_needs_every_parameter(server: HostedServer, command: Command, tmp_path: Path) -> None:
    asked = (*EVAL, "gpt-5-mini", "-n", "2", "--out", str(tmp_path / "run"))
    refused = command(*asked)
    assert refused.code == 1 and not server.requests and "--allow-dropped" in refused.complaint
    assert "gpt-5-mini does not accept a parameter that tabmwp_pot sets: temperature" in refused.complaint
    allowed = command(*asked, "--allow-dropped")
    assert allowed.code == 0 and "openai:gpt-5-mini is asked without temperature" in allowed.err
    assert "Asked without temperature (openai:gpt-5-mini), in 2 problems" in allowed.out
    report = command("report", str(tmp_path / "run")).out
    assert "temperature (openai:gpt-5-mini) in 2" in report and "of thoughts)" in report
    grid = tmp_path / "grid.yaml"
    grid.write_text("name: g\ninventory: tabmwp_pot\narms: {a: {}, b: {llm: {max_tokens: 900}}}\n")
    told = command("grid", str(grid), PROBLEMS, "-n", "1", "--store", "off", "--model", "gpt-5-mini")
    assert told.code == 1 and "--allow-dropped" in told.err
    again = command(*asked, "-p", "temperature=null")
    assert again.code == 1 and "other settings" in again.err
    server.forget()
    unknown = command(*EVAL, "o9-mini")  # it stops at the first refusal that nobody knew of
    assert unknown.code == 1 and len(server.requests) == len(server.refused) <= 16
    assert "--allow-dropped" in unknown.err and "does not support" in unknown.err


def test_planner_and_writer_ask_models_apart(server: HostedServer, command: Command, tmp_path: Path) -> None:
    inventory, log = tmp_path / "two.yaml", tmp_path / "run.jsonl"
    inventory.write_text(TWO_MODELS)
    asked = ("--inventory", str(inventory), "--model", "gpt-4.1-mini", "--trace", "--log", str(log))
    outcome = command(*ASK, *asked)
    assert outcome.code == 0, outcome.err
    first, *rest = (line for line in outcome.err.splitlines() if not line.startswith("preparing"))
    assert "planner asks openai:gpt-5-mini (it will be switched off on 2026-12-11" in first
    assert first.endswith("program_generator asks anthropic:claude-opus-5.")
    assert any("by one_shot  [" in line for line in rest)
    assert "anthropic:claude-opus-5" in next(line for line in rest if ". program_generator" in line)
    assert server.requests[0].body["reasoning_effort"] == "low"
    with EventLog(log) as events:
        state = State.fold(events)
    dropped = {(each.model, each.parameter) for each in state.dropped}
    assert dropped == {("openai:gpt-5-mini", "temperature"), ("anthropic:claude-opus-5", "temperature")}
    for model in ("openai:gpt-4.1-mini", "openai:gpt-5-mini", "anthropic:claude-opus-5"):
        logged = sum((call.usage for call in state.calls if call.model == model), Usage())
        told = server.tokens(model.partition(":")[2])
        assert (logged.input_tokens, logged.output_tokens) == (told.input, told.output)
        assert logged.cached_tokens == told.cached
        used = [each.usage for each in server.served if f":{each.model}" in model and each.usage]
        costs = [Pricing(model).cost(Usage(1, each.input, each.output, None, each.cached)) for each in used]
        assert logged.cost == pytest.approx(sum(cost or 0 for cost in costs)) and logged.cost > 0


def test_modules_may_all_name_their_models(server: HostedServer, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(OWN)
    executor = Executor(Inventory.load(tmp_path / "own.yaml"))
    state = executor.run({"question": QUESTION, "table": read_table(LEAGUE)})
    assert state.answer == 47, state.ended
    asked = [(seen.model, seen.body["max_completion_tokens"]) for seen in server.requests]
    assert asked == [("gpt-4.1-mini", 99)]
