"""Steps that require approval: for a plan or one by one, refused, waiting, resumed, within, limited."""

import asyncio
import contextlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, tool
from chameleon.core.events import Approval, RunEnded, Step, StepRecord
from chameleon.core.log import EventLog, event_from_json, event_to_json
from chameleon.core.module import copy_with
from chameleon.errors import InventoryError, LogError, NotApproved
from chameleon.llm import ScriptedModel
from chameleon.planners.fixed import Fixed
from chameleon.planners.react import React
from chameleon.run.approval import Request, refuse
from chameleon.signing import config_dir
from tests.engine.doubles import QUESTION, failing

READ, WRITE = {"module": "read", "args": {"name": "a"}}, {"module": "write", "args": {"text": "$read"}}
WRITE_X = {"module": "write", "args": {"text": "x"}}


class Tools:
    """A tool that is free and one that requires approval, which keep what they did."""

    def __init__(self) -> None:
        self.done: list[str] = []

        @tool
        def read(name: str) -> str:
            self.done.append(f"read {name}")
            return "from \x1b[31m\u202estrangers"

        @tool(requires_approval=True, max_runs=2)
        def write(text: str) -> str:
            self.done.append("write")
            return "written"

        self.both = [read, write]

    def executor(self, *plan: Any, depth: int = 0, **options: Any) -> Executor:
        return Executor(nested(Inventory.of(self.both, Fixed(plan or (READ, WRITE))), depth), **options)


