"""Keep the sentences and rows of a report that the question needs (FinQA; RAG-CoT).

Facts are ranked by similarity to the question, in one of four ways:

lexical    words, names of rows, years, totals; needs no model; also `auto`
bm25       BM25 only
dense      embeddings only
hybrid     the measures of lexical, with embeddings

BM25 does not know that questions ask for rows by name, that years are columns, or that a share needs a total.
The measures here do; the score is their sum with fixed weights.
"""

import math
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, Literal

from pydantic import PositiveInt

from chameleon import Module, State
from chameleon.core.module import Traits
from chameleon.modules.reports.report import Fact, Report
from chameleon.retrieval.analysis import WEAK, terms, weak_terms

WEIGHTS = {
    "row": (1.8, 1.6),  # whether it is a row of a table
    "cover": (3.9, 2.4),  # the share of the question's terms in it, weighted by rarity
    "beside": (1.4, 1.1),  # the better cover of its two neighbors, if of the same kind
    "bm25": (1.25, 0.6),  # BM25's score, as a share of the best one's
    "dense": (0.0, 4.3),  # the cosine of embeddings
    "name said": (1.5, 1.1),  # of a row, the share of its name's terms in the question, weighted by rarity
    "whole name": (0.9, 1.1),  # of a row, whether the question contains its whole name
    "year in name": (0.15, 0.25),  # of a row, whether its name has a year of the question
    "years in header": (0.45, 0.45),  # of a row, the share of the question's years that name columns
    "total": (0.6, 0.65),  # of a row with a total, whether the question is about a share, a ratio or a sum
    "balance": (2.8, 3.2),  # of a row with a balance, whether the question is about a change
    "years": (0.85, 0.8),  # of a sentence, the share of the question's years in it
    "digits": (0.55, 0.5),  # of a sentence, the logarithm of 1 + the number of its numbers
}
"""The weight of each measure in lexical, and in hybrid (with `minilm`).

They are fitted as a softmax over the facts of 200 questions of FinQA (100 of its training set, and every
other one of 200 of its development set), and rounded.
"""

_YEAR = re.compile(r"(?<![\d.])(?:19|20)\d\d(?![\ds]|\.\d|,\d{3}(?!\d))")
_GLUED_YEAR = re.compile(r"(?<=\d)(?:19|20)\d\d(?!\d)")  # "december 312013", from a broken line
_SPAN = re.compile(r"\b((?:19|20)\d\d)\s*(?:-|–|to|through|until)\s*((?:19|20)\d\d)\b")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SHARE = re.compile(r"\b(?:percent|percentage|portion|share|proportion|fraction|ratio|total|sum)\b|%")
_CHANGE = re.compile(r"\b(?:change|increase|decrease|grow|growth|decline|balance|difference)\b")
_BALANCE = re.compile(r"\b(?:balance|end of (?:the )?(?:year|period)|ending)\b")
_TOTAL = re.compile(r"\b(?:total|sum|net)\b")
By = Literal["auto", "lexical", "bm25", "dense", "hybrid"]


