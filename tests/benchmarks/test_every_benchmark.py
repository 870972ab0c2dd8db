"""What holds for every benchmark: its rows, its rules, where gold answers stand, and published results."""

import re
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Table
from chameleon.benchmarks.scorers.finqa_rule import OfficialRule
from chameleon.benchmarks.tables.cells import cells_with
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import GradedScorer, Problem, Published, ValueScorer
from chameleon.evaluation.compare import Z_90, half_width
from chameleon.evaluation.data import OWN, DataFile, find_benchmark, read_problems, recognized
from chameleon.evaluation.exhibits import ARROW, KINDS
from chameleon.evaluation.system_table import SystemRow
from chameleon.inventory.resolve import shipped
from tests.benchmarks.shared_data import DATA, anything, needs_data, texts
from tests.benchmarks.test_sqa import TABLE as KITES
from tests.evaluation.rows import write_rows

_FORMS = ("ROW", "RELEASED", "SINGLE", "AMOUNT", "TABLERAG", "TYPED")  # of the rows of its test
_ROWS: dict[str, list[Mapping[str, Any]]] = {
    name: [
        made for form, made in vars(import_module(f"tests.benchmarks.test_{name}")).items() if form in _FORMS
    ]
    for name in shipped("benchmarks")
    if name not in (OWN, "finqa_gold")
}


@pytest.mark.parametrize("name", _ROWS)
def test_a_row_is_of_one_benchmark(name: str, tmp_path: Path) -> None:
    path, every = tmp_path / "data.jsonl", [find_benchmark(each) for each in shipped("benchmarks")]
    for row in _ROWS[name]:
        found = [each.name for each in every if all(map(each.recognizes, each.rows([row], path)))]
        assert [each for each in found if each != OWN] == [name]  # what no other is known by is your own


_OTHERS = re.compile("tables|corpus|samples|verdicts|embeddings|queries.jsonl$")  # hold no problems


@needs_data
@pytest.mark.parametrize("name", [*_ROWS, "tablerag"])
def test_files(name: str) -> None:
    files = [file for file in (DATA / name).glob("*.jsonl*") if not _OTHERS.search(file.name)]
    known = {"tablerag": {"wikitq", "sqa", "tabfact"}}.get(name, {name})
    assert {recognized(file).name for file in files} == known


_OBJECTS = ({"answer": 1}, {"label": None, "evidence": [3]}, {1, 2})
_ODD = st.sampled_from([10**5000, "9" * 5000, *_OBJECTS, "3/0", "%"])
_RULES = [(name, rule) for name in shipped("benchmarks") for rule in find_benchmark(name).scorers]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "scorer"), _RULES)
@settings(max_examples=20)
@given(said=anything | _ODD, text=texts)
def test_any_prediction_is_judged(name: str, scorer: str, said: Any, text: str) -> None:
    benchmark = find_benchmark(name)
    rule = benchmark.scorers[scorer]()
    for row in _ROWS.get(name, ()):
        if (name, scorer) == ("sqa", "official") and "answer_coordinates" not in row:
            continue
        if (name, scorer) == ("feverous", "official"):
            row = {**row, "evidence": [["Kite_sentence_3"]]}
        [first] = benchmark.rows([row], Path("rows.jsonl"))
        problem = benchmark.problem(first, {row.get("table_id"): KITES})
        read = [said, rule.from_value(said, problem), rule.from_run(said, {}, problem)]
        for prediction in read if isinstance(rule, ValueScorer) else [*read, rule.from_output(text, problem)]:
            judged = rule.judged(prediction, problem)
            assert isinstance(rule.right(prediction, problem), bool)
            assert (judged.correct is None) == isinstance(rule, GradedScorer) == bool(judged.grades)


