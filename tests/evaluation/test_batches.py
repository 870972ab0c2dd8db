"""Evaluations by batches: as those asked at once, for half; rounds, faults, ends on the way and limits."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chameleon.evaluation import batches
from chameleon.llm import batch_apis
from tests.e2e.commands import Command
from tests.evaluation.batched import ANTHROPIC, OPENAI, VOTED, Batched, by_rules, counts, solved
from tests.faults.running import wait_until
from tests.hosted import RULES, HostedServer, Rules
from tests.local_server import JsonHandler, LocalServer

Make = Callable[..., Batched]


@pytest.fixture
def batched(monkeypatch: pytest.MonkeyPatch, command: Command, tmp_path: Path) -> Iterator[Make]:
    """Make evaluations that ask a server of their own."""
    monkeypatch.setattr(batches, "PAUSES_S", (0.002, 0.01))
    servers: list[HostedServer] = []

    def make(reply: Any = by_rules, **about: Any) -> Batched:
        server = HostedServer(reply)
        servers.append(server)
        server.__enter__()
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k-openai-secret")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k-anthropic-secret")
        return Batched(server, command, tmp_path, **about)

    yield make
    for server in servers:
        server.stop()


@pytest.mark.parametrize(("model", "store"), [(OPENAI, "off"), (OPENAI, "auto"), (ANTHROPIC, "auto")])
def test_plans_and_repairs_come_out_as_asked_at_once(batched: Make, model: str, store: str) -> None:
    made = batched(model=model)
    assert made.run("once", "--store", "off").code == 0
    alone = Counter(json.dumps(seen.body, sort_keys=True) for seen in made.server.served)
    made.server.forget()
    outcome = made.run("batch", "--batch", "--store", store)
    assert outcome.code == 0, outcome.err
    assert made.results("batch", ["usage"]) == made.results("once", ["usage"])
    assert made.calls("batch") == made.calls("once")
    assert made.cost("batch") == pytest.approx(made.cost("once") / 2, rel=1e-3) and made.cost("once") > 0
    assert counts(outcome)["usage"]["calls"] == alone.total() == made.times_sent.total()
    if model == OPENAI:
        assert made.times_sent == alone
    assert len(made.server.requests) == alone.total(), "nothing is asked at once"


@pytest.mark.parametrize(("model", "requests"), [(OPENAI, 30), (ANTHROPIC, 150)])
def test_samples_and_problems_go_in_one_round(batched: Make, model: str, requests: int) -> None:
    made = batched(solved, model=model, inventory=VOTED)
    assert made.run("once").code == 0
    outcome = made.run("batch", "--batch")
    assert outcome.code == 0, outcome.err
    assert made.results("batch", ["usage"]) == made.results("once", ["usage"])
    assert made.calls("batch") == made.calls("once")
    assert made.cost("batch") == pytest.approx(made.cost("once") / 2) and made.cost("once") > 0
    (batch,) = made.server.batches.all
    assert len(batch.asked) == requests
    told = [line for line in outcome.err.splitlines() if line.startswith("Batch ")]
    assert told == [
        f"Batch 1 ({batch.id}) has {requests} requests.",
        f"Batch 1: 0 of {requests} requests are done.",
        f"Batch 1: {requests} of {requests} requests are done.",
    ]


def test_a_run_takes_as_many_rounds_as_it_makes_calls_in_a_row(batched: Make) -> None:
    made = batched(count=12)
    assert made.run("batch", "--batch").code == 0
    assert len(made.server.batches.all) == max(map(len, made.calls("batch").values())) > 3


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_files_keep_to_the_limits(batched: Make, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    api = batch_apis.OpenAIBatches if model == OPENAI else batch_apis.AnthropicBatches
    made = batched(solved, model=model, inventory=VOTED.replace("samples: 5", "samples: 1"), count=20)
    monkeypatch.setattr(api, "most_requests", 7)
    assert made.run("few", "--batch").code == 0
    assert [len(batch.asked) for batch in made.server.batches.all] == [7, 7, 6]
    monkeypatch.setattr(api, "most_bytes", 40_000)
    made.server.batches.most = dict.fromkeys(made.server.batches.most, (7, 40_000))
    assert made.run("small", "--batch").code == 0
    sizes = [len(batch.asked) for batch in made.server.batches.all[3:]]
    assert sum(sizes) == 20 and max(sizes) < 7


def killed_when(made: Batched, when: Callable[[], bool], out: str = "batch") -> None:
    """Run until then, and kill."""
    with made.start(out, "--batch") as process:
        wait_until(when, process)
        assert process.poll() is None, "it was to be killed on its way"
        process.kill()


def test_killed_and_gone_on_each_request_is_sent_once(batched: Make) -> None:
    made = batched(count=5)
    assert made.run("once").code == 0
    sent = made.server.batches
    sent.looks = 1_000_000
    killed_when(made, lambda: bool(sent.all and sent.all[0].looks > 2))
    sent.looks = 2
    killed_when(made, lambda: len(sent.all) == 2)
    # Sent, and nobody hears of it.
    sent.looks = 3
    number = len(sent.all)
    made.server.lost = lambda path: path.endswith("/batches") and len(sent.all) == number + 1
    killed_when(made, lambda: len(sent.all) == number + 1)
    made.server.lost = None
    with made.start("batch", "--batch") as process:
        err = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 0, err
    assert len({id for batch in sent.all for id in batch.asked}) == len(sent.requests)
    assert made.results("batch", ["usage"]) == made.results("once", ["usage"])
    assert made.calls("batch") == made.calls("once")
    assert len(sent.requests) == sum(map(len, made.calls("batch").values()))
    assert made.cost("batch") == pytest.approx(made.cost("once") / 2, rel=1e-3)


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_a_batch_that_nobody_heard_of_is_found_again(batched: Make, model: str) -> None:
    made = batched(solved, model=model, inventory=VOTED, count=5)
    lost = iter([True, True])
    made.server.lost = lambda path: path.endswith("/batches") and next(lost, False)
    assert made.run("batch", "--batch").code == 0
    assert len(made.server.batches.all) == 1


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_one_that_never_was_heard_of_is_found_by_the_next_start(
    batched: Make, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = batched(solved, model=model, inventory=VOTED, count=3)
    monkeypatch.setattr(batches, "_MOST_LOST", 1)
    made.server.lost = lambda path: path.endswith("/batches")
    stopped = made.run("batch", "--batch")
    assert stopped.code == 1 and "Stopped after 0 of 3: the same command goes on." in stopped.err
    made.server.lost = None
    assert made.run("batch", "--batch").code == 0
    assert len(made.server.batches.all) == 1


def test_ctrl_c_says_how_to_go_on_and_cancels_nothing(batched: Make) -> None:
    made = batched(solved, inventory=VOTED, count=5)
    sent = made.server.batches
    sent.looks = 1_000_000
    with made.start("batch", "--batch") as process:
        wait_until(lambda: bool(sent.all and sent.all[0].looks > 2), process)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130
    assert "The batches go on at the provider; nothing is cancelled." in err
    assert "Stopped after 0 of 5: the same command goes on." in err
    sent.looks = 1
    assert made.run("batch", "--batch").code == 0
    assert len(sent.all) == 1


def test_a_run_may_go_on_the_other_way(batched: Make) -> None:
    made = batched(count=6)
    assert made.run("once").code == 0
    sent, served = made.server.batches, len(made.server.requests)
    sent.looks = 2
    killed_when(made, lambda: len(sent.all) == 3)
    made.server.forget()
    assert made.run("batch").code == 0
    assert made.results("batch", ["usage"]) == made.results("once", ["usage"])
    assert 0 < len(made.server.requests) < served
    killed_when(made, lambda: len(sent.all) == 5, "other")
    assert made.run("other").code == made.run("other", "--batch").code == 0


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_what_expired_or_failed_for_a_while_is_asked_again(batched: Make, model: str) -> None:
    tried: Counter[str] = Counter()

    def expires(id: str, body: dict[str, Any]) -> bool:
        tried[text := json.dumps(body["messages"])] += 1
        return tried[text] == 1 and len(tried) % 3 == 0

    made = batched(solved, model=model, inventory=VOTED.replace("samples: 5", "samples: 1"), count=9)
    assert made.run("once").code == 0
    made.server.batches.expires = expires
    assert made.run("batch", "--batch").code == 0
    assert made.results("batch", ["usage"]) == made.results("once", ["usage"])
    assert [len(batch.asked) for batch in made.server.batches.all] == [9, 3]
    attempts = [call["attempts"] for calls in made.calls("batch").values() for call in calls]
    assert sorted(attempts) == [1] * 6 + [2] * 3
    assert made.cost("batch") == pytest.approx(made.cost("once") / 2, rel=1e-3)


def test_what_fails_for_good_is_tried_again_when_that_is_asked_for(batched: Make) -> None:
    made = batched(solved, inventory=VOTED.replace("retries: 3", "retries: 1"), count=4)
    made.server.batches.expires = lambda id, body: True
    failed = made.run("batch", "--batch")
    assert failed.code == 1 and len(made.server.batches.all) == 2, failed.err
    assert {result["error"]["kind"] for result in made.results("batch").values()} == {"ModelError"}
    made.server.batches.expires = lambda id, body: False
    assert made.run("batch", "--batch").code == 1, "a failure is kept"
    assert made.run("batch", "--batch", "--retry-failed").code == 0
    assert len(made.server.batches.all) == 3
    assert not any(result["error"] for result in made.results("batch").values())


def test_a_refused_parameter_is_left_out_in_the_next_round(
    batched: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    efforts = ("low", "medium", "high")  # nobody knows yet that it thinks
    monkeypatch.setitem(RULES["openai"], "gpt-4.1-mini", Rules(32768, efforts, thinks=True))  # type: ignore[arg-type]
    made = batched(solved, inventory=VOTED, count=4)
    once = made.run("once", "--allow-dropped")
    assert once.code == 0, once.err
    refused = len(made.server.refused)
    outcome = made.run("batch", "--batch", "--allow-dropped")
    assert outcome.code == 0, outcome.err
    assert made.results("batch", ["usage"]) == made.results("once", ["usage"])
    assert refused == 2 and len(made.server.batches.all) == 4, "twice refused, then cut off by its thoughts"
    asked = sum(batch.asked.__len__() - batch.failed for batch in made.server.batches.all)
    assert asked == sum(call["usage"]["calls"] for calls in made.calls("batch").values() for call in calls)


def test_a_reply_that_is_cut_off_gets_more_room_in_the_next_round(batched: Make) -> None:
    text = VOTED.replace("prices:", "max_tokens: 8, prices:")
    made = batched(lambda asked: f"{solved(asked)}".replace("so.", "so. " * 100), inventory=text, count=4)
    assert made.run("once").code == 0
    assert made.run("batch", "--batch").code == 0
    assert made.calls("batch") == made.calls("once")
    assert len(made.server.batches.all) == 3
    assert made.cost("batch") == pytest.approx(made.cost("once") / 2)


def test_the_highest_cost_is_kept_before_a_batch_is_sent(batched: Make) -> None:
    made = batched(count=10)
    stopped = made.run("batch", "--batch", "--max-cost", "0.001")
    assert stopped.code == 1 and not made.server.batches.all
    told = stopped.err.splitlines()[-1]
    assert "the next 10 requests may cost up to $0.0" in told and "would pass --max-cost 0.001" in told
    assert "A larger one goes on." in told
    some = made.run("batch", "--batch", "--max-cost", "0.03")
    assert some.code == 1 and made.server.batches.all, some.err
    sent = len(made.server.batches.requests)
    assert made.cost("batch") <= 0.03
    assert made.run("batch", "--batch", "--max-cost", "10").code == 0
    assert len(made.server.batches.requests) == sum(map(len, made.calls("batch").values())) > sent


def test_what_cannot_be_asked_by_batches_is_refused_at_once(
    batched: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = batched(count=3)
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    made.model = "google_genai:gemini-2.5-flash"
    other = made.run("other", "--batch", "--allow-dropped")
    assert other.code == 1 and "google_genai:gemini-2.5-flash cannot be asked by batches" in other.err
    assert "Models of openai: and anthropic: can" in other.err
    (tmp_path / "script.jsonl").write_text('"x"', "utf-8")
    made.model = f"scripted:{tmp_path / 'script.jsonl'}"
    assert "cannot be asked by batches" in made.run("other", "--batch").err
    nowhere = made.command("eval", made.inventory, made.data, "--batch", "--model", OPENAI)
    assert (
        nowhere.code == 1 and "--batch keeps what it sends in a folder. Name one with --out." in nowhere.err
    )
    made.inventory = "tables_offline"
    assert "asks no model" in made.run("offline", "--batch").err


class Nothing(JsonHandler):
    """A server that has no batches."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send(404, {"detail": "Not Found"})


