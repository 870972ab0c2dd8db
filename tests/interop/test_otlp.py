"""Runs as spans: the tree, times, ids and texts, from a log, from a folder and while they run."""

import io
import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, EventLog, Executor, Inventory
from chameleon.core.events import Event, Nested, Plan, RunEnded, RunStarted, Step, StepRecord
from chameleon.errors import InputError
from chameleon.interop.otlp import Traces, address_of, export_log
from chameleon.llm.scripted import ScriptedModel
from chameleon.usage import Call
from tests.e2e.commands import ROOT, Command
from tests.evaluation.rows import make_rows, write_rows
from tests.interop.otlp_receiver import OtlpReceiver, Received

FILES = {
    "outer.yaml": """
name: outer
planner: {use: one_shot}
modules: {helper: {inventory: inner.yaml}, write: "tools:write", fail: "tools:fail"}
fallback: [helper, write]
""",
    "inner.yaml": """
name: inner
planner: {use: fixed, plan: [think]}
modules: {think: "tools:Think"}
""",
    "tools.py": '''
from chameleon import LLMModule, tool
from chameleon.core.prompt import Prompt

class Think(LLMModule):
    """Thinks."""

    _template = Prompt.parse("---\\nslots: [question]\\n---\\n# user\\n{{ question }}")

@tool(requires_approval=True)
def write() -> str:
    """Writes a text."""
    return "a private output"

@tool
def fail() -> str:
    """Fails."""
    raise ValueError("a private failure")
''',
}
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
ASKED = {"question": f"a private question, with {SECRET}"}
INSIDE = ("invoke_agent inner", ["plan inner", ("execute_tool think", ["chat script"])])
_STEPS = [("plan outer", ["chat script"]), ("execute_tool helper", [INSIDE])]
TREE = ("invoke_workflow outer", [*_STEPS, "execute_tool write", "execute_tool fail"])
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as started:
        yield started


@pytest.fixture
def executor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Executor:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    usage = {"input_tokens": 30, "output_tokens": 9, "cached_tokens": 20, "reasoning_tokens": 4}
    replies = [{"text": text, **usage} for text in ('["helper", "write", "fail"]', "a private reply")]
    llm = LLM.connect(ScriptedModel(replies))
    return Executor(Inventory.load(tmp_path / "outer.yaml"), llm, approve=lambda request: True)


@pytest.fixture
def log(executor: Executor, tmp_path: Path) -> Path:
    with EventLog(tmp_path / "run.jsonl") as written:
        executor.run(ASKED, written)
    return tmp_path / "run.jsonl"


def send(log: Path, receiver: OtlpReceiver, *, content: bool = False) -> Received:
    with Traces(receiver.url, content=content) as traces:
        assert export_log(log, traces) == 1
    (trace,) = receiver.traces
    return trace


def play(events: Iterable[Event], receiver: OtlpReceiver, *, content: bool = False) -> Traces:
    with Traces(receiver.url, content=content) as traces:
        for event in events:
            traces.event(event)
        traces.end()
    return traces


def taken(receiver: OtlpReceiver) -> dict[str, Any]:
    spans = {span.id: vars(span) for span in receiver.spans}
    receiver.bodies.clear()
    return spans


def every(trace: Received) -> Iterator[Received]:
    yield trace
    for below in trace.below:
        yield from every(below)


def test_a_log_is_a_tree_of_spans_within_each_other(log: Path, receiver: OtlpReceiver) -> None:
    trace = send(log, receiver)
    assert trace.outline() == TREE
    assert abs(trace.start / 1e9 - log.stat().st_mtime) < 60
    assert {span.trace for span in every(trace)} == {trace.trace}
    for span in every(trace):
        assert span.start <= span.end
        assert all(span.start <= each.start and each.end <= span.end for each in span.below)
        assert all(span.start <= time <= span.end for _, time, _ in span.events)


