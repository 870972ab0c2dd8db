"""How many of the passages that a question needs `paper_retriever` keeps, of papers made of FinQA's pages.

    python perf/paper_retrieval.py [--data ../shared/data/finqa] [--pages 10] [--seed 7] [--dense]

Each paper is so many pages of reports, drawn at random, written as one Markdown file: each page is a section,
headed by its number and the first words of its text, its sentences stand as paragraphs of five, its table as
one of bars. The questions of those pages are asked as they are. They name neither report nor section, and the
pages are of different companies, so that other pages often have the same words: harder than one filing.

Recall is the share of the passages with gold facts that are among those kept, on average over the questions;
"all" is the share of questions with all of them. A fact counts for the passage of its section that has most
of its words. "shipped" is the module as it is, 4,000 tokens at most; the others rank by themselves, without
that limit, and differ in how much the headings weigh, and in what embeddings add.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from timings import surroundings, table

from chameleon.core.state import State
from chameleon.documents.reading import text_passages
from chameleon.modules.documents.paper_retriever import PaperRetriever, nearness
from chameleon.retrieval.ranking import similarities
from chameleon.table import Table, to_text
from chameleon.values import freeze

K = 8
FILES = ("dev_200.jsonl.gz", "train_100.jsonl.gz")
PARAGRAPH = 5  # sentences

Passages = Sequence[Mapping[str, Any]]
Ranker = Callable[[str, Passages], Sequence[int]]
Question = tuple[str, Passages, frozenset[int]]


def pages(folder: Path) -> list[list[dict[str, Any]]]:
    """The questions of each page."""
    by_page: dict[str, list[dict[str, Any]]] = {}
    for name in FILES:
        with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
            for line in lines:
                item = json.loads(line)
                by_page.setdefault(item["filename"], []).append(item)
    return list(by_page.values())


def paper(found: Iterable[Sequence[Mapping[str, Any]]]) -> str:
    """Pages as one Markdown text."""
    parts = ["# Reports"]
    for number, (item, *_) in enumerate(found, 1):
        first = " ".join((item["pre_text"] or item["post_text"] or [""])[0].split()[:8]).strip(" .:;,")
        parts.append(f"## {number} {first.capitalize()}")
        parts += paragraphs(item["pre_text"])
        header, *rows = item["table"]
        parts.append(to_text(Table(header, rows), style="markdown"))
        parts += paragraphs(item["post_text"])
    return "\n\n".join(parts)


def paragraphs(sentences: Sequence[str]) -> Iterator[str]:
    told = [sentence for sentence in sentences if sentence.strip(" .")]
    for begin in range(0, len(told), PARAGRAPH):
        yield " ".join(told[begin : begin + PARAGRAPH])


def questions(found: Sequence[Sequence[Mapping[str, Any]]]) -> Iterator[Question]:
    """Each question of these pages with the passages of the paper, and those that its gold facts are in."""
    passages = text_passages(paper(found), "reports.md")
    words = [set(f"{each['title']} {each['text']}".replace("|", " ").split()) for each in passages]
    for number, items in enumerate(found, 1):
        own = [n for n, each in enumerate(passages) if f" > {number} " in f"{each['title']} "]
        for item in items:
            gold = set()
            for name in item["qa"]["gold_inds"]:
                kind, place = name.split("_")
                texts = (*item["pre_text"], *item["post_text"])
                fact = " ".join(item["table"][int(place)]) if kind == "table" else texts[int(place)]
                needed = set(fact.split())
                among = [n for n in own if ("table" in passages[n]) == (kind == "table")]
                gold.add(max(among, key=lambda n: len(needed & words[n])))
            if gold:
                yield item["qa"]["question"], passages, frozenset(gold)


def by_headings(weight: float) -> Ranker:
    return lambda question, passages: best(nearness(question, passages, weight))


def with_dense(weight: float) -> Ranker:
    """BM25 with headings, as a share of the best score, and the cosine of embeddings."""

    def ranked(question: str, passages: Passages) -> Sequence[int]:
        words = nearness(question, passages)
        most = max(words) or 1.0
        texts = [f"{each['title']}\n{each['text']}" for each in passages]
        meant = similarities(question, texts, "dense")
        return best([score / most + weight * cosine for score, cosine in zip(words, meant, strict=True)])

    return ranked


def shipped(question: str, passages: Passages) -> Sequence[int]:
    output = PaperRetriever(k=K).run(State(input=freeze({"question": question, "passages": passages})))
    return [each["source"]["passage"] - 1 for each in output["kept"]]


def best(scores: Sequence[float]) -> Sequence[int]:
    return sorted(range(len(scores)), key=lambda place: -scores[place])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data/finqa"))
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--dense", action="store_true", help="also with embeddings, which takes minutes")
    given = parser.parse_args()
    found = pages(given.data)
    random.Random(given.seed).shuffle(found)
    papers = [found[begin : begin + given.pages] for begin in range(0, len(found), given.pages)]
    asked = [each for group in papers for each in questions(group)]
    rankers: dict[str, Ranker] = {"shipped": shipped}
    rankers |= {f"headings {weight}": by_headings(weight) for weight in (0.0, 0.25, 0.5, 1.0, 2.0)}
    if given.dense:
        rankers |= {f"and dense {weight}": with_dense(weight) for weight in (0.5, 1.0, 2.0)}
    rows = []
    for name, ranker in rankers.items():
        kept = [(set(ranker(question, passages)[:K]), gold) for question, passages, gold in asked]
        recall = sum(len(gold & top) / len(gold) for top, gold in kept) / len(kept)
        every = sum(gold <= top for top, gold in kept) / len(kept)
        rows.append([name, f"{recall:.3f}", f"{every:.3f}"])
    size = sum(len(passages) for _, passages, _ in asked) / len(asked)
    print(surroundings("chameleon-compose"))
    table(
        f"{len(asked)} questions, {len(papers)} papers, {size:.0f} passages each on average",
        ["ranking", f"recall@{K}", "all"],
        rows,
    )


if __name__ == "__main__":
    main()
