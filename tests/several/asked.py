"""The sixty questions over several tables, the indexes that they are asked of, and what a model would reply."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from chameleon import Table
from chameleon.benchmarks.hybridqa import Hybridqa
from chameleon.documents.indexing import index_files
from chameleon.retrieval.document import Document
from chameleon.retrieval.make import build_index
from tests.benchmarks.shared_data import rows

HERE = Path(__file__).parent
SHARED = "shared"
Question = Mapping[str, Any]
QUESTIONS: Sequence[Question] = [
    json.loads(line) for line in (HERE / "questions.jsonl").read_text("utf-8").splitlines()
]


def corpus_of(question: Question) -> str:
    """Return the folder of a question's files, or "shared" for tables of FeTaQA and HybridQA."""
    first = question["tables"][0]
    return SHARED if isinstance(first, dict) else str(Path(first).parent)


def gold_ids(question: Question) -> list[str]:
    """Return the ids that the index has for a question's tables."""
    return [each["id"] if isinstance(each, dict) else Path(each).name for each in question["tables"]]


def gold_cites(question: Question) -> dict[str, list[int] | None]:
    """Return the rows (None for all) by id of the table, and by "file#heading" or "table#title" of a passage."""
    is_own = corpus_of(question) != SHARED
    return {key.partition("/")[2] if is_own else key: each for key, each in question["cites"].items()}


def build(corpus: str, folder: Path, wanted: Callable[[str], bool] = lambda id: True) -> str:
    """Index the files of a folder, or the tables and passages of FeTaQA and HybridQA that are `wanted`."""
    if corpus == SHARED:
        build_index(folder, [each for each in shared_documents() if wanted(each.id.partition("#")[0])])
    else:
        index_files([HERE / corpus], folder)
    return str(folder)


def shared_documents() -> Iterator[Document]:
    """Yield the tables of FeTaQA, and those of HybridQA with their passages, as documents."""
    for row in rows("fetaqa/tables.jsonl.gz"):
        yield Document(row["table_id"], Table(row["header"], row["rows"], row["caption"]))
    seen: set[str] = set()
    for row in rows("hybridqa/dev.jsonl.gz"):
        given = Hybridqa().problem(row, {}).input
        ids = [row["table_id"], *(f"{row['table_id']}#{each['title']}" for each in given["passages"])]
        texts = [None, *given["passages"]]
        for id, passage in zip(ids, texts, strict=True):
            if id in seen:
                continue
            seen.add(id)
            if passage is None:
                yield Document(id, given["table"])
            else:
                yield Document(id, title=passage["title"], text=passage["text"])
