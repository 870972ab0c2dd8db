"""Check on sixty questions whether all tables needed are found, and what a prompt with them costs.

    python perf/several_tables.py [--model PROVIDER:NAME] [--own]

The questions come from `tests/several`: 37 over six folders of small files, each with its own index, and 23
over FeTaQA and HybridQA, whose tables and passages share one index (--own leaves these out). Run it from the
root of the checkout with the root on PYTHONPATH.

- "all found": all tables of the question are among the first k tables; copies count as the original. `dense`
  and `blend` are measured if embeddings are installed.
- Tokens are estimated for the first request of `corpus_sql` with k tables.
- With --model, `corpus_sql` answers the fifty questions without passages and `corpus` all sixty.
"""

import argparse
import statistics
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from timings import surroundings, table

from chameleon import LLM, Executor, Inventory
from chameleon.errors import MissingPackage
from chameleon.modules.tablerag.table_retriever import opened_index
from chameleon.retrieval.embeddings import NONE, automatic
from chameleon.retrieval.make import make_retriever
from chameleon.text import estimated_tokens
from tests.several.asked import QUESTIONS, SHARED, Question, build, corpus_of, gold_ids, is_right, scripted

RETRIEVERS: Mapping[str, Any] = {
    "bm25": "bm25",
    "bm25, then evidence": {"first": "bm25", "rerank": "evidence"},
    "dense": "dense",
    "blend": "blend",
}
KINDS = ("join", "union", "compare", "text")
FOUND, SHOWN = (1, 3, 5, 10), (1, 3, 5)
HOW = ("right", "wrong", "declined", "failed")


def found(questions: Sequence[Question], indexes: Mapping[str, str], retriever: Any) -> list[int]:
    """Return the smallest k that finds all tables of each question, or 1000."""
    needed = []
    for question in questions:
        index = opened_index(indexes[corpus_of(question)])
        hits = make_retriever(index, retriever).search(question["question"], 50, "table")
        # Copies of a table differ only in their ids.
        forms = [str(index.document(hit.id).to_json().get("table")) for hit in hits]
        gold = [str(index.document(id).to_json().get("table")) for id in gold_ids(question)]
        distinct = list(dict.fromkeys(forms))
        needed.append(max(distinct.index(each) + 1 if each in distinct else 1_000 for each in gold))
    return needed


def asked(inventory: str, question: Question, index: str, llm: LLM, k: int | None = None) -> Any:
    """Ask a question of an index, with `k` tables; the default is set by the inventory."""
    modules = {"table_retriever": {"k": k}} if k else {}
    given = {"name": "asked", "extends": inventory, "modules": modules}
    executor = Executor(Inventory.parse(given), llm=llm)
    return executor.run({"question": question["question"], "index": index})


def tokens(question: Question, index: str, k: int) -> int:
    """Return the estimated tokens of the first request of corpus_sql."""
    model = scripted(question, index)
    asked("corpus_sql", question, index, LLM.connect(model), k)
    return sum(estimated_tokens(text) for _, text in model.requests[0])


def outcome(state: Any, question: Question) -> str:
    """Return the outcome of a question."""
    if state.status != "answered":
        return state.status if state.status in HOW else "failed"
    return "right" if is_right(state.answer, question["answer"]) else "wrong"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", help="answer with it, too: PROVIDER:NAME")
    parser.add_argument("--own", action="store_true", help="without the questions over FeTaQA and HybridQA")
    options = parser.parse_args()
    questions = [each for each in QUESTIONS if not (options.own and corpus_of(each) == SHARED)]
    corpora = sorted({corpus_of(each) for each in questions})
    with tempfile.TemporaryDirectory() as folder:
        indexes = {each: build(each, Path(folder) / each / "index") for each in corpora}
        rows = []
        for name, spec in RETRIEVERS.items():
            if name in ("dense", "blend") and automatic() == NONE:
                continue
            try:
                ranks = found(questions, indexes, spec)
            except MissingPackage as problem:
                print(f"{name}: {problem}")
                continue
            for kind in (*KINDS, "all"):
                mine = [r for r, q in zip(ranks, questions, strict=True) if kind in (q["kind"], "all")]
                rows.append([name, kind, str(len(mine)), *(f"{sum(r <= k for r in mine)}" for k in FOUND)])
        table("Questions with all tables found", ["", "kind", "n", *(f"k = {k}" for k in FOUND)], rows)
        queries = [each for each in questions if each["sql"]]
        costs = {k: [tokens(each, indexes[corpus_of(each)], k) for each in queries] for k in SHOWN}
        spread = [[str(k), f"{statistics.median(c):,.0f}", f"{max(c):,}"] for k, c in costs.items()]
        table("Tokens of the prompt of corpus_sql", ["k", "median", "most"], spread)
        if options.model:
            told = []
            for inventory, some in (("corpus_sql", queries), ("corpus", questions)):
                llm = LLM.connect(options.model)
                states = [(asked(inventory, each, indexes[corpus_of(each)], llm), each) for each in some]
                counts = Counter(outcome(state, each) for state, each in states)
                told.append([inventory, *(str(counts[each]) for each in HOW)])
            table(f"Answers of {options.model}", ["", *HOW], told)
    print(surroundings())


if __name__ == "__main__":
    main()
