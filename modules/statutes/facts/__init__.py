"""What the facts of a tax case say, read clause by clause, without a model.

Only clauses of known forms are read; sentences with others are kept in `Facts.unread`, and whoever uses the
facts is to look there first: a sentence that nobody understood may change everything.
"""

from __future__ import annotations

from chameleon.modules.statutes.facts import homes, kin, money, people
from chameleon.modules.statutes.facts.case import (
    FUND,
    Deduction,
    Facts,
    Home,
    Income,
    Kin,
    Marriage,
    Payment,
    Span,
    Told,
)
from chameleon.modules.statutes.facts.clauses import read_into
from chameleon.modules.statutes.facts.forms import NAME
from chameleon.modules.statutes.facts.unifying import unify

__all__ = [
    "FUND",
    "NAME",
    "Deduction",
    "Facts",
    "Home",
    "Income",
    "Kin",
    "Marriage",
    "Payment",
    "Span",
    "Told",
    "read_facts",
]

assert homes and kin and money and people  # reading clauses is what they add to `forms`


def read_facts(text: str) -> Facts:
    """The facts of a case. Where relatives without a name turn out to be named, the text is read again."""
    facts = Facts()
    read_into(facts, text)
    if names := unify(facts):
        facts = Facts(names=names, conflicts=facts.conflicts)
        read_into(facts, text)
        if unify(facts):
            facts.conflicts.append("the facts do not tell who is meant by a word for a relative")
    return facts
