"""Every figure that was measured with the original evaluators, from the same recorded answers.

Each measure yields figures by name; those of the anchors that it is for are compared.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from chameleon.benchmarks.scorers import promptpg
from chameleon.benchmarks.scorers.sara_rule import LABELS, dollars
from chameleon.benchmarks.scorers.tabmwp_rule import floatify, stated_answer, typed_gold
from chameleon.benchmarks.tabmwp import breakdown_columns, inferred_types
from chameleon.evaluation.benchmark import Problem, Scorer
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.results import SEQUENCES, Result, Tally
from chameleon.modules.reports.finqa_program import calculated, tokens_of
from tests.benchmarks.shared_data import DATA, Row, anchors, needs_data, rows

pytestmark = needs_data

Figures = Iterator[tuple[str, tuple[Any, int]]]
ELSEWHERE = re.compile(
    r"(interval90|programs)\..+|\w+\.(e2ewtq\.)?bm25.*|\w+\.(codex_pot\.rerun|binder_replay|ocr)\..+"
    r"|tabmwp\.dev1k\.(row|column)_lookup_skipped_.+|scienceqa\.duplicate_options_after_lower"
)


@cache
def problems(name: str) -> list[Problem]:
    """The problems of a file such as "wikitq/dev.jsonl", without tables that lie apart."""
    benchmark = find_benchmark(name.partition("/")[0].replace("tablerag", "tabfact"))
    return [benchmark.problem(row, {}) for row in benchmark.rows(rows(name), DATA / name)]


@cache
def rule(name: str) -> Scorer:
    benchmark, _, scorer = name.partition(".")
    return find_benchmark(benchmark).scorers[scorer]()


def right(scorer: str, predictions: Iterable[Any], asked: Iterable[Problem]) -> list[bool]:
    return [rule(scorer).right(said, each) for said, each in zip(predictions, asked, strict=True)]


def read(scorer: str, texts: Iterable[str], asked: Iterable[Problem]) -> list[Any]:
    return [rule(scorer).from_output(text, each) for text, each in zip(texts, asked, strict=True)]


def count(verdicts: Iterable[Any]) -> tuple[int, int]:
    listed = list(map(bool, verdicts))
    return sum(listed), len(listed)


def breakdown(prefix: str, asked: Sequence[Problem], verdicts: Iterable[bool]) -> Figures:
    tally = Tally(())
    for each, verdict in zip(asked, verdicts, strict=True):
        tally.add(Result(each.id, None, declined=False, correct=verdict, columns=each.columns))
    for name, found in {"ALL": tally.all, **tally.columns}.items():
        yield f"{prefix}.{name}", (found.correct, found.n)


def tallied(scorer: str, predictions: Iterable[Any], asked: Iterable[Problem]) -> Tally:
    tally = Tally((), rule(scorer))
    for said, each in zip(predictions, asked, strict=True):
        verdict = rule(scorer).judged(said, each)
        at = {"columns": each.columns, "sequence": each.sequence, "position": each.position}
        tally.add(Result(each.id, None, False, verdict.correct, grades=verdict.grades, **at))  # type: ignore[arg-type]
    return tally


UNITS = {"zeroshot_cot": 11, "zeroshot": 5, "fewshot2": 55, "fewshot2_cot": 15}
"""How many predictions of each setting had a unit that was removed."""


def codex() -> Figures:
    recorded, asked = rows("tabmwp/codex_pot.jsonl.gz"), problems("tabmwp/codex_pot.jsonl.gz")
    values = [row["executed_recorded"] for row in recorded]
    pot = right("tabmwp.pot", values, asked)
    chameleon = right("tabmwp.chameleon", map(floatify, values), asked)
    yield from breakdown("tabmwp.codex_pot.recorded.pot_scorer", asked, pot)
    yield from breakdown("tabmwp.codex_pot.recorded.chameleon_scorer", asked, chameleon)
    yield "tabmwp.codex_pot.recorded.none", count(value is None for value in values)
    pairs = list(zip(pot, chameleon, strict=True))
    yield "tabmwp.codex_pot.recorded.chameleon_only", count(pair == (False, True) for pair in pairs)
    yield "tabmwp.codex_pot.recorded.pot_only", count(pair == (True, False) for pair in pairs)
    gold = [typed_gold(each) for each in asked]
    assert gold == [row["gold_value"] for row in recorded]
    yield "tabmwp.codex_pot.gold_self.pot_scorer", count(right("tabmwp.pot", gold, asked))
    texts = right("tabmwp.chameleon", [each.gold for each in asked], asked)
    yield "tabmwp.codex_pot.gold_self.chameleon_scorer", count(texts)


def gpt3_predictions() -> Figures:
    """Our normalization gives what was recorded; where a unit was removed, it is known from that alone."""
    recorded, asked = rows("tabmwp/gpt3_promptpg.jsonl.gz"), problems("tabmwp/gpt3_promptpg.jsonl.gz")
    assert all(promptpg.normalize(row["answer"], None) == row["answer_norm"] for row in recorded)
    for setting, with_units in UNITS.items():
        runs = [row[setting] for row in recorded]
        units = [removed_unit(run["prediction"], run["prediction_norm"]) for run in runs]
        assert len(units) - units.count(None) == with_units
        pairs = zip(asked, units, strict=True)
        known = [replace(each, detail={**each.detail, "unit": unit}) for each, unit in pairs]
        verdicts = right("tabmwp.promptpg", [run["prediction"] for run in runs], known)
        assert verdicts == [run["true_false"] for run in runs]
        yield from breakdown(f"tabmwp.gpt3.{setting}.promptpg_rule", asked, verdicts)


def removed_unit(prediction: str, recorded: str) -> str | None:
    """The shortest part without which a prediction is normalized as recorded; None where that takes none."""
    if promptpg.normalize(prediction, None) == recorded:
        return None
    ends = range(len(prediction) + 1)
    parts = sorted({prediction[start:end] for start in ends for end in ends[start + 1 :]}, key=len)
    return next(part for part in parts if promptpg.normalize(prediction, part) == recorded)


def gpt3_texts() -> Figures:
    """Rows for which PromptPG's rule draws a choice are left out of its extraction, on both sides."""
    known = {each.id: each for each in problems("tabmwp/codex_pot.jsonl.gz")}
    recorded = [row for row in rows("tabmwp/gpt3_promptpg.jsonl.gz") if row["pid"] in known]
    asked = [known[row["pid"]] for row in recorded]
    for setting in UNITS:
        prefix, texts = f"tabmwp.gpt3.{setting}", [row[setting]["output"] for row in recorded]
        verdicts = right("tabmwp.chameleon", read("tabmwp.chameleon", texts, asked), asked)
        yield from breakdown(f"{prefix}.chameleon_answer_generator", asked, verdicts)
        stated = count(stated_answer(text) is not None for text in texts)
        yield f"{prefix}.chameleon_answer_pattern_hits", stated
        same = []
        for row, text, each in zip(recorded, texts, asked, strict=True):
            choices = each.detail["choices"]
            letter = promptpg.choice_letter(promptpg.tidied(text)) if choices else None
            if letter is None or ord(letter) - ord("A") < len(choices):
                found = rule("tabmwp.promptpg").from_output(text, each)
                same.append(found == row[setting]["prediction"])
        yield f"{prefix}.promptpg_extraction", count(same)


