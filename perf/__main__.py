"""Run the comparisons of this folder, one after another, and print their tables.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[test]' -r perf/requirements.txt
    /tmp/perf/bin/python perf

Other load on the machine shows in the figures: compare those of one table with each other. Those on pictures
need models and engines of their own, and say which: run them by themselves.
"""

import subprocess
import sys
from pathlib import Path

SCRIPTS = ("steps", "calls", "replies", "batch", "evaluation", "sandbox", "sql", "table_ops", "retrieval")

for script in SCRIPTS:
    print(f"\n== perf/{script}.py", flush=True)
    subprocess.run([sys.executable, str(Path(__file__).with_name(f"{script}.py"))], check=True)
