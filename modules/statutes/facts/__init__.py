"""What the facts of a tax case say, read sentence by sentence, without a model.

Only sentences of known forms are read; the others are kept in `Facts.unread`, and whoever uses the facts is
to look there first: a sentence that nobody understood may change everything.
"""

from __future__ import annotations

from chameleon.modules.statutes.facts import money, people
from chameleon.modules.statutes.facts.case import FUND, Facts, Home, Marriage, Payment, Years, within
from chameleon.modules.statutes.facts.clauses import clauses_of
from chameleon.modules.statutes.facts.forms import NAME, read_clause

__all__ = ["FUND", "NAME", "Facts", "Home", "Marriage", "Payment", "Years", "read_facts", "within"]

assert money and people  # reading sentences is what they add to `forms`


def read_facts(text: str) -> Facts:
    """The facts of a case."""
    facts = Facts()
    for clause in clauses_of(text):
        read_clause(facts, clause)
    return facts
