"""A query is found in a reply, and a machine that cannot run it says so before the run."""

from __future__ import annotations

import pytest

from chameleon import Inventory, StepRejected
from chameleon.errors import SandboxUnavailable
from chameleon.modules.sql.text_to_sql import SqlGenerator


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("SQL: SELECT 1;", "SELECT 1"),
        ("So:\n```sql\nWITH a AS (SELECT 1)\nSELECT * FROM a\n```", "WITH a AS (SELECT 1)\nSELECT * FROM a"),
        ("I would write\nSELECT a FROM w\n\nas it says what is asked.", "SELECT a FROM w"),
        ("```sql {.x}\nSELECT a FROM w\n\nWHERE b = 1\n```", "SELECT a FROM w\n\nWHERE b = 1"),
        ("SELECT a FROM w\n\nORDER BY b\n\nThis gives a.", "SELECT a FROM w\nORDER BY b"),
        ("WITH n AS (SELECT 1)\n\nSELECT * FROM n;\nDone.", "WITH n AS (SELECT 1)\n\nSELECT * FROM n"),
        ("With this query we count.\nSELECT COUNT(*) FROM w", "SELECT COUNT(*) FROM w"),
        ("Select the rows of a:\nselect t.a from w t", "select t.a from w t"),
        ("SELECT a FROM w WHERE b = 'x;y'; -- end", "SELECT a FROM w WHERE b = 'x;y'"),
        ("WITH n AS (SELECT 1\n\n) SELECT * FROM n", "WITH n AS (SELECT 1\n) SELECT * FROM n"),
    ],
)
def test_a_query_is_found_in_a_reply(reply: str, query: str) -> None:
    assert SqlGenerator().parse(reply) == query
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
