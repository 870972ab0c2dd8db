"""A module of your own, composed in Python with one that is shipped.

Run: python demos/custom_module.py
"""

from pathlib import Path

from chameleon import Executor, Inventory, Module
from chameleon.planners.fixed import Fixed
from chameleon.table import read_table


class Cheapest(Module):
    """Keeps the cheapest rows of the table, by the column that holds money."""

    reads = ("input.table",)
    writes = ("input.table",)

    def __init__(self, keep: int = 3):
        self.keep = keep

    def run(self, state):
        table = state.input["table"]
        prices = next(column for column in table.columns if column.unit == "$")
        order = sorted(range(len(table.rows)), key=lambda row: prices.values[row].number)
        return table.take_rows(order[: self.keep])

    def update_input(self, input, output):
        return {"table": output}

    def update_cache(self, cache, output):
        return {}


class FirstColumn(Module):
    """Lists the first column."""

    reads = ("input.table",)

    def run(self, state):
        return list(state.input["table"].columns[0].cells)


inventory = Inventory(
    name="cheapest_trains",
    planner=Fixed(["cheapest", "first_column"]),
    modules={"cheapest": Cheapest(keep=2), "first_column": FirstColumn()},
)
table = read_table(Path(__file__).parent / "data" / "timetable.csv")
print(Executor(inventory).run({"question": "Which trains are cheapest?", "table": table}).answer)
