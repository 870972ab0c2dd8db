"""Recorded answers on WikiTableQuestions give, under each rule, the figures measured with the originals."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest

from chameleon.benchmarks.wikitq import Wikitq
from chameleon.evaluation.benchmark import Problem
from tests.benchmarks.shared_data import DATA, anchors, needs_data, rows
from tests.e2e.commands import Command

pytestmark = needs_data
BENCHMARK = Wikitq()
OFFICIAL, TABLECOT = (BENCHMARK.scorers[name]() for name in ("official", "tablecot"))
_ELSEWHERE = re.compile(r"wikitq\.(bm25|binder_replay)")  # retrieval, and the executor of programs
_RUNS = {"normtab_sql": "wikitq/normtab_sql.jsonl.gz", "tabsqlify": "wikitq/tabsqlify.jsonl"}
_COVERED = re.compile(
    r"wikitq\.((dev|dev_test_half)\.(self_targets|self_canonical|first_item_only)"
    r"|binder\.(official|own_evaluator|with_qa)|(normtab_sql|tabsqlify)\.\w+\.official"
    r"|reactable\.(official|official_unsplit|repo_flags|flags_differ)"
    r"|tablecot\.(cot_0_999|merged_1500_2199)\.(official|own_matcher|regex_extracted))"
)


@cache
def problems(name: str = "dev_test_half") -> dict[str, Problem]:
    return {row["id"]: BENCHMARK.problem(row, {}) for row in rows(f"wikitq/{name}.jsonl")}


def check(name: str, verdicts: list[bool]) -> None:
    assert anchors()[name] == (sum(verdicts), len(verdicts))


@pytest.mark.parametrize("name", ["dev", "dev_test_half"])
def test_gold_answers_are_right(name: str) -> None:
    asked = problems(name).values()
    check(f"wikitq.{name}.self_targets", [OFFICIAL.right(each.gold, each) for each in asked])
    check(f"wikitq.{name}.self_canonical", [OFFICIAL.right(each.detail["canon"], each) for each in asked])
    check(f"wikitq.{name}.first_item_only", [OFFICIAL.right(each.gold[:1], each) for each in asked])


def test_binder() -> None:
    recorded = rows("wikitq/binder.jsonl.gz")
    verdicts = [OFFICIAL.right(row["pred_answer"], problems()[row["id"]]) for row in recorded]
    assert verdicts == [row["wikitq_evaluator"] for row in recorded]
    check("wikitq.binder.official", verdicts)
    check("wikitq.binder.with_qa", [row["programs_of_winner"][0].count("QA(") > 0 for row in recorded])


def test_binder_under_its_own_rule() -> None:
    pytest.importorskip("recognizers_number")
    rule, recorded = BENCHMARK.scorers["binder"](), rows("wikitq/binder.jsonl.gz")
    verdicts = [rule.right(row["pred_answer"], problems()[row["id"]]) for row in recorded]
    assert verdicts == [row["binder_evaluator"] for row in recorded]
    check("wikitq.binder.own_evaluator", verdicts)


def test_reactable() -> None:
    recorded = [(row, problems()[row["id"]]) for row in rows("wikitq/reactable.jsonl.gz")]
    split = [OFFICIAL.right(OFFICIAL.from_output(row["output"], asked), asked) for row, asked in recorded]
    assert split == [OFFICIAL.right(row["pred_answer"], asked) for row, asked in recorded]
    assert split == [row["wikitq_evaluator"] for row, _ in recorded]
    check("wikitq.reactable.official", split)
    check(
        "wikitq.reactable.official_unsplit", [OFFICIAL.right([r["output"]], asked) for r, asked in recorded]
    )
    flags = [row["repo_says"] for row, _ in recorded]
    check("wikitq.reactable.repo_flags", flags)
    check("wikitq.reactable.flags_differ", [one != other for one, other in zip(flags, split, strict=True)])


@pytest.mark.parametrize("run", ["cot_0_999", "merged_1500_2199"])
def test_tablecot(run: str) -> None:
    recorded = [row for row in rows("wikitq/tablecot.jsonl.gz") if row["run"] == run]
    asked = [problems()[row["id"]] for row in recorded]
    own = [TABLECOT.right(row["prediction"], one) for row, one in zip(recorded, asked, strict=True)]
    official = [OFFICIAL.right(row["prediction"], one) for row, one in zip(recorded, asked, strict=True)]
    assert own == [row["tablecot_evaluator"] for row in recorded]
    assert official == [row["wikitq_evaluator"] for row in recorded]
    check(f"wikitq.tablecot.{run}.own_matcher", own)
    check(f"wikitq.tablecot.{run}.official", official)
    stated = [row["extraction"] == "regex" for row in recorded]
    check(f"wikitq.tablecot.{run}.regex_extracted", stated)
    for row, one in zip(recorded, asked, strict=True):
        if row["extraction"] == "regex":
            assert TABLECOT.from_output(row["output"], one) == row["prediction"]


@pytest.mark.parametrize("system", _RUNS)
def test_systems_of_several_runs(system: str) -> None:
    recorded = rows(_RUNS[system])
    for run in {row["run"] for row in recorded}:
        verdicts = [
            OFFICIAL.right([row["prediction"]], problems()[row["id"]])
            for row in recorded
            if row["run"] == run
        ]
        check(f"wikitq.{system}.{run}.official", verdicts)


@pytest.mark.parametrize(
    ("anchor", "file", "options"),
    [
        ("binder.official", "binder.jsonl.gz", ["--field", "pred_answer"]),
        ("reactable.official", "reactable.jsonl.gz", ["--field", "output"]),
        (
            "tablecot.cot_0_999.own_matcher",
            "tablecot.jsonl.gz",
            ["--scorer", "tablecot", "--where", "run=cot_0_999"],
        ),
        ("tabsqlify.wtq_50_plus_rc.official", "tabsqlify.jsonl", ["--where", "run=wtq_50_plus_rc"]),
    ],
)
def test_the_command_gives_the_same(command: Command, anchor: str, file: str, options: list[str]) -> None:
    data, predictions = (str(DATA / "wikitq" / name) for name in ("dev_test_half.jsonl", file))
    outcome = command("score", "wikitq", data, predictions, "--given", "--json", *options)
    found: dict[str, Any] = json.loads(outcome.out)
    assert (found["correct"], found["n"]) == anchors()[f"wikitq.{anchor}"]
    sizes = [found["breakdown"][name]["n"] for name in ("small", "medium", "large")]
    assert sum(sizes) == found["n"]


def test_every_figure_is_compared() -> None:
    found = [name for name in anchors() if name.startswith("wikitq.") and not _ELSEWHERE.match(name)]
    assert found and [name for name in found if not _COVERED.fullmatch(name)] == []
