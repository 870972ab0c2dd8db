"""Measure how fast the response store records and replays, against LangChain's memory cache and SQLite.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/recorded_replies.py [--replies 5000] [--threads 1 32] [--repeats 5]

The same prompts go to a model that replies at once, first with an empty file, then again.

- Chameleon: `LLM.ask` with a `ResponseStore`, including the request key, the search for an identical request
  in flight, and the counters. A reply is written to the operating system before `ask` returns.
- ResponseStore: the same file without `LLM`; replies are looked up, then stored.
- LangChain: `invoke` of the same model with `InMemoryCache`, which keeps nothing when the process ends.
- plain SQLite: just reading and writing a row (one commit each), with a connection per thread.

If a model is called, recording includes LangChain's time for the call.
"""

import argparse
import hashlib
import json
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from langchain_core.caches import InMemoryCache
from timings import Figure, surroundings, table
from workload import REPLY, InstantChat

from chameleon import LLM
from chameleon.llm import ResponseStore
from chameleon.llm.message import ModelRequest

Ask = Callable[[str], Any]


class Named(InstantChat):
    """A model with a name, which the store needs."""

    model_name: str = "named"


def chameleon(path: Path) -> Ask:
    return LLM.connect(Named(), store=ResponseStore(path), temperature=0).ask


def langchain(path: Path) -> Ask:
    return Named(cache=InMemoryCache()).invoke


def store_alone(path: Path) -> Ask:
    store = ResponseStore(path)

    def ask(prompt: str) -> None:
        request = ModelRequest.of("instant:model", prompt, {"temperature": 0})
        if store.get(request) is None:
            store.put(request, {"text": REPLY, "finish": "stop"})

    return ask


def plain(path: Path) -> Ask:
    local = threading.local()
    first = sqlite3.connect(path, isolation_level=None)
    first.execute("PRAGMA journal_mode = WAL")  # once per file: threads that all set it lock each other out
    first.execute("CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, text TEXT)")
    first.close()

    def ask(prompt: str) -> None:
        if not hasattr(local, "connection"):
            local.connection = sqlite3.connect(path, timeout=60, isolation_level=None)
            local.connection.execute("PRAGMA synchronous = NORMAL")
        key = hashlib.sha256(prompt.encode()).hexdigest()
        if not local.connection.execute("SELECT text FROM texts WHERE key = ?", (key,)).fetchone():
            text = json.dumps({"prompt": prompt, "reply": REPLY})
            local.connection.execute("INSERT OR REPLACE INTO texts VALUES (?, ?)", (key, text))

    return ask


VARIANTS: Mapping[str, Callable[[Path], Ask]] = {
    "**Chameleon, `LLM.ask`**": chameleon,
    "**Chameleon, ResponseStore alone**": store_alone,
    "LangChain, cache in memory": langchain,
    "plain SQLite": plain,
}


def rate(ask: Ask, prompts: Sequence[str], threads: int) -> float:
    """Return the number of prompts per second, over all threads."""

    def work(thread: int) -> None:
        for prompt in prompts[thread::threads]:
            ask(prompt)

    begun = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(threads)):
            pass
    return len(prompts) / (time.perf_counter() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replies", type=int, default=5000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each variant")
    options = parser.parse_args()
    prompts = [f"How much is {number} and one? " + "Think first. " * 40 for number in range(options.replies)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for threads in options.threads:
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in VARIANTS}
            for number in range(options.repeats):
                for place, (name, make) in enumerate(VARIANTS.items()):
                    ask = make(Path(folder) / f"{place}.{threads}.{number}.sqlite")
                    found[name].append((rate(ask, prompts, threads), rate(ask, prompts, threads)))
            for name, rates in found.items():
                recorded, replayed = (Figure(values) for values in zip(*rates, strict=True))
                rows.append([f"{threads}: {name}", recorded.shown(0), replayed.shown(0)])
    header = ["threads: store", "recorded a second", "replayed a second: median (least–most)"]
    table(f"{options.replies:,} replies", header, rows)
    print(surroundings("langchain-core"))


if __name__ == "__main__":
    main()
