"""The demonstrations in TableRAG's prompts: read as meant, run in the sandbox, and nobody's test items."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from chameleon import Table
from chameleon.modules.tablerag.answer import AnswerForm, TableAnswerer
from chameleon.modules.tablerag.clarifiers import terms_in
from chameleon.modules.tablerag.llm_filter import KeptPart, run_filter, without_pandas
from chameleon.table.bars import split_rows

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
