"""Answer questions over a table without a model, and look at what was computed, and from where.

Run: python demos/quickstart.py
"""

from pathlib import Path

from chameleon import Executor, read_table

QUESTIONS = [
    "Which team has the most points?",
    "How many more points does Kingsmere Town have than Northgate United?",
    "Who will win next year?",
]

table = read_table(Path(__file__).parent / "data" / "league.csv", caption="league")
executor = Executor("tables_offline")

for question in QUESTIONS:
    state = executor.run({"question": question, "table": table})
    print(question)
    if state.ended.reason == "answered":
        print(f"  {state.answer}, read as: {state.reading}")
        print(f"  rows {list(state.cache['sources'][0]['rows'])} of the table\n")
    else:
        print(f"  {state.ended.reason}: {state.ended.error.message}\n")
