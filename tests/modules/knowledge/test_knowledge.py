"""The query that a model writes for a search."""

from __future__ import annotations

import pytest

from chameleon import StepRejected
from chameleon.modules.knowledge.knowledge import QueryGenerator


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("which metals does a magnet attract", "which metals does a magnet attract"),
        ('Query: "tides twice a day"', "tides twice a day"),
        ("search query:  tides\ttwice \n\nBecause …", "tides twice"),
        ("\n\n- capital of Estonia\n", "capital of Estonia"),
        ("“Tartu population”", "Tartu population"),
        ('who wrote "Kalevipoeg"', 'who wrote "Kalevipoeg"'),
    ],
)
def test_the_query_is_read_from_the_reply(reply: str, query: str) -> None:
    assert QueryGenerator().parse(reply) == query


@pytest.mark.parametrize("reply", ["", "\n \n", '""', "Query:", "---"])
def test_a_reply_without_a_query_is_rejected(reply: str) -> None:
    with pytest.raises(StepRejected):
        QueryGenerator().parse(reply)