MISSING = object()
_QA: dict[str, Any] = {"question": "a", "program": "add(1, 2)"}
_FAULTS: dict[str, dict[str, list[Any]]] = {  # by the benchmark and the key that is wrong, its values
    "wikitq": {"id": [None], "answer": ["red", []], "question": [None], "answer_canon": [["red"]]},
    "sqa": {"answer_coordinates": ["red", [[0]]], "position": ["a"], "answer_text": ["red"], "question": [1]},
    "feverous": {"label": ["NEI", None], "context": ["all"], "evidence": ["", [{"content": ""}], [["no"]]]},
    "hybridqa": {"answer": [None], "context": ["all"], "table": [{"header": ["a"]}], "question": [["who"]]},
    "finqa": {"id": [None], "table": [[], [[]]], "pre_text": ["all"], "qa": [1, {**_QA, "exe_ans": []}]},
    "sara": {"answer": ["maybe"], "text": [None], "id": [None]},
    "fetaqa": {"answer": [["a"]], "table_array": [[]], "feta_id": [None]},
    "scienceqa": {"choices": [["one"], None], "answer": [3, True], "question": [" "]},
    "tabfact": {"label": [2, "1", None, True]},
    "tabmwp": {"pid": [None], "choices": [MISSING, "red, blue", [1, 2]], "answer": [MISSING, 27], "unit": [3]}
    | {"question": [MISSING], "table": [MISSING], "grade": ["four", 9]}
    | {"ques_type": ["essay"], "ans_type": [["text"], "date"]},
}
_OTHER_WORDS = {"answer_canon": "1 canonical values", "table_array": "a table needs", "qa": ""}


@pytest.mark.parametrize("name", _FAULTS)
def test_what_will_not_do_is_told(name: str) -> None:
    row = _ROWS[name][name == "fetaqa"]
    benchmark = find_benchmark(name)
    for key, value in ((key, value) for key, values in _FAULTS[name].items() for value in values):
        kept = {of: each for of, each in {**row, key: value}.items() if each is not MISSING}
        with pytest.raises(InputError) as caught:
            [changed] = benchmark.rows([kept], Path("rows.jsonl"))
            benchmark.problem(changed, {KITES["table_id"]: KITES})
        told = "header" if (name, key) == ("hybridqa", "table") else _OTHER_WORDS.get(key, key)
        assert told in caught.value.what, (key, value)


HEADER, ROWS = ["Boat", "Port"], [["Swift", "Ostrand"], ["Heron", "Tarn  bay"], ["Otter", "ostrand"]]
TABLE = Table(HEADER, ROWS)
INLINE = {"caption": "", "header": HEADER, "rows": ROWS}


CELLS: list[tuple[list[str], list[set[tuple[int, int]]] | None]] = [
    (["Ostrand"], [{(0, 1), (2, 1)}]),
    (["heron", "TARN BAY"], [{(1, 0)}, {(1, 1)}]),
    (["Tarn"], [{(1, 1)}]),  # a word of a cell; a short one would stand in many
    *(([*words], None) for words in (["bay"], ["Ostran"], ["Heron", "2"], [""], [])),
]


def test_each_text_has_the_cells_that_read_so() -> None:
    for words, expected in CELLS:
        assert cells_with(words, Problem("1", {"table": TABLE}, words)) == expected
    assert cells_with(["  "], Problem("1", {"table": Table(["a"], [[""]])}, [])) is None
    assert cells_with(["a"], Problem("1", {}, [])) is None


