"""Recorded answers on TabMWP give, under each scorer, the figures measured with the original evaluators."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from chameleon.benchmarks.scorers import chameleon_rule, promptpg
from chameleon.benchmarks.scorers.program_of_thought import floatify, typed_gold
from chameleon.benchmarks.tabmwp import Tabmwp, breakdown_columns, inferred_types
from chameleon.evaluation.benchmark import Problem, Scorer
from chameleon.evaluation.results import Result, Tally
from tests.benchmarks.shared_data import Row, needs_data
from tests.benchmarks.shared_data import anchors as every_anchor
from tests.benchmarks.shared_data import rows as shared_rows

_SETTINGS = ("zeroshot_cot", "zeroshot", "fewshot2", "fewshot2_cot")
_LAST_NUMBER = re.compile(r"-?[\d,]*\.?\d+")
_ELSEWHERE = re.compile(r"tabmwp\.(codex_pot\.rerun\.|dev1k\.(row|column)_lookup_skipped_)")

Counts = dict[str, tuple[int, int]]

_COVERED = re.compile(
    r"tabmwp\.(codex_pot\.(recorded|gold_self)\."
    r"|gpt3\.\w+\.(promptpg_rule\.|promptpg_extraction$|chameleon_answer_generator\.|chameleon_answer_pattern)"
    r"|baseline\.[\w-]+\."
    r"|dev1k\.((gold_self|null_prediction|last_number_of_solution)\.|ans_type_rule$|row_num_counts_header$))"
)

pytestmark = needs_data

BENCHMARK = Tabmwp()


def rows(name: str) -> list[Row]:
    return shared_rows(f"tabmwp/{name}.jsonl.gz")


@cache
def problems(name: str) -> list[Problem]:
    return [BENCHMARK.problem(row, {}) for row in rows(name)]


@cache
def outputs_with_choices() -> list[tuple[Row, Problem]]:
    """GPT-3's rows, each with the problem of that id whose choices are known."""
    known = {problem.id: problem for problem in problems("codex_pot")}
    return [(row, known[row["pid"]]) for row in rows("gpt3_promptpg") if row["pid"] in known]


@cache
def anchors() -> Counts:
    found = every_anchor().items()
    return {name: count for name, count in found if name.startswith("tabmwp.") and not _ELSEWHERE.match(name)}


def below(prefix: str) -> Counts:
    return {name: count for name, count in anchors().items() if name.startswith(prefix + ".")}


def breakdown(prefix: str, verdicts: Iterable[tuple[tuple[str, ...], bool]]) -> Counts:
    """Counts by anchor name, for ALL and for every column with an example."""
    tally = Tally(BENCHMARK.columns)
    for number, (columns, right) in enumerate(verdicts):
        tally.add(Result(id=str(number), answer=None, declined=False, correct=right, columns=columns))
    counts = {"ALL": tally.all, **tally.columns}
    return {f"{prefix}.{name}": (count.correct, count.n) for name, count in counts.items() if count.n}


def judged(
    scorer: Scorer, predicted: Iterable[tuple[Any, Problem]]
) -> Iterable[tuple[tuple[str, ...], bool]]:
    return ((problem.columns, scorer.right(prediction, problem)) for prediction, problem in predicted)


def check_breakdown(prefix: str, verdicts: Iterable[tuple[tuple[str, ...], bool]]) -> None:
    """All counts but those by grade, which only some of the anchors have."""
    measured, expected = breakdown(prefix, verdicts), below(prefix)
    assert expected
    assert {name: measured[name] for name in expected} == expected
    assert {name for name in measured if name not in expected} <= {f"{prefix}.G1-6", f"{prefix}.G7-8"}


