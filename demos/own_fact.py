"""Plug in a module of your own: what it finds changes the answer (Chameleon, figure 2).

Run: python demos/own_fact.py  (needs the extra `models`)
"""

from chameleon import Executor, Inventory, Module, Table
from chameleon.llm import ScriptedModel


class BusFacts(Module):
    """Tells facts about the bus company. For questions about buses."""

    def run(self, state):
        return "The bus waits ten minutes at the train station."


stops = Table(["Location", "Arrives"], [["market", "12:10"], ["train station", "12:25"]])
plan = '["bus_facts", "solution_generator", "answer_generator"]'
model = ScriptedModel([plan, "It arrives at 12:25 and waits ten minutes. The answer is 12:35."])
inventory = Inventory.parse({"name": "buses", "extends": "tabmwp", "modules": {"bus_facts": BusFacts}})
given = {"question": "When does the bus depart from the train station?", "table": stops}
state = Executor(inventory, model).run(given)
print(state.answer, "by", " → ".join(state.plan))
print(model.requests[-1][-1][1].rpartition("Solution:")[0][-220:])  # what the shipped module was told
