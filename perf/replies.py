"""How fast the response store records and replays, beside LangChain's cache and plain SQLite.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/replies.py [--replies 5000] [--threads 1 32] [--repeats 5]

The same prompts are asked of a model that replies at once, first with an empty file, then again.

- Chameleon: `LLM.ask` with a `ResponseStore`, so with the key of the request, the search for the same
  question in flight, and the counting. A reply is with the operating system before `ask` returns.
- ResponseStore: the same file without `LLM` around it; the replies are looked for, then put in.
- LangChain: `invoke` of the same model with a cache of LangChain's interface (`BaseCache`) over one SQLite
  table. It is written here, as lean as can be: LangChain's own was in langchain-community, now archived.
- plain SQLite: nothing but a row looked for and written (one commit each); a connection for each thread.

Where a model is asked, recording includes what LangChain itself takes to ask one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from langchain_core._api import LangChainBetaWarning
from langchain_core.caches import BaseCache
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.load import dumps, loads
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from measuring import Figure, surroundings, table

from chameleon import LLM
from chameleon.llm import ResponseStore
from chameleon.llm.message import ModelRequest

REPLY = "The answer is 42, since six times seven is forty-two. " * 4
Ask = Callable[[str], Any]

warnings.filterwarnings("ignore", category=LangChainBetaWarning)


class Instant(BaseChatModel):
    """A chat model that replies in no time."""

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        message = AIMessage(content=REPLY, response_metadata={"finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=message)])


class Table:
    """A table of texts by key, with a connection for each thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.local = threading.local()
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, text TEXT)")

    @property
    def connection(self) -> sqlite3.Connection:
        if not hasattr(self.local, "connection"):
            self.local.connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            self.local.connection.execute("PRAGMA synchronous = NORMAL")
        opened: sqlite3.Connection = self.local.connection
        return opened

    def get(self, key: str) -> str | None:
        row = self.connection.execute("SELECT text FROM texts WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def put(self, key: str, text: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO texts VALUES (?, ?)", (key, text))


class SQLiteCache(BaseCache):
    def __init__(self, path: Path) -> None:
        self.texts = Table(path)

    def lookup(self, prompt: str, llm_string: str) -> Any:
        text = self.texts.get(_digest(prompt + llm_string))
        if text is None:
            return None
        return [loads(each, allowed_objects=[ChatGeneration, AIMessage]) for each in json.loads(text)]

    def update(self, prompt: str, llm_string: str, return_val: Sequence[Any]) -> None:
        text = json.dumps([dumps(generation) for generation in return_val])
        self.texts.put(_digest(prompt + llm_string), text)

    def clear(self, **_: Any) -> None:
        raise NotImplementedError


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def chameleon(path: Path) -> Ask:
    return LLM.connect(Instant(), store=ResponseStore(path), temperature=0).ask


def langchain(path: Path) -> Ask:
    return Instant(cache=SQLiteCache(path)).invoke


def store_alone(path: Path) -> Ask:
    store = ResponseStore(path)

    def ask(prompt: str) -> None:
        request = ModelRequest.of("instant:model", prompt, {"temperature": 0})
        if store.get(request) is None:
            store.put(request, {"text": REPLY, "finish": "stop"})

    return ask


def plain(path: Path) -> Ask:
    texts = Table(path)

    def ask(prompt: str) -> str:
        key = _digest(prompt)
        found = texts.get(key)
        if found is None:
            texts.put(key, found := json.dumps({"prompt": prompt, "reply": REPLY}))
        return found

    return ask


def rate(ask: Ask, prompts: Sequence[str], threads: int) -> float:
    """Prompts asked in a second, by that many threads in all."""

    def work(thread: int) -> None:
        for prompt in prompts[thread::threads]:
            ask(prompt)

    begun = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(threads)):
            pass
    return len(prompts) / (time.perf_counter() - begun)


VARIANTS: Mapping[str, Callable[[Path], Ask]] = {
    "Chameleon": chameleon,
    "ResponseStore": store_alone,
    "LangChain": langchain,
    "plain SQLite": plain,
}


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
            found: dict[str, list[tuple[float, float]]] = {}
            for number in range(options.repeats):
                for who, make in VARIANTS.items():
                    ask = make(Path(folder) / f"{who}.{threads}.{number}.sqlite")
                    measured = rate(ask, prompts, threads), rate(ask, prompts, threads)
                    found.setdefault(who, []).append(measured)
            for who, rates in found.items():
                recorded, replayed = (Figure(values) for values in zip(*rates, strict=True))
                threads_said = f"{threads} thread{'s' if threads > 1 else ''}"
                rows.append([f"{threads_said}, {who}", recorded.shown(0), replayed.shown(0)])
    header = ["", "recorded a second", "replayed a second: median (least–most)"]
    table(f"{options.replies:,} replies", header, rows)
    print(surroundings("langchain-core"))


if __name__ == "__main__":
    main()
