"""What a reply to the list of tables and passages chooses."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from chameleon import Declined, State, StepRejected
from chameleon.documents.indexing import index_files
from chameleon.modules.documents.table_choice import TableChoice
from chameleon.modules.tablerag.table_retriever import TableRetriever

pytest.importorskip("tantivy")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> State:
    folder = tmp_path_factory.mktemp("harbour")
    for year in (2023, 2024):
        (folder / f"fees_{year}.csv").write_text("Berth,Fee\nA1,40\nB2,30\n")
    (folder / "rules.txt").write_text("The fee of a berth is due in May.")
    index_files([folder], folder / "index")
    asked = State(input={"question": "What is the fee of the berth A1?", "index": str(folder / "index")})
    return State(input=asked.input, cache={"retrieved": TableRetriever().run(asked)["retrieved"]})


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("2", 2),
        ("Table: 2.", 2),
        ("**Table 2**, not the passages", 2),
        ("passages", "passages"),
        ("Table: passages", "passages"),
        ("The passage.", "passages"),
        ("1 passage", "passages"),
        ("none", Declined),
        ("Table: none", Declined),
        ("Answer: None of the passages", Declined),
        ("7", StepRejected),
        ("I cannot say.", StepRejected),
        ("nonetheless 2", StepRejected),
    ],
)
def test_replies(state: State, reply: str, chosen: Any) -> None:
    with pytest.raises(chosen) if isinstance(chosen, type) else nullcontext():
        found = TableChoice().interpret(reply, state)
        assert ("passages" in found) == (chosen == "passages")
        assert found.get("id", "").startswith("fees_") == (chosen == 2)
