"""Columns whose cells are in different units: "950 g" and "1.2 kg" are in no order as they are written."""

from __future__ import annotations

from collections.abc import Iterator

from chameleon import Declined, Table
from chameleon.modules.offline.lexical.fields import Field, fields_of
from chameleon.modules.offline.lexical.reading import Reading
from chameleon.modules.offline.lexical.words import key_of, tokens_of
from chameleon.table import read_value

_SIGNS = frozenset(("=", "<", ">", "<=", ">="))
_MEASURED = frozenset(("top", "compare", "sum", "average", "total", "mean"))
_SHOWN = 4


def refuse_mixed_units(reading: Reading, table: Table) -> None:
    """Raise `Declined` where a reading orders, bounds, compares or sums numbers in different units."""
    fields = {field.name: field for field in fields_of(table)}
    for name in _measured_columns(reading):
        units = units_of(fields[name]) if name in fields else ()
        if len(units) > 1:
            told = ", ".join(units[:_SHOWN]) + (", …" if len(units) > _SHOWN else "")
            raise Declined(
                f"the column {name} has different units: {told}", hint="Write its cells in one unit."
            )


def units_of(field: Field) -> tuple[str, ...]:
    """The units after the numbers of a column, each as first written; "wins" is that of "win" too."""
    units: dict[tuple[str, ...], str] = {}
    for cell in field.cells:
        value = read_value(cell)
        is_place = any(token.place is not None for token in tokens_of(cell))
        if value.kind == "number" and value.unit and not is_place:
            units.setdefault(key_of(value.unit) or (value.unit,), value.unit)
    return tuple(units.values())


def _measured_columns(reading: Reading) -> Iterator[str]:
    """The columns whose cells the reading takes as numbers that stand to each other."""
    conditions = [each for link in reading.chain for each in link.where]
    conditions += [each for link in reading.chain for one in link.either for each in one]
    for link in reading.chain:
        if link.operation == "sort_by" and link.datatype == "number":
            yield from link.columns
    for question in reading.questions:
        conditions += [*question.where, *question.claim, *question.against]
        if question.datatype == "number":
            yield from [question.by] if question.by else []
            yield from [question.column] if question.ask in _MEASURED else []
    yield from (each.column for each in conditions if each.relation in _SIGNS)