@pytest.mark.parametrize("name", ["pot", "chameleon"])
def test_recorded_values_of_programs(name: str) -> None:
    scorer = BENCHMARK.scorers[name]()
    read: Callable[[Any], Any] = floatify if name == "chameleon" else lambda value: value
    recorded = [read(row["executed_recorded"]) for row in rows("codex_pot")]
    verdicts = judged(scorer, zip(recorded, problems("codex_pot"), strict=True))
    check_breakdown(f"tabmwp.codex_pot.recorded.{name}_scorer", verdicts)


def test_where_the_scorers_of_programs_differ() -> None:
    pot, chameleon = BENCHMARK.scorers["pot"](), BENCHMARK.scorers["chameleon"]()
    values = [row["executed_recorded"] for row in rows("codex_pot")]
    pairs = [
        (pot.right(value, problem), chameleon.right(chameleon.from_value(value, problem), problem))
        for value, problem in zip(values, problems("codex_pot"), strict=True)
    ]
    prefix, n = "tabmwp.codex_pot.recorded", len(values)
    assert anchors()[f"{prefix}.none"] == (values.count(None), n)
    assert anchors()[f"{prefix}.chameleon_only"] == (pairs.count((False, True)), n)
    assert anchors()[f"{prefix}.pot_only"] == (pairs.count((True, False)), n)


def test_gold_answers_of_programs_are_right() -> None:
    assert [typed_gold(problem) for problem in problems("codex_pot")] == [
        row["gold_value"] for row in rows("codex_pot")
    ]
    pot, chameleon = BENCHMARK.scorers["pot"](), BENCHMARK.scorers["chameleon"]()
    numbers = sum(pot.right(typed_gold(problem), problem) for problem in problems("codex_pot"))
    texts = sum(chameleon.right(problem.gold, problem) for problem in problems("codex_pot"))
    n = len(problems("codex_pot"))
    assert below("tabmwp.codex_pot.gold_self") == {
        "tabmwp.codex_pot.gold_self.pot_scorer": (numbers, n),
        "tabmwp.codex_pot.gold_self.chameleon_scorer": (texts, n),
    }


@pytest.mark.parametrize(
    ("setting", "with_units"), [("zeroshot_cot", 11), ("zeroshot", 5), ("fewshot2", 55), ("fewshot2_cot", 15)]
)
def test_recorded_predictions_under_promptpg(setting: str, with_units: int) -> None:
    """Our normalisation gives what was recorded; where a unit was removed, it is known from that alone."""
    scorer = BENCHMARK.scorers["promptpg"]()
    predicted, units = [], 0
    for row, problem in zip(rows("gpt3_promptpg"), problems("gpt3_promptpg"), strict=True):
        prediction, recorded = row[setting]["prediction"], row[setting]["prediction_norm"]
        assert promptpg.normalise(row["answer"], None) == row["answer_norm"]
        unit = None
        if promptpg.normalise(prediction, None) != recorded:
            unit, units = removed_unit(prediction, recorded), units + 1
        assert promptpg.normalise(prediction, unit) == recorded
        predicted.append((prediction, replace(problem, detail={**problem.detail, "unit": unit})))
    assert units == with_units
    verdicts = list(judged(scorer, predicted))
    assert [right for _, right in verdicts] == [row[setting]["true_false"] for row in rows("gpt3_promptpg")]
    check_breakdown(f"tabmwp.gpt3.{setting}.promptpg_rule", verdicts)


def removed_unit(prediction: str, recorded: str) -> str:
    """The shortest part of the prediction without which it is normalised as recorded."""
    ends = range(len(prediction) + 1)
    parts = sorted({prediction[start:end] for start in ends for end in ends[start + 1 :]}, key=len)
    return next(part for part in parts if promptpg.normalise(prediction, part) == recorded)


@pytest.mark.parametrize("setting", _SETTINGS)
def test_recorded_forms_under_promptpg(setting: str) -> None:
    scorer = BENCHMARK.scorers["promptpg"]()
    forms = [row[setting]["prediction_norm"] for row in rows("gpt3_promptpg")]
    verdicts = judged(scorer, zip(forms, problems("gpt3_promptpg"), strict=True))
    check_breakdown(f"tabmwp.gpt3.{setting}.promptpg_rule", verdicts)


