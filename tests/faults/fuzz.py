"""Inputs for what reads texts and files of strangers: examples, mutated by a seed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, AnyStr

from chameleon.errors import ChameleonError

MAX_CHARS = 100_000
TIMES = (1, 1, 1, 1, 2, 3, 60, 5000)
NUMBERS = (0, -1, 1, 2**31, 2**63, 2**64, 10**400, 10**5000, 0.1, -0.0, 1e308, float("nan"), float("inf"))


@dataclass(frozen=True)
class Target:
    """What is fuzzed: an input is drawn, then read, which may raise `errors` alone."""

    draw: Callable[[Random], Any]
    read: Callable[[Any], object]
    errors: tuple[type[BaseException], ...] = (ChameleonError,)


def mutated(random: Random, examples: Sequence[AnyStr], tokens: Sequence[AnyStr]) -> AnyStr:
    """Return an example with parts of it left out, repeated or replaced: by a token, or of another one."""
    text = random.choice(examples)
    for _ in range(random.choice((0, 1, 1, 2, 3, 6))):
        start, end = sorted(random.randint(0, len(text)) for _ in range(2))
        end = random.choice((start, min(end, start + 8), end))
        other = random.choice(examples)
        begin = random.randint(0, len(other))
        piece = random.choice((random.choice(tokens), text[start:end], other[begin : begin + 40], text[:0]))
        text = (text[:start] + (piece * random.choice(TIMES))[:MAX_CHARS] + text[end:])[:MAX_CHARS]
    return text


def wild(random: Random, texts: Sequence[str], depth: int = 0) -> Any:
    """Return any value that JSON can hold, now and then one that it should not."""
    if random.random() < 0.01:
        levels = random.choice((50, 300, 700))
        return json.loads("[" * levels + "]" * levels)
    kind = random.randrange(4 if depth > 3 else 6)
    if kind == 0:
        return random.choice((None, True, False))
    if kind == 1:
        return random.choice(NUMBERS)
    if kind < 4:
        return random.choice(("", random.choice(texts), mutated(random, texts, TOKENS)))
    items = [wild(random, texts, depth + 1) for _ in range(random.randrange(4))]
    return items if kind == 4 else {random.choice(texts)[:50]: item for item in items}


def bent(random: Random, data: Any, texts: Sequence[str]) -> Any:
    """Return data with some of its parts left out or replaced by others."""
    if random.random() < 0.04:
        return wild(random, texts)
    if isinstance(data, dict):
        kept = ((key, value) for key, value in data.items() if random.random() > 0.03)
        return {key: bent(random, value, texts) for key, value in kept}
    if isinstance(data, list):
        return [bent(random, value, texts) for value in data]
    return data


def written(data: Any, write: Callable[[Any], str] = repr) -> bytes:
    """Return data as bytes, integers of any length among them."""
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return data if isinstance(data, bytes) else write(data).encode("utf-8", "surrogatepass")
    except RecursionError:
        return b"[" * 5000
    finally:
        sys.set_int_max_str_digits(digits)


TOKENS = (
    *("[", "]", "{", "}", "(", ")", '"', "'", "`", "```", "\n", "\n\n", "\r", "\t", " ", ",", ":", "|", "->"),
    *("#", "%", "$", "-", "*", "\\", "/", "<", ">", "&", "=", ".", "1.", "0", "9", "1e999", "NaN", "null"),
    *("\0", "\x1b[31m", "\u202e", "\ud800", "\ufeff", "ß", "İ", "²", "½", "٣", "๓", "𝟘", "Ⅷ", "é", "中"),
    *("The answer is ", "Answer: ", "SELECT ", "f_row(", "row 1", "yes", "no", "and ", "\\boxed{", "&#0;"),
)
