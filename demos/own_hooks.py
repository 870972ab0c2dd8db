"""Change the input and the cache from a module of your own, by the hooks of the Chameleon paper.

Run: python demos/own_hooks.py  (needs the extra `models`)
"""

from pathlib import Path

from chameleon import Executor, Inventory, Module, read_table
from chameleon.llm import ScriptedModel


class Morning(Module):
    """Keeps the trains that leave before ten. For questions about the morning."""

    writes = "input.table, cache.kept"

    def run(self, state):
        departs = state.table.column("Departs").cells
        return state.table.take_rows([row for row, time in enumerate(departs) if time < "10:00"])

    def update_input(self, input, output):
        return {**input, "table": output}  # the table that all later steps see

    def update_cache(self, cache, output):
        return {**cache, "kept": f"{len(output.rows)} trains leave before ten."}


table = read_table(Path(__file__).parent / "data" / "timetable.csv")
model = ScriptedModel(['["morning", "solution_generator", "answer_generator"]', "The answer is 7."])
inventory = Inventory.parse({"name": "trains", "extends": "tables", "modules": {"morning": Morning}})
state = Executor(inventory, model).run({"question": "How many trains leave in the morning?", "table": table})
print(state.answer, len(state.table.rows), state.cache["kept"])
print("Kept: 7 trains leave before ten." in model.requests[-1][-1][1])
