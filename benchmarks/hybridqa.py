"""HybridQA: questions over a Wikipedia table and the pages that its cells link to (Chen et al., 2020)."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote

from chameleon.benchmarks.scorers.squad import ExactAndF1, TableragAnswerRule
from chameleon.benchmarks.tables.cells import cells_with
from chameleon.benchmarks.tables.table_benchmark import (
    SIZES,
    TableBenchmark,
    TableFolder,
    read_object,
    text_in,
    texts_in,
)
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Cell, Problem, Row, Scorer

SOURCES = ("table", "passage")
_TABLES, _PASSAGES = "tables_tok", "request_tok"
_REPOSITORY = "WikiTables-WithLinks"
_LIST_PREFIX = "passages: "
_BAR = " | "
_TITLE_ENDS = re.compile(r"(?<=\S): ")
_MAX_TITLE_CHARS = 120

Passage = dict[str, str]


class Hybridqa(TableBenchmark):
    """Questions over a Wikipedia table and the pages that its cells link to (Chen et al., 2020).

    Rows come from the original release (`released_data/dev.json`, with tables and pages in the repository
    WikiTables-WithLinks; `dev_reference.json` has the sources), from that file only, or from JSON lines
    (`question`, `answer`, `answer_source`, `table`, `context` as in TableRAG). Problems without a table can
    be scored but not run. An answer from neither the table nor a passage counts only in the total.
    """

    name = "hybridqa"
    columns = (*SOURCES, *SIZES)
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {"official": ExactAndF1, "tablerag": TableragAnswerRule}
    id_key = "question_id"
    known_by = ({"answer", "answer_source"},)
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": SOURCES, **TableBenchmark.groups}
    tables_beside: ClassVar[tuple[str, ...]] = (
        *TableBenchmark.tables_beside,
        _REPOSITORY,
        f"../{_REPOSITORY}",
    )

    def rows(self, rows: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield one row per question, adding the sources of the answers in the release."""
        reference_path, sources = path.with_name(f"{path.name.partition('.')[0]}_reference.json"), None
        for row in rows:
            # `dev_reference.json`, of which `DataFile` makes a row for each of its keys.
            if row.get(self.id_key) in (*SOURCES, "reference") and "question" not in row:
                sources = _sources(path) if sources is None else sources
                gold = row if row[self.id_key] == "reference" else {}
                for id in (each for each in gold if each != self.id_key):
                    yield {self.id_key: id, "answer": gold[id], "answer_source": sources.get(id)}
            elif "answer-text" in row:
                sources = _sources(reference_path) if sources is None else sources
                source = sources.get(str(row.get(self.id_key)), row.get("where"))
                yield {"answer": row["answer-text"], "answer_source": source, **row}
            else:
                yield row

    def tables_in(self, folder: Path) -> Mapping[str, Row]:
        """Return the tables in a folder that holds `tables_tok` and `request_tok`."""
        return TableFolder(folder / _TABLES, self.read_table, ending=".json")

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row; `gold` is the answer, and the input has the table and passages."""
        if isinstance(row.get("table"), Mapping):
            caption, passages = _context(row)
            row = {"caption": caption, **row, "table": {**row["table"], "passages": passages}}
        source = row.get("answer_source")
        return self.over_table(row, tables, text_in(row, "answer"), (source,) if source in SOURCES else ())

    def gold_cells(self, problem: Problem) -> Sequence[Collection[Cell]] | None:
        """Return the cells with the answer, if it comes from the table."""
        return cells_with([problem.gold], problem) if SOURCES[0] in problem.columns else None

    def read_table(self, file: Path) -> Row:
        """Return the table in `tables_tok/ID.json`, with its links' passages in `request_tok/ID.json`."""
        table, texts = read_object(file), read_object(file.parents[1] / _PASSAGES / file.name)
        try:
            lines = [[cell[0] for cell in row] for row in (table["header"], *table["data"])]
            links = [link for row in table["data"] for cell in row for link in cell[1]]  # of [text, links]
        except (KeyError, IndexError, TypeError) as problem:
            raise InputError("this is not a table of WikiTables-WithLinks", where=str(file)) from problem
        page, section = str(table.get("title") or ""), str(table.get("section_title") or "")
        titles = {link: unquote(str(link)).removeprefix("/wiki/").replace("_", " ") for link in links}
        linked = [_passage(title, texts.get(link)) for link, title in titles.items()]
        about = _about(page, section, table.get("section_text"), table.get("intro"))
        passages = [passage for passage in (*about, *linked) if passage["text"]]
        return {"lines": lines, "caption": _caption(page, section), "passages": passages}


def _sources(reference: Path) -> dict[str, str]:
    """Return the source of each answer from the lists of a reference file, if it exists."""
    lists = read_object(reference) if reference.is_file() else {}
    pairs = ((source, lists[source]) for source in SOURCES if isinstance(lists.get(source), list))
    return {str(id): source for source, ids in pairs for id in ids}


def _context(row: Row) -> tuple[str, list[Passage]]:
    """Read caption and passages of TableRAG's rows: "page | section | its text | introduction", and lists."""
    caption, passages = "", []
    for text in texts_in(row, "context", default=[]):
        if text.startswith(_LIST_PREFIX):
            passages += listed_passages(text.removeprefix(_LIST_PREFIX))
        elif text.count(_BAR) >= 3:
            page, section, section_text, intro = text.split(_BAR, 3)
            caption = caption or _caption(page, section)
            passages += _about(page, section, section_text, intro)
        else:
            passages.append(_passage("", text))
    return caption, [passage for passage in passages if passage["text"]]


def listed_passages(text: str) -> list[Passage]:
    """Return the passages of "title: text | title: text | ".

    Texts are tokenized, so a colon after a space belongs to a text, and one after a word to a title; of
    several, as in "Magic: The Gathering: It is", the last one ends the title. A part without a title belongs
    to the previous text, which contains a bar.
    """
    passages: list[Passage] = []
    for part in text.removesuffix(_BAR).split(_BAR):
        ends = list(_TITLE_ENDS.finditer(part, 0, _MAX_TITLE_CHARS))
        if ends:
            passages.append(_passage(part[: ends[-1].start()], part[ends[-1].end() :]))
        elif passages:
            passages[-1]["text"] += f"{_BAR}{part.strip()}"
        else:
            passages.append(_passage("", part))
    return [passage for passage in passages if passage["text"]]


def _about(page: str, section: str, section_text: Any, intro: Any) -> list[Passage]:
    return [_passage(page, intro), _passage(_caption(page, section), section_text)]


def _passage(title: str, text: Any) -> Passage:
    return {"title": title.strip(), "text": str(text or "").strip()}


def _caption(page: str, section: str) -> str:
    return " - ".join(part.strip() for part in (page, section) if part.strip())
