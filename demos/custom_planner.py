"""A planner of your own: it is asked again after every step, and decides by what the table has become.

Run: python demos/custom_planner.py
"""

from pathlib import Path

from chameleon import Executor, Inventory, Module, Planner, Step
from chameleon.table import read_table


class Halve(Module):
    """Keeps the first half of the rows."""

    reads = ("input.table",)
    writes = ("input.table",)

    def run(self, state):
        table = state.input["table"]
        return table.take_rows(range(len(table.rows) // 2))

    def update_input(self, input, output):
        return {"table": output}

    def update_cache(self, cache, output):
        return {}


class Describe(Module):
    """Says how large the table is."""

    def run(self, state):
        return f"{len(state.input['table'].rows)} rows are left"


class UntilSmall(Planner):
    """Halves the table until it has at most five rows, then describes it."""

    whole = False  # each proposal is a part of a plan, so rules of order do not hold for it alone

    def propose(self, state, inventory):
        if state.program[-1:] == ("describe",):
            return ()
        small = len(state.input["table"].rows) <= 5
        return (Step("describe" if small else "halve"),)


inventory = Inventory(
    name="halving", planner=UntilSmall(), modules={"halve": Halve(), "describe": Describe()}
)
table = read_table(Path(__file__).parent / "data" / "survey.csv")
state = Executor(inventory).run({"question": "What is left?", "table": table})
print(" → ".join(state.program))
print(state.answer)
