"""Runs on a Ray cluster of three nodes on this machine: what threads give, also where nodes are lost."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from chameleon import Executor, Inventory
from chameleon.errors import InventoryError, MachineError, ModelError
from chameleon.interop.ray import OnRay
from chameleon.llm import LLM
from chameleon.table import Table
from tests.e2e.commands import Command
from tests.engine.files import write
from tests.evaluation.asking import PRICED
from tests.evaluation.conftest import asking as asking
from tests.evaluation.rows import make_rows, read_events, read_results, write_rows

pytest.importorskip("ray")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("ray")]
TABLE = Table(("City", "Rain"), (("Oslo", "3"), ("Rome", "1"), ("Bern", "2")))
KEY = "sk-test-5d7b1c0e9f4a4e0c8b1d"
TOOL = """
import os, time
from chameleon import Module
class Tool(Module):
    'Notes that it runs, and does what the question says.'
    reads = ("input.question", "cache.first?")
    writes = ("cache.{writes}",)
    uses = ("gpu", "WEATHER_KEY")
    requires_approval = bool("{asks}")
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
planner: {use: fixed, plan: [first, second]}
modules: {first: {use: "first:Tool"}, second: {use: "second:Tool"}}
"""
OnCluster = Callable[[Executor], OnRay]


@pytest.fixture(autouse=True)
def _offline() -> None:
    """Let connections pass: the nodes have the address of this machine."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.delenv("OPENAI_API_KEY", raising=False)
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        for _ in range(2):
            made.add_node(num_cpus=1)
        made.wait_for_nodes()
        made.options = ["--on", f"ray:{made.address}", "--workers", "4"]
        yield made
        made.shutdown()


@pytest.fixture
def on_ray(cluster: Any) -> OnCluster:
    return lambda executor: OnRay(executor, cluster.address, runs=4)


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "note.txt").touch()
    monkeypatch.setenv("CHAMELEON_NOTE", str(tmp_path / "note.txt"))
    monkeypatch.setenv("WEATHER_KEY", "w-1")
    return tmp_path / "note.txt"


def steps(place: Path, asks: str = "") -> str:
    for name, writes in (("first", "first"), ("second", "answer")):
        write(place, TOOL.format(writes=writes, asks=asks), f"{name}.py")
    return str(write(place, STEPS, "steps.yaml"))


def test_batch_comes_to_what_threads_come_to(on_ray: OnCluster) -> None:
    asked = ("Which city has the most rain?", "Why is it so?", 7)
    executor, inputs = Executor("tables_offline"), [{"question": each, "table": TABLE} for each in asked * 4]
    with on_ray(executor) as remote:
        states = [*executor.batch(inputs, 2), *remote.batch(inputs, 4)]
    outcomes = [(each.answer, each.plan, each.ended and each.ended.reason) for each in states]
    assert outcomes[:12] == outcomes[12:]
    assert [reason for *_, reason in outcomes[:3]] == ["answered", "declined", "failed"]


@pytest.mark.parametrize("moment", [1, 20])
def test_a_lost_node(cluster: Any, moment: int, command: Command, tmp_path: Path, note: Path) -> None:
    data, out = write_rows(tmp_path / "rows.jsonl", make_rows(144)), tmp_path / "out"
    killed: list[int] = []

    def kill() -> None:
        while not killed:  # until so many results are kept and both nodes have run steps
            file = out / "results.jsonl"
            results = file.read_bytes().count(b"\n") if file.exists() else 0
            if results >= moment and len({line.split()[0] for line in note.read_text().splitlines()}) == 2:
                cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
                killed.append(results)
            time.sleep(0.005)

    (killer := threading.Thread(target=kill, daemon=True)).start()
    ask = ("eval", steps(tmp_path), str(data), "-b", "tabmwp", "-o", str(out), "--json")
    ended = command(*ask, *cluster.options)
    killer.join(60)
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    assert ended.code == 0 and ended.out.count("\n") == 1, "only the JSON is on stdout"
    assert killed[0] < 144, "the node was lost before the end"
    assert "a worker was lost: its problems run again on another" in ended.err, ended.err
    rows, events = read_results(out), read_events(out)
    assert len({row["id"] for row in rows}) == len(rows) == 144 and not any(row["error"] for row in rows)
    kinds = Counter((row["id"], row["event"], row.get("module")) for row in events)
    assert set(kinds.values()) == {1} and len(kinds) == 144 * 5, "each event is there once"