def baselines() -> Figures:
    found = rows("tabmwp/baseline_verdicts.jsonl.gz")
    columns = [breakdown_columns(row["ques_type"], row["ans_type"]) for row in found]
    asked = [Problem(str(number), {}, None, columns=each) for number, each in enumerate(columns)]
    for system in (key for key in found[0] if key.startswith(("t5_", "tapex_"))):
        yield from breakdown(f"tabmwp.baseline.{system}", asked, [bool(row[system]) for row in found])


def tabmwp() -> Figures:
    found, asked = rows("tabmwp/dev1k.jsonl.gz"), problems("tabmwp/dev1k.jsonl.gz")
    numbers = [re.findall(r"-?[\d,]*\.?\d+", row["solution"]) or [None] for row in found]
    predictions: dict[str, list[Any]] = {
        "gold_self": [row["answer"] for row in found],
        "null_prediction": [None] * len(found),
        "last_number_of_solution": [floatify(each[-1]) for each in numbers],
    }
    for name, said in predictions.items():
        verdicts = right("tabmwp.chameleon", said, asked)
        yield from breakdown(f"tabmwp.dev1k.{name}.chameleon_scorer", asked, verdicts)
    types = [inferred_types(row["answer"], row["choices"], row["table"]) for row in found]
    same = [pair == (row["ques_type"], row["ans_type"]) for pair, row in zip(types, found, strict=True)]
    yield "tabmwp.dev1k.ans_type_rule", count(same)
    lines = [len(each.input["table"].rows) + 1 for each in asked]
    counted = [row["row_num"] == number for row, number in zip(found, lines, strict=True)]
    yield "tabmwp.dev1k.row_num_counts_header", count(counted)


