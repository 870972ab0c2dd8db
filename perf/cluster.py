"""What a Ray cluster costs beside threads, and what is lost with its nodes.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[corpus,ray]' psutil
    /tmp/perf/bin/python perf/cluster.py [--problems 400] [--kills 20] [--tables 100000]

A head without processors and two nodes of one each stand on this machine, in processes of their own.

- Speed: problems of two steps, which wait or compute for half of `--milliseconds` each, by two threads and by
  two workers; the workers have begun before.
- Kills: an evaluation of 48 problems, a node of which is killed (its processes at once, without a word) at a
  moment drawn from a seed; its results are compared with those of threads.
- Index: made tables, a file each, by one process and by the cluster; compared document by document.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from measuring import surroundings, table

from chameleon import Executor
from chameleon.benchmarks.tabmwp import Tabmwp
from chameleon.documents.indexing import index_files
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.run_dir import RunDir
from chameleon.interop.ray import OnRay
from chameleon.interop.ray_index import RayReader
from chameleon.retrieval.index import Index

TOOLS = '''
import os, time
from chameleon import Module
class Step(Module):
    """Waits, or computes, and notes that it ran."""
    reads = ("input.question", "cache.first?")
    writes = ("cache.answer", "cache.first")
    def __init__(self, note: str, seconds: float, computes: bool = False):
        self.note, self.seconds, self.computes = note, seconds, computes
    def run(self, state):
        with open(self.note, "a") as file:
            file.write(f"{os.getpid()} {state.input['question']}\\n")
        if self.computes:
            until = time.thread_time() + self.seconds
            while time.thread_time() < until:
                sum(range(1000))
        else:
            time.sleep(self.seconds)
        return state.input["question"].upper()
    def update_cache(self, cache, output):
        return {"first": output, "answer": output}
'''


class Cluster:
    """A head, and nodes that can be killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster as Made

        self.made = Made(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        self.nodes = [self.made.add_node(num_cpus=1) for _ in range(2)]
        self.made.wait_for_nodes()
        self.address = str(self.made.address)

    def kill(self, which: int) -> None:
        self.made.remove_node(self.nodes.pop(which), allow_graceful=False)

    def restore(self) -> None:
        self.nodes += [self.made.add_node(num_cpus=1) for _ in range(2 - len(self.nodes))]
        self.made.wait_for_nodes()


def inventory(folder: Path, seconds: float, *, computes: bool = False) -> str:
    """Write the inventory of two steps; return its path."""
    (folder / "tools.py").write_text(TOOLS)
    step = {"use": "tools:Step", "note": str(folder / "note.txt"), "seconds": seconds, "computes": computes}
    made = {"name": "steps", "planner": {"use": "fixed", "plan": ["one", "two"]}}
    file = folder / "steps.yaml"
    file.write_text(json.dumps({**made, "modules": {"one": step, "two": step}}))
    return str(file)


def speed(cluster: Cluster, problems: int, seconds: float) -> list[list[str]]:
    rows = []
    inputs = [{"question": f"question {number}"} for number in range(problems)]
    for computes in (False, True):
        folder = Path(tempfile.mkdtemp())
        executor = Executor(inventory(folder, seconds / 2, computes=computes))
        with OnRay(executor, cluster.address, runs=2) as remote:
            begun = time.monotonic()
            remote.batch(inputs[:16], 2)
            while len({line.split()[0] for line in (folder / "note.txt").read_text().splitlines()}) < 2:
                remote.batch(inputs[:4], 2)
            start = time.monotonic() - begun
            times: dict[str, list[float]] = {"threads": [], "ray": []}
            for _ in range(3):
                for name, runner in (("threads", executor), ("ray", remote)):
                    begun = time.monotonic()
                    states = runner.batch(inputs, 2)
                    times[name].append(time.monotonic() - begun)
                    assert [state.answer for state in states] == [each["question"].upper() for each in inputs]
        threads, ray = (sorted(each)[1] for each in times.values())
        kind = "computes" if computes else "waits"
        rows.append([kind, f"{threads:.2f}", f"{ray:.2f}", f"{threads / ray:.2f}", f"{start:.1f}"])
        shutil.rmtree(folder)
    return rows


def evaluate(executor: Any, out: Path, count: int) -> dict[str, Any]:
    benchmark = Tabmwp()
    scorer = benchmark.scorers["chameleon"]()
    text = {"ans_type": "extractive_text", "choices": None}
    problems = [
        Problem(str(at), {"question": f"question {at}"}, f"QUESTION {at}", detail=text) for at in range(count)
    ]
    with RunDir(out, {"benchmark": "tabmwp", "inventory": "steps"}) as run_dir:
        Evaluation(executor, scorer, benchmark, run_dir=run_dir, workers=4).run(problems)
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    found = {line["id"]: (line["answer"], line["correct"], line["plan"], line["error"]) for line in lines}
    assert len(found) == len(lines)
    return found


def kills(cluster: Cluster, moments: int, count: int = 48) -> list[str]:
    """Kill a node at so many moments; return a row of what came of it."""
    chance, totals = random.Random(20), Counter[str]()
    folder = Path(tempfile.mkdtemp())
    executor = Executor(inventory(folder, 0.05))
    threads = evaluate(executor, folder / "threads", count)
    slowest = 0.0
    for moment in range(moments):
        out, at, which = folder / f"ray-{moment}", chance.randrange(1, 4 * count), chance.randrange(2)
        (folder / "note.txt").unlink()
        killed: list[int] = []

        def kill(out: Path = out, at: int = at, which: int = which, killed: list[int] = killed) -> None:
            while not killed:
                events = out / "events.jsonl"
                seen = events.read_bytes().count(b"\n") if events.exists() else 0
                if seen >= at:
                    cluster.kill(which)
                    killed.append(seen)
                time.sleep(0.002)

        killer = threading.Thread(target=kill)
        with OnRay(executor, cluster.address, runs=4) as remote:
            killer.start()
            begun = time.monotonic()
            found = evaluate(remote, out, count)
            slowest = max(slowest, time.monotonic() - begun)
        killer.join()
        cluster.restore()
        events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
        once = Counter((event["id"], event["event"], event.get("module")) for event in events)
        steps = Counter(line.partition(" ")[2] for line in (folder / "note.txt").read_text().splitlines())
        totals["lost"] += count - len(found)
        totals["other"] += sum(found.get(id) != each for id, each in threads.items())
        totals["twice"] += sum(times - 1 for times in once.values())
        totals["again"] += sum(steps.values()) - 2 * count
        print(f"kill {moment + 1} after {killed[0]} events: {dict(totals)}", file=sys.stderr)
    shutil.rmtree(folder)
    shown = [f"{totals[key]}" for key in ("lost", "twice", "other", "again")]
    return [str(moments), f"{moments * count:,}", *shown, f"{slowest:.1f}"]


def indexes(cluster: Cluster, tables: int) -> list[list[str]]:
    folder = Path(tempfile.mkdtemp())
    words = [f"word{number}" for number in range(5_000)]
    for number in range(tables):
        chance = random.Random(number)
        place = folder / "files" / str(number % 500)
        place.mkdir(parents=True, exist_ok=True)
        rows = (
            f"{chance.choice(words)} {chance.choice(words)},{chance.randrange(2027)},{chance.random():.3f}"
            for _ in range(20)
        )
        (place / f"t{number}.csv").write_text("\n".join(["Name,Year,Score", *rows]) + "\n")
    rows, found = [], {}
    for name in ("one process", "two workers"):
        begun = time.monotonic()
        if name == "one process":
            index_files([folder / "files"], folder / name, "lexical")
        else:
            with RayReader(cluster.address) as reader:
                index_files([folder / "files"], folder / name, "lexical", reader=reader)
        seconds = time.monotonic() - begun
        index = Index.open(folder / name)
        found[name] = hash(tuple(index.line_at(place) for place in index.places()))
        rows.append([name, f"{len(index):,}", f"{seconds:.0f}", f"{len(index) / seconds:,.0f}"])
    same = "equal" if len(set(found.values())) == 1 else "DIFFERENT"
    shutil.rmtree(folder)
    return [[*row, same] for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=400)
    parser.add_argument("--milliseconds", type=float, default=50)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--tables", type=int, default=100_000)
    given = parser.parse_args()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster()
    try:
        if given.problems:
            head = ["problem", "2 threads, s", "2 workers, s", "threads ÷ workers", "start, s"]
            title = f"{given.problems:,} problems of {given.milliseconds:g} ms"
            table(title, head, speed(cluster, given.problems, given.milliseconds / 1000))
        if given.kills:
            head = [
                "kills",
                "problems",
                "lost",
                "events twice",
                "other verdicts",
                "steps again",
                "slowest, s",
            ]
            table("A node killed", head, [kills(cluster, given.kills)])
        if given.tables:
            head = ["index", "tables", "seconds", "tables a second", "documents"]
            table("An index", head, indexes(cluster, given.tables))
    finally:
        cluster.made.shutdown()
    print(surroundings("ray", "tantivy"))


if __name__ == "__main__":
    main()
