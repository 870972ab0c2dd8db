"""The demo's folder of mixed files, with the two kinds beside it that a test makes."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "demos" / "data" / "folder"


def mixed_folder(at: Path) -> Path:
    """A copy of the demo's folder with a DuckDB database and a Parquet file, and files that hold no table."""
    import duckdb

    shutil.copytree(FOLDER, at)
    with closing(duckdb.connect(str(at / "shop" / "machines.duckdb"))) as database:
        database.execute(
            "CREATE TABLE ovens AS SELECT * FROM (VALUES"
            " ('Big oven', 2012, 1450.5), ('Stone oven', 2019, 2890.0)) AS t(oven, bought, price)"
        )
    with closing(duckdb.connect()) as database:
        database.execute(
            "COPY (SELECT * FROM (VALUES (DATE '2024-03-01', 'North route', 42),"
            " ('2024-03-02', 'South route', 35), ('2024-03-03', 'North route', 51))"
            " AS t(day, route, parcels))"
            f" TO '{at / 'shop' / 'deliveries.parquet'}' (FORMAT parquet)"
        )
    (at / "town" / "plan.pdf").write_bytes(b"%PDF-1.4")
    (at / "shop" / "broken.csv").write_text("a,b\n1,2,3\n")
    return at