SOLUTIONS: dict[str, Callable[[Row], str | None]] = {
    "null_prediction": lambda row: None,
    "gold_letter": lambda row: f"So the answer is {'ABCDE'[row['answer']]}.",
    "gold_text": lambda row: str(row["choices"][row["answer"]]).lower(),
    "hint_as_solution": lambda row: str(row["hint"]),
    "skill_as_solution": lambda row: f"the skill is {row['skill'].lower()}",
}


def scienceqa() -> Figures:
    found, asked = rows("scienceqa/problems.jsonl.gz"), problems("scienceqa/problems.jsonl.gz")
    early = [["G2-6"] * (row["grade"] in ("grade2", "grade3", "grade4", "grade5", "grade6")) for row in found]
    pairs = zip(asked, early, strict=True)
    asked = [replace(each, columns=(*each.columns, *column)) for each, column in pairs]
    for name, solution in SOLUTIONS.items():
        texts = [solution(row) for row in found]
        said = [None] * len(found) if None in texts else read("scienceqa.chameleon", texts, asked)  # type: ignore[arg-type]
        verdicts = right("scienceqa.chameleon", said, asked)
        yield from breakdown(f"scienceqa.{name}", asked, verdicts)
        chosen = zip(said, texts, asked, strict=True)
        letters = [each in problem.detail["choices"] and each != text for each, text, problem in chosen]
        yield f"scienceqa.{name}.letter_pattern", count(letters)


def recorded_on_wikitq(name: str, run: str | None = None) -> tuple[list[Row], list[Problem]]:
    asked = {each.id: each for each in problems("wikitq/dev_test_half.jsonl")}
    recorded = [row for row in rows(f"wikitq/{name}") if run is None or row["run"] == run]
    return recorded, [asked[row["id"]] for row in recorded]


def wikitq() -> Figures:
    for name in ("dev", "dev_test_half"):
        asked = problems(f"wikitq/{name}.jsonl")
        for how, said in {
            "self_targets": [each.gold for each in asked],
            "self_canonical": [each.detail["canon"] for each in asked],
            "first_item_only": [each.gold[:1] for each in asked],
        }.items():
            yield f"wikitq.{name}.{how}", count(right("wikitq.official", said, asked))
    for file in ("normtab_sql.jsonl.gz", "tabsqlify.jsonl"):
        for run in {row["run"] for row in rows(f"wikitq/{file}")}:
            recorded, asked = recorded_on_wikitq(file, run)
            verdicts = right("wikitq.official", [[row["prediction"]] for row in recorded], asked)
            yield f"wikitq.{file.partition('.')[0]}.{run}.official", count(verdicts)


