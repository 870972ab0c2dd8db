"""Check that an installed Chameleon works outside its checkout; run with the interpreter that has it."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import chameleon
from chameleon import Executor, Inventory, Table
from chameleon.errors import InventoryError
from chameleon.inventory import shipped_inventories

package = Path(chameleon.__file__).resolve()
assert "site-packages" in package.parts, f"this is not an installed package: {package}"

for name in shipped_inventories():
    inventory = Inventory.load(name)
    try:
        inventory.check()
    except InventoryError as problem:  # a missing extra, such as the one for pictures, is reported
        told = str(problem)
        assert "cannot run here" in told or "from running here" in told, problem
        assert "pip install" in told or "docs/web_search.md" in told, problem

table = Table(["fruit", "price"], [["apple", "$2"], ["pear", "$3.50"]])
state = Executor(Inventory.load("tables_offline")).run(
    {"question": "What is the total price?", "table": table}
)
assert state.answer == "$5.50", state

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "prices.csv"
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([table.header, *table.rows])
    command = [Path(sys.executable).with_name("chameleon"), "ask", "Which fruit has the highest price?"]
    command += ["--table", file, "--inventory", "tables_offline", "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert found["answer"] == "pear", found

    problem = {"pid": "1", "question": "What is the total price?", "answer": "5.5", "choices": None}
    problem["table"] = "fruit | price\napple | $2\npear | $3.50"
    data = Path(folder) / "problems.jsonl"
    data.write_text(json.dumps(problem))
    command = [command[0], "eval", "tables_offline", data, "--json", "--out", Path(folder) / "run"]
    counts = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert counts["accuracy"] == 1.0, counts
    command = [command[0], "report", Path(folder) / "run", "--html", Path(folder) / "report.html"]
    subprocess.run(command, check=True, capture_output=True)

print(f"installed and working: {len(shipped_inventories())} inventories")
