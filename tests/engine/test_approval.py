"""Steps that ask for approval: for a plan or one by one, refused, waiting, resumed, within, limited."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, tool
from chameleon.core.events import Approval, Event, RunEnded, Step, StepRecord
from chameleon.core.log import EventLog, event_from_json, event_to_json
from chameleon.core.module import copy_with
from chameleon.errors import InventoryError, LogError, NotApproved
from chameleon.llm import ScriptedModel
from chameleon.planners.fixed import Fixed
from chameleon.planners.react import React
from chameleon.run.approval import Request, refuse
from chameleon.signing import config_dir

QUESTION = {"question": "q"}
READ, WRITE = {"module": "read", "args": {"name": "a"}}, {"module": "write", "args": {"text": "$read"}}


class Tools:
    """A tool that is free and one that asks, which keep what they did."""

    def __init__(self) -> None:
        self.done: list[str] = []

        @tool
        def read(name: str) -> str:
            """Reads a text."""
            self.done.append(f"read {name}")
            return "from \x1b[31m\u202estrangers"

        @tool(requires_approval=True, max_runs=2)
        def write(text: str) -> str:
            """Writes a text."""
            self.done.append("write")
            return "written"

        self.both = [read, write]

    def executor(self, *plan: Any, approve: Any = None, **options: Any) -> Executor:
        return Executor(Inventory.of(self.both, Fixed(plan or (READ, WRITE))), approve=approve, **options)


def yes(request: Request) -> bool:
    return True


def test_a_plan_is_asked_for_once_before_anything_runs() -> None:
    tools, asked = Tools(), list[str]()

    def approve(request: Request) -> bool:
        asked.append(str(request))
        assert not tools.done
        return True

    state = tools.executor(READ, WRITE, WRITE, approve=approve).run(QUESTION)
    told = 'write\n  text: "$read" (what comes of $read)'
    assert (state.answer, asked, tools.done) == ("written", [f"{told}\n{told}"], ["read a", "write", "write"])


def test_each_step_is_asked_for_with_its_values_where_that_is_wanted() -> None:
    tools, asked = Tools(), list[str]()

    def approve(request: Request) -> bool:
        asked.append(str(request))
        return len(asked) < 2

    state = tools.executor(READ, WRITE, WRITE, approve=approve, approve_each=True).run(QUESTION)
    assert asked == ['write\n  text: "$read" = "from \\u001b[31m\\u202estrangers"'] * 2
    assert tools.done == ["read a", "write"]
    assert state.ended is not None and state.ended.reason == "declined"


@pytest.mark.parametrize("each", [False, True])
def test_what_is_refused_does_not_run_and_the_run_declines(each: bool) -> None:
    tools = Tools()
    state = tools.executor(WRITE | {"args": {"text": "x"}}, approve=refuse, approve_each=each).run(QUESTION)
    assert not tools.done
    assert state.ended is not None and state.ended.reason == "declined" and state.ended.error is not None
    assert str(state.ended.error) == 'module write: write (text: "x") was not approved'
    with pytest.raises(NotApproved):
        tools.executor(READ, WRITE, approve=refuse).run(QUESTION, raise_errors=True)


def test_a_run_without_an_answer_waits_and_goes_on_from_its_log(tmp_path: Any) -> None:
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
    with pytest.raises(LogError, match="nothing in the run waits"):
        state.after(state.answer_approval("no", "")).answer_approval("yes", "")


def waiting_log(path: Path, tools: Tools) -> EventLog:
    """A log with a run that waits, and the yes of this user."""
    with EventLog(path) as log:
        tools.executor().run(QUESTION, log)
        log.append(State.fold(log).answer_approval("yes", "somebody"))
    return EventLog(path)


def forged(path: Path, seal: str = "00") -> None:
    """Have somebody else write a yes, as a line without a seal."""
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], re.sub(r'"seal": ?"\w+"', f'"seal":"{seal}"', lines[-1]), ""]))


def changed(path: Path) -> None:
    """Change what is before the yes."""
    text = path.read_text()
    path.write_text(re.sub(r'"note": ?""', '"note":"other"', text, count=1))
    assert path.read_text() != text


def of_another(path: Path) -> None:
    """Have the log come from another user, whose key is another."""
    (config_dir() / "seal.key").write_bytes(bytes(32))


@pytest.mark.parametrize("attack", [forged, lambda path: forged(path, "é"), changed, of_another])
def test_a_yes_counts_only_as_this_user_gave_it(
    attack: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    tools, path = Tools(), tmp_path / "run.jsonl"
    waiting_log(path, tools).close()
    attack(path)
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
def test_a_key_that_is_cut_is_replaced(key: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    config_dir().mkdir()
    (config_dir() / "seal.key").write_bytes(key)
    tools = Tools()
    with waiting_log(tmp_path / "run.jsonl", tools) as log:
        assert tools.executor().run(QUESTION, log).answer == "written"
    assert [file.name for file in config_dir().iterdir()] == ["seal.key"]


def test_where_nobody_attends_no_yes_of_a_log_counts(tmp_path: Path) -> None:
    tools = Tools()
    with waiting_log(tmp_path / "run.jsonl", tools) as log:
        state = tools.executor(approve=refuse).run(QUESTION, log)
    assert state.ended is not None and state.ended.reason == "declined" and "write" not in tools.done
    inner = Inventory.of(tools.both, Fixed((READ, WRITE)))
    outer = Inventory.of({"inner": inner}, Fixed(["inner"]))
    events = list(Executor(outer).stream(QUESTION))
    events.append(State.fold(events).answer_approval("yes", ""))
    state = Executor(outer, approve=refuse).run(QUESTION, events)
    assert state.answer is None and "write" not in tools.done


def test_all_of_what_is_approved_can_be_seen() -> None:
    texts = {"long": "ok " + "." * 2_500 + "; rm -rf /", "blanks": f"ok{' ' * 1_900}rm -rf /"}
    for text in texts.values():
        step = Step("write", {"text": text})
        request = Request((step,), State(), Tools().executor().inventory)
        assert "rm -rf /" in str(request) and len(str(request)) < 2_200
        assert text[:2_000].rstrip() in request.whole or "⟨1,900 blanks⟩" in request.whole


def test_arguments_of_which_references_make_gigabytes_are_not_written_out() -> None:
    read = StepRecord(Step("read", {"name": "a"}), "x" * 1_000_000)
    step = Step("write", {"text": ["$read"] * 10_000, "to": "$read"})
    state = State(plan=("read", "write"), history=(read,), pending=(step,))
    request = Request((step,), state, Tools().executor().inventory)
    for shown in (str(request), request.whole):
        assert shown.count("(the value of its arguments is larger than 16 MB)") == 2
        assert len(shown) < 200_000


@pytest.mark.parametrize("said", [None, True, False])
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_every_prefix_of_a_log_comes_to_the_same_end(said: bool | None, each: bool, depth: int) -> None:
    tools = Tools()
    inventory = Inventory.of(tools.both, Fixed((READ, WRITE, READ, WRITE)))
    for number in range(depth):
        inventory = Inventory.of({f"inner{number}": inventory}, Fixed([f"inner{number}"]))
    executor = Executor(inventory, approve=lambda request: said, approve_each=each)
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


def test_an_answer_reaches_the_inventory_that_waits_within() -> None:
    tools = Tools()
    inner = Inventory.of(tools.both, Fixed((READ, WRITE)))
    middle = Inventory.of({"inner": inner}, Fixed(["inner"]))
    executor = Executor(Inventory.of({"outer": middle}, Fixed(["outer"])))
    events = list(executor.stream(QUESTION))
    waiting = State.fold(events)
    assert [step.module for step in waiting.waiting] == ["write"] and not tools.done
    state = executor.run(QUESTION, [*events, waiting.answer_approval("yes", "")])
    assert (state.answer, tools.done) == ("written", ["read a", "write"])


def test_what_waits_within_loses_nothing_that_ran_beside_it() -> None:
    tools = Tools()
    inner = Inventory.of(tools.both, Fixed((READ, WRITE)))
    both = Inventory.of({"first": inner, "second": inner}, Fixed(["first", "second"]))
    state = Executor(both, approve=yes).run(QUESTION)
    assert tools.done == ["read a", "write"] * 2 and state.answer == "written"


def test_react_is_told_of_a_refusal_and_asks_again_for_the_same_step() -> None:
    tools, answers = Tools(), iter([False, True])
    call = {"tool_calls": [{"name": "write", "args": {"text": "x"}}]}
    told = list[str]()

    def reply(messages: Any) -> Any:
        told.append(messages[-1][1])
        return "done" if len(told) == 3 else call

    executor = Executor(
        Inventory.of(tools.both, React(native=True)),
        LLM.connect(ScriptedModel(reply)),
        approve=lambda request: next(answers),
    )
    assert executor.run(QUESTION).answer == "done"
    assert tools.done == ["write"] and "the user did not allow it" in told[1]


def test_what_was_refused_does_not_count_as_a_run() -> None:
    tools, answers = Tools(), iter([False, True, True, True])
    plan = [{"module": "write", "args": {"text": str(number)}} for number in range(4)]
    inventory = Inventory(
        name="t",
        planner=Fixed(plan),
        modules={tool.name: tool for tool in tools.both},
        on_error={"write": "skip"},
    )
    Executor(inventory, approve=lambda request: next(answers), approve_each=True).run(QUESTION)
    assert len(tools.done) == 2


def test_approval_may_be_async_and_its_answer_is_yes_no_or_none() -> None:
    tools = Tools()

    async def later(request: Request) -> bool:
        await asyncio.sleep(0)
        return True

    assert asyncio.run(tools.executor(approve=later).arun(QUESTION)).answer == "written"
    assert tools.executor(approve=later).run(QUESTION).answer == "written"
    with pytest.raises(InventoryError, match="approve gave 'perhaps'"):
        tools.executor(approve=lambda request: "perhaps").run(QUESTION)


@pytest.mark.parametrize(
    "forge",
    [
        lambda state: Approval(state.pending[:1], "yes"),  # of a step that does not ask
        lambda state: Approval((), "yes"),
    ],
)
def test_an_answer_in_a_log_covers_the_steps_that_it_names_alone(forge: Callable[[State], Event]) -> None:
    tools = Tools()
    events = list(tools.executor().stream(QUESTION))[:2]
    forged = forge(State.fold(events))
    with contextlib.suppress(LogError):
        tools.executor().run(QUESTION, [*events, forged])
    assert "write" not in tools.done


def test_a_plan_that_takes_the_place_of_another_is_asked_for_anew() -> None:
    tools, asked = Tools(), list[int]()

    @tool
    def fails() -> str:
        """Fails."""
        raise ValueError("no")

    def approve(request: Request) -> bool:
        asked.append(len(request.steps))
        return True

    inventory = Inventory(
        name="two",
        planner=Fixed(["fails", {"module": "write", "args": {"text": "x"}}]),
        modules={"fails": fails, "write": tools.both[1], "other": copy_with(tools.both[1], name="other")},
        on_error={"fails": ["other"]},
    )
    state = Executor(inventory, approve=approve).run(QUESTION)
    assert asked == [1, 1] and not tools.done, state


def test_a_reference_to_what_runs_again_is_not_shown_with_its_old_value() -> None:
    tools, shown = Tools(), list[str]()
    calls = [
        {"tool_calls": [{"name": "read", "args": {"name": "a"}}]},
        {
            "tool_calls": [
                {"name": n, "args": a} for n, a in (("read", {"name": "b"}), ("write", {"text": "$read"}))
            ]
        },
        "done",
    ]

    def approve(request: Request) -> bool:
        shown.append(str(request))
        return True

    inventory = Inventory.of(tools.both, React(native=True))
    Executor(inventory, LLM.connect(ScriptedModel(calls)), approve=approve).run(QUESTION)
    assert shown == ['write\n  text: "$read" (what comes of $read)']


@pytest.mark.parametrize("depth", [0, 2])
def test_a_yes_is_for_one_call_also_where_that_failed(tmp_path: Any, depth: int) -> None:
    paid = list[str]()

    @tool(requires_approval=True)
    def pay(amount: str) -> str:
        """Pays."""
        paid.append(amount)
        raise ValueError("no answer")

    inventory = Inventory.of([pay], Fixed([{"module": "pay", "args": {"amount": "1"}}]))
    for number in range(depth):
        inventory = Inventory.of({f"inner{number}": inventory}, Fixed([f"inner{number}"]))
    with EventLog(tmp_path / "run.jsonl") as log:
        Executor(inventory, approve=yes).run(QUESTION, log)
    for _ in range(2):
        with EventLog(tmp_path / "run.jsonl") as log:
            log.forget_failure()
            waiting = Executor(inventory).run(QUESTION, log).waiting
            assert [*map(str, waiting)] == ['pay (amount: "1")']
    assert paid == ["1"]


def test_at_most_holds_over_all_inventories_within() -> None:
    tools = Tools()
    inner = Inventory.of(tools.both, Fixed([{"module": "write", "args": {"text": "x"}}]))
    deep = Inventory.of({"inner": inner}, Fixed(["inner"]))
    executor = Executor(Inventory.of({"deep": deep}, Fixed(["deep"] * 3)), approve=yes)
    events = list(executor.stream(QUESTION))
    assert tools.done == ["write", "write"]
    assert "at most 2 times in a run" in str(State.fold(events).ended)
    for count in range(len(events)):
        executor.run(QUESTION, events[:count])
        assert len(tools.done) <= 4
        tools.done.clear()
