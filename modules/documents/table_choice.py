"""Choose what to answer from among search results: one table, several tables, or the passages."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import PositiveInt

from chameleon import Declined, LLMModule, State, StepRejected, Table
from chameleon.core.conversation import HISTORY
from chameleon.core.module import Traits
from chameleon.core.prompt import TableView, table_text
from chameleon.lazy import cached_property
from chameleon.modules.tablerag.table_retriever import opened_index, passage_of, source_of
from chameleon.quoting import Quoted, block, on_one_line, untagged
from chameleon.retrieval.document import Document

_AND = r"\s*(?:[,;/&+\n]|\band\b|\bor\b|\s(?=\d))\s*(?:and\s+)?"
_SPAN = re.compile(r"(?<!\d)(\d{1,3})\s*(?:-|–|to)\s*(\d{1,3})(?!\d)")
_NUMBERS = rf"\d{{1,3}}(?:{_AND}(?:table\s+)?\d{{1,3}})*"
_REPLY = re.compile(
    r"\W{0,4}(?:(?:the |my )?(?:tables?|numbers?|answer|choice)\b\W{0,4})?"
    r"(?:(?P<none>none)|(?:the |\d{1,3} )?(?P<passages>passages?)"
    rf"(?:{_AND}(?:tables?\s+)?(?P<too>{_NUMBERS}))?"
    rf"|(?P<numbers>{_NUMBERS})(?:{_AND}(?:the\s+)?(?P<both>passages?))?)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_PASSAGE_CHARS = 500  # characters of a passage to show
_MIN_SHARED, _COMPARED_ROWS = 2, 2_000  # names that two tables must share; rows compared
_SHORT_NAME_CHARS = 3  # letters of a name that says little
_MAX_READ_ROWS = 100  # rows of a table that is read with passages
_MAX_TABLES = 5  # tables that one question may be answered from


@dataclass(frozen=True)
class Candidate:
    """A table that may hold the answer, with its `lexical` score, whichever retriever found it."""

    id: str
    name: str
    score: float
    table: Table
    source: Mapping[str, str]

    def to_json(self) -> dict[str, object]:
        """Return its description, without its cells."""
        return {"id": self.id, "name": self.name, "score": self.score, "source": dict(self.source)}

    @cached_property
    def names(self) -> list[set[str]]:
        """Return the cells with letters in the first rows of each column."""
        columns = (
            [cell.strip().casefold() for cell in each.cells[:_COMPARED_ROWS]] for each in self.table.columns
        )
        return [{cell for cell in cells if any(map(str.isalpha, cell))} for cells in columns]

    def goes_with(self, other: "Candidate") -> bool:
        """Return whether a column of each holds the same names, so that rows of one lead to the other."""
        pairs = ((one, two) for one in self.names for two in other.names)
        return any(len(one & two) >= max(_MIN_SHARED, min(len(one), len(two)) / 2) for one, two in pairs)

    def leads(self, question: str, passages: str) -> bool:
        """Return whether a question names a cell that the passages lack: its row may lead to them."""
        text = f" {' '.join(_WORD.findall(question.casefold()))} "
        names = (name for column in self.names for name in column if len(name) > _SHORT_NAME_CHARS)
        return any(f" {name} " in text and name not in passages for name in names)

    def as_passage(self) -> dict[str, Any]:
        """Return the table as a passage with its source: the header, then one row per line."""
        text = table_text(self.table, style="pipe", max_rows=_MAX_READ_ROWS)
        extent = {"of": len(self.table.rows), "columns": list(self.table.header)}
        return {"title": self.name, "text": text, "source": {**source_of(self.to_json()), **extent}}

    @property
    def called(self) -> str:
        """Return its caption with its place, for people."""
        return self.id if self.name in self.id else f"{self.name} ({self.id})"


def retrieved(
    state: State, most_tables: int | None = None
) -> tuple[list[Candidate], list[tuple[Document, float]]]:
    """Return the first tables of `cache.retrieved`, and the passages with their scores, best first.

    Both are empty if nothing was searched. Reads the documents from `input.index`.
    """
    tables, passages = list[Candidate](), list[tuple[Document, float]]()
    if state.input.get("index") and state.cache.get("retrieved"):
        index = opened_index(str(state.input["index"]))
        places = [index.place(hit["id"]) for hit in state.cache["retrieved"]]
        scores = index.evidence(state.input["question"], places)
        scored = zip(map(index.document_at, places), scores, strict=True)
        for document, score in sorted(scored, key=lambda pair: -pair[1]):
            if (table := document.table) is None:
                passages.append((document, score))
                continue
            captioned = table if table.caption.strip() else table.with_caption(document.title)
            tables.append(Candidate(document.id, document.name, score, captioned, dict(document.source)))
    return tables[:most_tables], passages


class TableChoice(LLMModule):
    """Chooses, of what was found, the tables or the passages to answer from. Follows table_retriever."""

    prompt = "corpus/table_choice"
    reads = ("input.question", "input.index", "cache.retrieved")
    writes = (
        "input.table, input.tables, input.passages, cache.table_choice, cache.passage_choice, cache.sources"
    )
    traits = Traits(non_text=("cache.table_choice", "cache.passage_choice", "cache.sources"))
    table_view = TableView(max_rows=3, max_cell=60)

    def __init__(self, ahead: float = 3.0, max_tables: PositiveInt = 10) -> None:
        """Set when to ask the model, and how much to show it.

        Args:
            ahead: a table with this many times the score of everything else is taken without a call, unless
                another table shares names with it. So are the passages, if one has this many times the score
                of the first table, unless the question names a cell of a table that no passage names.
            max_tables: how many tables to show, each with its caption, its columns and its first rows.
        """
        self.ahead, self.max_tables = ahead, max_tables

    def run(self, state: State) -> dict[str, Any]:
        """Return the chosen tables, or the passages.

        Raises `Declined` if the model says that none of them can answer.
        """
        tables, texts = retrieved(state, self.max_tables)
        scores = [*(each.score for each in tables[1:2]), *(score for _, score in texts[:1])]
        if not tables and not texts:
            raise Declined("nothing was found in the index")
        is_first = not state.input.get(HISTORY)  # a follow-up may refer to an earlier question
        is_alone = is_first and not any(tables[0].goes_with(each) for each in tables[1:])
        if tables and (not scores or (is_alone and tables[0].score >= self.ahead * max(scores) > 0)):
            return _table_output(tables[:1], "it is clearly ahead")
        is_ahead = not tables or (is_first and texts and texts[0][1] >= self.ahead * tables[0].score > 0)
        passage_text = " ".join(f"{text.name} {text.text}".casefold() for text, _ in texts)
        if is_ahead and not any(each.leads(state.input["question"], passage_text) for each in tables):
            return _passage_output(texts, "they are clearly ahead")
        return dict(super().run(state))

    def slots(self, state: State) -> dict[str, Any]:
        """Return the slots with the tables, numbered, and passages found: name, place and beginning."""
        tables, texts = retrieved(state, self.max_tables)
        entries = [self._beginning(number, each) for number, each in enumerate(tables, 1)]
        entries += [_passage(document) for document, _ in texts]
        return super().slots(state) | {"found": Quoted("\n".join(entries))}

    def interpret(self, text: str, state: State) -> dict[str, Any]:
        """Return the tables that the reply numbers, or the passages. Raises `StepRejected` otherwise."""
        tables, texts = retrieved(state, self.max_tables)
        plain = _SPAN.sub(
            lambda span: ", ".join(map(str, range(int(span[1]), int(span[2]) + 1))), text.strip()
        )
        groups = reply.groupdict() if (reply := _REPLY.match(plain)) else {}
        if reply and re.search(r"\btables?\W{0,3}\d", plain[reply.end() :], re.IGNORECASE):
            raise StepRejected("the reply continues about other tables", hint="Reply with the numbers only.")
        if groups.get("none"):
            what = f"none of the {len(tables)} tables found answers the question"
            what += f", nor does any of the {len(texts)} passages" if texts else ""
            raise Declined(what, hint="Use words of the table or text, or index more of them.")
        digits = groups.get("numbers") or groups.get("too") or ""
        if texts and groups.get("passages") and not digits:
            return _passage_output(texts, "the model chose them")
        numbers = list(dict.fromkeys(map(int, re.findall(r"\d+", digits))))
        if not numbers or not all(1 <= number <= len(tables) for number in numbers):
            raise StepRejected("the reply names none of the tables", hint='Reply with a number, or "none".')
        if len(numbers) > _MAX_TABLES:
            raise StepRejected(f"the reply names {len(numbers)} tables", hint="Name as few as possible.")
        chosen = [tables[number - 1] for number in numbers]
        if texts and (groups.get("passages") or groups.get("both")):
            return _passage_output(texts, "the model chose them", chosen)
        return _table_output(chosen, "the model chose it")

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        if "table" in output:
            return {"table": output["table"], "tables": output["tables"], "passages": []}
        return {"tables": [], "passages": output["passages"]}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        if "table" not in output:
            return {"passage_choice": {"why": output["why"]}}
        choice = {key: value for key, value in output.items() if key not in ("table", "tables", "sources")}
        return {"table_choice": choice, "sources": output["sources"]}

    def _beginning(self, number: int, candidate: Candidate) -> str:
        place = ", ".join(candidate.source.values())
        title = on_one_line(f"{candidate.name} ({place})" if place else candidate.name)
        text = table_text(candidate.table, style=self.table_view.style, **self.table_view.limits)
        return f"Table {number}: {untagged(title)}\n{block('table', text)}"


def _passage(document: Document) -> str:
    title = on_one_line(", ".join(dict.fromkeys([document.name, *document.source.values()])))
    text = textwrap.shorten(document.text, _PASSAGE_CHARS, placeholder=" …")
    return f"Passage: {untagged(title)}\n{block('passage', text)}"


def _passage_output(
    texts: Sequence[tuple[Document, float]], why: str, tables: Sequence[Candidate] = ()
) -> dict[str, Any]:
    table_passages = [each.as_passage() for each in tables]
    return {"why": why, "passages": [*table_passages, *(passage_of(document) for document, _ in texts)]}


def _table_output(candidates: Sequence[Candidate], why: str) -> dict[str, Any]:
    first, *others = candidates
    return {
        **first.to_json(),
        "others": [each.id for each in others],
        "why": why,
        "table": first.table,
        "tables": [each.table for each in others],
        "sources": [source_of(each.to_json()) for each in candidates],
    }
