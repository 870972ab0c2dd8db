"""Runs on a Ray cluster of three nodes on this machine: what threads give, also where nodes are lost."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State
from chameleon.approval import Request
from chameleon.errors import InputError, InventoryError, MachineError, ModelError
from chameleon.llm import LLM
from chameleon.planners.fixed import Fixed
from chameleon.retrieval.index import Index
from chameleon.table import Table
from tests.e2e.commands import Command
from tests.e2e.conftest import command as command
from tests.engine.files import write
from tests.evaluation.asking import PRICED, Asking
from tests.evaluation.conftest import asking as asking
from tests.evaluation.rows import make_rows, read_lines, read_results, write_rows

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray.*"),
    pytest.mark.xdist_group("ray"),
]
Make = Callable[..., Asking]
TABLE = Table(("City", "Rain"), (("Oslo", "3"), ("Rome", "1"), ("Bern", "2")))
QUESTION = {"question": "Which city has the most rain?", "table": TABLE}
TOOLS = """
import os, time
from chameleon import Module, StepRejected
class Slow(Module):
    '''Waits, and notes that it ran.'''
    reads = ("input.question",)
    writes = ("cache.slow",)
    def __init__(self, note: str, seconds: float = 0.05):
        self.note, self.seconds = note, seconds
    def run(self, state):
        with open(self.note, "a") as file:
            file.write(f"{os.getpid()} {state.input['question']}{chr(10)}")
        time.sleep(self.seconds)
        return state.input["question"].upper()
class Again(Slow):
    '''Waits once more.'''
    reads = ("input.question", "cache.slow")
    writes = ("cache.answer",)
class Card(Module):
    '''Tells which GPU it has, and a variable.'''
    uses = ("gpu", "WEATHER_KEY")
    writes = ("cache.answer",)
    def run(self, state):
        return [os.environ.get(name) for name in ("CUDA_VISIBLE_DEVICES", "WEATHER_KEY", "OPENAI_API_KEY")]
class Dies(Module):
    '''Ends its process.'''
    writes = ("cache.answer",)
    def run(self, state):
        os._exit(9)
class Sends(Module):
    '''Sends it.'''
    writes = ("cache.answer",)
    asks = "approval"
    def run(self, state):
        with open(os.environ["CHAMELEON_SENT"], "a") as file:
            file.write("sent ")
        if "dies" in state.input["question"]:
            os._exit(9)
        return "sent"
"""
SLOW = """
name: slow
input: {question: str, table: "Table?", choices: "list?", unit: "str?"}
planner: {use: fixed, plan: [slow, again]}
modules:
  slow: {use: "tools:Slow", note: NOTE}
  again: {use: "tools:Again", note: NOTE}
"""


class Nodes:
    """A cluster: a head without processors, and nodes of one each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "include_dashboard": False},
        )
        self.workers = [self.cluster.add_node(num_cpus=1) for _ in range(2)]

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    @property
    def logs(self) -> Path:
        return Path(self.cluster.head_node.get_session_dir_path())

    def kill(self) -> None:
        """Take a node away at once."""
        self.cluster.remove_node(self.workers.pop(0), allow_graceful=False)

    def restore(self) -> None:
        """Have two nodes again; in the main thread alone, as Ray has it."""
        self.workers += [self.cluster.add_node(num_cpus=1) for _ in range(2 - len(self.workers))]
        self.cluster.wait_for_nodes()


@pytest.fixture(autouse=True)
def _offline() -> None:
    """Let connections pass: the nodes have the address of this machine."""


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    before = dict(os.environ)
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    os.environ.pop("OPENAI_API_KEY", None)
    made = Nodes()
    yield made
    made.cluster.shutdown()
    os.environ.clear()
    os.environ.update(before)


def slow(place: Path) -> str:
    """Write the inventory of slow tools, and return its path."""
    write(place, TOOLS, "tools.py")
    return str(write(place, SLOW.replace("NOTE", str(place / "note.txt")), "slow.yaml"))


def workers_of(note: Path) -> set[str]:
    """Return the processes that ran the slow tools."""
    return {line.split()[0] for line in note.read_text("utf-8").splitlines()} if note.exists() else set()


