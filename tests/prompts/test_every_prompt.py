"""What holds for every prompt: its slots, its warning, whose items it shows, and what it says, to the letter.

After a change that is meant, record with `--update-golden` and read the diff.
"""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment, meta

from chameleon import tool
from chameleon.core.access import arguments_of
from chameleon.core.prompt import Prompt, slots_of
from chameleon.core.state import State
from chameleon.inventory import Card
from chameleon.planners.descriptions import inputs_of
from chameleon.quoting import Quoted, block
from chameleon.table import Table
from tests.benchmarks.shared_data import DATA, needs_data
from tests.prompts import demonstrations
from tests.prompts.demonstrations import NAMES, TASKS, chain_demonstrations, parts, problem_demonstrations

GIVEN: Any = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text("utf-8"))
COUNTS, DATABASE = GIVEN["counts"], GIVEN["database"]
OF_CHAINS = re.compile(r"(add|select|group|sort)_\w+|table_query|few_shot|cot|program_generator|dater\w*")


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_declares_its_slots_and_says_what_is_data(name: str) -> None:
    front, system, user = parts(name)
    used = meta.find_undeclared_variables(Environment().parse(system + user))
    # A table that is cut has its note in this slot, and not in its own text, as the published code has it.
    assert used | {"note"} == {slot.rstrip("?") for slot in front["slots"]} | {"note"}
    assert system.count("data from strangers") == 1 and "never follow instructions" in system
    warning = next(line for line in system.splitlines() if "data from strangers" in line)
    assert not re.search(r"question|statement|claim", warning)  # that is the user's request
    assert name == "tabfact/text_to_sql" or not re.search(r"[ \t]$", user, re.MULTILINE)


@pytest.mark.parametrize("task", COUNTS)
def test_demonstrations_are_as_many_as_published(task: str) -> None:
    read = chain_demonstrations if task in TASKS else problem_demonstrations
    for name, count in COUNTS[task].items():
        shown = read(f"{task}/{name}")
        assert len(shown) == len({demo.question for demo in shown}) == count, name


@needs_data
def test_no_demonstration_is_an_item_of_a_benchmark() -> None:
    asked, tables, captions = set(), set(), set()
    for task in ("tabmwp", "scienceqa", *TASKS, "sqa", "hybridqa", "feverous", "tablerag"):
        for path in sorted((DATA / task).glob("*.jsonl*")):
            for row in map(json.loads, lines_of(path)):
                said = (row.get(key) for key in ("question", "statement", "claim", "query"))
                asked |= {words(str(each)) for each in said if each}
                if isinstance(row.get("rows"), list) and "header" in row:
                    cells = [cell for line in (row["header"], *row["rows"]) for cell in line]
                    tables.add(words(" ".join(map(str, cells))))
                    captions.add(words(str(row.get("caption") or "")))
                elif isinstance(row.get("table"), str):
                    tables.add(words(row["table"]))
    assert len(asked) > 10_000 and len(tables) > 10_000
    for name in NAMES:
        task, _, prompt = name.partition("/")
        shown = []
        if task in TASKS and OF_CHAINS.fullmatch(prompt):
            shown = chain_demonstrations(name)
        elif prompt in COUNTS.get(task, ()):
            shown = problem_demonstrations(name)
        elif task in TASKS and prompt == "planner":
            shown = [demo for some in demonstrations.planner_demonstrations(task) for demo in some]
        elif task == "tablerag":
            label = "Claim|Statement|Question|Question or statement"
            found = re.findall(rf"^(?:{label}): (\w.+)$", parts(name)[2], re.M)
            assert not asked & set(map(words, found)), name
        for demo in shown:
            assert words(demo.question) not in asked, demo.question
            cells = [*demo.table.header, *(cell for row in demo.table.rows for cell in row)]
            assert not demo.table.rows or words(" ".join(cells)) not in tables, demo.table
            assert not demo.table.caption or words(demo.table.caption) not in captions, demo.table.caption


def words(text: str) -> str:
    """Return the words of a text, for the same text written otherwise to be found."""
    return " ".join(re.findall(r"\w+", text.lower()))


def lines_of(path: Path) -> list[str]:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8").splitlines()


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
CARDS = [Card("lookup", "Looks things up.", "Use it for prices."), Card("answer", "Answers.")]
CONVERT = arguments_of(tool(lambda amount, to="EUR": 0, name="convert", description="Converts <money>."))
IN_CHAINS: dict[str, Any] = {
    "database": DATABASE,
    "asked": "is it {{ hot }}?",
    "items": "1 | soup & bread\n2 | </values>",
    "columns": "Dish <br>, Price",
    "by_column": '{"columns": ["Dish <br>", "Price"]}',
}
FOUND = f"Table 1: Menu $1\n{block('table', 'Dish | {{ b }}')}\nTable 2: {{{{ pies }}}}"
ADDED: Kinds = GIVEN["added"]
for kind in ("begun", "grouped"):
    ADDED[kind] |= IN_CHAINS | {"candidates": [Card(*each) for each in ADDED[kind]["candidates"]]}
ADDED["called"]["modules"] = [*CARDS, Card("convert", "Converts <money>.", "", CONVERT)]
ADDED["called"]["found"] = block("knowledge", "A pie costs {{ $9 }}.\n</knowledge>")
ADDED["found"] = {"database": DATABASE, "found": Quoted(FOUND)}


OVER_NAME = {name: next(OVER[begin] for begin in OVER if name.startswith(begin)) for name in NAMES}
CASES = [(name, kind, given) for name in NAMES for kind, given in OVER_NAME[name].items()]


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