class Person:
    """Gives these answers, then yes, and notes what is asked for."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = list(answers), list[str]()

    def __call__(self, request: Request) -> Any:
        self.asked.append(str(request))
        return self.answers.pop(0) if self.answers else True


def nested(inventory: Inventory, depth: int) -> Inventory:
    for number in range(depth):
        inventory = Inventory.of({f"inner{number}": inventory}, Fixed([f"inner{number}"]))
    return inventory


def calls(*made: tuple[str, dict[str, str]]) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "args": args} for name, args in made]}


UNKNOWN = 'write\n  text: "$read" (the result of $read)'
KNOWN = 'write\n  text: "$read" = "from \\u001b[31m\\u202estrangers"'


@pytest.mark.parametrize(
    ("each", "answers", "asked", "done"),
    [
        (False, [True], [f"{UNKNOWN}\n{UNKNOWN}"], ["read a", "write", "write"]),
        (False, [False], [f"{UNKNOWN}\n{UNKNOWN}"], []),
        (True, [True, False], [KNOWN, KNOWN], ["read a", "write"]),
    ],
)
def test_a_plan_is_asked_for_at_once_or_each_step(each: Any, answers: Any, asked: Any, done: Any) -> None:
    tools, person = Tools(), Person(*answers)
    state = tools.executor(READ, WRITE, WRITE, approve=person, approve_each=each).run(QUESTION)
    assert (person.asked, tools.done) == (asked, done)
    assert state.status == ("answered" if all(answers) else "declined")
    assert all(answers) or 'module write: write (text: "$read") was not approved' in state.why


def test_a_run_without_an_answer_waits_and_goes_on_from_its_log(tmp_path: Path) -> None:
    tools = Tools()
    with EventLog(tmp_path / "run.jsonl") as log:
        state = tools.executor().run(QUESTION, log)
        assert str(state) == 'waiting: it waits for approval of write (text: "$read") ()'
        assert tools.executor().run(QUESTION, log).waiting == state.waiting and len(log.events) == 3
    assert not tools.done
    with pytest.raises(NotApproved, match="waits for approval of write"):
        tools.executor().run(QUESTION, raise_errors=True)
    with EventLog(tmp_path / "run.jsonl") as log:
        log.append(State.fold(log).answer_approval("yes", "somebody"))
        assert tools.executor().run(QUESTION, log).answer == "written"
    assert tools.done == ["read a", "write"]
    with pytest.raises(LogError, match="nothing in the run is waiting"):
        state.after(state.answer_approval("no", "")).answer_approval("yes", "")


def approved_log(path: Path, tools: Tools) -> EventLog:
    """Return a log with a run that waits, and the yes of this user."""
    with EventLog(path) as log:
        tools.executor().run(QUESTION, log)
        log.append(State.fold(log).answer_approval("yes", "somebody"))
    return EventLog(path)


CHANGES = {
    r'"seal": ?"\w+"': '"seal":"00"',
    r'"seal": ?"\w*"': '"seal":"é"',
    r'"note": ?""': '"note":"other"',  # what is before the yes
    "": "",  # the log is of another user, whose key is another
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("old", CHANGES)
def test_a_yes_counts_only_as_this_user_gave_it(old: str, home: Path, caplog: Any) -> None:
    tools, path = Tools(), home / "run.jsonl"
    approved_log(path, tools).close()
    if old:
        assert re.search(old, path.read_text())
        path.write_text(re.sub(old, CHANGES[old], path.read_text(), count=1))
    else:
        (config_dir() / "seal.key").write_bytes(bytes(32))
    with EventLog(path) as log:
        assert tools.executor().run(QUESTION, log).waiting and "write" not in tools.done
        assert "the approval does not count" in caplog.text
        log.append(State.fold(log).answer_approval("yes", "somebody"))
        log.append(RunEnded("failed"))
        log.forget_failure()
        assert path.read_text().count('"said":"yes"') == 2  # nothing before the failure is lost
        assert tools.executor().run(QUESTION, log).answer == "written"
    assert tools.done.count("write") == 1


@pytest.mark.parametrize("key", [b"", b"short"])
def test_a_key_that_is_cut_is_replaced(key: bytes, home: Path) -> None:
    config_dir().mkdir()
    (config_dir() / "seal.key").write_bytes(key)
    tools = Tools()
    with approved_log(home / "run.jsonl", tools) as log:
        assert tools.executor().run(QUESTION, log).answer == "written"
    assert [file.name for file in config_dir().iterdir()] == ["seal.key"]


def test_where_nobody_attends_no_yes_of_a_log_counts(tmp_path: Path) -> None:
    tools = Tools()
    with approved_log(tmp_path / "run.jsonl", tools) as log:
        assert tools.executor(approve=refuse).run(QUESTION, log).status == "declined"
    events = list(tools.executor(depth=1).stream(QUESTION))
    events.append(State.fold(events).answer_approval("yes", ""))
    assert tools.executor(depth=1, approve=refuse).run(QUESTION, events).answer is None
    assert "write" not in tools.done


def test_all_of_what_is_approved_can_be_seen_and_gigabytes_are_not_written_out() -> None:
    inventory = Tools().executor().inventory
    for text in ("ok " + "." * 2_500 + "; rm -rf /", f"ok{' ' * 1_900}rm -rf /"):
        request = Request((Step("write", {"text": text}),), State(), inventory)
        assert "rm -rf /" in str(request) and len(str(request)) < 2_200
        assert text[:2_000].rstrip() in request.whole or "⟨1,900 blanks⟩" in request.whole
    read = StepRecord(Step("read", {"name": "a"}), "x" * 1_000_000)
    step = Step("write", {"text": ["$read"] * 10_000, "to": "$read"})
    request = Request((step,), State(plan=("read", "write"), history=(read,), pending=(step,)), inventory)
    for shown in (str(request), request.whole):
        assert shown.count("larger than 16 MB") == 2 and len(shown) < 200_000


@pytest.mark.parametrize("said", [None, True, False])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_every_prefix_of_a_log_comes_to_the_same_end(said: bool | None, each: bool, depth: int) -> None:
    plan = (READ, WRITE, READ, WRITE)
    executor = Tools().executor(*plan, depth=depth, approve=lambda request: said, approve_each=each)
    events = list(executor.stream(QUESTION))
    written = [event_to_json(event) for event in events]
    assert [event_to_json(event_from_json(each)) for each in written] == written
    for count in range(len(events)):
        again = [*events[:count], *executor.stream(QUESTION, events[:count])]
        if count and '"said": "begun"' in json.dumps(event_to_json(events[count - 1])):
            assert '"said": "asked"' in json.dumps(event_to_json(again[count]))  # it may have run
            continue
        assert [type(event) for event in again] == [type(event) for event in events]
        assert str(State.fold(again)) == str(State.fold(events))
    assert bool(State.fold(events).waiting) == (said is None)


def test_an_answer_reaches_the_inventory_that_waits_within_and_nothing_beside_it_is_lost() -> None:
    tools = Tools()
    executor = tools.executor(depth=2)
    events = list(executor.stream(QUESTION))
    waiting = State.fold(events)
    assert [step.module for step in waiting.waiting] == ["write"] and not tools.done
    state = executor.run(QUESTION, [*events, waiting.answer_approval("yes", "")])
    assert (state.answer, tools.done) == ("written", ["read a", "write"])
    inner = tools.executor().inventory
    both = Inventory.of({"first": inner, "second": inner}, Fixed(["first", "second"]))
    assert Executor(both, approve=Person()).run(QUESTION).answer == "written"
    assert tools.done == ["read a", "write"] * 3


def native(tools: Tools, *replies: Any, **options: Any) -> ScriptedModel:
    """Run React with calls by the model's tools, to the end; return the model, which was asked."""
    model = ScriptedModel([*replies, "done"], tools=True)
    inventory = Inventory.of(tools.both, React(native=True))
    assert Executor(inventory, LLM.connect(model), **options).run(QUESTION).answer == "done"
    return model


