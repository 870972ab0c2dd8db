"""Runs on a Ray cluster of three nodes on this machine: what threads give, also where nodes are lost."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory
from chameleon.errors import InventoryError, MachineError, ModelError
from chameleon.llm import LLM
from chameleon.planners.fixed import Fixed
from chameleon.state import State
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
TABLE = Table(("City", "Rain"), (("Oslo", "3"), ("Rome", "1"), ("Bern", "2")))
QUESTION = {"question": "Which city has the most rain?", "table": TABLE}
KEY = "sk-test-5d7b1c0e9f4a4e0c8b1d"
TOOL = """
import os, time
from chameleon import Module
class Tool(Module):
    'Notes that it runs, and does what the question says.'
    reads = ("input.question", "cache.first?")
    writes = ("cache.{writes}",)
    uses = ("gpu", "WEATHER_KEY")
    asks = "{asks}"
    def run(self, state):
        with open(os.environ["CHAMELEON_NOTE"], "a") as file:
            file.write(f"{{os.getpid()}} {{state.input['question']}}{{chr(10)}}")
        if state.input["question"] == "die":
            os._exit(9)
        time.sleep(1 if state.input["question"] == "wait" else 0.05)
        return [os.environ.get(name) for name in ("CUDA_VISIBLE_DEVICES", "WEATHER_KEY", "OPENAI_API_KEY")]
"""
STEPS = """
name: steps
input: {question: str, table: "Table?", choices: "list?", unit: "str?"}
planner: {use: fixed, plan: [first, second]}
modules: {first: {use: "first:Tool"}, second: {use: "second:Tool"}}
"""


class Nodes:
    """A cluster: a head without processors, and nodes of one each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.workers: list[Any] = []
        self.address = str(self.cluster.address)
        self.restore()

    def restore(self) -> None:
        """Have two nodes again."""
        self.workers += [self.cluster.add_node(num_cpus=1) for _ in range(2 - len(self.workers))]
        self.cluster.wait_for_nodes()


@pytest.fixture(autouse=True)
def _offline() -> None:
    """Let connections pass: the nodes have the address of this machine."""


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.delenv("OPENAI_API_KEY", raising=False)
        made = Nodes()
        yield made
        made.cluster.shutdown()


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file in which the tools note that they run: process and question."""
    monkeypatch.setenv("CHAMELEON_NOTE", str(tmp_path / "note.txt"))
    return tmp_path / "note.txt"


def wait_for(note: Path, text: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (note.exists() and text in note.read_text("utf-8")):
        time.sleep(0.01)


def steps(place: Path, asks: str = "") -> str:
    """Write the inventory of two tools, and return its path."""
    for name, writes in (("first", "first"), ("second", "answer")):
        write(place, TOOL.format(writes=writes, asks=asks), f"{name}.py")
    return str(write(place, STEPS, "steps.yaml"))


def on(nodes: Nodes, *options: str) -> tuple[str, ...]:
    return ("--on", f"ray:{nodes.address}", "--workers", "4", *options)


def outcome(state: State) -> tuple[Any, ...]:
    return state.answer, state.plan, state.ended and state.ended.reason, len(state.history)


def test_batch_comes_to_what_threads_come_to(nodes: Nodes) -> None:
    from chameleon.interop.ray import OnRay

    questions = [QUESTION, {"question": "Why is it so?", "table": TABLE}, {"table": TABLE}] * 4
    executor = Executor("tables_offline")
    here = executor.batch(questions, 2)
    with OnRay(executor, nodes.address, runs=4) as remote:
        there = remote.batch(questions, 4)
    assert [outcome(each) for each in here] == [outcome(each) for each in there]
    assert [each.ended and each.ended.reason for each in there[:3]] == ["answered", "declined", "failed"]


@pytest.mark.parametrize("moment", [1, 100])
def test_a_lost_node_loses_nothing_and_doubles_nothing(
    nodes: Nodes, moment: int, command: Command, tmp_path: Path, note: Path
) -> None:
    inventory, data = steps(tmp_path), write_rows(tmp_path / "rows.jsonl", make_rows(48))
    out, threads = tmp_path / "out", tmp_path / "threads"
    killed: list[int] = []

    def kill() -> None:
        """Take a node away at once, when so many events are kept and both nodes have run steps."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not killed:
            events = (out / "events.jsonl").read_bytes().count(b"\n") if out.exists() else 0
            noted = note.read_text("utf-8").splitlines() if note.exists() else []
            if events >= moment and len({line.split()[0] for line in noted}) == 2:
                nodes.cluster.remove_node(nodes.workers.pop(0), allow_graceful=False)
                killed.append(events)
            time.sleep(0.005)

    killer = threading.Thread(target=kill)
    killer.start()
    ask = ("eval", inventory, str(data), "-b", "tabmwp", "--json")
    ended = command(*ask, "--out", str(out), *on(nodes))
    killer.join()
    nodes.restore()
    assert ended.code == 0, ended.err
    assert killed and killed[0] < 48 * 5, "the node was lost before the end"
    assert "a worker was lost: its problems run again on another" in ended.err, ended.err
    json.loads(ended.out)
    assert command(*ask, "--out", str(threads), "--workers", "2").code == 0

    def verdicts(folder: Path) -> dict[str, Any]:
        rows = {row["id"]: (row["answer"], row["correct"], row["plan"]) for row in read_results(folder)}
        assert len(rows) == len(read_results(folder)) == 48
        return rows

    assert verdicts(out) == verdicts(threads)
    kinds = Counter((row["id"], row["event"], row.get("module")) for row in read_lines(out / "events.jsonl"))
    assert set(kinds.values()) == {1} and len(kinds) == 48 * 5, "each event is there once"
    settings = [json.loads((folder / "settings.json").read_text("utf-8")) for folder in (out, threads)]
    assert {**settings[0], "started": ""} == {**settings[1], "started": ""}