def test_a_server_without_batches_says_so(batched: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = batched(count=3)
    with LocalServer(Nothing) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.port}/v1")
        outcome = made.run("batch", "--batch")
    assert outcome.code == 1 and "takes no batches (404). Leave --batch out." in outcome.err


def test_a_batch_that_the_provider_refuses_stops_and_goes_on(batched: Make) -> None:
    made = batched(solved, inventory=VOTED, count=3)
    made.server.batches.most["openai"] = (2, 10**9)
    stopped = made.run("batch", "--batch")
    assert stopped.code == 1
    assert "the provider refused batch 1 (batch_1): The batch job contains 3 requests" in stopped.err
    made.server.batches.most["openai"] = (3, 10**9)
    assert made.run("batch", "--batch").code == 0


def test_what_is_too_much_at_once_goes_in_smaller_batches(batched: Make) -> None:
    made = batched(solved, inventory=VOTED, count=20)
    made.server.batches.enqueued = 6
    outcome = made.run("batch", "--batch")
    assert outcome.code == 0, outcome.err
    assert "Batch 1 is too large for now: goes on in smaller ones." in outcome.err
    assert [len(each.asked) for each in made.server.batches.all] == [20, 10, 5, 5, 5, 5]


def test_replies_of_batches_are_in_the_store(batched: Make) -> None:
    made = batched(count=6)
    assert made.run("batch", "--batch", "--store", "auto").code == 0
    made.server.forget()
    assert made.run("stored", "--store", "auto").code == 0
    assert not made.server.requests and made.cost("stored") == 0
    assert made.run("again", "--batch", "--store", "auto").code == 0
    assert not made.server.requests


def test_nothing_that_is_kept_holds_the_key(batched: Make) -> None:
    made = batched(solved, inventory=VOTED, count=3)
    assert made.run("batch", "--batch").code == 0
    kept = [path.read_text("utf-8") for path in (made.place / "batch").iterdir()]
    assert kept and not any("secret" in text for text in kept)