def reactable() -> Figures:
    recorded, asked = recorded_on_wikitq("reactable.jsonl.gz")
    texts = [row["output"] for row in recorded]
    split = right("wikitq.official", read("wikitq.official", texts, asked), asked)
    assert split == right("wikitq.official", [row["pred_answer"] for row in recorded], asked)
    assert split == [row["wikitq_evaluator"] for row in recorded]
    yield "wikitq.reactable.official", count(split)
    unsplit = right("wikitq.official", [[text] for text in texts], asked)
    yield "wikitq.reactable.official_unsplit", count(unsplit)
    flags = [row["repo_says"] for row in recorded]
    yield "wikitq.reactable.repo_flags", count(flags)
    yield "wikitq.reactable.flags_differ", count(a != b for a, b in zip(flags, split, strict=True))


def tablecot() -> Figures:
    for run in ("cot_0_999", "merged_1500_2199"):
        recorded, asked = recorded_on_wikitq("tablecot.jsonl.gz", run)
        said = [row["prediction"] for row in recorded]
        own, official = (right(f"wikitq.{name}", said, asked) for name in ("tablecot", "official"))
        assert own == [row["tablecot_evaluator"] for row in recorded]
        assert official == [row["wikitq_evaluator"] for row in recorded]
        yield f"wikitq.tablecot.{run}.own_matcher", count(own)
        yield f"wikitq.tablecot.{run}.official", count(official)
        stated = [row["extraction"] == "regex" for row in recorded]
        yield f"wikitq.tablecot.{run}.regex_extracted", count(stated)
        texts = read("wikitq.tablecot", [row["output"] for row in recorded], asked)
        assert all(text == each for text, each, by in zip(texts, said, stated, strict=True) if by)


def binder() -> Figures:
    recorded, asked = recorded_on_wikitq("binder.jsonl.gz")
    said = [row["pred_answer"] for row in recorded]
    verdicts = right("wikitq.official", said, asked)
    assert verdicts == [row["wikitq_evaluator"] for row in recorded]
    yield "wikitq.binder.official", count(verdicts)
    yield "wikitq.binder.with_qa", count("QA(" in row["programs_of_winner"][0] for row in recorded)
    pytest.importorskip("recognizers_number")
    verdicts = right("wikitq.binder", said, asked)
    assert verdicts == [row["binder_evaluator"] for row in recorded]
    yield "wikitq.binder.own_evaluator", count(verdicts)


def tabfact() -> Figures:
    for name, prefix in (("dev.jsonl", "dev.constant_entailed"), ("queries.jsonl.gz", "queries")):
        asked = problems(f"tabfact/{name}")
        verdicts = right("tabfact.official", ["entailed"] * len(asked), asked)
        for column, figure in breakdown(f"tabfact.{prefix}", asked, verdicts):
            yield column.replace("queries.ALL", "queries.constant_entailed").replace("ALL", "all"), figure
    pairs = list(zip(rows("tabfact/recorded.jsonl"), problems("tabfact/recorded.jsonl"), strict=True))
    for run in ("tablecot_davinci002_complex", "tabsqlify_rc"):
        recorded, asked = map(list, zip(*(pair for pair in pairs if pair[0]["run"] == run), strict=True))
        verdicts = right("tabfact.official", [row["prediction"] for row in recorded], asked)
        yield f"tabfact.{run}", count(verdicts)
        texts = read("tabfact.tabsqlify", [row["output"] for row in recorded], asked)
        yield f"tabfact.{run}.text_rule", count(right("tabfact.tabsqlify", texts, asked))
    asked = problems("tablerag/tabfact_small.jsonl.gz")
    for label in "10":
        verdicts = right("tabfact.tablerag", [label] * len(asked), asked)
        yield f"tablerag.tabfact_small.constant_{label}", count(verdicts)


