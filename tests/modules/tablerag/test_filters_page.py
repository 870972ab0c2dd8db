"""The table of docs/benchmarks/tablerag.md that `perf/filters.py` makes: over a small file, and there."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]


def lines_of(folder: Path, *options: str) -> list[str]:
    command = [sys.executable, str(ROOT / "perf" / "filters.py"), str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()


def test_a_small_file_makes_the_table(tmp_path: Path) -> None:
    rows = [[f"Team {letter}", str(10 + n)] for n, letter in enumerate("ABCDEFGHIJKL")]
    table = {"table_id": "t", "caption": "", "header": ["Team", "Points"], "rows": rows}
    asked = [("points of Team L", 11), ("who is last", 11)]  # the second has no word of a row: nothing is cut
    problems = [
        {"id": f"q{n}", "annotator": n, "position": 0, "question": question, "table_id": "t"}
        | {"answer_coordinates": [[row, 1]], "answer_text": [rows[row][1]]}
        for n, (question, row) in enumerate(asked)
    ]
    (tmp_path / "sqa").mkdir()
    for name, data in (("dev", problems), ("tables", [table])):
        with gzip.open(tmp_path / "sqa" / f"{name}.jsonl.gz", "wt") as file:
            file.writelines(f"{json.dumps(each)}\n" for each in data)
    head, _, five, ten = lines_of(tmp_path)
    assert head == "| filter | SQA (2): kept | cells |"
    assert five == "| 5 rows, `bm25` | 100.00% | 70.83% |"
    assert ten == "| 10 rows, `bm25` (`filter_bm25`) | 100.00% | 91.67% |"


def test_the_page_has_the_lines_that_it_makes(shared_data: Path) -> None:
    page = (ROOT / "docs/benchmarks/tablerag.md").read_text("utf-8")
    assert set(lines_of(shared_data)[2:]) <= set(page.splitlines())
