"""How well each fact of a report fits a question: measures of words, names, years and places.

BM25 does not know that a row is asked for by its name, that years are columns, or that shares need a total.
What is measured here does; the sum of the measures with fixed weights is the score.

row             whether it is a row of the table
cover           the share of the question's terms, by rarity, that are in it
beside          the cover of the better one of its neighbours of the same kind
bm25            BM25's score, as a share of the best one's
dense           the cosine of embeddings (of the hybrid alone)
name said       of a row, the share of its name's terms, by rarity, that the question says
whole name      of a row, whether the question says all of its name
year in name    of a row, whether its name has a year of the question
years in header of a row, the share of the question's years that columns are named by
total           of a row with a total, whether the question is about a share, a ratio or a sum
balance         of a row with a balance or the end of a period, whether it is about a change
years           of a sentence, the share of the question's years that it has
digits          of a sentence, the logarithm of 1 + how many numbers it has

Fitted as a softmax over the facts of 200 questions of FinQA (100 of its training set, and every other one of
200 of its development set), and rounded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence, Set

from chameleon.modules.reports.facts import Fact
from chameleon.retrieval.lexical.analysis import terms
from chameleon.retrieval.lexical.fields import WEAK, weak_terms

_YEAR = re.compile(r"(?<![\d.])(?:19|20)\d\d(?![\ds]|\.\d|,\d{3}(?!\d))")
_GLUED_YEAR = re.compile(r"(?<=\d)(?:19|20)\d\d(?!\d)")  # "december 312013" of a broken line
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SHARE = re.compile(r"\b(?:percent|percentage|portion|share|proportion|fraction|ratio|total|sum)\b|%")
_CHANGE = re.compile(r"\b(?:change|increase|decrease|grow|growth|decline|balance|difference)\b")
_BALANCE = re.compile(r"\b(?:balance|end of (?:the )?(?:year|period)|ending)\b")
_TOTAL = re.compile(r"\b(?:total|sum|net)\b")

WEIGHTS: Mapping[str, float] = {
    "row": 1.8,
    "cover": 3.9,
    "beside": 1.4,
    "bm25": 1.25,
    "name said": 1.5,
    "whole name": 0.9,
    "year in name": 0.15,
    "years in header": 0.45,
    "total": 0.6,
    "balance": 2.8,
    "years": 0.85,
    "digits": 0.55,
}
"""What each measure counts for where there are words alone."""
HYBRID_WEIGHTS: Mapping[str, float] = {
    "row": 1.6,
    "cover": 2.4,
    "beside": 1.1,
    "bm25": 0.6,
    "dense": 4.3,
    "name said": 1.1,
    "whole name": 1.1,
    "year in name": 0.25,
    "years in header": 0.45,
    "total": 0.65,
    "balance": 3.2,
    "years": 0.8,
    "digits": 0.5,
}
"""The same beside embeddings (of `minilm`)."""


def measures(question: str, facts: Sequence[Fact]) -> list[dict[str, float]]:
    """The measures of each fact, by name, without those that are 0; all but "bm25" and "dense"."""
    asked = question.lower()
    texts = [frozenset(terms(fact.text)) for fact in facts]
    said = _weights(question, texts)
    whole = sum(said.values()) or 1.0
    cover = [sum(weight for term, weight in said.items() if term in text) / whole for text in texts]
    years = years_asked(asked)
    wants_total, wants_balance = bool(_SHARE.search(asked)), bool(_CHANGE.search(asked))
    found = []
    for number, fact in enumerate(facts):
        is_row = fact.kind == "row"
        beside = (n for n in (number - 1, number + 1) if 0 <= n < len(facts) and _alike(facts[n], fact))
        told = {"cover": cover[number], "beside": max((cover[n] for n in beside), default=0.0)}
        if is_row:
            found.append(
                told
                | _of_name(terms(fact.name), said, texts)
                | {
                    "row": 1.0,
                    "year in name": float(bool(years & years_in(fact.name))),
                    "years in header": _share(years, fact.columns),
                    "total": float(wants_total and bool(_TOTAL.search(fact.name.lower()))),
                    "balance": float(wants_balance and bool(_BALANCE.search(fact.name.lower()))),
                }
            )
        else:
            found.append(
                told
                | {
                    "years": _share(years, fact.text),
                    "digits": math.log1p(len(_NUMBER.findall(fact.text))),
                }
            )
    return found


def _alike(one: Fact, other: Fact) -> bool:
    """Whether both are rows of one table, or both sentences."""
    return one.kind == other.kind and (one.kind == "sentence" or one.passage == other.passage)


def _share(years: Set[str], text: str) -> float:
    """The share of the years that a text has; 0 without any."""
    return len(years & years_in(text)) / len(years) if years else 0.0


def _of_name(name: Sequence[str], said: Mapping[str, float], texts: Sequence[Set[str]]) -> dict[str, float]:
    """How much of a row's name the question says: the share of its terms by rarity, and whether it is all."""
    rarities = {term: _rarity(term, texts) for term in name}
    share = sum(rarity for term, rarity in rarities.items() if term in said)
    return {
        "name said": share / (sum(rarities.values()) or 1.0),
        "whole name": float(bool(name) and said.keys() >= rarities.keys()),
    }


def years_asked(question: str) -> set[str]:
    """The years of a question; of "from 2007 to 2010" and "2007-2010" those between as well."""
    years = years_in(question)
    for span in re.finditer(r"\b((?:19|20)\d\d)\s*(?:-|–|to|through|until)\s*((?:19|20)\d\d)\b", question):
        first, last = sorted((int(span[1]), int(span[2])))
        if last - first <= 20:
            years |= {str(year) for year in range(first, last + 1)}
    return years


def years_in(text: str) -> set[str]:
    """The years in a text; "2019s" is none: so FinQA writes an apostrophe with an s."""
    return {*_YEAR.findall(text), *_GLUED_YEAR.findall(text)}


def _weights(question: str, texts: Sequence[Set[str]]) -> dict[str, float]:
    """What each term of the question counts for: its rarity among the facts, less for a weak word."""
    weak = weak_terms()
    return {
        term: _rarity(term, texts) * (WEAK if term in weak else 1.0)
        for term in dict.fromkeys(terms(question))
    }


def _rarity(term: str, texts: Sequence[Set[str]]) -> float:
    having = sum(term in text for text in texts)
    return math.log1p((len(texts) - having + 0.5) / (having + 0.5))