def told(state: State) -> tuple[Any, ...]:
    return state.answer, state.plan, state.ended and state.ended.reason, len(state.history)


def test_batch_comes_to_what_threads_come_to(nodes: Nodes) -> None:
    from chameleon.interop.ray import batch

    questions = [QUESTION, {"question": "Why is it so?", "table": TABLE}, {"table": TABLE}] * 4
    executor = Executor("tables_offline")
    here = executor.batch(questions, 2)
    there = batch(executor, questions, address=nodes.address, workers=4)
    assert [told(each) for each in here] == [told(each) for each in there]
    assert [each.ended and each.ended.reason for each in there[:3]] == ["answered", "declined", "failed"]


@pytest.mark.parametrize("moment", [1, 60])
def test_a_lost_node_loses_nothing_and_repeats_nothing(
    nodes: Nodes, moment: int, command: Command, tmp_path: Path
) -> None:
    inventory, data = slow(tmp_path), write_rows(tmp_path / "rows.jsonl", make_rows(48))
    out, threads = tmp_path / "out", tmp_path / "threads"
    killed: list[int] = []

    def kill() -> None:
        events = out / "events.jsonl"
        until = time.monotonic() + 60
        while time.monotonic() < until and not killed:
            seen = events.read_bytes().count(b"\n") if events.exists() else 0
            if seen >= moment and len(workers_of(tmp_path / "note.txt")) == 2:
                nodes.kill()
                killed.append(seen)
            time.sleep(0.005)

    killer = threading.Thread(target=kill)
    killer.start()
    ask = ("eval", inventory, str(data), "-b", "tabmwp", "--json")
    outcome = command(*ask, "--out", str(out), "--on", f"ray:{nodes.address}", "--workers", "4")
    killer.join()
    nodes.restore()
    assert outcome.code == 0, outcome.err
    assert killed and killed[0] < 48 * 5, "the node was lost before the end"
    assert "a worker was lost: its runs go on elsewhere" in outcome.err, outcome.err
    (tmp_path / "note.txt").rename(tmp_path / "noted.txt")
    assert command(*ask, "--out", str(threads), "--workers", "2").code == 0

    def verdicts(folder: Path) -> dict[str, Any]:
        lines = read_results(folder)
        found = {row["id"]: (row["answer"], row["correct"], row["plan"], row["error"]) for row in lines}
        assert len(found) == len(lines) == 48
        return found

    assert verdicts(out) == verdicts(threads)
    kinds = Counter((row["id"], row["event"], row.get("module")) for row in read_lines(out / "events.jsonl"))
    assert set(kinds.values()) == {1} and len(kinds) == 48 * 5, "each event is there once"
    noted = (tmp_path / "noted.txt").read_text("utf-8").splitlines()
    steps = Counter(line.partition(" ")[2] for line in noted)
    rows = Counter(row["question"] for row in make_rows(48))
    again = sum((steps - Counter({question: 2 * n for question, n in rows.items()})).values())
    assert again <= 2, "of each run on the lost worker its step under way alone ran again"
    settings = [json.loads((folder / "settings.json").read_text("utf-8")) for folder in (out, threads)]
    assert {**settings[0], "started": ""} == {**settings[1], "started": ""}