class ReportRetriever(Module):
    """Keeps the sentences and rows of a report that the question needs, without a model."""

    reads = ("input.question", "input.table?", "input.passages?")
    writes = ("input.passages", "cache.retrieved", "cache.relevant_rows")
    traits = Traits(non_text=("cache.retrieved",))

    def __init__(self, k: PositiveInt = 5, *, by: By = "auto", embeddings: str = "minilm") -> None:
        """Set how facts are found.

        Tables stay whole; `cache.relevant_rows` names the rows kept, which prompts show below the table. Kept
        facts stay in the order of the report. `cache.retrieved` lists them, the nearest first.

        Args:
            k: how many facts to keep, sentences and rows together.
            by: how facts are compared with the question: "lexical" (words, names of rows, years; the
                default), "bm25", "dense" (embeddings) or "hybrid" (all of these).
            embeddings: the model for "dense" and "hybrid", such as "openai:text-embedding-3-small".
        """
        self.k, self.by, self.embeddings = k, by, embeddings

    def check(self) -> None:
        """Raise `InventoryError` or `MissingPackage` if the embedding model is not available."""
        from chameleon.retrieval.embeddings import require_embeddings

        if self.by in ("dense", "hybrid"):
            require_embeddings(self.embeddings)

    def runtime_info(self) -> Mapping[str, Any]:
        return {"by": "lexical" if self.by == "auto" else self.by}

    def run(self, state: State) -> dict[str, Any]:
        """Return the facts `kept`, nearest first, their total `of`, and the rows and passages to show."""
        report = Report.of(state)
        facts = report.facts()
        scores = self.scores(state.input["question"], facts)
        order = sorted(range(len(facts)), key=lambda number: -scores[number])[: self.k]
        hits = [
            {
                "id": ", ".join(f"{kind} {place}" for kind, place in facts[number].source.items()),
                "name": facts[number].name or facts[number].text[:80],
                "score": float(scores[number]),
                "source": facts[number].source,
            }
            for number in order
        ]
        in_order = [facts[number] for number in sorted(order)]
        passages = {fact.passage for fact in in_order}
        return {
            "kept": hits,
            "of": len(facts),
            "relevant_rows": "\n".join(dict.fromkeys(fact.name for fact in in_order if fact.row)),
            "passages": [each for number, each in enumerate(report.passages, 1) if number in passages],
        }

    def scores(self, question: str, facts: Sequence[Fact]) -> list[float]:
        """Return a score per fact, comparable only within one call. Raises as `check`, and `ModelError`."""
        from chameleon.retrieval.ranking import similarities

        if not facts:
            return []
        texts, dense = [fact.text for fact in facts], f"dense:{self.embeddings}"
        if self.by in ("bm25", "dense"):
            return similarities(question, texts, dense if self.by == "dense" else "bm25")
        words = similarities(question, texts, "bm25")
        best, is_hybrid = max(words) or 1.0, self.by == "hybrid"
        cosines = similarities(question, texts, dense) if is_hybrid else [0.0] * len(facts)
        return [
            sum(WEIGHTS[name][is_hybrid] * value for name, value in each.items())
            + WEIGHTS["bm25"][is_hybrid] * word / best
            + WEIGHTS["dense"][is_hybrid] * cosine
            for each, word, cosine in zip(measures(question, facts), words, cosines, strict=True)
        ]

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"passages": output["passages"]} if "passages" in input else {}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        rows = {"relevant_rows": output["relevant_rows"]} if output["relevant_rows"] else {}
        return {"retrieved": output["kept"]} | rows


def measures(question: str, facts: Sequence[Fact]) -> list[dict[str, float]]:
    """Return the measures of each fact by name, except "bm25" and "dense"."""
    query = question.lower()
    texts = [frozenset(terms(fact.text)) for fact in facts]
    weak = weak_terms()
    weights = {term: _rarity(term, texts) * (WEAK if term in weak else 1.0) for term in terms(question)}
    total = sum(weights.values()) or 1.0
    cover = [sum(weight for term, weight in weights.items() if term in text) / total for text in texts]
    years = years_asked(query)

    def shared(text: str) -> float:
        return len(years & _years_in(text)) / (len(years) or 1)

    scores = []
    for number, fact in enumerate(facts):
        neighbors = [place for place in (number - 1, number + 1) if 0 <= place < len(facts)]
        alike = [cover[place] for place in neighbors if facts[place].series == fact.series]
        values = {"cover": cover[number], "beside": max(alike, default=0.0)}
        if not fact.row:
            values |= {"years": shared(fact.text), "digits": math.log1p(len(_NUMBER.findall(fact.text)))}
        else:
            name = fact.name.lower()
            rarities = {term: _rarity(term, texts) for term in terms(fact.name)}
            share = sum(rarity for term, rarity in rarities.items() if term in weights)
            values |= {
                "row": 1.0,
                "name said": share / (sum(rarities.values()) or 1.0),
                "whole name": float(bool(rarities) and weights.keys() >= rarities.keys()),
                "year in name": float(bool(years & _years_in(fact.name))),
                "years in header": shared(fact.columns),
                "total": float(bool(_SHARE.search(query) and _TOTAL.search(name))),
                "balance": float(bool(_CHANGE.search(query) and _BALANCE.search(name))),
            }
        scores.append(values)
    return scores


def years_asked(question: str) -> set[str]:
    """Return the years in a question, including all years of "from 2007 to 2010" or "2007-2010"."""
    years = _years_in(question)
    for span in _SPAN.finditer(question):
        first, last = sorted((int(span[1]), int(span[2])))
        if last - first <= 20:
            years |= {str(year) for year in range(first, last + 1)}
    return years


def _years_in(text: str) -> set[str]:
    """Return the years in a text, without "2019s", which is FinQA's spelling of "2019's"."""
    return {*_YEAR.findall(text), *_GLUED_YEAR.findall(text)}


def _rarity(term: str, texts: Sequence[Set[str]]) -> float:
    count = sum(term in text for text in texts)
    return math.log1p((len(texts) - count + 0.5) / (count + 0.5))  # as in BM25