def test_a_problem_that_ends_its_workers_fails_and_one_that_is_stopped_resumes(
    nodes: Nodes, tmp_path: Path, note: Path
) -> None:
    from chameleon.interop.ray import OnRay

    stop = threading.Event()
    with OnRay(Executor(steps(tmp_path)), nodes.address, runs=2) as remote:
        lost = remote.run({"question": "die"})
        threading.Thread(target=lambda: (wait_for(note, "wait"), stop.set())).start()
        events = list(remote.stream({"question": "wait"}, stop=stop))
        assert note.read_text("utf-8").count("wait") == 1, "no further step began"
        assert remote.run({"question": "wait"}, events).answer
    assert str(lost.ended.error) == "Ray: 3 workers were lost while the problem ran"
    assert Counter(line.split()[1] for line in note.read_text("utf-8").splitlines()) == {"die": 3, "wait": 2}


def test_a_model_is_asked_with_the_key_of_here_and_no_log_of_ray_has_it(
    nodes: Nodes, asking: Callable[..., Asking], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = asking(count=12, inventory=PRICED)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert made.run(*on(nodes)).code == 0
    assert {headers["authorization"] for headers in made.server.headers} == {f"Bearer {KEY}"}
    there, made.out = made.results, made.out.with_name("threads")
    assert made.run("--workers", "4").code == 0
    for id, result in made.results.items():
        assert (there[id]["answer"], there[id]["plan"]) == (result["answer"], result["plan"])
        assert there[id]["usage"]["calls"] == result["usage"]["calls"] > 0
        assert there[id]["usage"]["cost"] == result["usage"]["cost"] > 0
    logs = Path(nodes.cluster.head_node.get_session_dir_path()).rglob("*")
    written = [path for path in logs if path.is_file() and not path.is_symlink()]
    assert written and not [path for path in written if KEY.encode() in path.read_bytes()]
    made.out = made.out.with_name("limited")
    limited = made.run(*on(nodes, "--max-cost", "0.000001"))
    assert limited.code == 1 and "the cost has reached --max-cost" in limited.err and len(made.results) < 12


def test_what_cannot_run_there_is_refused_in_a_sentence(
    nodes: Nodes, command: Command, tmp_path: Path, note: Path
) -> None:
    from chameleon.interop.ray import OnRay

    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    with pytest.raises(InventoryError, match="made in Python"):
        OnRay(Executor(Inventory("mine", Fixed(["double"]), [double])), nodes.address)
    with pytest.raises(ModelError, match="a key that is given in Python") as caught:
        OnRay(Executor("tables", LLM.connect("openai:gpt-4.1-mini", api_key=KEY)), nodes.address)
    assert KEY not in str(caught.value)
    executor = Executor(steps(tmp_path))
    (tmp_path / "first.py").unlink()
    with (
        OnRay(executor, nodes.address) as remote,
        pytest.raises(MachineError, match=r"a worker cannot run this: .*first"),
    ):
        remote.run({"question": "x"})
    data = str(write_rows(tmp_path / "rows.jsonl", make_rows(3)))
    wrong = command("eval", "tables_offline", data, "--on", "spark")
    assert wrong.code == 2 and "say ray or ray:ADDRESS" in wrong.err
    lost = command("eval", "tables_offline", data, "--on", "ray:ray://127.0.0.1:9")
    assert lost.code == 1 and "the cluster cannot be reached" in lost.err and "Traceback" not in lost.err
    out = tmp_path / "out"
    asks = command("eval", steps(tmp_path, "approval"), data, "-b", "tabmwp", *on(nodes, "--out", str(out)))
    assert asks.code == 0 and [row["declined"] for row in read_results(out)] == [True] * 3, asks.err
    assert not note.exists(), "steps that ask are refused"


def test_workers_of_other_versions_are_refused(nodes: Nodes, tmp_path: Path) -> None:
    from chameleon.interop.ray import OnRay

    (tmp_path / "jinja2-2.0.dist-info").mkdir()
    metadata = tmp_path / "jinja2-2.0.dist-info" / "METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: Jinja2\nVersion: 2.0\n", "utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    stranger = nodes.cluster.add_node(num_cpus=1, num_gpus=1, env_vars={"PYTHONPATH": path})
    try:
        nodes.cluster.wait_for_nodes()
        differs = r"a worker's settings differ: versions\.jinja2 was \"3[^\"]*\", and now is \"2\.0\""
        with (
            OnRay(Executor(steps(tmp_path)), nodes.address) as remote,
            pytest.raises(MachineError, match=differs),
        ):
            remote.run({"question": "x"})
    finally:
        nodes.cluster.remove_node(stranger)


def test_modules_get_gpus_and_the_variables_that_they_name(
    nodes: Nodes, tmp_path: Path, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chameleon.interop.ray import OnRay

    monkeypatch.setenv("WEATHER_KEY", "w-1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with OnRay(Executor(steps(tmp_path)), nodes.address) as remote:
        assert list(remote.run({"question": "x"}).answer) == [None, "w-1", None]
    large = nodes.cluster.add_node(num_cpus=1, num_gpus=1)
    try:
        nodes.cluster.wait_for_nodes()
        with OnRay(Executor(steps(tmp_path)), nodes.address) as remote:
            assert list(remote.run({"question": "x"}).answer)[:2] == ["0", "w-1"]
    finally:
        nodes.cluster.remove_node(large)
