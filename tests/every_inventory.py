"""An input for every shipped inventory that asks a model, and a double that replies by the prompt."""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from chameleon import Inventory, State, Table
from chameleon.documents.indexing import index_files
from chameleon.inventory import shipped_inventories
from chameleon.table.bars import split_rows
from tests.e2e import problems
from tests.modules.reports.pages import page
from tests.modules.statutes.samples import STATUTES

ENVIRONMENT = {"WIKIPEDIA_ENDPOINT": "http://127.0.0.1:9/w/api.php"}
"""Searches that ask Wikipedia by default are refused at once; the runs go on without them."""

_DATA: Any = yaml.safe_load(Path(__file__).with_name("every_inventory.yaml").read_text("utf-8"))
DEMOS = Path(__file__).parents[1] / "demos" / "data"

RACE = problems.RACE.with_caption("Cyclists in a race")
TEAMS = Table(
    ["Team", "Home"], [["Velo Nord", "Arvik"], ["Tandem", "Selmark"], ["Ruota", "Brune"]], "Homes of teams"
)
LATER = RACE.take_rows([]).with_caption("Cyclists in a later race")
RACE_QUESTION = "Which team had the most cyclists from Italy in the race?"
RACE_STATEMENT = "three of the cyclists in the race are from italy"


def asking_inventories() -> list[str]:
    return [name for name in shipped_inventories() if Inventory.load(name).needs_model]


def inputs_for(name: str, tmp_path: Path) -> Mapping[str, Any]:
    """Return an input of a shipped inventory; an index is built next to `tmp_path` once a session."""
    found = next((each for names, each in _INPUTS if re.fullmatch(names, name)), None)
    if found is None:
        raise LookupError(f"_INPUTS has no input for the inventory {name}")
    types = Inventory.load(name).input_types
    given = found(tmp_path) if callable(found) else found
    return {key: value for key, value in given.items() if key in types}


def _table_index(tmp_path: Path) -> str:
    folder = tmp_path.parent / "every_inventory"
    index = folder / "tables.index"
    if not index.exists():
        folder.mkdir(exist_ok=True)
        race = folder / "cyclists in a race.csv"
        with race.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([RACE.header, *RACE.rows])
        leagues = [DEMOS / "folder" / "club" / f"league_{year}.csv" for year in (2023, 2024)]
        index_files([race, *leagues], index, "bm25")
    return str(index)


def _visitors_input(huts: int, months: int) -> dict[str, Any]:
    """Return a question about a row for each hut, the first with the most, and a column for each month."""
    names = ["Hut", *(f"Month {month}" for month in range(1, months + 1))]
    rows = [
        [f"Hut {hut}", *(str(150 - 4 * hut + 3 * month) for month in range(1, months + 1))]
        for hut in range(1, huts + 1)
    ]
    question = "How many visitors did the most popular hut have in the last month?"
    return {"question": question, "table": Table(names, rows, "Visitors to mountain huts")}


def _index_input(question: str) -> Callable[[Path], dict[str, Any]]:
    passages = [{"title": "Velo Nord", "text": "Velo Nord is a team from Arvik. It was founded in 1987."}]
    history = [{"question": "Which teams were in the race?", "answer": ["Velo Nord", "Tandem", "Ruota"]}]
    given = {"question": question, "passages": passages, "history": history}
    return lambda tmp_path: given | {"index": _table_index(tmp_path)}


_CHAINED = {"question": RACE_QUESTION, "table": RACE, "tables": [TEAMS, LATER]}
_FERRY = {"image": str(DEMOS / "ferry.png")}
if not find_spec("PIL"):
    _FERRY = {"text": "Harbour Ferry. Adult fare: $4.50. Child fare: $2.25."}
_DUES = page("what was the percentage change in harbour dues from 2010 to 2011?")

