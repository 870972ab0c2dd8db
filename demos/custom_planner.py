"""A planner of your own: it is asked again after every step, and decides by what the table has become.

Run: python demos/custom_planner.py
"""

from pathlib import Path

from chameleon import Executor, Inventory, Planner, State, Step, tool
from chameleon.table import Table, read_table


@tool(reads="input.table", writes="input.table")
def halve(state: State) -> Table:
    """Keeps the first half of the rows."""
    table = state.input["table"]
    return table.take_rows(range(len(table.rows) // 2))


@tool(reads="input.table")
def describe(state: State) -> str:
    """Says how large the table is."""
    return f"{len(state.input['table'].rows)} rows are left"


class UntilSmall(Planner):
    """Halves the table until it has at most five rows, then describes it."""

    returns_full_plan = False  # each proposal is a part of a plan, so rules of order do not hold for it alone

    def propose(self, state, inventory):
        if state.executed_names[-1:] == ("describe",):
            return ()
        small = len(state.input["table"].rows) <= 5
        return (Step("describe" if small else "halve"),)


table = read_table(Path(__file__).parent / "data" / "survey.csv")
executor = Executor(Inventory.of([halve, describe], UntilSmall()))
state = executor.run({"question": "What is left?", "table": table})
print(" → ".join(state.executed_names))
print(state.answer)