def test_react_is_told_of_a_refusal_and_asks_again_for_the_same_step() -> None:
    tools, call = Tools(), calls(("write", {"text": "x"}))
    model = native(tools, call, call, approve=Person(False))
    assert tools.done == ["write"] and "the user did not allow it" in model.requests[1][-1][1]


def test_a_reference_to_what_runs_again_is_not_shown_with_its_old_value() -> None:
    second, person = calls(("read", {"name": "b"}), ("write", {"text": "$read"})), Person()
    native(Tools(), calls(("read", {"name": "a"})), second, approve=person)
    assert person.asked == [UNKNOWN]


def test_what_was_refused_does_not_count_as_a_run() -> None:
    tools = Tools()
    plan, modules = [{"module": "write", "args": {"text": n}} for n in "0123"], {"write": tools.both[1]}
    inventory = Inventory("t", Fixed(plan), modules, on_error={"write": "skip"})
    Executor(inventory, approve=Person(False), approve_each=True).run(QUESTION)
    assert len(tools.done) == 2


def test_approval_may_be_async_and_its_answer_is_yes_no_or_none() -> None:
    async def later(request: Request) -> bool:
        await asyncio.sleep(0)
        return True

    assert asyncio.run(Tools().executor(approve=later).arun(QUESTION)).answer == "written"
    assert Tools().executor(approve=later).run(QUESTION).answer == "written"
    with pytest.raises(InventoryError, match="approve returned 'perhaps'"):
        Tools().executor(approve=Person("perhaps")).run(QUESTION)


def test_an_answer_in_a_log_covers_the_steps_that_it_names_alone() -> None:
    for steps in (1, 0):  # a step that requires none, and no step
        tools = Tools()
        events = list(tools.executor().stream(QUESTION))[:2]
        with contextlib.suppress(LogError):
            tools.executor().run(QUESTION, [*events, Approval(State.fold(events).pending[:steps], "yes")])
        assert "write" not in tools.done


def test_a_plan_that_takes_the_place_of_another_is_asked_for_anew() -> None:
    tools, person = Tools(), Person()
    modules = {"fails": tool(failing(ValueError("no")), name="fails"), "write": tools.both[1]}
    modules |= {"other": copy_with(tools.both[1], name="other")}
    inventory = Inventory("two", Fixed(["fails", WRITE_X]), modules, on_error={"fails": ["other"]})
    Executor(inventory, approve=person).run(QUESTION)
    assert [text.splitlines()[0] for text in person.asked] == ["write", "other"] and not tools.done


@pytest.mark.parametrize("depth", [0, 2])
def test_a_yes_is_for_one_call_also_where_that_failed(tmp_path: Path, depth: int) -> None:
    paid = list[str]()

    @tool(requires_approval=True)
    def pay(amount: str) -> str:
        paid.append(amount)
        raise ValueError("no answer")

    inventory = nested(Inventory.of([pay], Fixed([{"module": "pay", "args": {"amount": "1"}}])), depth)
    with EventLog(tmp_path / "run.jsonl") as log:
        Executor(inventory, approve=Person()).run(QUESTION, log)
    for _ in range(2):
        with EventLog(tmp_path / "run.jsonl") as log:
            log.forget_failure()
            waiting = Executor(inventory).run(QUESTION, log).waiting
            assert [*map(str, waiting)] == ['pay (amount: "1")']
    assert paid == ["1"]


def test_at_most_holds_over_all_inventories_within() -> None:
    tools = Tools()
    deep = tools.executor(WRITE_X, depth=1).inventory
    executor = Executor(Inventory.of({"deep": deep}, Fixed(["deep"] * 3)), approve=Person())
    events = list(executor.stream(QUESTION))
    assert tools.done == ["write", "write"] and "at most 2 times" in State.fold(events).why
    for count in range(len(events)):
        executor.run(QUESTION, events[:count])
        assert len(tools.done) <= 4
        tools.done.clear()