def test_every_benchmark_tells_what_it_knows(tmp_path: Path) -> None:
    write_rows(tmp_path / "tables.jsonl", [{"table_id": "boats", **INLINE}])
    asked: dict[str, Any] = {"id": "1", "question": "Which?", "table_id": "boats"}
    inline: dict[str, Any] = {"id": "1", "table_id": "b", "table": INLINE}
    hybridqa, both = {**asked, **inline, "answer": "Heron"}, [{(0, 1)}, {(1, 0)}]
    sqa = {**asked, "annotator": 0, "position": 0, "answer_text": ["Heron"]}
    end_to_end = {**asked, "wikitq_id": "nt-4", "label": "Otter", "answers": ["Otter"]}
    end_to_end |= {"alternative_label": []}
    for name, row, cells in (
        ("wikitq", {**asked, "answer": ["Heron"]}, [{(1, 0)}]),
        ("wikitq", {**end_to_end, **inline}, [{(2, 0)}]),
        ("fetaqa", {**asked, "answer": "It.", "highlighted_cell_ids": [[0, 1], [2, 0], [1, 1]]}, both),
        ("sqa", {**sqa, "answer_coordinates": [[1, 0], [0, 1]]}, both),
        ("sqa", {**sqa, "answer_coordinates": []}, None),
        ("sqa", {**inline, "query": "Which?", "label": ["Swift"]}, [{(0, 0)}]),
        ("hybridqa", {**hybridqa, "answer_source": "table"}, [{(1, 0)}]),
        ("hybridqa", {**hybridqa, "answer_source": "passage"}, None),
        ("tabfact", {"id": "t", "statement": "it is.", "table_id": "boats", "label": 1}, None),
        ("feverous", {**inline, "claim": "it is.", "label": "SUPPORTS"}, None),
    ):
        benchmark, file = find_benchmark(name), write_rows(tmp_path / "rows.jsonl", [row])
        [problem] = read_problems(benchmark, DataFile(file, benchmark.id_key))
        assert benchmark.gold_cells(problem) == cells and recognized(file).name == name, name


@needs_data
def test_cells_lie_in_their_tables() -> None:
    known = {"sqa/dev.jsonl.gz": 2265, "tablerag/e2ewtq.jsonl.gz": 103}
    for name, count in {**known, "hybridqa/dev.jsonl.gz": 183, "fetaqa/dev.jsonl.gz": 500}.items():
        benchmark = recognized(DATA / name)
        problems = read_problems(benchmark, DataFile(DATA / name, benchmark.id_key))
        found = [(problem.input["table"], benchmark.gold_cells(problem)) for problem in problems]
        measurable = [(table, groups) for table, groups in found if groups]
        assert len(measurable) == count
        for table, cells in ((table, cells) for table, groups in measurable for cells in groups):
            height, width = len(table.rows), len(table.header)
            assert all(0 <= row < height and 0 <= column < width for row, column in cells)


FOLDER = Path(__file__).parents[2] / "benchmarks/published"
FILES: dict[str, Any] = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in FOLDER.glob("*.yaml")}
# Rows, and the values in them: shares and half-widths.
COUNTS = {
    "scienceqa": (22, 198), "tabmwp": (21, 183), "tabfact": (22, 22), "wikitq": (29, 35), "fetaqa": (4, 16),
    "finqa": (17, 68), "sara": (21, 42),
}  # fmt: skip
LAST = {"answer_generator": 100}  # of every plan
ENDS = {"scienceqa": {"solution_generator": 100, **LAST}, "tabmwp": LAST}
CHAIN_OF_TABLE = "Chain-of-Table (PaLM 2)"


def figures_of(name: str) -> dict[str, dict[str, dict[str, float]]]:
    return {place: figure["systems"] for place, figure in FILES[name].get("figures", {}).items()}


def rows_of(name: str) -> dict[str, Published]:
    return {row.system: row for row in find_benchmark(name).published}


@pytest.mark.parametrize("name", COUNTS)
def test_rows_are_whole_and_differ_by_what_the_papers_state(name: str) -> None:
    benchmark, rows = find_benchmark(name), rows_of(name)
    assert len(rows) == len(benchmark.published) == COUNTS[name][0] and COUNTS.keys() == FILES.keys()
    assert sum(len(row.percent) + len(row.half_widths) for row in rows.values()) == COUNTS[name][1]
    for row in rows.values():
        assert set(row.percent) <= {"ALL", *benchmark.columns, *benchmark.figures} and ", " in row.source
        if row.correct and row.n:
            assert row.percent["ALL"] == pytest.approx(100 * row.correct / row.n, abs=0.01)
    for other, stated in figures_of(name).get("in the text", {}).items():
        for label, points in stated.items():
            system, _, column = label.partition(", ")
            both = (rows[each].percent for each in (system, other.removeprefix("to ")))
            one, two = (percent[column or FILES[name]["columns"][0]] for percent in both)
            assert round(one - two, len(str(points).partition(".")[2])) == points, label


