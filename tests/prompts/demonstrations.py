"""The demonstrations in prompts, as data: problems in blocks, and those of chains over tables."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from chameleon import Table
from chameleon.core.prompt import Prompt
from chameleon.inventory import Card
from chameleon.table.bars import split_rows

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
NAMES = sorted(str(path.relative_to(PROMPTS).with_suffix("")) for path in PROMPTS.rglob("*.md"))
TASKS = ("wikitq", "tabfact", "fetaqa")
OPERATIONS = ("add_column", "select_row", "select_column", "group_by", "sort_by")
_ITEM = re.compile(
    r"/\*\n(?P<table>(?:.+\n)+?)\*/\n(?:[Qq]uestion|[Ss]tatement) ?: (?P<question>.+)\n"
    r"(?P<reply>(?:.+\n)+?)(?=\n|\Z)"
)
_PROBLEM = re.compile(
    r"(?:^Context:\n(?:.+\n)+\n)?(?:^<rows>\n(?P<above>(?:.+\n)+?)</rows>\n\n)?"
    r"^Question: (?P<question>.+)\n(?:<passage>\n(?:.+\n)+?</passage>\n)?"
    r"(?:(?:Choices|Options): (?P<choices>.+)\n)?(?:Unit: .+\n)?"
    r"(?:Title: (?P<title>.+)\n)?(?:About: (?P<about>.+)\n)?"
    r"(?:<(?:table|rows)>\n(?P<table>(?:.+\n)+?)</(?:table|rows)>\n)?(?:Note: .+\n)?"
    r"(?P<label>\w+):\s(?P<reply>[\s\S]+?)\s*(?=^Context:|^Question:|^Table \(|^Here are |^\{%|\Z)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Demonstration:
    """A table, what is asked about it, and the lines that follow."""

    table: Table
    question: str
    reply: str
    label: str = ""
    choices: tuple[str, ...] = ()
    about: str = ""


def parts(name: str) -> tuple[dict[str, Any], str, str]:
    """The front matter and the two sections of a prompt file."""
    _, front, body = (PROMPTS / f"{name}.md").read_text("utf-8").split("---\n", 2)
    match = re.fullmatch(r"# system\n(.+?)\n# user\n(.+)", body, re.DOTALL)
    assert match, f"{name} needs the sections system and user, in this order"
    return yaml.safe_load(front), match[1], match[2]


def problem_demonstrations(name: str, *, pandas: bool = True) -> list[Demonstration]:
    """Those of a prompt for problems in blocks (tabmwp, tables, scienceqa), kind by kind."""
    texts = [parts(name)[2]]
    if name == "tables/program_generator":
        kinds: list[dict[str, Any]] = [{"short": True, "choices": ["a"]}, {"short": True}, {"pandas": pandas}]
        texts = [Prompt.load(name).render({"question": "", "table": ""} | kind)[-1][1] for kind in kinds]
    text = "".join(re.split(r"^(?:Here is the |Now this one)", each, flags=re.M)[0] for each in texts)
    found, shown = [], ""
    for match in _PROBLEM.finditer(text):
        part = match.groupdict(default="")
        shown = part["table"] or part["above"] or shown
        lines = [line.split(" | ") for line in shown.rstrip("\n").split("\n")]
        table = Table(lines[0], lines[1:], part["title"])
        choices = [each.strip() for each in re.split(r" \| |\([A-E]\) ", part["choices"]) if each]
        asked, reply = part["question"], part["reply"]
        found.append(Demonstration(table, asked, reply, part["label"], tuple(choices), part["about"]))
    assert len(found) == len(re.findall(r"^Question: ", text, re.MULTILINE)), f"{name}: odd demonstration"
    assert len({demo.label for demo in found}) == 1
    return found


def chain_demonstrations(name: str) -> list[Demonstration]:
    """Those of a prompt for chains, in the order of the file; without the case that it ends with."""
    _, _, user = parts(name)
    text = user[: user.rindex("/*\n")]
    found = [_read(match) for match in _ITEM.finditer(text)]
    assert len(found) == len(re.findall(r"^(?:[Qq]uestion|[Ss]tatement) ?: ", text, re.M)), name
    return found


def planner_demonstrations(task: str) -> tuple[list[Demonstration], list[Demonstration]]:
    """Those of each operation, and the complete chains."""
    cards = [Card(name, "A card.") for name in OPERATIONS]
    slots = {"candidates": cards, "names": [], "chain": "", "table": "", "question": ""}
    text = Prompt.load(f"{task}/planner").render(slots)[-1][1]
    found = [_read(match) for match in _ITEM.finditer(text)]
    single = [each for each in found if each.reply.startswith("Function: ")]
    chains = [each for each in found if each.reply.startswith("Function Chain: ")]
    assert single + chains == found
    return single, chains


def _read(match: re.Match[str]) -> Demonstration:
    return Demonstration(_table(match["table"].rstrip("\n")), match["question"], match["reply"].rstrip("\n"))


def _table(text: str) -> Table:
    if text.startswith("table = "):
        data = json.loads(text.removeprefix("table = "))
        columns = data["table_column_priority"]
        assert [column[0] for column in columns] == data["columns"]
        rows = zip(*(column[1:] for column in columns), strict=True)
        return Table(data["columns"], list(rows), data["table_caption"])
    lines = text.split("\n")
    caption = lines.pop(0).removeprefix("table caption : ") if lines[0].startswith("table caption") else ""
    heads = ["col : ", *(f"row {number} : " for number in range(1, len(lines)))]
    assert all(line.startswith(head) for line, head in zip(lines, heads, strict=True)), text
    cells = split_rows([line.removeprefix(head) for line, head in zip(lines, heads, strict=True)])
    return Table(cells[0], cells[1:], caption)