@pytest.mark.parametrize("setting", _SETTINGS)
def test_recorded_texts_under_promptpg(setting: str) -> None:
    """Extraction gives what was recorded; rows with a random choice are left out on both sides."""
    scorer = BENCHMARK.scorers["promptpg"]()
    same = random_picks = 0
    for row, problem in outputs_with_choices():
        recorded, choices = row[setting], problem.detail["choices"]
        letter = promptpg.choice_letter(promptpg.tidied(recorded["output"])) if choices else None
        if letter and ord(letter) - ord("A") >= len(choices):
            random_picks += 1
        else:
            same += scorer.from_output(recorded["output"], problem) == recorded["prediction"]
    n = len(outputs_with_choices()) - random_picks
    assert anchors()[f"tabmwp.gpt3.{setting}.promptpg_extraction"] == (same, n)


@pytest.mark.parametrize("setting", _SETTINGS)
def test_recorded_texts_under_chameleon(setting: str) -> None:
    scorer = BENCHMARK.scorers["chameleon"]()
    outputs = [(row[setting]["output"], problem) for row, problem in outputs_with_choices()]
    predicted = [(scorer.from_output(output, problem), problem) for output, problem in outputs]
    check_breakdown(f"tabmwp.gpt3.{setting}.chameleon_answer_generator", judged(scorer, predicted))
    hits = sum(chameleon_rule.stated_answer(output) is not None for output, _ in outputs)
    assert anchors()[f"tabmwp.gpt3.{setting}.chameleon_answer_pattern_hits"] == (hits, len(outputs))


@pytest.mark.parametrize(
    "system",
    ["t5_exp4_small", "t5_exp5_base", "t5_exp6_large", "tapex_exp2_tapex-base", "tapex_exp4_tapex-large"],
)
def test_breakdown_of_fine_tuned_models(system: str) -> None:
    verdicts = [
        (breakdown_columns(row["ques_type"], row["ans_type"]), bool(row[system]))
        for row in rows("baseline_verdicts")
    ]
    check_breakdown(f"tabmwp.baseline.{system}", verdicts)


@pytest.mark.parametrize("kind", ["gold_self", "null_prediction", "last_number_of_solution"])
def test_predictions_on_development_problems(kind: str) -> None:
    scorer = BENCHMARK.scorers["chameleon"]()
    predict: dict[str, Callable[[Row], Any]] = {
        "gold_self": lambda row: row["answer"],
        "null_prediction": lambda row: None,
        "last_number_of_solution": lambda row: floatify(
            (_LAST_NUMBER.findall(row["solution"]) or [None])[-1]
        ),
    }
    predictions = [predict[kind](row) for row in rows("dev1k")]
    verdicts = judged(scorer, zip(predictions, problems("dev1k"), strict=True))
    check_breakdown(f"tabmwp.dev1k.{kind}.chameleon_scorer", verdicts)


def test_what_is_inferred_and_read_of_development_problems() -> None:
    typed = [inferred_types(row["answer"], row["choices"], row["table"]) for row in rows("dev1k")]
    stated = [(row["ques_type"], row["ans_type"]) for row in rows("dev1k")]
    same = sum(one == other for one, other in zip(typed, stated, strict=True))
    assert anchors()["tabmwp.dev1k.ans_type_rule"] == (same, len(stated))
    lines = [len(problem.input["table"].rows) + 1 for problem in problems("dev1k")]
    counted = sum(row["row_num"] == number for row, number in zip(rows("dev1k"), lines, strict=True))
    assert anchors()["tabmwp.dev1k.row_num_counts_header"] == (counted, len(lines))


def test_every_figure_is_compared() -> None:
    assert [name for name in anchors() if not _COVERED.match(name)] == []
