"""How near the facts of a report are to a question, by any of several ways.

lexical         words, names of rows, years, totals; needs no model
bm25            BM25 alone
dense           embeddings alone: `dense:NAME`, by default `minilm`
hybrid          the measures of lexical with embeddings among them: `hybrid:NAME`
auto            lexical
+rerank:NAME    after any of these: its first facts in the order of a cross-encoder, NAME being that of a
                model of transformers with one score, such as a BERT trained for it

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

Weights are fitted as a softmax over the facts of 200 questions of FinQA (100 of its training set, and every
other one of 200 of its development set), and rounded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence, Set
from importlib.util import find_spec
from typing import NamedTuple

from chameleon.errors import InputError, MissingPackage
from chameleon.modules.reports.facts import Fact
from chameleon.retrieval.lexical.analysis import terms
from chameleon.retrieval.lexical.fields import WEAK, weak_terms

WEIGHTS = {  # by measure: that of lexical, that of hybrid (with `minilm`)
    "row": (1.8, 1.6),
    "cover": (3.9, 2.4),
    "beside": (1.4, 1.1),
    "bm25": (1.25, 0.6),
    "dense": (0.0, 4.3),
    "name said": (1.5, 1.1),
    "whole name": (0.9, 1.1),
    "year in name": (0.15, 0.25),
    "years in header": (0.45, 0.45),
    "total": (0.6, 0.65),
    "balance": (2.8, 3.2),
    "years": (0.85, 0.8),
    "digits": (0.55, 0.5),
}
_WAYS = ("auto", "lexical", "bm25", "dense", "hybrid")
_DEPTH = 30  # so many facts a cross-encoder reads

_YEAR = re.compile(r"(?<![\d.])(?:19|20)\d\d(?![\ds]|\.\d|,\d{3}(?!\d))")
_GLUED_YEAR = re.compile(r"(?<=\d)(?:19|20)\d\d(?!\d)")  # "december 312013" of a broken line
_SPAN = re.compile(r"\b((?:19|20)\d\d)\s*(?:-|–|to|through|until)\s*((?:19|20)\d\d)\b")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SHARE = re.compile(r"\b(?:percent|percentage|portion|share|proportion|fraction|ratio|total|sum)\b|%")
_CHANGE = re.compile(r"\b(?:change|increase|decrease|grow|growth|decline|balance|difference)\b")
_BALANCE = re.compile(r"\b(?:balance|end of (?:the )?(?:year|period)|ending)\b")
_TOTAL = re.compile(r"\b(?:total|sum|net)\b")


class Way(NamedTuple):
    """A way to rank facts: its name, that of its embeddings, and of its cross-encoder; "" for none."""

    name: str
    model: str
    reranker: str

    @classmethod
    def parse(cls, by: str) -> Way:
        """Return the way of a name such as "hybrid:NAME+rerank:NAME". Raises `InputError` for any other."""
        first, plus, second = by.partition("+")
        name, colon, model = first.partition(":")
        kind, _, reranker = second.partition(":")
        if name not in _WAYS or (colon and (not model or name not in ("dense", "hybrid"))):
            raise InputError(
                f"facts cannot be found by {by!r}",
                hint=f"There are: {', '.join(_WAYS)}, dense:NAME, hybrid:NAME; +rerank:NAME after any.",
            )
        if plus and (kind != "rerank" or not reranker):
            raise InputError(
                f"facts cannot be reranked by {second!r}",
                hint="Write +rerank:NAME, the name of a cross-encoder.",
            )
        return cls(name, model, reranker)

    def check(self) -> None:
        """Raise `MissingPackage` where the packages of a model are not there."""
        if self.name in ("dense", "hybrid"):
            from chameleon.retrieval.embeddings import MINILM, require

            require(self.model or MINILM)
        missing = [package for package in ("torch", "transformers") if find_spec(package) is None]
        if self.reranker and missing:
            raise MissingPackage(
                f"the cross-encoder {self.reranker} needs packages that are not installed: "
                f"{', '.join(missing)}",
                hint=f"pip install {' '.join(missing)}, or find facts by words: lexical.",
            )

    def reranked(self, question: str, texts: Sequence[str], first: Sequence[float]) -> list[float]:
        """Return scores by which the first facts stand in the order of the cross-encoder, before others."""
        from chameleon.retrieval.cross_encoder import cross_encoder

        self.check()
        order = sorted(range(len(texts)), key=lambda place: -first[place])
        looked, rest = order[:_DEPTH], order[_DEPTH:]
        read = cross_encoder(self.reranker).scores([(question, texts[place]) for place in looked])
        found = dict(zip(looked, read, strict=True))
        found |= {place: min(read) - rank for rank, place in enumerate(rest, 1)}
        return [found[place] for place in range(len(texts))]


def scores(question: str, facts: Sequence[Fact], by: str = "auto") -> list[float]:
    """Return how near each fact is to the question: higher is nearer, comparable within one call only.

    Raises `InputError` for another `by`, `MissingPackage`, and `ModelError` when a model fails.
    """
    from chameleon.retrieval.ranking import similarities

    way, texts = Way.parse(by), [fact.text for fact in facts]
    dense = f"dense:{way.model}" if way.model else "dense"
    if not facts:
        return []
    if way.name in ("bm25", "dense"):
        found = similarities(question, texts, dense if way.name == "dense" else "bm25")
    else:
        words = similarities(question, texts, "bm25")
        best, is_hybrid = max(words) or 1.0, way.name == "hybrid"
        near = similarities(question, texts, dense) if is_hybrid else [0.0] * len(facts)
        found = [
            sum(WEIGHTS[name][is_hybrid] * value for name, value in each.items())
            + WEIGHTS["bm25"][is_hybrid] * word / best
            + WEIGHTS["dense"][is_hybrid] * cosine
            for each, word, cosine in zip(measures(question, facts), words, near, strict=True)
        ]
    return way.reranked(question, texts, found) if way.reranker else found


def measures(question: str, facts: Sequence[Fact]) -> list[dict[str, float]]:
    """Return the measures of each fact by name; all but "bm25" and "dense"."""
    asked = question.lower()
    texts = [frozenset(terms(fact.text)) for fact in facts]
    weak = weak_terms()
    said = {
        term: _rarity(term, texts) * (WEAK if term in weak else 1.0)
        for term in dict.fromkeys(terms(question))
    }
    whole = sum(said.values()) or 1.0
    cover = [sum(weight for term, weight in said.items() if term in text) / whole for text in texts]
    years = years_asked(asked)
    wants_total, wants_balance = bool(_SHARE.search(asked)), bool(_CHANGE.search(asked))
    found = []
    for number, fact in enumerate(facts):
        table = fact.kind, fact.passage
        beside = [n for n in (number - 1, number + 1) if 0 <= n < len(facts)]
        alike = [cover[n] for n in beside if (facts[n].kind, facts[n].passage) == table]
        told = {"cover": cover[number], "beside": max(alike, default=0.0)}
        if fact.kind == "row":
            name = fact.name.lower()
            rarities = {term: _rarity(term, texts) for term in terms(fact.name)}
            share = sum(rarity for term, rarity in rarities.items() if term in said)
            told |= {
                "row": 1.0,
                "name said": share / (sum(rarities.values()) or 1.0),
                "whole name": float(bool(rarities) and said.keys() >= rarities.keys()),
                "year in name": float(bool(years & years_in(fact.name))),
                "years in header": len(years & years_in(fact.columns)) / (len(years) or 1),
                "total": float(wants_total and bool(_TOTAL.search(name))),
                "balance": float(wants_balance and bool(_BALANCE.search(name))),
            }
        else:
            digits = math.log1p(len(_NUMBER.findall(fact.text)))
            share = len(years & years_in(fact.text)) / (len(years) or 1)
            told |= {"years": share, "digits": digits}
        found.append(told)
    return found


def years_asked(question: str) -> set[str]:
    """Return the years of a question; of "from 2007 to 2010" and "2007-2010" those between as well."""
    years = years_in(question)
    for span in _SPAN.finditer(question):
        first, last = sorted((int(span[1]), int(span[2])))
        if last - first <= 20:
            years |= {str(year) for year in range(first, last + 1)}
    return years


def years_in(text: str) -> set[str]:
    """Return the years in a text; "2019s" is none: so FinQA writes an apostrophe with an s."""
    return {*_YEAR.findall(text), *_GLUED_YEAR.findall(text)}


def _rarity(term: str, texts: Sequence[Set[str]]) -> float:
    having = sum(term in text for text in texts)
    return math.log1p((len(texts) - having + 0.5) / (having + 0.5))
