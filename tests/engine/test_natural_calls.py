"""The calls that a user tries first: lists of tools, names, exceptions, batches, own planners, types."""

import asyncio
import copy
import itertools
import pickle
import pydoc
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import chameleon
from chameleon import LLM, Executor, Inventory, Module, Plan, State, Step, Table, ask, read_table, tool
from chameleon.core.log import event_from_json, event_to_json
from chameleon.errors import ChameleonError, InventoryError, ModuleError
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.fixed import Fixed
from chameleon.planners.react import ModelAnswer, MoreTools, React
from tests.e2e.commands import environment
from tests.engine.doubles import QUESTION, Ask, Does, Proposes, executor, run, why
from tests.test_floors import ROOT, public_names

one = tool(lambda: 1, name="one", description="Gives one.")
RENAMED = [tool(lambda: 1, name=name) for name in ("model_answer", "more_tools")]


def broken() -> int:
    return 1 // 0


class Two(Module):
    """Gives two."""

    def run(self, state: State) -> int:
        return 2


def model(*replies: Any) -> LLM:
    return LLM.connect(ScriptedModel(list(replies), tools=True))


@pytest.mark.parametrize("given", [[one, Two], (one, Two()), {"one": one, "two": Two()}])
def test_tools_are_given_as_they_are(given: Any) -> None:
    assert [card.name for card in Inventory.of(given).cards] == ["one", "two"]
    assert Executor(given, model('["one", "two"]')).run(QUESTION).answer == 2
    for planner in ("react", React(max_turns=2)):
        assert Executor(given, model("2."), planner=planner).run(QUESTION).answer == "2."


