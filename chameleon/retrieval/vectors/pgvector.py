"""Vectors in PostgreSQL, searched by its extension pgvector: outside the memory of whoever asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from chameleon.errors import InputError
from chameleon.retrieval.index.files import Damaged, broken, read_json, replace_json
from chameleon.retrieval.index.manifest import OWNER
from chameleon.retrieval.vectors.rows import Vectors
from chameleon.retrieval.vectors.server import Run, Server, check
from chameleon.retrieval.vectors.store import Nearest, VectorStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chameleon.retrieval.vectors.rows import Matrix, Places

_FILE = "pgvector.json"
_NAME = re.compile(r"[0-9a-f]{16}", re.ASCII)
_TABLE = re.compile(r"chameleon_[0-9a-f]{16}_[0-9a-f]{16}", re.ASCII)
_NEIGHBOURS, _BREADTH = 32, 128
_WIDEST_GRAPH = 2000
"""So many numbers may a vector have for pgvector's graph; what has more is searched one by one."""
_DEEPEST_GRAPH = 500
_BLOCK = 1024


class PgVector(VectorStore):
    """One table for each state of an index, on the server that `CHAMELEON_PGVECTOR` names.

    The table is made in one transaction, with a graph (HNSW) where pgvector can make one, under a name that
    the index's folder keeps: until the new state is in place, the old index goes on with its own. Tables of
    states before the last are removed by the next build in the same folder, which knows its own by a random
    name that it keeps; a copy of the folder takes another, and leaves alone those of the first.
    """

    def check(self) -> None:
        check()

    def reach(self) -> None:
        server = Server()
        with server.transaction() as run:
            _require_extension(run)
        server.close()

    def write(self, vectors: Vectors, folder: Path) -> None:
        root = folder.parent.parent
        owner = f"chameleon_{_owner(root)}"
        table = f"{owner}_{uuid4().hex[:16]}"
        kept = [_read(path)["table"] for path in root.glob(f"*/{folder.name}/{_FILE}")]
        replace_json(folder / _FILE, {"table": table, "rows": len(vectors.living), "size": vectors.size})
        server = Server()
        with server.transaction() as run:
            _require_extension(run)
            for old in _tables(run, owner):
                if old not in kept:
                    run("DROP TABLE {table}", table=old)
            run(
                f"CREATE TABLE {{table}} (row bigint NOT NULL, vector vector({int(vectors.size)}) NOT NULL)",
                table=table,
            )
            run(
                "COMMENT ON TABLE {table} IS {said}",
                table=table,
                said=f"vectors of the index {root.resolve()}",
            )
            run.copy("COPY {table} (row, vector) FROM STDIN (FORMAT BINARY)", _binary(vectors), table=table)
            if vectors.size <= _WIDEST_GRAPH:
                run(
                    f"CREATE INDEX ON {{table}} USING hnsw (vector vector_ip_ops) WITH (m = {_NEIGHBOURS})",
                    table=table,
                )
            run("ANALYZE {table}", table=table)
        server.close()

    def open(self, vectors: Vectors, folder: Path) -> Nearest:
        self.check()
        path = folder / _FILE
        told = _read(path)
        if told["rows"] != len(vectors.living) or told["size"] != vectors.size:
            raise broken(path)
        found = _TableRows(told["table"], vectors)
        found.require_table(path)
        return found


class _TableRows(Nearest):
    def __init__(self, table: str, vectors: Vectors) -> None:
        self._table, self._vectors, self._server = table, vectors, Server()

    def require_table(self, path: Path) -> None:
        with self._server.transaction() as run:
            if run("SELECT to_regclass(%s)", [self._table])[0][0] is None:
                raise Damaged("the server has no table with the vectors of this index", where=str(path))

    def rows(self, queries: Matrix, k: int) -> tuple[Places, Matrix]:
        import numpy

        rows: Places = numpy.full((len(queries), k), -1, numpy.int64)
        cosines: Matrix = numpy.zeros((len(queries), k), numpy.float32)
        for place, found in enumerate(self._server.again(lambda: self._asked(queries, k))):
            if found:
                rows[place, : len(found)], cosines[place, : len(found)] = zip(*found, strict=True)
        if rows.max(initial=-1) >= len(self._vectors) or rows.min(initial=0) < -1:
            raise Damaged(f"the table {self._table} on the server is not that of this index")
        return rows, cosines

    def _asked(self, queries: Matrix, k: int) -> list[list[Any]]:
        """The rows and cosines of each query."""
        statement = (
            "SELECT row, -(vector <#> %s::vector) FROM {table} ORDER BY vector <#> %s::vector LIMIT %s"
        )
        with self._server.transaction() as run:
            if k <= _DEEPEST_GRAPH:
                run("SELECT set_config('hnsw.ef_search', %s, true)", [str(max(_BREADTH, 2 * k))])
            else:  # pgvector's graph does not go deeper
                run("SELECT set_config('enable_indexscan', 'off', true)")
            said = [str(query.tolist()) for query in queries]
            return run.many(statement, [[each, each, k] for each in said], table=self._table)


def _owner(root: Path) -> str:
    """The name of the index in this folder, made with its first table; a copy gets another."""
    path, place = root / OWNER, str(root.resolve())
    try:
        told = read_json(path) if path.exists() else None
    except Damaged:
        told = None
    if isinstance(told, dict) and told.get("folder") == place and _NAME.fullmatch(str(told.get("name"))):
        return str(told["name"])
    name = uuid4().hex[:16]
    replace_json(path, {"name": name, "folder": place})
    return name


def _require_extension(run: Run) -> None:
    """Make the extension if the server has it. Raises `InputError`."""
    if run("SELECT 1 FROM pg_extension WHERE extname = 'vector'"):
        return
    if not run("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
        raise InputError(
            "the PostgreSQL server lacks the extension pgvector",
            hint="Install it there: https://github.com/pgvector/pgvector.",
        )
    run("CREATE EXTENSION IF NOT EXISTS vector")


def _tables(run: Run, owner: str) -> list[str]:
    found = run("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    return [name for (name,) in found if _TABLE.fullmatch(name) and name.startswith(f"{owner}_")]


def _binary(vectors: Vectors) -> Iterator[bytes]:
    """The living rows in the format of PostgreSQL's COPY: two fields each, each after its length."""
    import numpy

    size = vectors.size
    form = [("fields", ">i2"), ("eight", ">i4"), ("row", ">i8"), ("bytes", ">i4"), ("size", ">i2")]
    record = numpy.dtype([*form, ("unused", ">i2"), ("vector", ">f4", (size,))])
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    for rows, block in vectors.living_blocks(_BLOCK):
        records: NDArray[Any] = numpy.zeros(len(rows), record)
        records["fields"], records["eight"], records["bytes"], records["size"] = 2, 8, 4 + 4 * size, size
        records["row"], records["vector"] = rows, block
        yield records.tobytes()
    yield b"\xff\xff"


def _read(path: Path) -> dict[str, Any]:
    told = read_json(path)
    if not (isinstance(told, dict) and _TABLE.fullmatch(str(told.get("table")))):
        raise broken(path)
    return told