def fetaqa() -> Figures:
    figures = {"sacrebleu": "BLEU", "bp": "BP", "rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"}
    stemmed = {f"rouge{order}_stem": f"ROUGE-{order}" for order in "12L"}
    every = list(zip(rows("fetaqa/recorded.jsonl.gz"), problems("fetaqa/recorded.jsonl.gz"), strict=True))
    for run in ("t5_small", "t5_base", "t5_large", "tabsqlify_gpt35", "tablecot_davinci002"):
        said = [(row[run], each) for row, each in every if row.get(run) is not None]
        for scorer, names in {"official": figures, "stemmed": stemmed if "t5" in run else {}}.items():
            if names:
                tally = tallied(f"fetaqa.{scorer}", *zip(*said, strict=True))
                for name, figure in names.items():
                    value = tally.figures(tally.all)[figure]
                    yield f"fetaqa.{run}.{name}", (round(value or 0.0, 4), tally.all.n)
    tables = rows("fetaqa/tables.jsonl.gz")
    twice = count(len(set(table["header"])) < len(table["header"]) for table in tables)
    yield "fetaqa.duplicate_headers", twice


def sqa() -> Figures:
    found, asked = rows("sqa/dev.jsonl.gz"), problems("sqa/dev.jsonl.gz")
    cells = {each.id: row["answer_coordinates"] for row, each in zip(found, asked, strict=True)}
    before = [f"{each.sequence}/{max(each.position - 1, 0)}" for each in asked]
    for name, said in {
        "gold": cells.values(),
        "gold_reversed_twice": [[*reversed(each)] * 2 for each in cells.values()],
        "first_gold_cell": [each[:1] for each in cells.values()],
        "previous_gold": [cells[id] for id in before],
        "first_cell": [[[0, 0]] for _ in asked],
    }.items():
        tally = tallied("sqa.official", said, asked)
        for part, counts in {"answer": tally.all, "sequence": tally.columns[SEQUENCES]}.items():
            yield f"sqa.dev.{name}.{part}", (counts.correct, counts.n)


def hybridqa() -> Figures:
    asked = problems("hybridqa/reference.jsonl.gz")
    gold = [each.gold for each in asked]
    for name, said in {
        "gold": gold,
        "first_word": [text.split(" ")[0] for text in gold],
        "upper_with_the": [f"The {text.upper()}." for text in gold],
        "drop_last_word": [" ".join(text.split(" ")[:-1]) for text in gold],
        "empty": [""] * len(gold),
        "constant_2": ["2"] * len(gold),
    }.items():
        tally = tallied("hybridqa.official", said, asked)
        for part, counts in {"total": tally.all, **tally.columns}.items():
            for called, figure in {"exact": "EM", "f1": "F1"}.items():
                value = tally.figures(counts)[figure]
                yield f"hybridqa.reference.{name}.{part}_{called}", (round(value or 0.0, 4), counts.n)


def feverous() -> Figures:
    asked = problems("feverous/dev.jsonl.gz")
    for label in ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"):
        verdicts = right("feverous.label", [label] * len(asked), asked)
        yield f"feverous.dev.constant_{label.replace(' ', '_')}", count(verdicts)


Steps = list[list[str]]


def exchanged(*operations: str) -> Callable[[Steps], Steps]:
    names = {f"{operation}(" for operation in operations}
    return lambda steps: [[o, b, a, end] if o in names else [o, a, b, end] for o, a, b, end in steps]


def written_out(steps: Steps) -> Steps:
    return [[o, *(re.sub(r"^const_(?=\d)", "", each) for each in (a, b)), end] for o, a, b, end in steps]


def shifted(steps: Steps) -> Steps:
    return [[re.sub(r"^#\d+$", lambda at: f"#{int(at[0][1:]) + 1}", part) for part in step] for step in steps]


CHANGES: dict[str, Callable[[Steps], Steps]] = {
    "gold_on_gold": lambda steps: steps,
    "swap_add_multiply": exchanged("add", "multiply"),
    "swap_subtract_divide": exchanged("subtract", "divide"),
    "const_written_out": written_out,
    "first_step_only": lambda steps: steps[:1],
    "repeat_first_step": lambda steps: [steps[0], *shifted(steps)],
    "foreign_first_step": lambda steps: [["add(", "1", "1", ")"], *shifted(steps)],
}