def test_one_tool_is_an_inventory_and_an_inventory_is_itself(tmp_path: Path) -> None:
    assert Executor(one, model('["one"]')).run(QUESTION).answer == 1
    inventory = Inventory.of([one], Fixed(["one"]), name="mine")
    assert Inventory.of(inventory) is inventory and str(inventory) == "mine: fixed over one"
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nplanner: {use: fixed, plan: final_answer}\nmodules: {final_answer: }\n")
    names = [Executor(given).inventory.name for given in (str(file), file, "tables_offline")]
    assert names == ["mine", "mine", "tables_offline"]
    state = run(dict.fromkeys(("first", "second"), Does(lambda state: dict(state.cache))))
    assert list(state.cache) == ["first", "second"], "a module may have two names"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: Inventory.of([]), "no tools are given"),
        (lambda: Inventory.of(3), "3 is an int, not a module. Pass a Module or a function"),
        (lambda: Inventory.of("tabels"), "there is no inventory 'tabels'. Did you mean 'tables'?"),
        (lambda: Inventory.of([one], "reakt"), "there is no planner 'reakt'. Did you mean 'react'?"),
        (lambda: Inventory.of([one], Fixed), "tools: Fixed is missing the parameter 'plan'"),
        (lambda: Fixed([("one", {})]), "('one', {}) is not a step. Write a name, or {module: NAME, args"),
        (lambda: Fixed([]), "at least one module"),
        (lambda: Inventory.of([one], 3), "'3' is not a planner"),
        (lambda: Executor("tables", "openai:x", planner="react"), "the inventory already has a planner"),
        (lambda: Inventory.of({"name": "mine", "modules": {}}, "react"), "already has a planner"),
        (lambda: Inventory.of([RENAMED[0]], "react"), "is reserved by the planner"),
        (lambda: Inventory.of([RENAMED[1]], "react"), "name more_tools is reserved"),
        (lambda: Executor([one]), "asks a model, but none is configured"),
        (lambda: executor({"asks": Ask()}), "the inventory mine asks a model"),
        (lambda: executor({"one": one}).batch(QUESTION), "this is one input, not many"),
        (lambda: Table(["price"], [[2]]), "Table.from_records takes rows of any values"),
        (lambda: executor({"one": one}).run("What?"), "the input is a str"),
        (lambda: executor({"one": one}).run(None), "the input is a NoneType"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(ChameleonError) as caught:
        call()
    assert told in str(caught.value)


def test_names_that_a_planner_brings_are_free_for_others_and_for_its_own_modules() -> None:
    assert "model_answer" in Inventory.of(RENAMED[:1]).modules
    inventory = Inventory.of([one, MoreTools, ModelAnswer], "react")
    assert Executor(inventory, model("Answer: 1")).run(QUESTION).answer == "1"


def test_exceptions_are_raised_where_that_is_asked_for() -> None:
    executor = Executor(Inventory.of([broken], Fixed(["broken"])))
    state = executor.run(QUESTION)
    assert str(state) == f"failed: {why(state)} (broken)"
    for call, given in ((executor.run, QUESTION), (executor.arun, QUESTION), (executor.batch, [QUESTION]),
                        (executor.abatch, [QUESTION])):  # fmt: skip
        with pytest.raises(ModuleError, match=r"broken: ZeroDivisionError.*test_natural_calls") as caught:
            ended: Any = call(given, raise_errors=True)
            asyncio.run(ended)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
    ended = State.fold(event_from_json(event_to_json(event)) for event in executor.stream(QUESTION)).ended
    assert isinstance(ended.error.exception, ModuleError) and ended.error.exception.__cause__ is None


@pytest.mark.slow
@pytest.mark.parametrize(("variables", "is_told"), [({"CHAMELEON_DEBUG": "1"}, True), ({}, False)])
def test_a_traceback_is_printed_where_it_is_asked_for(variables: Any, is_told: bool, tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("def fails() -> int:\n    return 1 // 0\n")
    mine = 'name: fails\nplanner: {use: fixed, plan: [fails]}\nmodules: {fails: "fails:fails"}\n'
    (tmp_path / "fails.yaml").write_text(mine)
    command = [sys.executable, "-m", "chameleon", "ask", "What?", "--inventory", f"{tmp_path}/fails.yaml"]
    there = environment(**variables)
    done = subprocess.run(command, env=there, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and ("Traceback" in done.stderr) is is_told, done.stderr
    assert "chameleon: module fails: ZeroDivisionError: " in done.stderr


def test_a_planner_may_wait_and_is_stopped_where_it_proposes_what_has_just_run() -> None:
    async def propose(state: State) -> Sequence[Step]:
        await asyncio.sleep(0)
        return () if state.plans else [Step("one")]

    executor = Executor(Inventory.of([one], Proposes(propose)))
    assert asyncio.run(executor.arun(QUESTION)).answer == executor.run(QUESTION).answer == 1
    told = why(Executor(Inventory.of([one], Proposes(lambda state: [Step("one")]))).run(QUESTION))
    assert "it proposes one again, which have just run" in told


def test_what_is_public_is_printed_in_a_line() -> None:
    assert str(Plan((Step("one"), Step("say", {"what": "$one"})), "me")) == 'one → say (what: "$one")'
    told = pydoc.plain(pydoc.render_doc(chameleon))
    assert all(name in told for name in public_names()) and told.count("\n") <= 80, "two screens"
    inventory = Inventory.of([one], Fixed("one"))
    state = copy.copy(Executor(inventory)).run(QUESTION)
    with pytest.raises(TypeError, match="make one in each process"):
        pickle.dumps(Executor(inventory))
    long = run({"long": lambda state: "x" * 9_999})
    shown = [inventory, Executor(inventory), state, long, *state.plans, *state.history, Fixed("one"), one]
    assert all(re.fullmatch(r"<.{,398}>", repr(each)) for each in shown)


LEAGUE = ROOT / "demos" / "data" / "league.csv"


def test_one_line_asks_a_table_or_records() -> None:
    for given in (str(LEAGUE), LEAGUE, read_table(LEAGUE), read_table(LEAGUE).to_pandas()):
        state = ask("Which team has the most points?", given)
        assert (state.status, state.answer, state.why) == ("answered", "Kingsmere Town", "")
        assert state.reading and state.sources[0]["columns"] == ("Team", "Points")
    records = [{"fruit": "apple", "price": 2}, {"fruit": "pear", "price": 3}]
    assert ask("What is the total price?", records).answer == "5"
    assert ask("Will it rain?", records).status == "declined"


def test_a_batch_tells_its_progress_and_is_not_stopped_by_one_that_takes_long(capsys: Any) -> None:
    states = executor({"one": one}).batch(iter([QUESTION] * 3), progress=True)
    assert [state.answer for state in states] == [1, 1, 1] and capsys.readouterr().out == ""
    done, others_done = list[str](), threading.Event()

    def work(state: State) -> str:
        name = str(state.input["question"])
        assert name != "0" or others_done.wait(30)
        done.append(name)
        if len(done) == 39:
            others_done.set()
        return name

    inputs = ({"question": str(number)} for number in range(40))
    states = executor({"work": work}).map(inputs, workers=2)
    assert [state.answer for state in states] == [*map(str, range(40))] and done[-1] == "0"


def test_a_batch_takes_inputs_as_it_needs_them_and_goes_on_after_one_that_is_none() -> None:
    endless = ({"question": str(number)} if number else 5 for number in itertools.count())
    states: Any = executor({"work": lambda state: state.input["question"]}).map(endless, workers=4)
    assert [state.answer for state in itertools.islice(states, 5)] == [None, "1", "2", "3", "4"]
    states.close()


def test_a_model_that_is_named_is_asked_as_the_inventory_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    llm = {"model": "openai:other", "retries": 0, "timeout": 9.0, "prices": {"input": 1.0, "output": 2.0}}
    spec = {"name": "mine", "planner": "one_shot", "llm": llm, "modules": {"table_reader": None}}
    asked = Executor(spec, "openai:m1").llm.connected_by
    assert asked.items() >= {"model": "openai:m1", "retries": 0, "timeout": 9.0, "prices": (1, 2)}.items()
    assert Executor(spec, own := LLM.connect("openai:m1")).llm is own


class InProperty(Two):
    asks = property(lambda self: "approval")


def test_an_attribute_under_its_old_name_is_refused_and_a_key_read_with_a_warning(caplog: Any) -> None:
    for given in (type("InClass", (Two,), {"asks": "approval"}), InProperty):
        with pytest.raises(InventoryError, match=r"'asks'\. It is called 'requires_approval'"):
            Inventory.of([given], Fixed("one"))
    for old, new in (("whole", "returns_full_plan"), ("brings", "extra_modules")):
        with pytest.raises(InventoryError, match=rf"'{old}'\. It is called '{new}'"):
            Inventory.of([one], type("Own", (Fixed,), {old: {}})("one"))
        assert Inventory.of([one, type("Other", (Does,), {old: 3})(str, name="own")], Fixed("one"))
    entry = {"use": Two, "asks": "approval", "at_most": 2}
    mine = {"name": "m", "planner": {"use": "fixed", "plan": ["own"]}, "modules": {"own": entry}}
    own = Inventory.parse(mine).modules["own"]
    assert (own.requires_approval, own.max_runs) == (True, 2)
    assert sum("version 0.3" in each.getMessage() for each in caplog.records) == 2
    with pytest.raises(InventoryError, match="asks is 'aproval'"):
        Inventory.parse({"name": "m", "modules": {"own": {**entry, "asks": "aproval"}}})


@pytest.mark.parametrize("default", [float("inf"), float("nan")])
def test_a_default_that_json_has_no_number_for_is_left_to_the_function(default: float) -> None:
    def bounded(to: float = default) -> None: ...

    [card] = Inventory.of([bounded]).cards
    assert card.signature == "(to?: number)"


@pytest.mark.slow
def test_mypy_takes_the_documented_use_and_rejects_the_rest(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    use, _, lines = Path(__file__).with_name("typed_use.txt").read_text("utf-8").partition("---\n")
    wrong = [line.split("  # ") for line in lines.splitlines()]
    (tmp_path / "use.py").write_text(use)
    for number, (line, _) in enumerate(wrong):
        (tmp_path / f"wrong{number}.py").write_text(f"from chameleon import Executor, State, ask\n{line}\n")
    options = ["--strict", "--python-executable", sys.executable, "--cache-dir", str(tmp_path / "cache")]
    shown, _, _ = api.run([*options, *map(str, sorted(tmp_path.glob("*.py")))])
    assert "use.py" not in shown, shown
    for number, (_, told) in enumerate(wrong):
        assert any(told in line for line in shown.splitlines() if f"wrong{number}.py" in line), shown