def test_attributes_follow_the_conventions(log: Path, receiver: OtlpReceiver) -> None:
    trace = send(log, receiver)
    spans = {span.name: span for span in every(trace)}
    chat, step, plan = (spans[name] for name in ("chat script", "execute_tool fail", "plan outer"))
    assert chat.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "script",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 30,
        "gen_ai.usage.output_tokens": 9,
        "gen_ai.usage.cache_read.input_tokens": 20,
        "gen_ai.usage.reasoning.output_tokens": 4,
    }
    assert step.attributes["gen_ai.tool.name"] == "fail" and step.attributes["error.type"] == "ModuleError"
    assert (chat.kind, step.status, trace.status, plan.status) == (3, 2, 2, 0)
    assert plan.attributes["gen_ai.operation.name"] == "plan"
    assert plan.attributes["chameleon.plan.steps"] == ["helper", "write", "fail"]
    told = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.agent.name": "outer"}
    assert (told | {"chameleon.ended": "failed"}).items() <= trace.attributes.items()
    said = [event["chameleon.approval.said"] for name, _, event in trace.events if name == "approval"]
    assert said == ["asked", "yes", "begun"]


def test_texts_are_sent_on_demand_alone_and_secrets_never(log: Path, receiver: OtlpReceiver) -> None:
    send(log, receiver)
    assert b"private" not in b"".join(receiver.bodies)
    receiver.bodies.clear()
    send(log, receiver, content=True)
    sent = b"".join(receiver.bodies)
    for text in (b"private question", b"private reply", b"private output", b"a private failure", b"***"):
        assert text in sent
    assert SECRET.encode() not in sent


def test_what_is_sent_live_is_the_same(executor: Executor, tmp_path: Path, receiver: OtlpReceiver) -> None:
    with EventLog(tmp_path / "live.jsonl") as log:
        play(executor.stream(ASKED, log), receiver)
    live = taken(receiver)
    receiver.body = "endless"  # of a long reply nothing is read
    assert send(tmp_path / "live.jsonl", receiver).outline() == TREE
    assert taken(receiver) == live and len(live) == 10


