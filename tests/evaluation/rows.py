"""Problems in TabMWP's form, made from a seed, with answers that follow from how they were made."""

import gzip
import json
import random
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_GOODS = ("lantern", "kettle", "rug", "stool", "vase", "mirror", "shelf", "clock")


def make_rows(count: int, seed: int = 7) -> list[Row]:
    """Of three problems, one asks for a number, one for a choice, and one is out of reach without a model."""
    chance = random.Random(seed)
    return [_row(chance, number) for number in range(count)]


def _row(chance: random.Random, number: int) -> Row:
    goods = chance.sample(_GOODS, 4)
    cents = chance.sample(range(200, 2000), 4)
    prices = [f"${each / 100:.2f}" for each in cents]
    lines = ["Article | Price", *(f"{good} | {price}" for good, price in zip(goods, prices, strict=True))]
    row: Row = {"pid": str(1000 + number), "table": "\n".join(lines), "table_title": f"Shop {number}"}
    row |= {"choices": None, "unit": None, "grade": number % 8 + 1}
    if number % 3 == 0:
        dear, cheap = (goods[cents.index(pick(cents))] for pick in (max, min))
        difference = f"{(max(cents) - min(cents)) / 100:.2f}"
        question = f"How much more does a {dear} cost than a {cheap}?"
        return {**row, "question": question, "answer": difference, "unit": "$"}
    if number % 3 == 1:
        question = "Which article costs the most?"
        return {**row, "question": question, "answer": goods[cents.index(max(cents))], "choices": goods}
    return {**row, "question": f"Why is the {goods[0]} so dear in winter?", "answer": "7"}


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def read_lines(path: Path) -> list[Row]:
    lines = path.read_bytes().splitlines()  # of a text U+2028 would part it too
    assert not lines or path.read_bytes().endswith(b"\n")
    return [json.loads(line) for line in lines]


def read_results(folder: Path) -> list[Row]:
    """Every result of a folder, without the place of its events, which depends on what ran beside it."""
    lines = read_lines(folder / "results.jsonl")
    assert all(isinstance(line.pop("member", 0), int) for line in lines)
    return lines


def read_events(folder: Path) -> list[Row]:
    """Every event of a folder: those of problems with a result, then the plain ones of other problems."""
    results, packed = read_lines(folder / "results.jsonl"), (folder / "events.jsonl.gz").read_bytes()
    starts = sorted(row["member"] for row in results if row.get("member", len(packed)) < len(packed))
    members = (zlib.decompressobj(31).decompress(packed[start:]) for start in starts)
    found = [json.loads(line) for member in members for line in member.splitlines()]
    known = {row["id"] for row in found}
    return [*found, *(row for row in read_lines(folder / "recent.jsonl") if row["id"] not in known)]
