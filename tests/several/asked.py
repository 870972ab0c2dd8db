"""The sixty questions over several tables, and the indexes that they are asked of."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chameleon import Table
from chameleon.benchmarks.hybridqa import Hybridqa
from chameleon.documents.indexing import index_files
from chameleon.llm.scripted import ScriptedModel
from chameleon.modules.tablerag.table_retriever import opened_index
from chameleon.retrieval.document import Document
from chameleon.retrieval.make import build_index
from chameleon.table.amounts import read_amount
from tests.benchmarks.shared_data import rows

HERE = Path(__file__).parent
SHARED = "shared"
Question = Mapping[str, Any]
QUESTIONS: Sequence[Question] = [
    json.loads(line) for line in (HERE / "questions.jsonl").read_text("utf-8").splitlines()
]


def corpus_of(question: Question) -> str:
    """Return the folder of a question's files, or "shared" for tables of FeTaQA and HybridQA."""
    first = question["tables"][0]
    return SHARED if isinstance(first, dict) else str(Path(first).parent)


def gold_ids(question: Question) -> list[str]:
    """Return the ids that the index has for a question's tables."""
    return [each["id"] if isinstance(each, dict) else Path(each).name for each in question["tables"]]


def gold_cites(question: Question) -> dict[str, list[int] | None]:
    """Return the rows (None for all) by id of the table, or of a passage by "file#heading" or "id#title"."""
    is_own = corpus_of(question) != SHARED
    return {key.partition("/")[2] if is_own else key: each for key, each in question["cites"].items()}


def build(corpus: str, folder: Path, wanted: Callable[[str], bool] = lambda id: True) -> str:
    """Index the files of a folder, or the tables and passages of FeTaQA and HybridQA that are `wanted`."""
    if corpus == SHARED:
        build_index(folder, [each for each in shared_documents() if wanted(each.id.partition("#")[0])])
    else:
        index_files([HERE / corpus], folder)
    return str(folder)


def shared_documents() -> Iterator[Document]:
    """Yield the tables of FeTaQA, and those of HybridQA with their passages, as documents."""
    for row in rows("fetaqa/tables.jsonl.gz"):
        yield Document(row["table_id"], Table(row["header"], row["rows"], row["caption"]))
    seen: set[str] = set()
    for row in rows("hybridqa/dev.jsonl.gz"):
        given = Hybridqa().problem(row, {}).input
        ids = [row["table_id"], *(f"{row['table_id']}#{each['title']}" for each in given["passages"])]
        texts = [None, *given["passages"]]
        for id, passage in zip(ids, texts, strict=True):
            if id in seen:
                continue
            seen.add(id)
            if passage is None:
                yield Document(id, given["table"])
            else:
                yield Document(id, title=passage["title"], text=passage["text"])


def is_right(answer: Any, gold: Any) -> bool:
    """Tell whether an answer is the gold one: a name in any case, a number with or without its unit."""
    if isinstance(gold, list):
        several = answer.split(", ") if isinstance(answer, str) else list(answer or ())
        return sorted(map(str, several)) == sorted(gold)
    said, right = re.sub(r" (EUR|GBP|CHF|°C)$", "", str(answer)), str(gold)
    mine, number = read_amount(said), read_amount(right)
    if mine is not None and number is not None:
        return abs(float(mine.number) - float(number.number)) < 0.0001 * max(1, abs(float(number.number)))
    return said.casefold() == right.casefold()


def scripted(question: Question, index: str) -> ScriptedModel:
    """Return a model that chooses the question's tables, plans a program, and replies as is told."""
    called = [opened_index(index).document(id).name for id in gold_ids(question)]

    def reply(messages: Sequence[tuple[str, str]]) -> str:
        system, shown = messages[0][1], messages[-1][1]
        if system.startswith("You find what"):
            heads = re.findall(r"^Table (\d+): (.*)$", shown.rpartition("Table: none\n")[2], re.MULTILINE)
            fits = [
                [n for n, head in heads if head == name or head.startswith(f"{name} (")] for name in called
            ]
            chosen = [each[0] for each in fits if each]
            return ", ".join([*chosen, "passages"] if question["reply"] else chosen)
        if system.startswith("You plan how"):
            return '["program_generator", "answer_generator"]'
        if question["reply"]:
            return _quoted(question, called[0], shown.rpartition("Now this one.")[2])
        return str(question["sql"]) if "writing SQL" in system else f"```python\n{question['program']}\n```"

    return ScriptedModel(reply, tools=False)


def _quoted(question: Question, table: str, shown: str) -> str:
    """Fill in a reply from passages: {1} and {2} are numbers of the table and the text, the rest quotes."""
    read = re.findall(r"^Passage (\d+): (.*)\n<passage>\n((?:.*\n)*?)</passage>", shown, re.MULTILINE)
    wanted = [*question["cites"]][1].rpartition("#")[2]
    rows = next(each for each in read if each[1] == table)
    text = next(each for each in read if each[1].rpartition(" > ")[2] == wanted)

    def filled(place: re.Match[str]) -> str:
        if place[0] in ("{1}", "{2}"):
            return str((rows if place[0] == "{1}" else text)[0])
        first, last = int(place[2]), int(place[3] or place[2])
        said = (
            rows[2].splitlines()[first] if place[1] == "row" else " ".join(text[2].split()[first - 1 : last])
        )
        return f'"{said}"'

    return re.sub(r"\{[12]\}|\{(row|words) (\d+)(?:-(\d+))?\}", filled, str(question["reply"]))
