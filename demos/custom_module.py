"""Functions of your own as modules, and a plan of them with an argument.

Run: python demos/custom_module.py
"""

from pathlib import Path

from chameleon import Executor, Inventory, State, tool
from chameleon.planners.fixed import Fixed
from chameleon.table import Table, read_table


@tool(reads="input.table", writes="input.table")
def cheapest(state: State, keep: int = 3) -> Table:
    """Keeps the cheapest rows of the table, by the column that holds money."""
    table = state.input["table"]
    prices = next(column for column in table.columns if column.meaning.kind == "money").meaning.values
    order = sorted(range(len(table.rows)), key=prices.__getitem__)
    return table.take_rows(order[:keep])


@tool(reads="input.table")
def first_column(state: State) -> list[str]:
    """Lists the first column."""
    return list(state.input["table"].columns[0].cells)


plan = [{"module": "cheapest", "args": {"keep": 2}}, "first_column"]
table = read_table(Path(__file__).parent / "data" / "timetable.csv")
executor = Executor(Inventory.of([cheapest, first_column], Fixed(plan)))
print(executor.run({"question": "Which trains are cheapest?", "table": table}).answer)
