"""A query is found in a reply, and a machine that cannot run it says so before the run."""

from __future__ import annotations

import pytest

from chameleon import Inventory, StepRejected
from chameleon.errors import SandboxUnavailable
from chameleon.modules.sql.text_to_sql import SqlGenerator


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("SELECT 1", "SELECT 1"),
        ("SQL: SELECT 1;", "SELECT 1"),
        (
            "Here it is:\n```sql\nWITH a AS (SELECT 1)\nSELECT * FROM a\n```",
            "WITH a AS (SELECT 1)\nSELECT * FROM a",
        ),
        ("I would write\nSELECT a FROM w\n\nas it says what is asked.", "SELECT a FROM w"),
    ],
)
def test_a_query_is_found_in_a_reply(reply: str, query: str) -> None:
    assert SqlGenerator().parse(reply) == query


def test_a_reply_without_a_query_is_rejected() -> None:
    with pytest.raises(StepRejected):
        SqlGenerator().parse("I cannot tell.")


@pytest.mark.parametrize(
    ("inventory", "module"), [("wikitq_text_to_sql", "sql_executor"), ("tabfact_binder", "binder_executor")]
)
def test_a_machine_without_the_seal_is_told_so(
    inventory: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = Inventory.load(inventory).modules[module]
    monkeypatch.setattr("chameleon.modules.sql.query.why_unusable", lambda: "this is another system")
    with pytest.raises(SandboxUnavailable, match="this is another system"):
        checked.check()
