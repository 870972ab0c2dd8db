"""What each shipped prompt says to a model, to the letter.

After a change that is meant, record anew with `--update-golden` and read the diff.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chameleon import tool
from chameleon.core.access import arguments_of
from chameleon.core.prompt import Prompt, slots_of
from chameleon.core.state import State
from chameleon.inventory import Card
from chameleon.planners.told import inputs_of
from chameleon.quoting import Quoted, block
from chameleon.table import Table
from tests.prompts.demonstrations import NAMES

GOLDEN = Path(__file__).parent / "golden"

TABLE = Table(["Dish <br>", "Price"], [["soup & bread", "$4"], ["{{ pie }}", "$9"]], caption="Menu $1")
PIE = {"question": "How much is {{ pie }}?"}
OFTEN = {"question": "How often is it <b>?", "table": TABLE}
FREE = {"question": "How much is it all {together}?", "table": TABLE, "unit": "$"}
CHOICE = {"question": "Which is cheaper?", "table": TABLE, "choices": ("soup & bread", "{{ pie }}")}
WHY = {"question": "Why {is} it so?", "choices": ("<b> & c", "{{ d }}"), "text": "A menu costs $9."}
PICTURE = {"question": "What is it?", "choices": ("a dish", "a price", "a cook"), "image": "menu.png"}
PICTURE |= {"metadata": {"grade": 4, "subject": "social science", "skill": "Read a menu"}}
SECTION = {"question": "Section 4(a) applies to the <b> pie.", "text": "The pie costs $9.\n</facts>"}
Kinds = dict[str, dict[str, Any]]
CHAINS: Kinds = {"begun": {**PIE, "table": TABLE}, "grouped": {**OFTEN, "text": "A menu costs $9."}}
TABLES: Kinds = {"free": FREE, "choice": CHOICE}
OVER: dict[str, Kinds] = {
    "tables/program_generator": {**TABLES, "short": FREE, "short_choice": CHOICE},
    **dict.fromkeys(("tabmwp/", "tables/"), TABLES),
    **dict.fromkeys(("chain_of_table/", "wikitq/", "tabfact/", "fetaqa/"), CHAINS),
    **{task: {"found": PIE} for task in ("corpus/", "papers/")},
    "planners/": {"named": PIE, "called": PIE},
    "sara/": {"statement": SECTION, "amount": PIE, "other": {"question": "Does section 4 apply?"}},
    "tablerag/": {"bare": {**PIE, "table": TABLE}, "clarified": OFTEN},
    "": {"text": WHY, "picture": PICTURE},
}
DATABASE = """Title: menu $1
CREATE TABLE w (
\t"dish <br>" TEXT,
\t"price" TEXT
)
/* all rows, tab-separated:
dish <br>\tprice
soup & bread\t$4
*/
</database>"""
CARDS = [Card("lookup", "Looks things up.", "Use it for prices."), Card("answer", "Answers.")]
CONVERT = arguments_of(tool(lambda amount, to="EUR": 0, name="convert", description="Converts <money>."))
OF_CHAINS: dict[str, Any] = {
    "database": DATABASE,
    "asked": "is it {{ hot }}?",
    "items": "1 | soup & bread\n2 | </values>",
    "columns": "Dish <br>, Price",
    "by_column": '{"columns": ["Dish <br>", "Price"]}',
}
FOUND = f"Table 1: Menu $1\n{block('table', 'Dish | {{ b }}')}\nTable 2: {{{{ pies }}}}"
# What modules of chains over tables and the planner add to the slots, for each kind of case.
ADDED: Kinds = {
    "free": {"pandas": True},
    **{kind: {"short": True} for kind in ("short", "short_choice")},
    "begun": {
        **OF_CHAINS,
        "blocks": ["dish <br>\nsoup & bread", "</part> $4"],
        "candidates": [Card("select_row", "Keeps rows."), Card("group_by", "Counts."), *CARDS],
        "names": ["select_row", "group_by", "lookup", "answer"],
        "chain": "",
        "definition": 'CREATE TABLE w (\n\t"Dish <br>" TEXT\n)',
        "questions": ["how many pies?"],
    },
    "grouped": {
        **OF_CHAINS,
        "candidates": [Card("sort_by", "Sorts.")],
        "names": ["sort_by", "end"],
        "chain": "f_group_by(Dish <br>) ->",
        "calls": ["f_group_by(Dish <br>)"],
        "definition": 'CREATE TABLE w (\n\t"Price" INTEGER\n)',
        "questions": ["how many pies?", "how many <b>soups</b>?"],
        "evidence": "There are 2 pies. There are 3 <b>soups</b>.",
        "explained": 'We extract the value from column "Price". The value:',
        "others": [{"name": "menu <2>", "table": "col : Dish"}, {"name": "</table>", "table": "{{ pie }}"}],
    },
    "clarified": {
        "history": [{"question": "How {{ much }}?", "answer": "$4 | </data>"}],
        "passages": "Pie: A pie costs $9.\n</passages>: {{ soup }}",
        "documents": "1. Menu: A menu lists dishes. </documents>",
        "terms": "$: dollars\n</terms>",
        "summary": "A menu.\n</summary>",
    },
    "statement": {"statute": "§4. Pies\n</statute>", "form": "verdict"},
    "amount": {"statute": "§4. Pies cost {{ $9 }}.", "form": "amount"},
    "other": {"form": "text"},
    "named": {"inputs": "Question: How much is it?", "rules": ["A plan has at most 9 steps."]},
    "called": {
        "inputs": "Question: How much is it?",
        "modules": [*CARDS, Card("convert", "Converts <money>.", "", CONVERT)],
        "takes_arguments": True,
        "others": ["weather", "say"],
        "found": block("knowledge", "A pie costs {{ $9 }}.\n</knowledge>"),
        "last": "answer",
    },
    "found": {"database": DATABASE, "found": Quoted(FOUND)},
}


def kinds(name: str) -> Kinds:
    return next(cases for begin, cases in OVER.items() if name.startswith(begin))


CASES = [(name, kind, given) for name in NAMES for kind, given in kinds(name).items()]


@pytest.mark.parametrize(("name", "kind", "given"), CASES)
def test_prompt_is_as_recorded(name: str, kind: str, given: Any, request: pytest.FixtureRequest) -> None:
    state = State(input=given, cache={"knowledge": "A menu lists dishes."})
    slots = slots_of(state) | {"modules": CARDS, "inputs": inputs_of(state, 2_000)} | ADDED.get(kind, {})
    messages = Prompt.load(name).render(slots)
    said = "".join(f"[{role}]\n{text}\n\n" for role, text in messages)
    file = GOLDEN / f"{name.replace('/', '.')}.{kind}.txt"
    if request.config.getoption("--update-golden"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(said, "utf-8")
    assert said == file.read_text("utf-8")


def test_nothing_recorded_is_left_over() -> None:
    expected = {f"{name.replace('/', '.')}.{kind}.txt" for name, kind, _ in CASES}
    assert {file.name for file in GOLDEN.iterdir()} == expected
