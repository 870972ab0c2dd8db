"""Answer a question over a table without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PositiveInt

from chameleon import Declined, Module, State, StepRejected, Table
from chameleon.module import Keys
from chameleon.modules.documents.table_sources import TableRegion
from chameleon.modules.offline.algebra import Fold, Pick, Result, Step
from chameleon.modules.offline.judge import Answer, answer
from chameleon.modules.offline.sheet import Sheet, amounts_in
from chameleon.modules.offline.wording import plain, said
from chameleon.modules.offline.words import ENGLISH, folded
from chameleon.table.totals import with_named

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_FIGURE = re.compile(r"-?\d[\d,.]*")
_MOST_ROWS = 1_000  # of a table whose chain is kept, and of cells that are told
_MOST_STEPPED = 60  # a step of the algebra names no more rows


class TableReader(Module):
    """Answers a question over the table without a model: looks up, counts, computes, or declines."""

    reads: ClassVar[Keys] = ("input.question", "input.table", "input.choices?", "input.unit?")
    writes: ClassVar[Keys] = ("cache.answer", "cache.reading", "cache.chain", "cache.sources")
    non_text: ClassVar[Keys] = ("cache.reading", "cache.chain", "cache.sources")

    def __init__(
        self,
        at_least: Annotated[float, Field(ge=0, le=1)] = 0.0,
        form: Literal["text", "items"] = "text",
        max_table_rows: PositiveInt = 200_000,
    ) -> None:
        """Set what is declined, and how the answer is written.

        - `at_least`: answers of less confidence, from 0 to 1, are declined.
        - `form`: "text" is for people; "items" is a list of texts, with numbers as plain figures.
        - `max_table_rows`: tables with more rows are declined; 100,000 take some seconds.
        """
        self.at_least, self.form, self.max_table_rows = at_least, form, max_table_rows

    def run(self, state: State) -> dict[str, Any]:
        """Return the `answer`, its `reading`, the `chain` of tables and the `sources`.

        Raises `Declined` where the question is not understood, or not surely enough.
        """
        return self.answered(state, state.input["table"])

    def answered(self, state: State, table: Table) -> dict[str, Any]:
        """Return the output for the question over this table. Raises `Declined`."""
        if len(table.rows) > self.max_table_rows:
            hint = "Raise `max_table_rows` of `table_reader` in the inventory."
            raise Declined(f"the table has more than {self.max_table_rows:,} rows", hint=hint)
        table = with_named(table, state.input["question"])
        sheet = Sheet.of(table)
        found = self.read(state.input["question"], sheet)
        if found.confidence < self.at_least:
            sure = f"{found.confidence:.2f}, below {self.at_least:g}"
            raise Declined(f"it was read as: {said(found.form, sheet)}, with a confidence of {sure}")
        region = _region(sheet, found.result)
        told = region.to_json(table, _cells(found))
        line = found.form.code(sheet)
        return {
            "answer": self._written(found, state.input),
            "reading": {
                "means": said(found.form, sheet),
                "confidence": round(found.confidence, 2),
                **({"pandas": line} if line else {}),
                "columns": told["columns"],
                "rows": len(found.result.rows),
            },
            "chain": _chain(sheet, found.result) if len(table.rows) <= _MOST_ROWS else [],
            "sources": [({"table": table.caption} if table.caption.strip() else {}) | told],
        }

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        chain = [{key: value for key, value in link.items() if key != "table"} for link in output["chain"]]
        return {**{key: output[key] for key in ("answer", "reading", "sources")}, "chain": chain}

    def read(self, question: str, sheet: Sheet) -> Answer:
        """Return what the question comes to. Raises `Declined`."""
        return answer(question, sheet)

    def _units(self, found: Answer, said: str) -> set[tuple[str, Fraction]]:
        """Return the units that a number has, by its cells or the names of its columns."""
        mine = {(each.base, each.factor) for each in amounts_in(said)[:1] if each.base}
        columns = (found.sheet.columns[index] for index in found.result.columns)
        named = [column.units for column in columns if column.kind == "number" and column.units]
        return mine or (named[-1] if named else set())

    def _written(self, found: Answer, given: Mapping[str, Any]) -> Any:
        """Return the answer as it is asked for. Raises `Declined` where no choice or unit is like that."""
        result, unit = found.result, given.get("unit") or ""
        told = ", ".join(result.values)
        if choices := given.get("choices") or ():
            from chameleon.modules.program.answer_generator import as_choice

            if (choice := as_choice(told, choices)) in choices:
                return choice
            raise Declined(f"the answer {told!r} is none of the choices: {'; '.join(choices)}")
        is_number = result.kind == "number" and result.number is not None
        if unit and self.form != "items" and (is_number or (len(result.values) == 1 and amounts_in(told))):
            mine, asked = self._units(found, told), ENGLISH.units.get(folded(unit).strip())
            if mine and asked not in mine:
                raise Declined(f"the answer is {told}, not in {unit}")
        if is_number and result.number is not None:
            figure = plain(result.number, 8)
            if self.form == "items":
                return [figure]
            if unit:
                return float(figure) if "." in figure else int(figure)
        if self.form == "text":
            return told
        return [_THOUSANDS.sub("", each) if _FIGURE.fullmatch(each) else each for each in result.values]


def _region(sheet: Sheet, result: Result) -> TableRegion:
    """Return the rows and columns that a result rests on; where none is, all rows, and what names them."""
    key = [sheet.key.index] if sheet.key else None
    return TableRegion(sorted(set(result.rows)) or None, sorted(set(result.columns)) or key)


def _cells(found: Answer) -> list[tuple[int, int]]:
    """Return the cells that are the answer, none where it is computed."""
    result, form = found.result, found.form
    wanted = form.wanted if isinstance(form, Pick) else (form.column,) if isinstance(form, Fold) else ()
    is_told = result.kind == "cells" and len(result.rows) <= _MOST_ROWS
    return [(row, column) for row in result.rows for column in wanted] if is_told else []


def _chain(sheet: Sheet, result: Result) -> list[dict[str, Any]]:
    """Return the links of a chain of tables to what a result rests on, each with the `table` that it leaves.

    Where the steps are no chain, such as those of two lookups that are compared, it selects all that is read.
    """
    steps = list(result.steps)
    if sheet.summaries.isdisjoint(result.rows) and steps[:1] and steps[0][0] != "select_row":
        steps.insert(0, ("select_row", _names(sheet.rows)))
    everything = [("select_row", _names(sorted(set(result.rows)))[:_MOST_STEPPED]), ("select_column", ())]
    try:
        return list(_links(sheet, steps, result))
    except StepRejected:
        return list(_links(sheet, everything, result))


def _names(rows: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"row {row + 1}" for row in rows)


def _links(sheet: Sheet, steps: Sequence[Step], result: Result) -> Iterator[dict[str, Any]]:
    """Yield the steps as links that change the table; rows are numbered as they stand by then."""
    header, rows = sheet.table.header, list(range(len(sheet.table.rows)))
    columns, table = list(range(len(header))), sheet.table
    for operation, names in steps:
        args: dict[str, Any]
        if operation == "select_row":
            wanted = {int(name.removeprefix("row ")) - 1 for name in names}
            is_cut = len(names) == _MOST_STEPPED
            if not wanted <= set(rows) or (is_cut and not wanted <= set(result.rows)):
                raise StepRejected("the steps are no chain")
            wanted = set(result.rows) if is_cut else wanted
            args = {"rows": [place for place, row in enumerate(rows, 1) if row in wanted]}
            rows = [row for row in rows if row in wanted]
            said = ", ".join(f"row {place}" for place in args["rows"])
        elif operation == "sort_by":
            column = sheet.columns[header.index(names[0])]
            keys: Sequence[Any] = column.moments if column.kind == "date" else column.numbers
            filled = [row for row in rows if keys[row] is not None]
            filled.sort(key=keys.__getitem__, reverse=names[1].startswith("large"))
            rows = [*filled, *(row for row in rows if keys[row] is None)]
            args, said = {"column": names[0], "order": names[1], "datatype": column.kind}, ", ".join(names)
        elif operation == "select_column":
            columns = [i for i, name in enumerate(header) if name in names or i in result.columns]
            said = ", ".join(header[i] for i in columns)
            args = {"columns": [header[i] for i in columns]}
        else:
            args, said = {"column": names[0]}, names[0]
        before = table
        if operation == "group_by":
            from chameleon.modules.table_ops.aggregate import GroupBy

            table = GroupBy().apply(table, args)
        else:
            table = sheet.table.take_rows(rows).take_columns(columns)
        if operation == "sort_by" or table != before:
            yield {"operation": operation, "call": f"f_{operation}({said})", "args": args, "table": table}
