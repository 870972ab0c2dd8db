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


def stats(listed: Sequence[Sequence[str]]) -> PlanStats:
    return PlanStats(Counter(map(tuple, listed)))


@given(plans)
def test_stats_equal_a_plain_recount(listed: list[list[str]]) -> None:
    found, n = stats(listed).to_json(top=3), len(listed)
    every = {name for plan in listed for name in plan}
    assert found["modules"] == {name: sum(name in plan for plan in listed) / n for name in every}
    assert found["mean_length"] == (approx(sum(map(len, listed)) / n) if n else None)
    often = Counter(map(tuple, listed))
    assert found["programs"] == len(often)
    assert [each["count"] for each in found["top_programs"]] == [count for _, count in often.most_common(3)]
    pairs = Counter(pair for plan in listed for pair in zip([START, *plan], [*plan, END], strict=True))
    counts = {(a, b): each["count"] for a, after in found["transitions"].items() for b, each in after.items()}
    assert counts == pairs and found["without_plan"] == listed.count([])
    for after in stats(listed).probabilities.values():
        assert sum(after.values()) == approx(1)


@given(plans)
def test_the_order_of_the_problems_does_not_matter(listed: list[list[str]]) -> None:
    shuffled: list[Sequence[str]] = sorted(listed)
    assert json.dumps(stats(listed).to_json()) == json.dumps(stats(shuffled).to_json())