# The first pattern that the whole name matches counts; keys that the inventory does not take are left out.
_INPUTS: Sequence[tuple[str, Mapping[str, Any] | Callable[[Path], Mapping[str, Any]]]] = (
    ("tables(_.*)?|code_interpreter", _visitors_input(20, 14)),
    ("tabmwp.*", _visitors_input(6, 4)),
    ("corpus(_sql)?", _index_input("How many points did the best team of the league have?")),
    ("tablerag_(tabfact|feverous)", _index_input(RACE_STATEMENT)),
    ("tablerag_.*", _index_input(RACE_QUESTION)),
    ("tabfact.*", {"question": RACE_STATEMENT, "table": RACE}),
    ("(wikitq|fetaqa|chain_of_table).*", _CHAINED),
    ("finqa.*", _DUES),
    ("sara.*", _DATA["case"] | {"statutes": STATUTES}),
    ("papers.*", _DATA["document"]),
    ("pictures.*|visual_question_answering", {"question": "What is the adult fare?", **_FERRY}),
    ("scienceqa.*", _DATA["science"]),
)


def reply(messages: Sequence[tuple[str, str]], sample: int = 0) -> str:
    """Return what a sensible model replies to pairs of role and text; all samples are the same."""
    *before, user = (text for _, text in messages)
    prompt = "\n".join([*before, user])
    instruction = "\n".join([*before, user.partition("\n\n")[0]])
    cue = user.rstrip().removesuffix("\n[picture]").rpartition("\n")[2]
    for each in _DATA["replies"]:
        if cue.startswith(each.get("ends", "")) and re.search(each.get("asked", ""), instruction):
            return each["reply"] if "reply" in each else _MADE[each["made by"]](prompt)
    raise LookupError(f"no reply to a prompt that begins {prompt[:80]!r} and ends {cue!r}")


_PLAN = (
    *("image_captioner", "text_detector", "knowledge_retrieval"),
    *("query_generator", "bing_search", "wikipedia_search"),
    *("column_lookup", "row_lookup", "table_verbalizer"),
    *("program_generator", "program_verifier", "program_executor"),
)


def _plan(prompt: str) -> str:
    """Return a plan of all modules offered that have a picture if they need one, with one answer."""
    offered = set(re.findall(r"^- (\w+): ", prompt, re.MULTILINE))
    if not re.search(r"^(Given|About): (picture|.*, picture)", prompt.rpartition("Now this one.")[2], re.M):
        offered -= {"image_captioner", "text_detector"}
    plan = [name for name in _PLAN if name in offered]
    solved = [] if "program_generator" in plan else ["solution_generator"]
    return json.dumps([*plan, *solved, "answer_generator"])


def _table_in(prompt: str) -> list[list[str]]:
    *_, shown = re.findall(r"<(table|rows)>\n(.*?)\n</\1>", prompt, re.DOTALL)
    return split_rows(shown[1].split("\n"))


def _first_rows(prompt: str) -> str:
    rows = _table_in(prompt)
    return "\n".join(" | ".join(row) for row in rows[: len(rows) // 2 + 1])


def _fewer_columns(prompt: str) -> str:
    return "\n".join(" | ".join([row[0], *row[2:]]) for row in _table_in(prompt))


def _last_column(prompt: str) -> list[str]:
    return [row[-1] for row in _table_in(prompt)[1:]]


def _program(prompt: str) -> str:
    return f"```python\nvalues = [{', '.join(_last_column(prompt))}]\nans = max(values)\n```"


def _solution(prompt: str) -> str:
    most = max(map(int, _last_column(prompt)))
    return f"The highest number in the last column is {most}. The answer is {most}."


_MADE = {"plan": _plan, "first_rows": _first_rows, "fewer_columns": _fewer_columns}
_MADE |= {"program": _program, "solution": _solution}


def pieces_asked(state: State) -> set[str]:
    """Return the names of the planner and modules that called the model, as the run's inventory has them."""
    planners = {plan.by for plan in state.plans if plan.calls}
    return planners | {record.step.module for record in state.history if record.calls}
