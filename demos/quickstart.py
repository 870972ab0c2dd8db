"""Answer questions over a table without a model, and look at what each module did.

Run: python demos/quickstart.py
"""

from pathlib import Path

from chameleon import Executor, Inventory
from chameleon.table import read_table

QUESTIONS = [
    "Which team has the most points?",
    "How many more points does Kingsmere Town have than Northgate United?",
    "Who will win next year?",
]

table = read_table(Path(__file__).parent / "data" / "league.csv")
executor = Executor(Inventory.load("tables_offline"))

for question in QUESTIONS:
    state = executor.run({"question": question, "table": table})
    print(question)
    for record in state.history:
        print(f"  {record.step.module:20} {record.error or record.output}")
    print(f"  {state.ended.reason}: {state.answer}\n")
