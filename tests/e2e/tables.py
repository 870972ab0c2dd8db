"""A race of ours, and tables of the papers' figures, which are in the data for development alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from chameleon import Table

RACE = Table(
    ["Rank", "Cyclist", "Team", "Points"],
    [
        ["1", "Ugo Ferri (ITA)", "Velo Nord", "40"],
        ["2", "Iker Sola (ESP)", "Tandem", "30"],
        ["3", "Lev Orlov (RUS)", "Tandem", "25"],
        ["4", "Dario Bo (ITA)", "Ruota", "20"],
        ["5", "Jon Arana (ESP)", "Ruota", "15"],
        ["6", "Piero Neri (ITA)", "Velo Nord", "11"],
    ],
    "A race of ours",
)
IMAGE_AWARDS = "csv/201-csv/4.csv"
AWARDS = "which actor has the most naacp image awards?"
WILDCATS = "1-24560733-1.html.csv"


def shared_table(shared_data: Path, table_id: str) -> Table:
    """The table of that id, of TabFact or WikiTableQuestions."""
    file = "tabfact/corpus" if table_id == WILDCATS else "wikitq/tables"
    with gzip.open(shared_data / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        row = next(row for row in map(json.loads, lines) if row["table_id"] == table_id)
    return Table(row["header"], row["rows"], row["caption"])
