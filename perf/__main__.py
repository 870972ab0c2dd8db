"""Run every comparison of this folder, one after another, and print their tables.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf

Other load on the machine shows in the figures: compare those of one table with each other.
"""

import subprocess
import sys
from pathlib import Path

SCRIPTS = ("steps", "calls", "replies", "batch")

for script in SCRIPTS:
    subprocess.run([sys.executable, str(Path(__file__).with_name(f"{script}.py"))], check=True)