# As figures 4 and 5 print the shares: GPT-4's, ChatGPT's.
USE = {
    "scienceqa": ("Chameleon, figure 4", {81, 30, 6, 11}, {72, 17, 10, 2, 3}),
    "tabmwp": ("Chameleon, figure 5", {26, 6, 7, 25, 72}, {47, 4, 3, 16, 71}),
}


@pytest.mark.parametrize("name", USE)
def test_shares_of_modules_round_to_the_figure_and_add_up_to_a_plans_length(name: str) -> None:
    figure, *printed = USE[name]
    lengths, used = figures_of(name)["Chameleon, table 7"], figures_of(name)[figure]
    for (system, use), shares in zip(used.items(), printed, strict=True):
        assert shares <= set(map(round, use.values()))
        length = sum((ENDS[name] | use).values()) / 100
        # One is 3.04 of rounded shares for 3.03.
        assert length == pytest.approx(lengths[system]["mean length"], abs=0.011), system


@pytest.mark.parametrize("name", FILES)
def test_figures_are_numbers_by_system_and_arcs_begin_where_others_end(name: str) -> None:
    for place, figure in FILES[name].get("figures", {}).items():
        assert figure["systems"] and (figure.get("about") or figure["kind"] in KINDS), place
        for numbers in figure["systems"].values():
            shares = Counter[str]()
            for label, number in numbers.items():
                shares[label.split(ARROW)[0]] += number if ARROW in label else 100
            assert all(total == pytest.approx(100, abs=3) for total in shares.values()), place


def test_chains_of_operations_add_up() -> None:
    for name in ("tabfact", "wikitq"):
        whole = rows_of(name)[CHAIN_OF_TABLE].percent["ALL"]
        lost, left = figures_of(name)["Chain-of-Table, table 5"].values()
        assert {key: round(value - whole, 2) for key, value in left.items()} == {"all": 0, **lost}
    figures = figures_of("wikitq")
    lengths = figures["Chain-of-Table, table 2"][CHAIN_OF_TABLE]
    ours, *others = figures["Chain-of-Table, figure 3"].values()
    behind = figures["Chain-of-Table, differences in figure 3"].values()
    assert [{key: round(each[key] - ours[key], 1) for key in ours} for each in others] == [*behind]
    mean = sum(n * ours[length] for length, n in lengths.items()) / sum(lengths.values())
    n = sum(figures_of("tabfact")["Chain-of-Table, table 2"][CHAIN_OF_TABLE].values())
    assert (sum(lengths.values()), n) == (4309, 2023)
    assert mean == pytest.approx(67.31, abs=0.03)
    samples = {name: dict(each) for name, each in figures["Chain-of-Table, table 4"].items()}
    assert all(each.pop("all") == sum(each.values()) for each in samples.values())


def test_intervals_are_wilson_s_by_way_of_asking_and_wald_s_else() -> None:
    for row in rows_of("sara").values():
        n, share = row.n or 0, row.percent["entailment"] / 100
        wald = Z_90 * sqrt(share * (1 - share) / n)
        half, places = (half_width(share, n), 1) if row.source.endswith("4") else (wald, 2)
        assert round(100 * half, places) == row.half_widths["entailment"], row.system
    benchmark = find_benchmark("sara")
    assert SystemRow.published(benchmark.published[-1], benchmark).cells["entailment"] == "77.50±10.86"
    assert SystemRow.published(benchmark.published[-1], benchmark).to_json()["percent"]["entailment"] == 77.5
    for row in rows_of("finqa").values():
        kinds = {"execution": 0.0} | {kind: row.percent[f"{kind} accuracy"] for kind in ("program", "answer")}
        sums = {kind: share / 100 * (row.n or 0) for kind, share in kinds.items()}
        found = OfficialRule().overall(sums, row.n or 0)
        assert {name: round(found[name], 2) for name in row.percent} == row.percent, row.system
