"""What a million questions would cost, from what a few hundred real ones take: tokens, dollars, log, time.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai,programs]' psutil
    /tmp/perf/bin/python perf/million.py DEV.jsonl.gz RECORDED.jsonl.gz [--problems 300]

DEV are problems of TabMWP, RECORDED the programs that a model wrote for such, as `program`. Prompts are those
of `tabmwp_pot` over these problems; a reply is as long as a recorded program. Tokens are estimated as
`chameleon.text.estimated_tokens` does it; prices are those of `genai-prices`. The log is an evaluation's.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from measuring import surroundings, table

from chameleon import LLM, Executor, Inventory, State
from chameleon.benchmarks.tabmwp import Tabmwp
from chameleon.evaluation.data import DataFile, read_problems
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.events import EVENTS
from chameleon.evaluation.run import read_run
from chameleon.evaluation.run_dir import RESULTS, RunDir
from chameleon.llm.prices import Pricing, TokenCounts
from chameleon.text import estimated_tokens

MODELS = ("openai:gpt-6-luna",)
MILLION = 1_000_000


def measure(name: str, problems: list[Any], reply: str) -> dict[str, float]:
    """Evaluate an inventory over the problems with a model that always says the same; return means."""
    says = GenericFakeChatModel(messages=iter(lambda: AIMessage(reply), None))
    executor = Executor(Inventory.load(name), LLM.connect(says, retries=0))
    benchmark = Tabmwp()
    scorer = benchmark.scorers["chameleon"]()
    with tempfile.TemporaryDirectory() as place:
        with RunDir(place, {"benchmark": "tabmwp", "inventory": name}) as run_dir:
            Evaluation(executor, scorer, benchmark, run_dir=run_dir, workers=1).run(problems)
        size = sum((Path(place) / file).stat().st_size for file in (EVENTS, RESULTS))
        run = read_run(place)
        states = [State.fold(events) for _, events in run.with_events(run.results)]
    calls = [call for state in states for call in state.calls]
    tokens = sum(estimated_tokens(text) for call in calls for _, text in call.messages)
    n = len(problems)
    return {"calls": len(calls) / n, "input": tokens / n, "log": size / n}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("dev", type=Path)
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--problems", type=int, default=300)
    given = parser.parse_args()
    benchmark = Tabmwp()
    problems = list(read_problems(benchmark, DataFile(given.dev, benchmark.id_key), limit=given.problems))
    with gzip.open(given.recorded, "rt") as lines:
        programs = [json.loads(line) for line in lines][: given.problems]
    key = next(key for key in ("program", "code", "output") if key in programs[0])
    texts = sorted((str(row[key]) for row in programs), key=len)
    reply = f"```python\n{texts[len(texts) // 2]}\n```"
    out = statistics.mean(estimated_tokens(text) for text in texts)
    found = measure("tabmwp_pot", problems, reply)
    counts = TokenCounts(round(found["input"]), round(out * found["calls"]))
    costs = [Pricing(model).cost(counts) for model in MODELS]
    dollars = ["?" if cost is None else f"{cost * MILLION:,.0f}" for cost in costs]
    said = [f"{found['calls']:.2f}", f"{counts.input:,}", f"{counts.output:,}"]
    rows = [["tabmwp_pot", *said, *dollars, f"{found['log'] / 1000:.1f}"]]
    names = [model.partition(":")[2] for model in MODELS]
    head = ["inventory", "calls", "tokens in", "tokens out", *(f"{name}, $" for name in names), "log, KB"]
    table(f"A question of {len(problems)}, and a million of them in dollars", head, rows)
    print(surroundings(), f"genai-prices {version('genai-prices')}.")


if __name__ == "__main__":
    main()
