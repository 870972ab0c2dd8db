"""Answer from the passages of a paper without a model: the value beside a label, or in a cell of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon import Declined, Module, State, Table
from chameleon.modules.lexical.label_questions import wanted_by
from chameleon.modules.lexical.labelled import Found, value_of
from chameleon.modules.papers.passages import nearness, source_of
from chameleon.papers.units import unit_in

_OWN_UNIT = re.compile(r"[^\W\d_]|%")
_BESIDE_MONEY = re.compile(
    r"%|\bper (?:\w+ )?(?:share|cent)\b|\b(?:percent|ratio|margin|rate)\b", re.IGNORECASE
)
_EXCEPT = re.compile(r",?\s+(?:except|unless|other than)\b.*", re.IGNORECASE | re.DOTALL)
_FOOTNOTE = re.compile(r"\s*\(\d{1,2}\)$")
_BRACKETS, _NEGATIVE = re.compile(r"([$€£¥]?)\s*\(\s*([$€£¥]?[\d,.]+)\s*\)\s*(%?)"), r"-\1\2\3"
_CLAUSE = re.compile(r"\d{1,3}(?:\.\d{1,3})+[.)]?\s+(?=\D)")
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?!\d|[.,]\d)")
_IN_YEAR = re.compile(
    r"\b(?:in|during|for|at|as of|on) (?:the )?(?:fiscal |calendar )?(?:years? )?(?:end(?:ed|ing) )?"
    r"(?:[a-z]+ \d{1,2},? )?(?=(?:19|20)\d\d\b)"
)


class LexicalPaperReader(Module):
    """Answers with a short value beside its label, or a cell of a table, without a model; or declines."""

    reads = ("input.question", "input.passages", "input.unit?")
    writes = ("cache.program_result", "cache.sources")
    wordless = ("cache.sources",)

    def run(self, state: State) -> dict[str, Any]:
        """The value and its source. Raises `Declined`, naming the nearest passage, where none is certain.

        A figure of a table whose caption or headings give a unit is told with it, unless the question does.
        """
        passages = state.input.get("passages") or ()
        question = " ".join(state.input["question"].lower().split()).rstrip("?!. ")
        wanted = wanted_by(_IN_YEAR.sub("for ", question))
        nearest = _nearest(state, passages)
        if wanted is None:
            raise Declined(f"the paper does not answer such a question by itself{nearest}")
        lines = [line for number, each in enumerate(passages, 1) for line in _lines(each, number)]
        try:
            found: Found = value_of(wanted, [line.text for line in lines])
        except Declined as why:
            raise Declined(f"{why.what}{nearest}", hint=why.hint) from why
        line = next(line for line in lines if line.text == found.line)
        unit = f" ({line.unit})" if line.unit and not state.input.get("unit") else ""
        return {
            "answer": f"{found.value}{unit}",
            "sources": [source_of(passages[line.passage - 1], line.passage)],
        }

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["answer"], "sources": output["sources"]}


@dataclass(frozen=True)
class _Line:
    """A line, the number of its passage, and the unit of the figure that it holds, "" where it has none."""

    text: str
    passage: int
    unit: str = ""


def _lines(passage: Mapping[str, Any], number: int) -> Iterator[_Line]:
    """The lines of a passage, without numbers of clauses; of a table, each cell beside its row and column."""
    table = passage.get("table")
    if isinstance(table, Table):
        names = _by_year(table.header[1:])
        for row in table.rows:
            label = _FOOTNOTE.sub("", row[0])
            for name, cell in zip(names, row[1:], strict=True):
                if label and name and cell:
                    text = f"{label} for {name}: {_BRACKETS.sub(_NEGATIVE, cell)}".replace("\n", " ")
                    yield _Line(text, number, _unit(passage, table, row[0], name, cell))
    else:
        lines = (line.strip() for line in str(passage["text"]).splitlines())
        yield from (_Line(_CLAUSE.sub("", line), number) for line in lines)
    yield _Line("", number)


def _by_year(names: Sequence[str]) -> list[str]:
    """The names of columns, that of the only one of its year by that year: "Year ended June 30, 2023"."""
    years = [set(_YEAR.findall(name)) for name in names]
    alone = [len(each) == 1 and sum(bool(each & other) for other in years) == 1 for each in years]
    return [min(each) if lone else name for name, each, lone in zip(names, years, alone, strict=True)]


def _unit(passage: Mapping[str, Any], table: Table, row: str, column: str, cell: str) -> str:
    """The unit of a cell: of its row or column, else what the table's caption, corner or headings say.

    "" for a cell that has one itself, and for shares and amounts per share, which are not in thousands.
    """
    if _OWN_UNIT.search(cell) or not any(map(str.isdigit, cell)):
        return ""
    own = unit_in(row) or unit_in(column)
    if own or _BESIDE_MONEY.search(f"{row} {column}"):
        return own
    headings = reversed(str(passage.get("title") or "").split(" > "))
    found = next(filter(None, map(unit_in, (table.caption, table.header[0], *headings))), "")
    return _EXCEPT.sub("", found)


def _nearest(state: State, passages: Sequence[Mapping[str, Any]]) -> str:
    """Where to read on: the place of the passage nearest to the question."""
    if not passages:
        return ""
    near = nearness(state.input["question"], passages)
    best = passages[max(range(len(passages)), key=near.__getitem__)]
    page = f"page {best['page']}" if best.get("page") is not None else ""
    place = ", ".join(filter(None, [str(best.get("file") or ""), str(best.get("title") or ""), page]))
    return f'; the nearest passage ({place or "without a heading"}) begins "{str(best["text"])[:160]}"'
