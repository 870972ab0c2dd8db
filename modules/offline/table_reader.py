"""Answer a question over a table without a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PositiveInt

from chameleon import Declined, Module, State, Table
from chameleon.core.module import Keys, Traits
from chameleon.core.prompt import named_tables
from chameleon.modules.documents.table_sources import TableRegion
from chameleon.modules.offline.forms import Fold, Pick
from chameleon.modules.offline.judge import Answer, answer
from chameleon.modules.offline.sheet import amount_in, plain
from chameleon.retrieval.analysis import folded
from chameleon.table.totals import with_named

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_FIGURE = re.compile(r"-?\d[\d,.]*")
_MOST_CELLS = 1_000  # of an answer that are reported by position
_MOST_SHOWN = 20  # items of an answer on a terminal


class TableReader(Module):
    """Answers a question over tables without a model: looks up, counts, computes, or declines."""

    reads: ClassVar[Keys] = (
        "input.question",
        "input.table",
        "input.tables?",
        "input.choices?",
        "input.unit?",
    )
    writes: ClassVar[Keys] = ("cache.answer", "cache.reading", "cache.sources")
    traits = Traits(non_text=("cache.reading", "cache.sources"))

    def __init__(
        self,
        at_least: Annotated[float, Field(ge=0, le=1)] = 0.0,
        form: Literal["text", "items"] = "text",
        max_table_rows: PositiveInt = 200_000,
    ) -> None:
        """Set when to decline, and how to write the answer.

        - `at_least`: answers with less confidence, from 0 to 1, are declined.
        - `form`: "text" is for people; "items" is a list of texts, with numbers as plain figures.
        - `max_table_rows`: tables with more rows are declined; 100,000 rows take about a second.
        """
        self.at_least, self.form, self.max_table_rows = at_least, form, max_table_rows

    def run(self, state: State) -> dict[str, Any]:
        """Return the `answer`, its `reading` and the `sources`.

        Raises `Declined` if the question is not understood with enough confidence.
        """
        if state.input.get("tables"):
            from chameleon.modules.documents.table_choice import Candidate
            from chameleon.modules.offline.among import among

            named = named_tables(state.tables, first=1)
            return among(
                self.answered, state, [Candidate(name, name, 1.0, table, {}) for name, table in named]
            )
        return self.answered(state, state.input["table"])

    def answered(self, state: State, table: Table) -> dict[str, Any]:
        """Return the output for the question over this table. Raises `Declined`."""
        if len(table.rows) > self.max_table_rows:
            hint = "Raise `max_table_rows` of `table_reader` in the inventory."
            raise Declined(f"the table has more than {self.max_table_rows:,} rows", hint=hint)
        table = with_named(table, state.input["question"])
        found = answer(state.input["question"], table)
        if found.confidence < self.at_least:
            sure = f"{found.confidence:.2f}, below {self.at_least:g}"
            raise Declined(f"it was read as: {found.reading}, with a confidence of {sure}")
        region, cells = _places(found, table)
        told = region.to_json(table, cells)
        reading = {"means": found.reading, "confidence": round(found.confidence, 2)}
        if len(found.result.values) > _MOST_SHOWN:
            rest = len(found.result.values) - _MOST_SHOWN
            reading["short"] = f"{', '.join(found.result.values[:_MOST_SHOWN])}, … and {rest:,} more"
        return {
            "answer": self._written(found, state.input),
            "reading": reading | {"columns": told["columns"], "rows": len(found.result.rows)},
            "sources": [({"table": table.caption} if table.caption.strip() else {}) | told],
        }

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {key: output[key] for key in ("answer", "reading", "sources")}

    def _written(self, found: Answer, given: Mapping[str, Any]) -> Any:
        """Return the answer in the requested form. Raises `Declined` if no choice or unit fits it."""
        result, unit = found.result, given.get("unit") or ""
        told, number = ", ".join(result.values), result.number if result.kind == "number" else None
        if choices := given.get("choices") or ():
            from chameleon.modules.program.answer_generator import as_choice

            if (choice := as_choice(told, choices)) in choices:
                return choice
            raise Declined(f"the answer {told!r} is not one of the choices: {'; '.join(choices)}")
        if unit and self.form != "items" and (number is not None or amount_in(told)):
            mine, asked = _units(found, told), found.sheet.words.units.get(folded(unit).strip())
            if mine and asked not in mine:
                raise Declined(f"the answer {told} is not in {unit}")
        if number is not None:
            figure = plain(number, 8)
            if self.form == "items":
                return [figure]
            if unit:
                return float(figure) if "." in figure else int(figure)
        if self.form == "text":
            return told
        return [_THOUSANDS.sub("", each) if _FIGURE.fullmatch(each) else each for each in result.values]


def _units(found: Answer, told: str) -> set[tuple[str, Fraction]]:
    """Return the units of a number, from its cells or the names of its columns."""
    if (amount := amount_in(told)) and amount.base:
        return {(amount.base, amount.factor)}
    columns = (found.sheet.columns[index] for index in found.result.columns)
    named = [column.units for column in columns if column.kind == "number" and column.units]
    return named[-1] if named else set()


def _places(found: Answer, table: Table) -> tuple[TableRegion, list[tuple[int, int]]]:
    """Return the rows and columns that an answer comes from, and its cells, in the original table.

    If it uses no column, the key column is returned.
    """
    result, form, sheet = found.result, found.form, found.sheet
    wanted = form.wanted if isinstance(form, Pick) else (form.column,) if isinstance(form, Fold) else ()
    is_told = result.kind == "cells" and len(result.rows) <= _MOST_CELLS
    cells = [(row, column) for row in result.rows for column in wanted] if is_told else []
    if sheet.origins is not None:  # a row for each year: find it in the original
        origins = [sheet.origins[row] for row in result.rows]
        names = {sheet.columns[index].name for index in result.columns}
        kept = {index for index, name in enumerate(table.header) if name in names}
        return TableRegion(sorted({row for row, _ in origins}), sorted({c for _, c in origins} | kept)), []
    key = [sheet.key.index] if sheet.key else None
    return TableRegion(sorted(set(result.rows)) or None, sorted(set(result.columns)) or key), cells
