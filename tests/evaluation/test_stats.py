"""Statistics of plans: what a plain recount of the file gives, and what holds for any plans."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from chameleon.evaluation.stats import END, START, PlanStats

names = st.sampled_from(["row_lookup", "program_generator", "answer_generator", "a b", ""])
plans = st.lists(st.lists(names, max_size=6), max_size=30)


def test_a_module_called_twice_in_a_plan_counts_once() -> None:
    stats = PlanStats.of([["look", "look", "answer"], ["answer"]])
    assert stats.modules == {"answer": 2, "look": 1}
    assert stats.share("look") == 0.5 and stats.share("unknown") == 0
    assert stats.transitions["look"] == {"answer": 1, "look": 1}
    assert stats.mean_length == 2.0


def test_an_empty_plan_leads_from_start_to_end() -> None:
    stats = PlanStats.of([[], ["answer"]])
    assert (stats.n, stats.without_plan, stats.mean_length) == (2, 1, 0.5)
    assert stats.transitions == {START: {END: 1, "answer": 1}, "answer": {END: 1}}


def test_no_problems_at_all() -> None:
    found = PlanStats.of([]).to_json()
    assert (found["n"], found["programs"], found["mean_length"]) == (0, 0, None)


@given(plans)
def test_stats_equal_a_plain_recount(listed: list[list[str]]) -> None:
    found, n = PlanStats.of(listed).to_json(top=3), len(listed)
    every = {name for plan in listed for name in plan}
    assert found["modules"] == {name: sum(name in plan for plan in listed) / n for name in every}
    assert found["mean_length"] == (approx(sum(map(len, listed)) / n) if n else None)
    often = Counter(map(tuple, listed))
    assert found["programs"] == len(often)
    assert [each["count"] for each in found["top_programs"]] == [count for _, count in often.most_common(3)]
    pairs = Counter(pair for plan in listed for pair in zip([START, *plan], [*plan, END], strict=True))
    counts = {(a, b): each["count"] for a, after in found["transitions"].items() for b, each in after.items()}
    assert counts == pairs


@given(plans)
def test_every_plan_leaves_start_once_and_reaches_end_once(listed: list[list[str]]) -> None:
    stats = PlanStats.of(listed)
    assert sum(stats.transitions.get(START, {}).values()) == len(listed)
    assert sum(after.get(END, 0) for after in stats.transitions.values()) == len(listed)
    assert sum(stats.programs.values()) == len(listed)
    for after in stats.probabilities.values():
        assert sum(after.values()) == approx(1)


@given(plans)
def test_the_order_of_the_problems_does_not_matter(listed: list[list[str]]) -> None:
    shuffled: list[Sequence[str]] = sorted(listed)
    assert json.dumps(PlanStats.of(listed).to_json()) == json.dumps(PlanStats.of(shuffled).to_json())
