"""Answer a question over a table without a model."""

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
_MAX_CELLS = 1_000  # of an answer that are reported by position
_MAX_ITEMS = 20  # items of an answer on a terminal


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

        Args:
            at_least: answers with less confidence, from 0 to 1, are declined.
            form: "text" is for people; "items" is a list of texts, with numbers as plain figures.
            max_table_rows: tables with more rows are declined; 100,000 rows take about a second.
        """
        self.at_least, self.form, self.max_table_rows = at_least, form, max_table_rows

    def run(self, state: State) -> dict[str, Any]:
        """Return the `answer`, its `reading` and the `sources`.

        Raises `Declined` if the question is not understood with enough confidence.
        """
        if state.input.get("tables"):
            from chameleon.modules.documents.table_choice import Candidate
            from chameleon.modules.offline.among import among

            pairs = named_tables(state.tables, first=1)
            candidates = [Candidate(name, name, 1.0, table, {}) for name, table in pairs]
            return among(self.answered, state, candidates)
        return self.answered(state, state.input["table"])

    def answered(self, state: State, table: Table) -> dict[str, Any]:
        """Return the output for the question over this table. Raises `Declined`."""
        if len(table.rows) > self.max_table_rows:
            hint = "Raise `max_table_rows` of `table_reader` in the inventory."
            raise Declined(f"the table has more than {self.max_table_rows:,} rows", hint=hint)
        table = with_named(table, state.input["question"])
        outcome = answer(state.input["question"], table)
        if outcome.confidence < self.at_least:
            sure = f"{outcome.confidence:.2f}, below {self.at_least:g}"
            raise Declined(f"it was read as: {outcome.reading}, with a confidence of {sure}")
        region, cells = _places(outcome, table)
        source = region.to_json(table, cells)
        reading = {"means": outcome.reading, "confidence": round(outcome.confidence, 2)}
        if len(outcome.result.values) > _MAX_ITEMS:
            rest = len(outcome.result.values) - _MAX_ITEMS
            reading["short"] = f"{', '.join(outcome.result.values[:_MAX_ITEMS])}, … and {rest:,} more"
        return {
            "answer": self._answer_in_form(outcome, state.input),
            "reading": reading | {"columns": source["columns"], "rows": len(outcome.result.rows)},
            "sources": [({"table": table.caption} if table.caption.strip() else {}) | source],
        }

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {key: output[key] for key in ("answer", "reading", "sources")}

    def _answer_in_form(self, outcome: Answer, inputs: Mapping[str, Any]) -> Any:
        """Return the answer in the requested form. Raises `Declined` if no choice or unit fits it."""
        result, unit = outcome.result, inputs.get("unit") or ""
        text, number = ", ".join(result.values), result.number if result.kind == "number" else None
        if choices := inputs.get("choices") or ():
            from chameleon.modules.program.answer_generator import as_choice

            if (choice := as_choice(text, choices)) in choices:
                return choice
            raise Declined(f"the answer {text!r} is not one of the choices: {'; '.join(choices)}")
        if unit and self.form != "items" and (number is not None or amount_in(text)):
            units, target = _units(outcome, text), outcome.sheet.words.units.get(folded(unit).strip())
            if units and target not in units:
                raise Declined(f"the answer {text} is not in {unit}")
        if number is not None:
            figure = plain(number, 8)
            if self.form == "items":
                return [figure]
            if unit:
                return float(figure) if "." in figure else int(figure)
        if self.form == "text":
            return text
        return [_THOUSANDS.sub("", each) if _FIGURE.fullmatch(each) else each for each in result.values]


def _units(outcome: Answer, text: str) -> set[tuple[str, Fraction]]:
    """Return the units of a number, from its cells or the names of its columns."""
    if (amount := amount_in(text)) and amount.base:
        return {(amount.base, amount.factor)}
    columns = (outcome.sheet.columns[index] for index in outcome.result.columns)
    units = [column.units for column in columns if column.kind == "number" and column.units]
    return units[-1] if units else set()


def _places(outcome: Answer, table: Table) -> tuple[TableRegion, list[tuple[int, int]]]:
    """Return the rows and columns that an answer comes from, and its cells, in the original table.

    If it uses no column, the key column is returned.
    """
    result, form, sheet = outcome.result, outcome.form, outcome.sheet
    columns = form.wanted if isinstance(form, Pick) else (form.column,) if isinstance(form, Fold) else ()
    has_cells = result.kind == "cells" and len(result.rows) <= _MAX_CELLS
    cells = [(row, column) for row in result.rows for column in columns] if has_cells else []
    if sheet.origins is not None:  # a row for each year: find it in the original
        origins = [sheet.origins[row] for row in result.rows]
        names = {sheet.columns[index].name for index in result.columns}
        indexes = {index for index, name in enumerate(table.header) if name in names}
        return TableRegion(sorted({row for row, _ in origins}), sorted({c for _, c in origins} | indexes)), []
    key = [sheet.key.index] if sheet.key else None
    return TableRegion(sorted(set(result.rows)) or None, sorted(set(result.columns)) or key), cells