FAILURES = [(302, "", "Found"), (400, "", "Bad Request"), (503, "endless", "Service Unavailable")]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_receiver_that_fails_costs_a_run_one_warning(
    executor: Executor, receiver: OtlpReceiver, caplog: Any, monkeypatch: Any, failure: Any
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    receiver.status, receiver.body, fault = failure
    begun = time.monotonic()
    play(executor.stream(ASKED), receiver)
    assert time.monotonic() - begun < 5 and len(receiver.headers) <= 1
    told = [record.getMessage() for record in caplog.records if record.name == "chameleon"]
    assert told == [f"10 of 10 spans did not reach {receiver.url}/v1/traces: HTTP {receiver.status} {fault}"]


def test_what_cannot_be_sent_as_it_stands_takes_nothing_along(receiver: OtlpReceiver) -> None:
    params = {"seed": 2**70, "temperature": 0.5, "top_p": "much"}
    call = Call("openai:m\ud800", (("user", "half \ud800"),), params, text="\ud800")
    begun = RunStarted("mine", {"question": "\ud800?"}, at=9.0)
    traces = play([begun, Plan((), "p", calls=(call,)), RunEnded("failed")], receiver, content=True)
    chat = next(span for span in receiver.spans if span.name == "chat m?")
    assert traces.collector.sent == 3 and chat.attributes["gen_ai.request.temperature"] == 0.5
    assert not {"gen_ai.request.seed", "gen_ai.request.top_p"} & chat.attributes.keys()


def inside(module: str, at: float) -> list[Event]:
    step = StepRecord(Step("think"), "a", seconds=2.0)
    run = [RunStarted("inner", {}, at=at), Plan((Step("think"),), "p"), step, RunEnded("answered")]
    return [*(Nested(module, each) for each in run), StepRecord(Step(module), "a", seconds=2.0)]


def calling(*seconds: float) -> list[Event]:
    calls = tuple(Call("openai:m", (), {}, seconds=each) for each in seconds)
    step = StepRecord(Step("ask"), "a", seconds=2.0, calls=calls)
    return [RunStarted("mine", {}, at=10.0), Plan((Step("ask"),), "p"), step]


BEGUN = [RunStarted("mine", {}, at=100.0), Plan((Step("a"), Step("b")), "p", seconds=1.0)]
BOTH = [*BEGUN, *inside("a", 101.0), *inside("b", 101.1), RunEnded("answered")]
LAID = [
    (BOTH, "execute_tool a", [(101.0, 103.0)]),
    (BOTH, "execute_tool b", [(101.1, 103.1)]),
    (BOTH, "invoke_workflow mine", [(100.0, 103.1)]),
    (calling(0.5, 1.0), "chat m", [(10.0, 10.5), (10.5, 11.5)]),
    (calling(1.5, 1.0, 3.0), "chat m", [(10.0, 11.5), (10.0, 11.0), (10.0, 12.0)]),  # longer than their step
]


@pytest.mark.parametrize(("events", "name", "laid"), LAID)
def test_spans_are_laid_one_after_the_other_or_at_the_same_time(
    receiver: OtlpReceiver, events: Sequence[Event], name: str, laid: list[tuple[float, float]]
) -> None:
    play(events, receiver)
    assert [(each.start / 1e9, each.end / 1e9) for each in receiver.spans if each.name == name] == laid


@pytest.mark.parametrize("url", ["localhost:4318", "ftp://h", "http://me:word@h", "http://h/?api_key=word"])
def test_what_is_no_address_or_has_a_secret_is_refused(url: str) -> None:
    with pytest.raises(InputError) as raised:
        Traces(url)
    assert "word" not in str(raised.value)
    assert address_of("https://host/api/otel/") == "https://host/api/otel/v1/traces"
    assert address_of("http://host:4318/v1/traces") == "http://host:4318/v1/traces"


def test_an_evaluation_is_one_trace_a_problem_live_and_from_its_folder(
    command: Command, tmp_path: Path, receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=of-the-otlp")
    data, out = write_rows(tmp_path / "problems.jsonl.gz", make_rows(12)), tmp_path / "out"
    assert command("eval", "tables_offline", str(data), "--out", str(out), "--otlp", receiver.url).code == 0
    assert {headers["api-key"] for headers in receiver.headers} == {"of-the-otlp"}
    assert not any(b"of-the-otlp" in file.read_bytes() for file in out.iterdir())
    judged = [told for trace in receiver.traces for name, _, told in trace.events]
    assert len(receiver.traces) == 12
    assert sum(told["gen_ai.evaluation.score.value"] for told in judged) == 8
    assert {told["gen_ai.evaluation.score.label"] for told in judged} == {"right", "declined"}
    live = taken(receiver)
    sent = command("export", str(out), "--otlp", receiver.url)
    assert (sent.code, sent.err) == (0, f"Sent {len(live)} spans of 12 problems.\n")
    assert taken(receiver) == live


def test_a_conversation_is_one_trace_a_question_under_one_id(
    command: Command, tmp_path: Path, receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, log = tmp_path / "points.csv", tmp_path / "chat.jsonl"
    table.write_text("Team,Points\nHarrow,12\nKingsmere,47\n")
    asked = "How many points does Harrow have?\nWhich team has the most points?\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(asked))
    assert command("chat", "--table", str(table), "--log", str(log), "--otlp", receiver.url).code == 0
    ids = {span.attributes["gen_ai.conversation.id"] for span in receiver.spans}
    assert len(receiver.traces) == 2 and len(ids) == 1
    live = taken(receiver)
    assert command("export", str(log), "--otlp", receiver.url).code == 0
    assert taken(receiver) == live


def test_export_needs(command: Command, tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    written, sent = log.read_text(), command("export", str(log), "--otlp", NOBODY)
    assert sent.code == 1 and f"of 10 spans did not reach {NOBODY}/v1/traces: no answer" in sent.err
    assert command("export", str(log)).code == 2
    assert command("chat", "--table", f"{ROOT}/demos/data/league.csv", "--content").code == 2
    assert "no such file" in command("export", f"{tmp_path}/none", "--otlp", NOBODY).err
    log.write_text("[]\n")
    assert "line 1 is not an event" in command("export", str(log), "--otlp", NOBODY).err
    for seconds in ("1e308", "-1", '"5"'):
        log.write_text(re.sub(r'"seconds":[^,}]+', f'"seconds":{seconds}', written))
        told = command("export", str(log), "--otlp", NOBODY)
        assert told.code == 1 and f"{json.loads(seconds)} seconds is not a valid" in told.err
