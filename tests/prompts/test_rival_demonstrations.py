"""The demonstrations of Chain-of-Table's rivals are right, and nobody's test items."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chameleon import State, Table
from chameleon.modules.program.programs import TableAnswer, program_in, run_program
from chameleon.modules.sql.dater import GAP, cloze_of, filled, queries_in
from chameleon.modules.sql.query import run_sql
from chameleon.modules.table_ops.table_query import Form, answer_in
from chameleon.sandbox.zygote import why_unusable
from chameleon.table.delimited import split_rows
from tests.prompts.chains import (
    OPERATIONS,
    PROMPTS,
    TASKS,
    Demonstration,
    demonstrations,
    normalised,
    parts,
    planner_demonstrations,
)

SHARED = (Path(__file__).parents[2] / "../shared/data").resolve()
FORMS: dict[str, Form] = {"wikitq": "items", "tabfact": "verdict", "fetaqa": "text"}
# Worked out by hand, in the order of the file.
ANSWERS: dict[str, list[Any]] = {
    "wikitq/few_shot": [["Quarry Viaduct", "North Bridge"], ["3"], ["Silent Orchard"], ["Lone Isles"]],
    "wikitq/cot": [["2"], ["Tarn City", "Upper Weir"], ["Jonas Eik"], ["7"]],
    "wikitq/program_generator": [["Varnia", "Lone Isles"], ["105"], ["North Bridge"], ["Redgate"]],
    "wikitq/dater": [["Sweden"], ["Silent Orchard"], ["Quarry Viaduct", "North Bridge"], ["2"]],
    "tabfact/cot": ["yes", "no", "no", "yes"],
    "tabfact/program_generator": ["yes", "no", "yes", "yes"],
    "tabfact/dater": ["yes", "no", "yes", "no"],
}
COUNTED = {"wikitq": [["3", "2"], ["3", "2"], None, ["2"]], "tabfact": [["3", "2"], ["3", "2"], None, ["2"]]}


@pytest.mark.parametrize("name", [name for name in ANSWERS if not name.endswith("program_generator")])
def test_replies_end_with_the_right_answer(name: str) -> None:
    form = FORMS[name.partition("/")[0]]
    answers = [answer_in(demo.reply, form) for demo in demonstrations(name)]
    assert answers == ANSWERS[name]


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.endswith("cot")] + ["fetaqa/cot"])
def test_reasoning_comes_first_and_calculates_rightly(name: str) -> None:
    for demo in demonstrations(name):
        assert re.fullmatch(r"Explanation: .+\. The answer is: .+", demo.reply)
        for left, right, difference in re.findall(r"([\d,]+) - ([\d,]+) = ([\d,]+)", demo.reply):
            first, second, third = (int(each.replace(",", "")) for each in (left, right, difference))
            assert first - second == third, demo.reply


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.endswith("program_generator")])
def test_programs_run_in_the_sandbox_and_give_the_right_answer(name: str) -> None:
    for demo, answer in zip(demonstrations(name), ANSWERS[name], strict=True):
        program = program_in(demo.reply)
        result = run_program(State(input={"table": demo.table}, cache={"program": program}), timeout=30)
        if result.error_type == "ModuleNotFoundError":
            pytest.skip("pandas is not here")
        assert result.status == "ok", result.message
        given = TableAnswer(FORMS[name.partition("/")[0]]).run(State(cache={"program_result": result.value}))
        assert given == answer


@pytest.mark.parametrize("task", TASKS)
def test_sub_questions_keep_the_published_condition_or_are_none(task: str) -> None:
    for demo in demonstrations(f"{task}/dater_cloze"):
        lines = demo.reply.removeprefix("Sub-questions:\n").split("\n")
        assert lines == ["none"] or cloze_of(["\n".join(lines)]) == lines, demo.reply


@pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")
def test_queries_of_sub_questions_run_and_count_rightly() -> None:
    _, _, user = parts("wikitq/dater_sql")
    shown = re.findall(r"/\*\n((?:.+\n)+?)\*/\nSub-questions:\n((?:\d: .+\n)+)SQL:\n((?:\d: .+\n)+)", user)
    counted = []
    for lines, questions, queries in shown:
        header, *rows = split_rows(lines.rstrip("\n").split("\n"))
        count = len(questions.splitlines())
        for query in queries_in(queries, count):
            result = run_sql(Table(header, rows), query)
            assert result.ok, result.message
            counted.append(result.rows)
    assert counted == [((3,),), ((2,),), ((2,),), ((2,),), ((3,),)]


@pytest.mark.parametrize("task", TASKS)
def test_what_was_counted_stands_before_the_answer(task: str) -> None:
    for demo in demonstrations(f"{task}/dater"):
        assert re.fullmatch(r"(In the table: .+\.\n)?The answer is: .+", demo.reply)


def test_filled_sub_questions_read_like_those_of_the_answer() -> None:
    for task in ("wikitq", "tabfact"):
        answered = {demo.question: demo.reply for demo in demonstrations(f"{task}/dater")}
        for demo, numbers in zip(demonstrations(f"{task}/dater_cloze"), COUNTED[task], strict=True):
            lines = [line for line in demo.reply.split("\n")[1:] if GAP.search(line)]
            evidence = " ".join(filled(lines, numbers or []))
            assert evidence in answered.get(demo.question, evidence)


def every_demonstration() -> Iterator[Demonstration]:
    for path in sorted(PROMPTS.glob("*/*.md")):
        task, name = path.parent.name, path.stem
        own = name in OPERATIONS or re.match(
            "table_query|few_shot|cot|program_generator|dater$|dater_cl", name
        )
        if task in TASKS and own:
            yield from demonstrations(f"{task}/{name}")
    for task in TASKS:
        yield from (demo for some in planner_demonstrations(task) for demo in some)


def lines_of(path: Path) -> list[str]:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines()


@pytest.mark.skipif(not SHARED.is_dir(), reason="the benchmarks' files are not here")
def test_no_demonstration_is_an_item_of_a_benchmark() -> None:
    asked, tables, captions = set(), set(), set()
    for path in SHARED.glob("*/*.jsonl*"):
        if path.parent.name not in (*TASKS, "sqa", "hybridqa", "tablerag"):
            continue
        for row in map(json.loads, lines_of(path)):
            asked |= {normalised(str(row[key])) for key in ("question", "statement") if key in row}
            if isinstance(row.get("rows"), list) and "header" in row:
                cells = [cell for line in (row["header"], *row["rows"]) for cell in line]
                tables.add(normalised(" ".join(map(str, cells))))
                captions.add(normalised(str(row.get("caption") or "")))
    assert len(asked) > 5000 and len(tables) > 2000
    for demo in every_demonstration():
        shown = [*demo.table.header, *(cell for row in demo.table.rows for cell in row)]
        assert normalised(demo.question) not in asked, demo.question
        assert normalised(" ".join(shown)) not in tables, demo.table
        assert not demo.table.caption or normalised(demo.table.caption) not in captions, demo.table.caption
