"""The query that a model writes for a search."""

from __future__ import annotations

import pytest

from chameleon import StepRejected
from chameleon.modules.knowledge.knowledge import QueryGenerator


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ('Query: "tides twice a day"', "tides twice a day"),
        ("search query:  tides\ttwice \n\nBecause …", "tides twice"),
        ("\n\n- capital of Estonia\n", "capital of Estonia"),
        ("“Tartu population”", "Tartu population"),
        ('who wrote "Kalevipoeg"', 'who wrote "Kalevipoeg"'),
    ],
)
def test_the_query_is_read_from_the_reply(reply: str, query: str) -> None:
    assert QueryGenerator().parse(reply) == query


def test_a_reply_without_a_query_is_rejected() -> None:
    for reply in ("", "\n \n", '""', "Query:", "---"):
        with pytest.raises(StepRejected):
            QueryGenerator().parse(reply)