def test_a_model_is_asked_with_the_key_of_here_and_no_log_of_ray_has_it(
    nodes: Nodes, asking: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = asking(count=12, inventory=PRICED)
    key = "sk-test-5d7b1c0e9f4a4e0c8b1d"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    outcome = made.run("--on", f"ray:{nodes.address}", "--workers", "4")
    assert outcome.code == 0, outcome.err
    assert {headers["authorization"] for headers in made.server.headers} == {f"Bearer {key}"}
    there = made.results
    made.out = made.out.with_name("threads")
    assert made.run("--workers", "4").code == 0
    for id, result in made.results.items():
        assert (there[id]["answer"], there[id]["plan"]) == (result["answer"], result["plan"])
        assert there[id]["usage"]["calls"] == result["usage"]["calls"] > 0
        assert there[id]["usage"]["cost"] == result["usage"]["cost"] > 0
    written = [path for path in nodes.logs.rglob("*") if path.is_file() and not path.is_symlink()]
    assert written and not [path for path in written if key.encode() in path.read_bytes()]


def test_workers_of_other_versions_are_refused(
    nodes: Nodes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from chameleon.interop.ray import OnRay

    other = tmp_path / "jinja2-2.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: Jinja2\nVersion: 2.0\n", "utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    stranger = nodes.cluster.add_node(num_cpus=1, env_vars={"PYTHONPATH": path})
    try:
        nodes.cluster.wait_for_nodes()
        with OnRay(Executor("tables_offline"), nodes.address, runs=3) as remote:
            assert remote.count == 3
            deadline = time.monotonic() + 30
            while "a worker is refused" not in caplog.text and time.monotonic() < deadline:
                assert [each.answer for each in remote.batch([QUESTION] * 4, 3)] == ["Oslo"] * 4
            assert re.search(
                r"settings differ: versions.jinja2 was \"3[^\"]*\", and now is \"2.0\"", caplog.text
            )
        for node in nodes.workers:
            nodes.cluster.remove_node(node)
        nodes.workers.clear()
        with (
            OnRay(Executor("tables_offline"), nodes.address) as remote,
            pytest.raises(MachineError, match=r"versions\.jinja2"),
        ):
            remote.run(QUESTION)
    finally:
        nodes.cluster.remove_node(stranger)
        nodes.restore()


def test_what_a_node_lacks_is_told(nodes: Nodes, tmp_path: Path) -> None:
    from chameleon.interop.ray import OnRay

    place = tmp_path / "mine"
    place.mkdir()
    executor = Executor(slow(place))
    place.rename(tmp_path / "elsewhere")
    with (
        OnRay(executor, nodes.address) as remote,
        pytest.raises(MachineError, match="a worker cannot run this"),
    ):
        remote.run({"question": "x"})


def test_what_is_made_in_python_stays_here(nodes: Nodes) -> None:
    from chameleon.interop.ray import OnRay, batch

    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    with pytest.raises(InventoryError, match="made in Python cannot be handed on"):
        batch(Executor(Inventory("mine", Fixed(["double"]), [double])), [], address=nodes.address)
    keyed = LLM.connect("openai:gpt-4.1-mini", api_key="sk-test-5d7b1c0e9f4a4e0c8b1d")
    with pytest.raises(ModelError, match="a key that is given in Python") as caught:
        OnRay(Executor("tables", keyed), nodes.address)
    assert "sk-test" not in str(caught.value)


def test_a_cluster_that_is_not_there_is_told(command: Command, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "rows.jsonl", make_rows(3))
    wrong = command("eval", "tables_offline", str(data), "--on", "spark")
    assert wrong.code == 2 and "say ray or ray:ADDRESS" in wrong.err
    lost = command("eval", "tables_offline", str(data), "--on", "ray:ray://127.0.0.1:9")
    assert lost.code == 1 and "the cluster cannot be reached" in lost.err and "Traceback" not in lost.err


def test_modules_get_gpus_and_the_variables_that_they_name(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chameleon.interop.ray import batch

    monkeypatch.setenv("WEATHER_KEY", "w-1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    write(tmp_path, TOOLS, "tools.py")
    told = {"name": "card", "planner": {"use": "fixed", "plan": ["card"]}}
    file = write(tmp_path, json.dumps({**told, "modules": {"card": {"use": "tools:Card"}}}), "card.yaml")
    (without,) = batch(Executor(file), [{"question": "x"}], address=nodes.address, workers=1)
    assert list(without.answer) == [None, "w-1", None], "where there is no GPU it goes without"
    large = nodes.cluster.add_node(num_cpus=1, num_gpus=1)
    try:
        nodes.cluster.wait_for_nodes()
        (state,) = batch(Executor(file), [{"question": "x"}], address=nodes.address, workers=8)
        assert list(state.answer)[:2] == ["0", "w-1"]
    finally:
        nodes.cluster.remove_node(large)


def test_a_person_here_approves_what_runs_there(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chameleon.interop.ray import batch

    sent = tmp_path / "sent.txt"
    monkeypatch.setenv("CHAMELEON_SENT", str(sent))
    write(tmp_path, TOOLS, "tools.py")
    spec: Mapping[str, Any] = {"name": "sends", "planner": {"use": "fixed", "plan": ["sends"]}}
    file = write(tmp_path, json.dumps({**spec, "modules": {"sends": {"use": "tools:Sends"}}}), "sends.yaml")
    asked: list[str] = []

    def once(request: Request) -> bool:
        asked.append(str(request))
        return len(asked) == 1

    for approve, answer, count in ((once, "sent", 1), (None, None, 1)):
        executor = Executor(file, approve=approve)
        (state,) = batch(executor, [{"question": "x"}], address=nodes.address, workers=1)
        assert (state.answer, len(asked)) == (answer, count)
    assert [step.module for step in state.waiting] == ["sends"]
    asked.clear()
    (state,) = batch(
        Executor(file, approve=once), [{"question": "it dies"}], address=nodes.address, workers=1
    )
    assert state.ended and state.ended.reason == "declined" and len(asked) == 2
    assert sent.read_text("utf-8").split() == ["sent", "sent"], "one yes is for one call, lost or not"


def test_a_step_that_ends_its_process_fails_its_problem(nodes: Nodes, tmp_path: Path) -> None:
    from chameleon.interop.ray import OnRay

    write(tmp_path, TOOLS, "tools.py")
    spec = {"name": "dies", "planner": {"use": "fixed", "plan": ["dies"]}}
    file = write(tmp_path, json.dumps({**spec, "modules": {"dies": {"use": "tools:Dies"}}}), "dies.yaml")
    with OnRay(Executor(file), nodes.address, runs=1) as remote:
        state = remote.run({"question": "x"})
    assert state.ended and state.ended.error
    assert str(state.ended.error) == "module dies: 3 workers were lost while it ran"


def test_a_run_that_is_stopped_begins_no_further_step(nodes: Nodes, tmp_path: Path) -> None:
    from chameleon.interop.ray import OnRay

    stop = threading.Event()
    with OnRay(Executor(slow(tmp_path)), nodes.address) as remote:
        events = remote.stream({"question": "x"}, stop=stop)
        seen = [next(events), next(events), next(events)]
        stop.set()
        assert not list(events)
        time.sleep(0.2)
        assert (tmp_path / "note.txt").read_text("utf-8").count("\n") == 1
        assert remote.run({"question": "x"}, seen).answer == "X"
        with pytest.raises(InputError, match="on other machines"):
            remote.run({"question": "x"}, on_text=print)


def test_an_index_of_workers_is_that_of_one_process(nodes: Nodes, command: Command, tmp_path: Path) -> None:
    pytest.importorskip("tantivy")
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(300):
        rows = "\n".join(f"{number} {each},{number * each}" for each in range(12))
        (folder / f"t{number}.csv").write_text(f"Name,Points\n{rows}\n", "utf-8")
    (folder / "notes.md").write_text("# Rules\n\nA point is won at the net.\n", "utf-8")
    (folder / "broken.xlsx").write_bytes(b"PK\x03\x04 broken")
    (folder / "t1.csv#Points.csv").write_text("A,B\n1,2\n", "utf-8")
    outcomes = {}
    for name, more in (("here", ()), ("there", ("--on", f"ray:{nodes.address}"))):
        made = command(
            "index", str(folder), "-o", str(tmp_path / name), "--retriever", "lexical", "--json", *more
        )
        assert made.code == 0, made.err
        outcomes[name] = {**json.loads(made.out), "index": "", "seconds": 0}
    assert outcomes["here"] == outcomes["there"] and outcomes["here"]["tables"] == 301
    one, other = Index.open(tmp_path / "here"), Index.open(tmp_path / "there")
    assert [one.line_at(each) for each in one.places()] == [other.line_at(each) for each in other.places()]
    for name in ("here", "there"):
        again = command("index", str(folder), "-o", str(tmp_path / name), "--json")
        assert json.loads(again.out)["unchanged"] >= 302, again.out
