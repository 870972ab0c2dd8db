"""TableRAG's inventories answer in the form of their task; its demonstrations are read as meant and run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from chameleon import Inventory, Table
from chameleon.evaluation.grid import Arm, Grid, fixed_plan
from chameleon.modules.tablerag.answer import AnswerForm, TableAnswerer
from chameleon.modules.tablerag.clarifiers import terms_in
from chameleon.modules.tablerag.llm_filter import KeptPart, run_filter, without_pandas
from chameleon.modules.tablerag.similarity import SemanticFilter
from chameleon.table.bars import split_rows


def plan(arm: Arm) -> list[str]:
    return list(fixed_plan(arm.inventory) or ())


def test_answers_are_of_the_task_s_form() -> None:
    for task, (form, _) in ANSWERS.items():
        answerer = Inventory.load(f"tablerag_{task}").modules["table_answerer"]
        assert isinstance(answerer, TableAnswerer)
        assert (answerer.form, answerer.prompt) == (form, f"tablerag/{task}")


@pytest.mark.parametrize(("name", "count", "calls"), [("tablerag", 22, 100), ("tablerag_retrieval", 17, 17)])
def test_arms_differ_and_take_so_many_calls(name: str, count: int, calls: int) -> None:
    arms = Grid.load(name).arms.values()
    specs = [arm.inventory.spec for arm in arms]
    seen = {(str(plan(arm)), repr(spec and spec.modules)) for arm, spec in zip(arms, specs, strict=True)}
    assert len(seen) == len(arms) == count and sum(arm.calls or 0 for arm in arms) == calls


def test_arms_have_the_parts_that_their_names_say() -> None:
    arms = Grid.load("tablerag").arms
    assert plan(arms["baseline"]) == ["table_retriever", "table_answerer", "consistency"]
    assert plan(arms["filter_llm"]) == ["table_retriever", "table_filter", "table_answerer", "consistency"]
    whole, named = Inventory.load("tablerag_tabfact").spec, {"name": "tablerag_whole"}
    assert whole is not None
    assert arms["whole"].inventory.spec == whole.model_copy(update={**named, "about": arms["whole"].about})
    late = arms["filter_late"].inventory.modules["table_filter"]
    assert isinstance(late, SemanticFilter) and (late.by, late.rows) == ("late", 10)


PROMPTS = Path(__file__).resolve().parents[3] / "prompts/tablerag"
ANSWERS: dict[str, tuple[AnswerForm, list[Any]]] = {
    "tabfact": ("verdict", ["yes", "no", "no"]),
    "feverous": ("label", ["REFUTES", "SUPPORTS", "NOT ENOUGH INFO"]),
    "sqa": ("items", [["Polar Star", "Amber Arrow"], ["Amber Arrow"], ["22:15"]]),
    "hybridqa": ("short", ["Anna Brede", "14,900", "1961"]),
}
# What the code of the filter's demonstrations keeps, counted by hand.
KEPT = [
    KeptPart((1, 3), (0, 2)),
    KeptPart((0, 1, 2), (0, 2)),
    KeptPart((0, 1), (0, 1, 3)),
    KeptPart((0, 1, 2), (0, 3)),
]
ITEM = re.compile(
    r"(?:Title: (?P<title>.+)\n)?(?P<about>(?:.+\n)*?)<data>\n(?P<table>(?:.+\n)+?)</data>\n"
    r"(?:Statement|Claim|Question|Question or statement): (?P<asked>.+)\n(?P<reply>(?:.+\n)+)"
)


def demonstrations(name: str) -> list[dict[str, Any]]:
    text = (PROMPTS / f"{name}.md").read_text("utf-8").split("\nHere is the ")[0] + "\n"
    found = [match.groupdict() for match in ITEM.finditer(text)]
    assert len(found) == text.count("\n<data>\n") >= 2
    return [demo | {"table": _table(demo["table"], demo["title"] or "")} for demo in found]


def _table(text: str, caption: str) -> Table:
    lines = [line for line in text.rstrip("\n").split("\n") if not line.startswith("… ")]
    header, *body = split_rows(lines)
    return Table(header, body, caption)


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_read_as_meant(name: str) -> None:
    form, answers = ANSWERS[name]
    assert [TableAnswerer(form).parse(demo["reply"]) for demo in demonstrations(name)] == answers


@pytest.mark.skipif(bool(without_pandas()), reason="no pandas in a sandbox here")
def test_the_code_of_the_filter_keeps_what_it_should() -> None:
    found = []
    for demo in demonstrations("llm_filter"):
        code = re.fullmatch(r"Program:\n```python\n(.+)\n```\n+", demo["reply"], re.DOTALL)
        assert code is not None
        found.append(run_filter(code[1], demo["table"]))
    assert found == KEPT


def test_terms_are_json() -> None:
    found = [terms_in(demo["reply"].removeprefix("Terms:")) for demo in demonstrations("term_clarifier")]
    assert found[1] == {} and found[0] and set(found[0]) == {"att", "w", "l"}
