"""Print the table "Filtering it" of docs/benchmarks/tablerag.md: what filters without a model keep.

    python perf/filters.py FOLDER [--limit N]

FOLDER holds the development data of SQA, HybridQA and FeTaQA, and TableRAG's questions of WikiTQ. Every line
is one run of `chameleon compare … --no-model`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

GRID = """\
name: filters
inventory: {inventory}
common: {{without: [term_clarifier, wiki_clarifier, table_formatter]}}
arms:
  five:
    about: 5 rows, `bm25`
    modules: {{table_filter: {{use: semantic_filter, rows: 5, by: bm25}}}}
  ten:
    about: 10 rows, `bm25` (`filter_bm25`)
    modules: {{table_filter: {{use: semantic_filter, rows: 10, by: bm25}}}}
"""
DATA = {
    "SQA": ("sqa/dev.jsonl.gz", "tablerag_sqa"),
    "HybridQA": ("hybridqa/dev.jsonl.gz", "tablerag_hybridqa"),
    "FeTaQA": ("fetaqa/dev.jsonl.gz", "tablerag_sqa"),
    "WikiTQ of TableRAG": ("tablerag/e2ewtq.jsonl.gz", "tablerag_sqa"),
}


def measured(data: Path, inventory: str, limit: int | None) -> list[dict[str, Any]]:
    """Return the arms for one file of problems, as in `compare --json`."""
    with tempfile.TemporaryDirectory() as folder:
        grid = Path(folder, "filters.yaml")
        grid.write_text(GRID.format(inventory=inventory))
        command = [sys.executable, "-m", "chameleon", "compare", str(grid), str(data), "--no-model", "--json"]
        command += ["--limit", str(limit)] if limit else []
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout)["arms"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int)
    args = parser.parse_args()
    there = {name: (args.folder / file, use) for name, (file, use) in DATA.items()}
    runs = {name: measured(*each, args.limit) for name, each in there.items() if each[0].is_file()}
    heads = [f"{name} ({arms[0]['table']['gold_known']:,}): kept | cells" for name, arms in runs.items()]
    print(f"| filter | {' | '.join(heads)} |\n|---|{'---:|---:|' * len(runs)}")
    for arms in zip(*runs.values(), strict=True):
        cells = [f"{100 * arm['table'][key]:.2f}%" for arm in arms for key in ("gold_kept", "cells")]
        print(f"| {arms[0]['about']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
