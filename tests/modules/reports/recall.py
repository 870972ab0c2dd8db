"""The recall of gold facts that docs/reports.md tells: `python -m tests.modules.reports.recall lexical`."""

import sys
from collections.abc import Sequence
from typing import cast

from chameleon import State
from chameleon.benchmarks.finqa import Finqa
from chameleon.modules.reports.report_retriever import By, ReportRetriever
from chameleon.values import freeze
from tests.benchmarks.shared_data import Row, rows

FIRST, SECOND = slice(0, None, 2), slice(1, None, 2)
"""Every other question of a file. Weights of `ranking` were fitted to all of `train_100` and to the first
half of `dev_200`, and to no question of its second half."""


def recall(by: By, questions: Sequence[Row], places: Sequence[int] = (3, 5, 10)) -> list[float]:
    """The share of a question's gold facts among the first so many, averaged, to three places."""
    benchmark, sums = Finqa(), dict.fromkeys(places, 0.0)
    for row in questions:
        problem = benchmark.problem(row, {})
        gold = set(problem.detail["facts"])
        kept = ReportRetriever(max(places), by=by).run(State(input=freeze(problem.input)))["kept"]
        found = [_gold_name(fact["source"]) for fact in kept]
        for place in places:
            sums[place] += len(gold.intersection(found[:place])) / len(gold)
    return [round(each / len(questions), 3) for each in sums.values()]


def files() -> dict[str, list[Row]]:
    """The questions with whole reports: all of them, those that weights were fitted to, and the others."""
    train, dev = rows("finqa/train_100.jsonl.gz"), rows("finqa/dev_200.jsonl.gz")
    return {"all": [*train, *dev], "fitted": [*train, *dev[FIRST]], "held out": dev[SECOND]}


def _gold_name(source: dict[str, int]) -> str:
    """A place as FinQA names it: line 0 of the table is its header."""
    return f"table_{source['row']}" if "row" in source else f"text_{source['passage'] - 1}"


if __name__ == "__main__":
    for way in cast(list[By], sys.argv[1:]):
        for name, questions in files().items():
            print(way, name, *recall(way, questions))
