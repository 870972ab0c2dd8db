"""What the prompts of the operations beyond the paper show is read by these operations, and right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chameleon import State, Table
from chameleon.modules.table_ops.aggregate import Aggregate
from chameleon.modules.table_ops.filter_rows import FilterRows
from chameleon.modules.table_ops.join import Join
from chameleon.modules.table_ops.operation import TableOperation
from chameleon.table.bars import split_rows

PROMPTS = Path(__file__).resolve().parents[3] / "prompts" / "chain_of_table"
CASE = re.compile(
    r"^Question: (.+)\nThe existing columns are: (.+)\.\nExplanation: (.+)\n(Therefore.+)$", re.M
)
BLOCK = re.compile(r"(?:^Other table : (.+)\n)?^/\*\n(?:table caption : (.+)\n)?((?:.+\n)+?)\*/$", re.M)
# Worked out by hand, in the order of the file: the first column of the table that comes out, and the last.
ANSWERS = {
    FilterRows: ["1|3", "Tarn City|Upper Weir", "Rivers of the North|Småfugler|Bread by Hand"],
    Aggregate: ["Nordhaven AC|Quay Harriers|Hill Road Club", "205", "Tinfoil|Redgate"],
    Join: ["1|2|3", "1041|1042|1043", "Berit Aas|Tomas Lunde|Siri Vang"],
}
LAST = {
    Aggregate: ["156|55|48", "205", "12|7"],
    Join: ["1908|1926|1908", "$4.25|$39.50|$4.25", "4,120|6,340|2,875"],
}


def table_of(block: re.Match[str]) -> Table:
    header, *rows = split_rows([line.partition(" : ")[2] for line in block[3].splitlines()])
    return Table(header, rows, block[1] or block[2] or "")


@pytest.mark.parametrize("kind", ANSWERS)
def test_demonstrations_come_to_what_was_worked_out_by_hand(kind: type[TableOperation]) -> None:
    text = (PROMPTS / f"{kind.name}.md").read_text("utf-8").partition("{% if title %}")[0]
    operation, made, start = kind(), [], 0
    for case in CASE.finditer(text):
        first, *others = map(table_of, BLOCK.finditer(text, start, case.start()))
        assert case[2] == ", ".join(first.header)
        state = State(input={"question": case[1], "table": first, "tables": tuple(others)})
        args = operation.interpret(f"{case[3]}\n{case[4]}", state)
        made.append(operation.applied(state.input, args).rows)
        start = case.end()
    assert ["|".join(row[0] for row in rows) for rows in made] == ANSWERS[kind]
    assert kind not in LAST or ["|".join(row[-1] for row in rows) for rows in made] == LAST[kind]
