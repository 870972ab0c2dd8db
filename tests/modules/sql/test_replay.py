"""The recorded programs of Binder's gpt-3.5 run, through our sandbox and through our whole executor."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chameleon import Table
from chameleon.errors import ModuleError
from chameleon.modules.sql.database import Cell, SqlColumn, SqlTable, SqlType
from chameleon.modules.sql.normal import normalised
from chameleon.modules.sql.query import run_sql
from chameleon.modules.sql.repair import repaired
from chameleon.modules.sql.together import run_together
from chameleon.sandbox.zygote import why_unusable

pytestmark = pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")

TYPES: dict[str, SqlType] = {
    "object": "TEXT",
    "int64": "INTEGER",
    "float64": "REAL",
    "datetime64[ns]": "DATE",
}
# The recogniser of the original filled the day of its run into a bare time of day.
OF_THAT_DAY = {"nu-3595", "nu-4251"}


def lines(file: Path) -> Iterator[dict[str, Any]]:
    if not file.is_file():
        pytest.skip("the recorded programs are not here")
    with gzip.open(file, "rt", encoding="utf-8") as text:
        yield from map(json.loads, text)


@pytest.fixture(scope="module")
def programs(shared_data: Path) -> list[dict[str, Any]]:
    return list(lines(shared_data / "wikitq" / "binder_replay.jsonl.gz"))


@pytest.fixture(scope="module")
def tables(shared_data: Path) -> dict[str, dict[str, Any]]:
    return {each["table_id"]: each for each in lines(shared_data / "wikitq" / "binder_tables.jsonl.gz")}


def as_normalised(table: dict[str, Any]) -> SqlTable:
    """The table as the original's recogniser left it."""
    kinds = [TYPES[kind] for kind in table["dtypes_out"]]
    columns = tuple(SqlColumn(*each) for each in zip(table["columns_out"], kinds, strict=True))
    rows = [tuple(map(cell, row, kinds)) for row in table["rows_out"]]
    return SqlTable("w", columns, rows)


def cell(text: str, kind: SqlType) -> Cell:
    if kind == "INTEGER":
        return int(text)
    if kind == "REAL":
        return None if text == "nan" else float(text)
    return text


def recorded(outcome: list[Cell] | ModuleError) -> Any:
    """An outcome as the original writes it down: 0 for errors, no rows and NULL."""
    return 0 if isinstance(outcome, ModuleError) or outcome in ([], [None]) else outcome


def outcome_of(program: str, table: SqlTable) -> Any:
    return recorded(run_together([program], table, run_sql, lambda questions, again: [])[program])


def test_recorded_programs_give_the_recorded_answers(
    programs: list[dict[str, Any]], tables: dict[str, dict[str, Any]]
) -> None:
    by_id = {id: as_normalised(table) for id, table in tables.items()}
    wrong, unlike = set(), set()
    for each in programs:
        outcome = outcome_of(each["sql_postprocessed"], by_id[each["table_id"]])
        if outcome != each["recorded_pred"]:
            wrong.add(each["id"])
        if outcome != (0 if each["error"] else recorded(each["executed"])):
            unlike.add(each["id"])
    assert len(programs) == 477
    assert wrong == OF_THAT_DAY
    assert not unlike, "all agree with the original executor"


def test_our_own_normaliser_and_repairs_come_near(
    programs: list[dict[str, Any]], tables: dict[str, dict[str, Any]], shared_data: Path
) -> None:
    """From the raw table and the program as the model wrote it, without the original's library.

    Most of what differs was an error or a slip of the original: a moment is written after a date, a number
    is read out of "two and a half men", a quote within a name breaks it.
    """
    captions = {each["table_id"]: each["caption"] for each in lines(shared_data / "wikitq/tables.jsonl.gz")}
    made = {
        id: normalised(Table(table["header_in"], table["rows_in"], captions.get(id, "")))
        for id, table in tables.items()
    }
    same = 0
    for each in programs:
        id = each["table_id"]
        outcome = outcome_of(repaired(each["sql"], made[id], captions.get(id, "")), made[id])
        same += outcome == each["recorded_pred"]
    assert same >= 435