def test_a_deadly_problem_fails_a_stopped_one_resumes(on_ray: OnCluster, tmp_path: Path, note: Path) -> None:
    stop: Any = Mock(is_set=lambda: "wait" in note.read_text())
    with on_ray(Executor(steps(tmp_path))) as remote:
        lost = remote.run({"question": "die"})
        events = list(remote.stream({"question": "wait"}, stop=stop))
        assert note.read_text().count("wait") == 1, "no further step began"
        assert remote.run({"question": "wait"}, events).answer
    assert lost.ended and str(lost.ended.error) == "Ray: 3 workers were lost while the problem ran"
    assert Counter(line.split()[1] for line in note.read_text().splitlines()) == {"die": 3, "wait": 2}


def test_a_key_goes_along_unlogged(cluster: Any, asking: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = asking(count=12, inventory=PRICED)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert made.run(*cluster.options).code == 0
    assert {headers["authorization"] for headers in made.server.headers} == {f"Bearer {KEY}"}
    there, made.out = made.results, made.out.with_name("threads")
    assert made.run("--workers", "4").code == 0
    for id, result in made.results.items():
        assert {**there[id], "seconds": 0} == {**result, "seconds": 0} and result["usage"]["cost"] > 0
    logs = [path for path in Path(cluster.head_node.get_session_dir_path()).rglob("*") if path.is_file()]
    assert len(logs) > 10 and not [path for path in logs if KEY.encode() in path.read_bytes()]
    made.out = made.out.with_name("limited")
    limited = made.run(*cluster.options, "--max-cost", "0.000001")
    assert limited.code == 1 and "the cost has reached --max-cost" in limited.err and len(made.results) < 12


def test_what_fails(cluster: Any, on_ray: OnCluster, command: Command, tmp_path: Path, note: Path) -> None:
    made_in_python = Executor(replace(Inventory.load("tables_offline"), source=None))
    given_a_key = Executor("tables", LLM.connect("openai:gpt-4.1-mini", api_key=KEY))
    for executor, kind in ((made_in_python, InventoryError), (given_a_key, ModelError)):
        with pytest.raises(kind, match="in Python"):
            on_ray(executor)
    executor = Executor(steps(tmp_path))
    (tmp_path / "first.py").unlink()
    with on_ray(executor) as remote, pytest.raises(MachineError, match=r"cannot run this: .*first"):
        remote.run({"question": "x"})
    data, out = str(write_rows(tmp_path / "rows.jsonl", make_rows(3))), tmp_path / "out"
    for place, code, said in (("spark", 2, "ray:ADDRESS"), ("ray:ray://127.0.0.1:9", 1, "cannot be reached")):
        wrong = command("eval", "tables_offline", data, "--on", place)
        assert wrong.code == code and said in wrong.err and "Traceback" not in wrong.err
    ask = ("eval", steps(tmp_path, "approval"), data, "-b", "tabmwp", "-o", str(out))
    asks = command(*ask, *cluster.options)
    assert asks.code == 0 and [row["declined"] for row in read_results(out)] == [True] * 3, asks.err
    assert not note.read_text(), "steps that ask are refused"


def test_gpus_variables_and_versions(cluster: Any, on_ray: OnCluster, tmp_path: Path, note: Path) -> None:
    executor = Executor(steps(tmp_path))
    with on_ray(executor) as remote:
        assert list(remote.run({"question": "x"}).answer) == [None, "w-1", None]
    node = cluster.add_node(num_cpus=1, num_gpus=1)
    with on_ray(executor) as remote:
        assert list(remote.run({"question": "x"}).answer)[:2] == ["0", "w-1"]
    cluster.remove_node(node)
    (tmp_path / "jinja2-2.0.dist-info").mkdir()
    write(tmp_path, "Metadata-Version: 2.1\nName: Jinja2\nVersion: 2.0\n", "jinja2-2.0.dist-info/METADATA")
    cluster.add_node(num_cpus=1, num_gpus=1, env_vars={"PYTHONPATH": str(tmp_path)})
    differs = r"a worker's settings differ: versions\.jinja2 changed from \"3[^\"]*\" to \"2\.0\""
    with on_ray(executor) as remote, pytest.raises(MachineError, match=differs):
        remote.run({"question": "x"})
