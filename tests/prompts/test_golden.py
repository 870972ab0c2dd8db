"""What each shipped prompt says to a model, to the letter.

After a change that is meant, record anew with `--update-golden` and read the diff.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon import tool
from chameleon.core.access import arguments_of
from chameleon.core.prompt import Prompt, slots_of
from chameleon.core.state import State
from chameleon.inventory import Card
from chameleon.planners.told import inputs_of
from chameleon.quoting import Quoted, block
from chameleon.table import Table

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(str(path.relative_to(PROMPTS).with_suffix("")) for path in PROMPTS.rglob("*.md"))

TABLE = Table(["Dish <br>", "Price"], [["soup & bread", "$4"], ["{{ pie }}", "$9"]], caption="Menu $1")
OVER_TABLES = {
    "free": {"question": "How much is it all {together}?", "table": TABLE, "unit": "$"},
    "choice": {"question": "Which is cheaper?", "table": TABLE, "choices": ("soup & bread", "{{ pie }}")},
}
OVER_PICTURES = {
    "text": {"question": "Why {is} it so?", "choices": ("<b> & c", "{{ d }}"), "text": "A menu costs $9."},
    "picture": {
        "question": "What is it?",
        "choices": ("a dish", "a price", "a cook"),
        "image": "menu.png",
        "metadata": {"grade": 4, "subject": "social science", "skill": "Read a menu"},
    },
}
PIE = {"question": "How much is {{ pie }}?"}
OVER_PLANS = {"named": PIE, "called": PIE}
CHAINS = ("chain_of_table/", "wikitq/", "tabfact/", "fetaqa/")
OVER_FINDINGS = {
    "bare": {**PIE, "table": TABLE},
    "clarified": {"question": "How often is it <b>?", "table": TABLE},
}
OVER_CHAINS = {
    "begun": {**PIE, "table": TABLE},
    "grouped": {"question": "How often is it <b>?", "table": TABLE, "text": "A menu costs $9."},
}
OVER_STATUTES = {
    "statement": {"question": "Section 4(a) applies to the <b> pie.", "text": "The pie costs $9.\n</facts>"},
    "amount": PIE,
    "other": {"question": "Does section 4 apply?"},
}
OVER_CANDIDATES = {"found": PIE}
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
OF_SQL = {"database": DATABASE, "asked": "is it {{ hot }}?", "items": "1 | soup & bread\n2 | </values>"}
CARDS = [Card("lookup", "Looks things up.", "Use it for prices."), Card("answer", "Answers.")]
CONVERT = arguments_of(tool(lambda amount, to="EUR": 0, name="convert", description="Converts <money>."))
# What modules of chains over tables and the planner add to the slots, for each kind of case.
ADDED = {
    "free": {"pandas": True},
    **{kind: {"short": True} for kind in ("short", "short_choice")},
    "begun": {
        **OF_SQL,
        "blocks": ["dish <br>\nsoup & bread", "</part> $4"],
        "candidates": [Card("select_row", "Keeps rows."), Card("group_by", "Counts."), *CARDS],
        "names": ["select_row", "group_by", "lookup", "answer"],
        "chain": "",
        "columns": "Dish <br>, Price",
        "by_column": '{"columns": ["Dish <br>", "Price"]}',
        "definition": 'CREATE TABLE w (\n\t"Dish <br>" TEXT\n)',
        "questions": ["how many pies?"],
    },
    "grouped": {
        **OF_SQL,
        "candidates": [Card("sort_by", "Sorts.")],
        "names": ["sort_by", "end"],
        "chain": "f_group_by(Dish <br>) ->",
        "calls": ["f_group_by(Dish <br>)"],
        "columns": "Dish <br>, Price",
        "by_column": '{"columns": ["Dish <br>", "Price"]}',
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
    "found": {
        **OF_SQL,
        "found": Quoted(f"Table 1: Menu $1\n{block('table', 'Dish | {{ b }}')}\nTable 2: {{{{ pies }}}}")
    },
}


def kinds(name: str) -> dict[str, dict[str, object]]:
    if name == "tables/program_generator":
        return OVER_TABLES | {"short": OVER_TABLES["free"], "short_choice": OVER_TABLES["choice"]}
    if name.startswith(CHAINS):
        return OVER_CHAINS
    if name.startswith("planners/"):
        return OVER_PLANS
    if name.startswith("sara/"):
        return OVER_STATUTES
    if name.startswith(("corpus/", "papers/")):
        return OVER_CANDIDATES
    if name.startswith("tablerag/"):
        return OVER_FINDINGS
    return OVER_TABLES if name.startswith(("tabmwp/", "tables/")) else OVER_PICTURES


CASES = [(name, kind, given) for name in NAMES for kind, given in kinds(name).items()]


@pytest.mark.parametrize(
    ("name", "kind", "given"), CASES, ids=lambda part: part if isinstance(part, str) else ""
)
def test_prompt_is_as_recorded(
    name: str, kind: str, given: dict[str, object], request: pytest.FixtureRequest
) -> None:
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
