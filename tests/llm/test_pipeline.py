"""One call: stored, shared, budgeted, retried, widened, recorded, booked and logged."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from chameleon import errors
from chameleon.errors import BudgetExceeded, EmptyReply, ModelError, ParameterRefused, Refused
from chameleon.llm import LLM, ResponseStore, ScriptedModel
from chameleon.llm.message import ModelRequest
from chameleon.usage import UNKNOWN, Budget, Call, Meter, Usage, recording
from tests.llm.asking import Host, Json, Start, connect, failing, local, scripted, without_waits
from tests.loopback import Fault, Reply

FREE = Usage(calls=0, input_tokens=0, output_tokens=0, cost=0.0)
PAID = {"input_tokens": 10, "output_tokens": 2, "cost": 0.5}
SPENT = Usage(1, 10, 2, 0.5, None, None)


def test_what_is_dropped_is_logged_with_the_call(hosted: Host) -> None:
    llm = connect(hosted(), "openai:o9-mini")
    with recording(Meter()) as recorder:
        llm.ask("hi", temperature=0)
        llm.ask("hi again", temperature=1)
        llm.ask_many("hi", 2, temperature=0)
    assert [set(call.dropped) for call in recorder.calls] == [{"temperature"}, set(), *[{"temperature"}] * 2]
    assert recorder.calls[0].to_json()["dropped"] == recorder.calls[0].dropped
    assert recorder.calls[0].params == {"temperature": 0}


def test_a_stored_reply_remembers_how_it_came(hosted: Host, loopback: Start, tmp_path: Path) -> None:
    server, path = hosted(), tmp_path / "replies.sqlite"
    for mode in ("auto", "auto", "replay"):
        asked: Json = {"store": ResponseStore(path, mode), "temperature": 0}
        assert set(connect(server, "openai:o9-mini", **asked).ask("hi").dropped) == {"temperature"}
        strict = connect(server, "openai:o9-mini", allow_dropped=False, **asked)
        for ask in (strict.ask, lambda text, llm=strict: llm.ask_many(text, 1)):
            with pytest.raises(ParameterRefused, match="temperature: 0"):
                ask("hi")
    assert len(server.requests) == 2  # refused once, answered once
    asked_for = loopback([Reply("yes", logprobs=(-0.5, -1.5)), Reply("no")]).requests
    for mode in ("auto", "replay"):
        llm = LLM.connect("openai:local", store=ResponseStore(path, mode), logprobs=True)
        assert llm.ask("sure?").logprob == pytest.approx(-1.0)
    assert asked_for[0]["logprobs"] is True and LLM.connect("openai:local").ask("sure?").logprob is None


FULL = failing("maximum context length is 100 tokens")
HALF = Reply("half", finish="length")


@pytest.mark.parametrize(
    ("replies", "text", "limits"),
    [
        ([HALF], "half", [60, 240, 960]),
        ([HALF, HALF, "whole"], "whole", [60, 240, 960]),
        ([HALF, FULL, HALF], "half", [60, 240]),  # half a reply is better than none
    ],
)
def test_more_room_for_what_is_cut(loopback: Start, store: Any, replies: Any, text: str, limits: Any) -> None:
    server = loopback(replies)
    llm = connect(server, "openai:local", store=store)
    with recording(Meter()) as recorder:
        reply = llm.ask("hi", max_tokens=60)
    assert [request["max_tokens"] for request in server.requests] == limits
    assert (reply.text, reply.truncated, reply.attempts) == (text, text == "half", len(limits))
    assert reply.usage == recorder.meter.spent == recorder.calls[0].usage
    asked, whole = len(limits), len(limits) - (FULL in replies)
    told = (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens)
    assert told == (asked, 11 * whole, 7 * whole)
    assert llm.ask("hi", max_tokens=60).text == text and len(server.requests) == asked
    assert llm.ask("another", max_tokens=60, whole=False).text in ("half", "whole")
    assert len(server.requests) == asked + 1 and server.requests[-1]["max_tokens"] == 60
    server = loopback([HALF])
    with recording(Meter(Budget(calls=2))) as recorder, pytest.raises(BudgetExceeded, match="budget of 2"):
        connect(server, "openai:local").ask("hi", max_tokens=60)
    assert len(server.requests) == recorder.meter.spent.calls == 2


def test_samples_that_are_cut_off_are_asked_for_again_together(hosted: Host) -> None:
    server = hosted(lambda asked: "long " * 100 if asked.sample else "short")
    with recording(Meter()) as recorder:
        replies = connect(server, "openai:gpt-4.1-mini", max_tokens=60).ask_many("hi", 3)
    assert [reply.text.split()[0] for reply in replies] == ["short", "short", "long"]
    assert [seen.body.get("n", 1) for seen in server.requests] == [3, 2]
    told, spent = server.tokens(), recorder.meter.spent
    assert (spent.calls, spent.input_tokens, spent.output_tokens) == (2, told.input, told.output)


@pytest.mark.parametrize(
    ("model", "n", "sizes"),
    [("gpt-4.1-mini", 20, [20]), ("gpt-5-mini", 5, [5]), ("gpt-5-mini", 20, [4, 8, 8])],  # it thinks: eight
)
def test_samples_are_one_request_where_offered(hosted: Host, model: str, n: int, sizes: list[int]) -> None:
    server = hosted(lambda asked: f"answer {asked.sample}")
    replies = connect(server, f"openai:{model}").ask_many("hi", n)
    assert sorted(seen.body["n"] for seen in server.requests) == sizes
    assert [reply.text for reply in replies[: sizes[0]]] == [f"answer {each}" for each in range(sizes[0])]
    assert [reply.usage.calls for reply in replies].count(1) == len(sizes)
    spent, told = sum((reply.usage for reply in replies), Usage()), server.tokens()
    assert (spent.input_tokens, spent.output_tokens) == (told.input, told.output)


def test_only_missing_samples_are_asked_for_each_with_its_seed(hosted: Host, store: ResponseStore) -> None:
    server = hosted(lambda asked: str(asked.body.get("seed")))
    llm = connect(server, "openai:gpt-4.1-mini", store=store)
    llm.ask_many("hi", 2)
    assert [reply.cached for reply in llm.ask_many("hi", 5)] == [True, True, False, False, False]
    assert [reply.text for reply in llm.ask_many("hi", 4, seed=7)] == ["7", "8", "9", "10"]
    assert [seen.body.get("n") for seen in server.requests] == [2, 3, *[None] * 4]


@pytest.mark.parametrize("words", [None, "n must be 1, got 5.", "Unrecognized request argument supplied: n"])
def test_a_server_that_gives_one_sample_is_asked_for_each(loopback: Start, words: str | None) -> None:
    def reply(request: Json) -> Any:
        return failing(words) if words and "n" in request else f"{len(server.requests)}"

    server = loopback(reply)
    llm = connect(server, "openai:local")
    replies = llm.ask_many("hi", 5)
    assert len({reply.text for reply in replies}) == 5
    llm.ask_many("hi again", 3)
    assert [request.get("n") for request in server.requests] == [5, *[None] * (8 if words else 7)]
    assert all(not reply.dropped and reply.usage.calls == 1 for reply in replies)


def test_faults_that_stay_end_at_once(loopback: Start) -> None:
    for answer, kind, words in (
        (Reply(""), "EmptyReply", "empty reply"),
        (Reply("<think>hm"), "EmptyReply", "wrote thoughts but no answer"),
        (Reply("<think>still thinking", finish="length"), "EmptyReply", "max_tokens"),
        (Reply(None, message={"refusal": "I cannot help."}), "Refused", "I cannot help"),
        (Reply("par", finish="content_filter"), "Refused", "content filter"),
        (Fault(401), "AuthFailed", "key"),
        (failing("x", code="context_length_exceeded"), "ContextTooLong", "fit"),
        (failing("x", code="content_filter"), "Refused", "refused the prompt"),
        (failing("response_format is not supported"), "SchemaRefused", "output schema"),
        (Fault(404, {"detail": "Not Found"}), "ModelError", "/v1"),
        (failing("slow", 429, code="insufficient_quota"), "RateLimited", "quota"),
    ):
        server = loopback([answer])
        with pytest.raises(ModelError, match=words) as caught:
            local(retries=5).ask("hi")
        assert type(caught.value) is getattr(errors, kind) and len(server.requests) == 1


WAITED = {"7": 7, "3000": 60}  # seconds that a server asks for, and that it is given
PASSING = [Fault(429), Fault(500), Fault(503, "<html>Bad"), Fault(broken_json=True), Fault(drop=True)]


@pytest.mark.parametrize(
    "fault", [*PASSING, Fault(delay=1.5), *(Fault(429, headers={"Retry-After": each}) for each in WAITED)]
)
def test_faults_that_pass_are_retried_once_each_and_no_oftener(loopback: Start, fault: Fault) -> None:
    server = loopback([fault, Reply("ok")])
    naps: list[float] = []
    reply = local(retries=2, naps=naps, timeout=0.5).ask("hi")
    assert (reply.text, reply.attempts, len(server.requests)) == ("ok", 2, 2)
    assert len(naps) == 1 or fault.status == 429  # that is waited for in turn as well
    if seconds := WAITED.get(fault.headers.get("Retry-After", "")):
        (nap,) = filter(None, naps)
        assert seconds - 0.1 <= nap <= 1.25 * seconds


def test_the_same_question_in_flight_is_asked_once(loopback: Start) -> None:
    server = loopback(lambda request: Reply("ok", delay=0.3))
    llm = local()
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda _: llm.with_params(top_p=1).ask("hi"), range(8)))
    assert len(server.requests) == 1 and [reply.text for reply in replies] == ["ok"] * 8
    assert sum(reply.usage.calls for reply in replies) == 1 and sum(reply.cached for reply in replies) == 7


def test_silence_is_explained_once(loopback: Start, caplog: pytest.LogCaptureFixture) -> None:
    loopback().stop()
    llm = local(retries=2)
    for text in ("a", "b"):
        with pytest.raises(ModelError):
            llm.ask(text)
    (told,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert (told.name, "openai:local does not answer" in told.message) == ("chameleon", True)


def test_all_end_with_the_run_and_a_late_reply_is_recorded(loopback: Start, store: ResponseStore) -> None:
    asked = threading.Event()

    def reply(request: Json) -> Reply:
        asked.set()
        return Reply("late", delay=1)

    loopback(reply)
    llm, begun = LLM.connect("openai:local", store=store), time.monotonic()
    with recording(Meter(Budget(seconds=0.3))) as recorder, pytest.raises(BudgetExceeded, match=r"0\.3 s"):
        llm.ask("hi")
    assert time.monotonic() - begun < 0.8
    assert recorder.meter.spent == recorder.calls[0].usage == UNKNOWN
    assert recorder.calls[0].error.startswith("BudgetExceeded")
    while not len(store) and time.monotonic() < begun + 10:
        time.sleep(0.02)
    assert llm.ask("hi").cached
    asked.clear()
    with ThreadPoolExecutor(1) as threads:
        patient = threads.submit(llm.ask, "hello")
        asked.wait(5)
        for samples, calls in ((1, [0]), (3, [0, 0, 1])):  # who waits; one request was to bring all three
            begun = time.monotonic()
            with recording(Meter(Budget(seconds=0.2))) as recorder, pytest.raises(BudgetExceeded):
                llm.ask_many("hello", samples)
            assert time.monotonic() - begun < 0.8
            assert sorted(call.usage.calls for call in recorder.calls) == calls
        assert patient.result().text == "late"


def test_calls_and_failures_are_booked_and_logged() -> None:
    stopped = {"text": "no", "finish": "content_filter", **PAID}
    script = [{"text": "Paris", **PAID}, stopped, ValueError("odd"), errors.RateLimited("full"), "fine"]
    llm = scripted(script, temperature=0, retries=0)
    with recording(Meter(Budget(calls=6))) as recorder:
        reply = llm.ask("Capital?", max_tokens=5)
        for _ in range(5):
            with suppress(ModelError):
                assert llm.ask("a").text == "fine"
    call, refused, *others = recorder.calls
    assert (call.model, call.messages) == ("scripted:script", (("user", "Capital?"),))
    assert (call.text, call.finish, call.error, call.attempts) == ("Paris", "stop", "", 1)
    assert call.params == {"max_tokens": 5, "temperature": 0}
    assert call.usage == reply.usage == refused.usage == SPENT  # an error, but its tokens are paid
    assert Call.from_json(call.to_json()) == call
    names = ["Refused", "ModelError", "RateLimited", "", "ScriptExhausted"]
    assert [each.error.split(":")[0] for each in (refused, *others)] == names
    assert recorder.meter.spent.calls == 6


def test_samples_are_logged_in_order_whoever_is_faster_or_fails() -> None:
    together = threading.Barrier(12, timeout=10)
    for script, n in ((lambda messages: f"x{together.wait()}", 12), (["a", "b"], 3)):
        with recording(Meter()) as recorder, suppress(errors.ScriptExhausted):
            scripted(script).ask_many("hi", n)
            assert n == 12
        assert [call.sample for call in recorder.calls] == list(range(n)) and recorder.meter.spent.calls == n


def test_the_budget_stops_calls_before_they_are_made_and_leaks_nothing() -> None:
    model = ScriptedModel(lambda messages: "x")
    llm = LLM.connect(model)
    with recording(Meter(Budget(calls=3))) as recorder:
        with pytest.raises(BudgetExceeded, match="3 calls"):
            llm.ask_many("hi", 8)
        assert len(recorder.calls) == recorder.meter.spent.calls == len(model.requests) == 3
        with pytest.raises(BudgetExceeded):
            llm.ask("another")
    with recording(Meter(Budget(calls=4), spent=recorder.meter.spent)):
        assert llm.ask("another").text == "x"


def test_a_run_without_budget_stops_no_other_that_waits_for_the_same_reply(loopback: Start) -> None:
    loopback(lambda request: Reply("x", delay=0.05))
    llm = local()

    def ask(budget: Budget) -> str:
        with recording(Meter(budget)), suppress(BudgetExceeded):
            return llm.ask("same").text
        return "broke"

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(ask, [Budget(calls=0), Budget(), Budget(calls=0), Budget()]))
    assert answers[1] == answers[3] == "x" and {answers[0], answers[2]} <= {"broke", "x"}


def test_neither_a_retry_nor_a_turn_is_waited_for_beyond_the_runs_seconds(loopback: Start) -> None:
    naps: list[float] = []
    llm = without_waits(scripted([ConnectionError("down")] * 9, retries=9), naps)
    with recording(Meter(Budget(seconds=60.0), seconds_before=59.8)), pytest.raises(ModelError, match="down"):
        llm.ask("a")
    assert naps == []
    server, meter = loopback(), Meter(Budget(seconds=0.1))
    llm = LLM.connect("openai:local")
    llm._pipeline.connection.pace.wait(30)
    with recording(meter), pytest.raises(BudgetExceeded, match="seconds"):
        llm.ask("a")
    assert meter.spent == Usage() and server.requests == []


def test_waits_double_and_half_of_each_is_random() -> None:
    naps: list[float] = []
    for _ in range(20):
        without_waits(scripted([ConnectionError("down")] * 9 + ["x"], retries=9), naps).ask("a")
    steps = [0.5, 1, 2, 4, 8, 16, 30, 30, 30] * 20
    assert len(naps) == len(steps) and len(set(naps)) > 100
    assert all(step / 2 <= nap <= step for step, nap in zip(steps, naps, strict=True))


def test_stored_replies_are_logged_as_cached_cost_nothing_and_differ_by_sample(store: ResponseStore) -> None:
    model = ScriptedModel([{"text": "x", **PAID}, "a", "b", "c"])
    llm = LLM.connect(model, store=store)
    with recording(Meter()) as recorder:
        assert [llm.ask("a").cached, (second := llm.ask("a")).cached] == [False, True]
    assert (second.text, second.finish, second.usage) == ("x", "stop", FREE)
    assert [(call.cached, call.usage) for call in recorder.calls] == [(False, SPENT), (True, FREE)]
    assert recorder.meter.spent == SPENT and len(model.requests) == 1
    samples = [reply.text for reply in llm.ask_many("q", 3)]
    replayed = scripted([], store=ResponseStore(store.path, "replay")).ask_many("q", 3)
    assert sorted(samples) == ["a", "b", "c"] and [reply.text for reply in replayed] == samples


def test_records_need_no_key_damage_is_told_and_failures_are_not_kept(store: ResponseStore) -> None:
    store.put(ModelRequest("anthropic:claude", (("user", "q"),)), {"text": "a", "finish": "stop"})
    store.put(ModelRequest("scripted:script", (("user", "q"),)), {"text": None})
    replay = ResponseStore(store.path, "replay")
    assert LLM.connect("anthropic:claude", store=replay).ask("q").text == "a"
    with recording(Meter()) as recorder, pytest.raises(errors.ReplayMiss):
        scripted(["x"], store=replay).ask("a")
    assert recorder.calls[0].error.startswith("ReplayMiss") and recorder.meter.spent == FREE
    llm = scripted([ValueError("odd"), {"text": ""}, "fine"], store=store, retries=0)
    for question, kind in (("q", errors.StoreError), ("a", ModelError), ("a", EmptyReply)):
        with pytest.raises(kind):
            llm.ask(question)
    assert llm.ask("a").text == "fine" and len(store) == 3


def test_a_bad_sample_costs_its_own_vote(loopback: Start) -> None:
    filtered = Reply("no", finish="content_filter")
    for bad, kind in ((Reply(""), EmptyReply), (filtered, Refused), (Fault(400), ModelError)):
        loopback([Reply("a"), bad, Reply("b"), bad, Reply("c")])
        with recording(Meter()) as recorder:
            replies = local(seed=1).ask_many("hi", 5)
        assert sorted(reply.text for reply in replies) == ["a", "b", "c"]
        assert len(recorder.calls) == 5 and sum(bool(call.error) for call in recorder.calls) == 2
        loopback([bad])
        with pytest.raises(kind):
            local(seed=1).ask_many("hi", 3)