def finqa() -> Figures:
    for name in ("dev_200", "train_100", "dev_883"):
        asked = problems(f"finqa/{name}.jsonl.gz")
        programs = [tokens_of(each.detail["program"])[:-1] for each in asked]
        gold = [[tokens[place : place + 4] for place in range(0, len(tokens), 4)] for tokens in programs]
        for how, change in CHANGES.items():
            said = [[*(token for step in change(steps) for token in step), "EOF"] for steps in gold]
            pairs = zip(said, asked, strict=True)
            faults = [calculated(tokens, each.detail["lines"]).fault for tokens, each in pairs]
            yield f"finqa.{name}.{how}.exe", count(right("finqa.execution", said, asked))
            yield f"finqa.{name}.{how}.prog", count(right("finqa.program", said, asked))
            yield f"finqa.{name}.{how}.invalid", count(faults)


def sara() -> Figures:
    every = problems("sara/cases.jsonl")
    kinds = ("numeric", "entailment")
    amounts, statements = ([each for each in every if each.detail["kind"] == kind] for kind in kinds)
    for label in LABELS:
        verdicts = right("sara.official", [label] * len(statements), statements)
        yield f"sara.entailment.constant_{label}", count(verdicts)
    for name, said in {"zero": 0, "train_median": 15506.5, "train_mean": 85804.86, "10000": 10000}.items():
        for scorer, called in {"official": "paper", "hinge": "hinge"}.items():
            verdicts = right(f"sara.{scorer}", [said] * len(amounts), amounts)
            yield f"sara.numeric.constant_{name}.{called}_rule", count(verdicts)
    gold = [dollars(each.gold) for each in amounts]
    for name, form in {"commas": "${:,.0f}", "cents": "${:,.2f}"}.items():
        verdicts = right("sara.legalbench", map(form.format, gold), amounts)
        yield f"sara.numeric.legalbench_rule.gold_with_{name}", count(verdicts)
    yield "sara.numeric.gold_zero", count(amount == 0 for amount in gold)


MEASURES: dict[str, Callable[[], Figures]] = {
    r"tabmwp\.codex_pot\..+": codex,
    r"tabmwp\.gpt3\.\w+\.promptpg_rule\..+": gpt3_predictions,
    r"tabmwp\.gpt3\.\w+\.(chameleon_answer_\w+|promptpg_extraction)(\..+)?": gpt3_texts,
    r"tabmwp\.baseline\..+": baselines,
    r"tabmwp\.dev1k\..+": tabmwp,
    r"scienceqa\..+": scienceqa,
    r"wikitq\.(dev\w*|normtab_sql|tabsqlify)\..+": wikitq,
    r"wikitq\.reactable\..+": reactable,
    r"wikitq\.tablecot\..+": tablecot,
    r"wikitq\.binder\..+": binder,
    r"tabfact\..+|tablerag\.tabfact_small\..+": tabfact,
    r"fetaqa\..+": fetaqa,
    r"sqa\..+": sqa,
    r"hybridqa\..+": hybridqa,
    r"feverous\..+": feverous,
    r"finqa\..+": finqa,
    r"sara\..+": sara,
}


def expected(names: str) -> dict[str, tuple[Any, int]]:
    there = anchors() if (DATA / "anchors.json").is_file() else {}
    wanted = [name for name in there if re.fullmatch(names, name) and not ELSEWHERE.fullmatch(name)]
    return {name: there[name] for name in wanted}


SLOW = (r"wikitq\.binder\..+", r"fetaqa\..+", r"finqa\..+")


@pytest.mark.parametrize(
    "names", [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in MEASURES]
)
def test_measured_figures(names: str) -> None:
    found = dict(MEASURES[names]())
    assert {name: found.get(name) for name in expected(names)} == expected(names) != {}


def test_every_figure_is_compared() -> None:
    assert set(expected(".+")) == {name for names in MEASURES for name in expected(names)}
